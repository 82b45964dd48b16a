package cache

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// asProcess is the folder for a test binary that is to be one of several users.
const asProcess = "CACHE_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProcess); dir != "" {
		if err := use(dir, 60); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0) // os.Exit lets the race detector sleep for a second
	}
	os.Exit(m.Run())
}

type failure struct{ sentence string }

func (f *failure) Errorf(format string, args ...any) {
	if f.sentence == "" {
		f.sentence = fmt.Sprintf(format, args...)
	}
}

// use opens, reads and updates the cache in dir, as others do at the same time.
func use(dir string, times int) error {
	f := &failure{}
	for range times {
		c := Open(dir, testVault, testProgram)
		u := c.Update()
		var files []file
		for n := range 30 {
			for state := int64(1); state <= 3; state++ {
				files = append(files, fileOf(fmt.Sprintf("note %d.md", n), state, n*n*n))
			}
		}
		for _, file := range files {
			r, ok := c.Find(file.path, file.stamp)
			if !ok {
				continue
			}
			// There are locks here, so that nothing is ever harmed.
			if text, facts := file.check(f, c); !text || facts != r.Has(FactsPart) {
				f.Errorf("%s: text %v, facts %v", file.path, text, facts)
			}
			if rand.IntN(3) > 0 {
				u.Keep(file.path, r)
			}
		}
		for range 5 {
			file := files[rand.IntN(len(files))]
			found := file.found()
			if rand.IntN(2) == 0 {
				found.Facts = ""
			}
			if rand.IntN(4) == 0 {
				found.Filter = ""
			}
			u.Put(file.path, file.stamp, file.text(), found)
		}
		if rand.IntN(5) == 0 {
			u.Discard()
		} else if next, err := u.Commit(); err == nil {
			next.Close()
		} else if u != nil && !errors.Is(err, system.ErrInUse) {
			// Where a file cannot be removed while another process looks at it, a
			// commit that has waited for too long keeps nothing.
			f.Errorf("commit: %v", err)
		}
		c.Close()
	}
	if f.sentence != "" {
		return fmt.Errorf("%s", f.sentence)
	}
	return nil
}

func TestSeveralProcessesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { assert.NoError(t, use(dir, 60)) })
		all.Go(func() {
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), asProcess+"="+dir)
			out, err := command.CombinedOutput()
			assert.That(t, err == nil, "%v: %s", err, out)
		})
	}
	all.Wait()
	assert.Equal(t, len(glob(t, dir, "*.pack")), 1, "packs")
}

func TestSeveralGoroutinesFillOneUpdate(t *testing.T) {
	dir, files := t.TempDir(), someFiles(400)
	save(t, dir, files[:200]...)
	c := open(t, dir)
	u := c.Update()
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := part; i < len(files); i += 4 {
				f := files[i]
				r, ok := c.Find(f.path, f.stamp)
				switch {
				case !ok:
					u.Put(f.path, f.stamp, f.text(), f.found())
				case i%3 == 0:
					u.Add(f.path, r, FactsPart, f.facts())
				default:
					f.check(t, c)
					u.Keep(f.path, r)
				}
			}
		})
	}
	all.Wait()
	next := commit(t, u)
	for range 4 {
		all.Go(func() { checkAll(t, next, files...) })
	}
	all.Wait()
}

func TestReadersThatEndEarlyDisturbNobody(t *testing.T) {
	dir, files := t.TempDir(), someFiles(200)
	save(t, dir, files...)
	c := Open(dir, testVault, testProgram)
	records := make([]Record, len(files))
	for i, f := range files {
		records[i], _ = c.Find(f.path, f.stamp)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			c.Each(records, TextPart, func(i int, text []byte, ok bool) {
				if ok && string(text) != string(files[i].text()) {
					t.Errorf("%s: wrong text", files[i].path)
				}
			})
		})
	}
	c.Close()
	all.Wait()
}

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
	rapid.Check(t, testenv.Cases(40, func(t *rapid.T) {
		dir := require.Value(os.MkdirTemp("", "cache"))(t)
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
	}))
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
			text, facts := k.check(t, h.cache)
			require.That(t, text, "%s: text %v, facts %v", k.path, text, facts)
			require.Equal(t, facts, k.hasFacts, "%s: text %v, facts %v", k.path, text, facts)
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
	require.That(t, m.handles[1-i].cache.Update() == nil, "two updates at once")
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
		u.Add(path, r, FactsPart, k.facts())
		m.added = true
		k.hasFacts = true
		return k, true
	case action == "filter":
		u.Add(path, r, FilterPart, k.filter())
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
