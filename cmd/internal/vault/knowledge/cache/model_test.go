package cache

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
)

// kept is what a plain map would remember of a file.
type kept struct {
	file
	hasFacts bool
}

// handle is a process that uses the cache, and what it must find there.
type handle struct {
	cache *Cache
	state int // which of the saved states it has opened
	files map[string]kept
}

// model is the cache as several processes see it.
type model struct {
	dir     string
	state   int // counts saves
	files   map[string]kept
	handles [2]*handle
	stamps  int64
	added   bool // facts, which are written even if they are the same
}

func TestAnyUpdatesOfTwoProcessesAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "cache")
		require.NoError(t, err)
		m := &model{dir: dir}
		for i := range m.handles {
			m.handles[i] = m.open()
		}
		defer func() {
			for _, h := range m.handles {
				h.cache.Close()
			}
			os.RemoveAll(dir)
		}()
		t.Repeat(map[string]func(*rapid.T){
			"reopen": func(t *rapid.T) {
				i := m.draw(t)
				m.handles[i].cache.Close()
				m.handles[i] = m.open()
			},
			"update": func(t *rapid.T) { m.update(t, m.draw(t)) },
			"":       func(t *rapid.T) { m.check(t) },
		})
	})
}

func (m *model) draw(t *rapid.T) int { return rapid.IntRange(0, len(m.handles)-1).Draw(t, "handle") }

func (m *model) open() *handle {
	return &handle{Open(m.dir, testVault, testProgram), m.state, maps.Clone(m.files)}
}

// check looks through both handles: one with an older state still answers by
// that, whatever was written meanwhile.
func (m *model) check(t *rapid.T) {
	for _, h := range m.handles {
		require.That(t, h.cache.Len() == len(h.files), "%d files instead of %d", h.cache.Len(), len(h.files))
		for _, k := range h.files {
			if text, facts := k.check(t, h.cache); !text || facts != k.hasFacts {
				t.Fatalf("%s: text %v, facts %v", k.path, text, facts)
			}
		}
	}
}

func (m *model) update(t *rapid.T, i int) {
	h := m.handles[i]
	u := h.cache.Update()
	require.That(t, (u != nil) == (h.state == m.state), "update of state %d while %d is in force: %v", h.state, m.state, u != nil)
	if u == nil {
		return
	}
	next := map[string]kept{}
	m.added = false
	for n := range 6 {
		path := fmt.Sprintf("note %d.md", n)
		if k, ok := m.name(t, u, h, path); ok {
			next[path] = k
		}
	}
	u2 := m.handles[1-i].cache.Update()
	require.That(t, u2 == nil, "two updates at once")
	if rapid.IntRange(0, 4).Draw(t, "discard") == 0 {
		u.Discard()
		return
	}
	c := commit(t, u)
	if m.added || !maps.Equal(next, h.files) {
		m.state++
	}
	h.cache.Close()
	m.files = next
	m.handles[i] = &handle{c, m.state, maps.Clone(next)}
}

// name does something with one path, and returns what is to be kept of it.
func (m *model) name(t *rapid.T, u *Update, h *handle, path string) (kept, bool) {
	k, known := h.files[path]
	r, found := h.cache.Find(path, k.stamp)
	require.Equal(t, found, known, "%s: found", path)
	action := rapid.SampledFrom([]string{"keep", "keep", "put", "add", "filter", "forget"}).Draw(t, "action")
	switch {
	case action == "forget", action != "put" && !known:
		return kept{}, false
	case action == "keep":
		u.Keep(path, r)
		return k, true
	case action == "add":
		u.AddFacts(path, r, k.facts())
		m.added = true
		k.hasFacts = true
		return k, true
	case action == "filter":
		u.AddFilter(path, r, k.filter())
		m.added = true
		return k, true
	}
	m.stamps++
	sizes := []int{0, 1, 100, 100, 100, 100, 100, 100, 3000, 3000, 3000, 3000, 400_000, 400_000, stagedTexts + 1}
	k = kept{fileOf(path, m.stamps, rapid.SampledFrom(sizes).Draw(t, "size")), rapid.Bool().Draw(t, "facts")}
	if k.hasFacts {
		u.Put(path, k.stamp, k.text(), k.found())
	} else {
		u.Put(path, k.stamp, k.text(), Found{})
	}
	return k, true
}
