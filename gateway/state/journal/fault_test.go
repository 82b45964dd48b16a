package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/faults"
	"vaultwicket/tests/require"
)

// confirmed is what a journal has said that it keeps.
type confirmed struct {
	texts  map[string]string // by the id of the entry
	states map[string]State
}

// check fails unless everything that was confirmed is there, and nothing is
// damaged but lines that were cut short.
func (c confirmed) check(t *testing.T, j *Journal, what string) {
	t.Helper()
	list, damage, err := j.Entries(Filter{})
	require.NoError(t, err)
	for _, d := range damage {
		assert.That(t, d.Torn, "%s: %+v", what, d)
	}
	found := map[string]Entry{}
	for _, e := range list {
		found[e.ID] = e
	}
	for id, text := range c.texts {
		e, ok := found[id]
		require.That(t, ok, "%s: entry %s is lost", what, id)
		state := c.states[id]
		assert.That(t, state == Begun || e.State == state, "%s: entry is %v, want %v", what, e.State, state)
		if got, err := j.Object(e.Steps[0].Before.Hash); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, want %d, %v", what, len(got), len(text), err)
		}
	}
}

func TestEveryFault(t *testing.T) {
	texts := map[string]string{
		"a short note": "text\n", "a long note": strings.Repeat("a line\n", 20_000) + "end\n",
		"a file": string(random(maxInline + 1)),
	}
	if testing.Short() {
		delete(texts, "a long note")
	} else {
		texts["an attachment"] = string(random(maxInline + 1000))
	}
	for name, text := range texts {
		for _, killed := range []bool{false, true} {
			for _, isNew := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s killed %v new %v", name, killed, isNew), func(t *testing.T) { t.Parallel(); everyFault(t, text, killed, isNew) })
			}
		}
	}
}

func everyFault(t *testing.T, text string, killed, isNew bool) {
	origin := newJournal(t, Limits{MaxBytes: 64 << 20})
	origin.inText = maxInline + 100
	for n := 1; ; n++ {
		require.That(t, n <= 60, "it never succeeded")
		j := again(origin)
		j.folder = newPlace(filepath.Join(t.TempDir(), "journal"), testVault, testVault)
		c := confirmed{map[string]string{}, map[string]State{}}
		if !isNew {
			e, content := change("a.md", "an earlier text\n"+text, text)
			require.NoError(t, j.Begin(e, content))
			c.texts[e.ID] = "an earlier text\n" + text
		}
		sys := &faults.System{N: n, Lasting: killed}
		j.sys = sys
		e, content := change("a.md", text, text+"more")
		err := j.Begin(e, content)
		if err == nil {
			c.texts[e.ID] = text
			if err = j.End(e.ID, Done, nil, ""); err == nil {
				c.states[e.ID] = Done
			}
		}
		var typed *Unusable
		if err != nil && (!errors.As(err, &typed) || !errors.Is(err, faults.Err)) {
			t.Errorf("call %d: %v", n, err)
		}
		what := fmt.Sprintf("call %d failed", n)
		c.check(t, again(j), what)
		if left, _ := filepath.Glob(j.folder.file("*" + temporarySuffix)); len(left) > 0 && !killed {
			t.Errorf("%s and left %q", what, left)
		}
		// Another process goes on where this one ended.
		next := again(j)
		for range 2 {
			more, content := change("a.md", text+"more", "")
			require.NoError(t, next.Begin(more, content))
			c.texts[more.ID] = text + "more"
		}
		c.check(t, again(j), what+", and another process goes on")
		next.limits.MaxBytes = leastBytes
		require.NoError(t, next.Prune())
		if left, _ := filepath.Glob(j.folder.file("*" + temporarySuffix)); len(left) > 0 {
			t.Errorf("%s, and after all there is %q", what, left)
		}
		if sys.Calls < n {
			return
		}
	}
}
