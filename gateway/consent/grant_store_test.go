package consent

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// clockAt is a clock that a test sets.
type clockAt struct{ at atomic.Pointer[time.Time] }

func newGrantClock() *clockAt {
	c := &clockAt{}
	c.set(start)
	return c
}

func (c *clockAt) set(t time.Time)            { c.at.Store(&t) }
func (c *clockAt) now() time.Time             { return *c.at.Load() }
func (c *clockAt) pass(d time.Duration)       { c.set(c.now().Add(d)) }
func openAt(state string, c *clockAt) *Grants { return OpenGrants(state, c.now) }

var terms = GrantTerms{
	Agent: "cursor", Generation: "1", Vault: "Notes", Identity: "folder:1", Commands: []string{"append", "delete"}, Folders: []string{"Projects"},
	Notes: 3, Changes: 2,
}

var cursor = GrantHolder{Agent: "cursor", Generation: "1", Identity: "folder:1", MaxTime: MaxGrantTime}

func appendTo(path string) GrantChange {
	return GrantChange{Command: "append", Files: []GrantFile{{Path: path}}}
}

func none(int) bool  { return false }
func every(int) bool { return true }

// given returns a store with a grant of an hour.
func given(t *testing.T, c *clockAt, t2 GrantTerms) (*Grants, Grant) {
	t.Helper()
	s := openAt(t.TempDir(), c)
	g := require.Value(s.Give(t2, time.Hour))(t)
	return s, g
}

// takes reports whether a change is covered, and counts it as made.
func takes(t *testing.T, s *Grants, h GrantHolder, changes ...GrantChange) bool {
	t.Helper()
	use, err := s.Take(h, changes...)
	if use == nil {
		return false
	}
	require.NoError(t, err)
	require.NoError(t, use.Settle(every))
	return true
}

func TestAGrantIsUsedUp(t *testing.T) {
	t.Parallel()
	s, g := given(t, newGrantClock(), terms)
	assert.That(t, takes(t, s, cursor, appendTo("Projects/a.md")), "the first change")
	again := OpenGrants(filepath.Dir(s.dir), s.now) // another server, or this one after a restart
	assert.That(t, takes(t, again, cursor, appendTo("Projects/b.md")), "the second change")
	assert.That(t, !takes(t, s, cursor, appendTo("Projects/b.md")), "the third change of two")
	list, _, err := s.List()
	require.NoError(t, err)
	changes, notes, _, _ := list[0].Left()
	assert.Equal(t, list[0].ID, g.ID, "left: %d changes, %d notes", changes, notes)
	assert.Equal(t, changes, 0, "left: %d changes, %d notes", changes, notes)
	assert.Equal(t, notes, 1, "left: %d changes, %d notes", changes, notes)
}

func TestAChangeThatFailedIsNotCounted(t *testing.T) {
	t.Parallel()
	s, _ := given(t, newGrantClock(), terms)
	for range 5 {
		use, err := s.Take(cursor, appendTo("Projects/a.md"))
		require.That(t, use != nil, "%v", err)
		require.NoError(t, err)
		require.NoError(t, use.Settle(none))
	}
	use, err := s.Take(cursor, appendTo("Projects/a.md"), appendTo("Projects/b.md"))
	require.That(t, use != nil, "%v", err)
	require.NoError(t, err)
	assert.That(t, !takes(t, s, cursor, appendTo("Projects/a.md")), "a change beside two that are under way")
	require.NoError(t, use.Settle(func(i int) bool { return i == 1 }))
	require.NoError(t, use.Settle(every)) // once is enough
	assert.That(t, takes(t, s, cursor, appendTo("Projects/a.md")), "one of the two was made")
	assert.That(t, !takes(t, s, cursor, appendTo("Projects/a.md")), "then there is none left")
}

func TestTwoServersShareTheLastChange(t *testing.T) {
	t.Parallel()
	for range 20 {
		state := t.TempDir()
		_, err := OpenGrants(state, nil).Give(terms, time.Hour)
		require.NoError(t, err)
		var taken atomic.Int64
		var servers sync.WaitGroup
		for range 8 {
			servers.Go(func() {
				s := OpenGrants(state, nil)
				for range 2 {
					if use, _ := s.Take(cursor, appendTo("Projects/a.md")); use != nil {
						taken.Add(1)
						_ = use.Settle(every)
					}
				}
			})
		}
		servers.Wait()
		assert.Equal(t, taken.Load(), 2, "changes that were let through of two")
	}
}

func TestNobodyElseHasTheGrant(t *testing.T) {
	t.Parallel()
	s, _ := given(t, newGrantClock(), terms)
	for name, h := range map[string]GrantHolder{
		"another agent":     {Agent: "codex", Generation: "1", Identity: "folder:1", MaxTime: MaxGrantTime},
		"no agent":          {Identity: "folder:1", MaxTime: MaxGrantTime},
		"a server":          {Server: "1-a", Identity: "folder:1", MaxTime: MaxGrantTime},
		"another vault":     {Agent: "cursor", Generation: "1", Identity: "folder:2", MaxTime: MaxGrantTime},
		"no time by policy": {Agent: "cursor", Generation: "1", Identity: "folder:1"},
	} {
		assert.That(t, !takes(t, s, h, appendTo("Projects/a.md")), "%s", name)
	}
	assert.That(t, takes(t, s, cursor, appendTo("Projects/a.md")), "its own agent")
}

func TestHowAGrantEnds(t *testing.T) {
	t.Parallel()
	renewed := cursor
	renewed.Generation = "2"
	short := cursor
	short.MaxTime = 10 * time.Minute
	for name, tt := range map[string]struct {
		end   func(*Grants, *clockAt, Grant)
		by    GrantHolder
		ended string // what the list says, "" where its time is over
	}{
		"with its time":         {func(_ *Grants, c *clockAt, _ Grant) { c.pass(time.Hour) }, cursor, ""},
		"with the longest time": {func(_ *Grants, c *clockAt, _ Grant) { c.pass(11 * time.Minute) }, short, ""},
		"with its credentials":  {func(*Grants, *clockAt, Grant) {}, renewed, endedByCredentials},
		"by the owner":          {func(s *Grants, _ *clockAt, g Grant) { _, _ = s.End(g.ID) }, cursor, endedByOwner},
		"with its agent":        {func(s *Grants, _ *clockAt, _ Grant) { _ = s.EndOfAgent("cursor") }, cursor, endedByCredentials},
		"with the clock":        {func(_ *Grants, c *clockAt, _ Grant) { c.pass(-time.Hour) }, cursor, endedByClock},
		"with the clock in use": {func(s *Grants, c *clockAt, _ Grant) {
			c.pass(30 * time.Minute)
			_, _ = s.Held(cursor)
			c.pass(-20 * time.Minute)
		}, cursor, endedByClock},
		"with the clock of days": {func(_ *Grants, c *clockAt, _ Grant) { c.pass(-48 * time.Hour) }, cursor, endedByClock},
	} {
		c := newGrantClock()
		s, g := given(t, c, terms)
		tt.end(s, c, g)
		assert.That(t, !takes(t, s, tt.by, appendTo("Projects/a.md")), "%s: it is used", name)
		list, _, err := s.List()
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, len(list), 1, "%s", name)
		assert.Equal(t, list[0].Ended, tt.ended, "%s", name)
		c.set(start.Add(20 * time.Minute)) // a clock that is right again gives nothing back
		if tt.ended != "" {
			assert.That(t, !takes(t, s, cursor, appendTo("Projects/a.md")), "%s: it counts again", name)
		}
	}
}

// A use is remembered by its time, so that a clock is known to be wrong also by a process that has just begun.
// Grants that are over leave no fewer for new ones.
func TestGrantsThatAreOverAreNotCounted(t *testing.T) {
	c := newGrantClock()
	s := openAt(t.TempDir(), c)
	for range maxLiveGrants {
		require.Value(s.Give(terms, time.Minute))(t)
	}
	_, err := s.Give(terms, time.Hour)
	require.That(t, err != nil, "%d grants are in force", maxLiveGrants+1)
	assert.Contains(t, err.Error(), "64 grants in force")
	c.pass(2 * time.Minute)
	_, err = s.Give(terms, time.Hour)
	assert.NoError(t, err)
}

func TestAClockThatIsBehindTheLastUse(t *testing.T) {
	t.Parallel()
	c := newGrantClock()
	s, _ := given(t, c, terms)
	c.pass(30 * time.Minute)
	require.That(t, takes(t, s, cursor, appendTo("Projects/a.md")), "in its time")
	c.pass(-15 * time.Minute)
	other := openAt(filepath.Dir(s.dir), c)
	assert.That(t, !takes(t, other, cursor, appendTo("Projects/a.md")), "a quarter of an hour earlier")
	small := openAt(t.TempDir(), c)
	require.Value(small.Give(terms, time.Hour))(t)
	c.pass(-30 * time.Second) // as time services do
	assert.That(t, takes(t, small, cursor, appendTo("Projects/a.md")), "half a minute earlier")
}

func TestAnEditedFileCountsForNothing(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func([]byte) []byte{
		"more changes":   func(b []byte) []byte { return bytes.Replace(b, []byte(`"changes":2`), []byte(`"changes":9`), 1) },
		"another folder": func(b []byte) []byte { return bytes.Replace(b, []byte("Projects"), []byte("Projekte"), 1) },
		"another agent":  func(b []byte) []byte { return bytes.Replace(b, []byte("cursor"), []byte("codex!"), 1) },
		"a longer time":  func(b []byte) []byte { return bytes.Replace(b, []byte("2026-11-22T11"), []byte("2026-11-22T19"), 1) },
		"a blank":        func(b []byte) []byte { return append([]byte(" "), b...) },
		"a field twice":  func(b []byte) []byte { return bytes.Replace(b, []byte(`"notes":3`), []byte(`"notes":3,"notes":3`), 1) },
		"no sum":         func(b []byte) []byte { return bytes.Replace(b, []byte(`{"sum":"`), []byte(`{"sum":"0`), 1) },
		"nothing":        func([]byte) []byte { return nil },
	} {
		s, g := given(t, newGrantClock(), terms)
		file := filepath.Join(s.dir, g.ID+grantSuffix)
		text := require.Value(os.ReadFile(file))(t)
		edited := edit(bytes.Clone(text))
		require.That(t, !bytes.Equal(edited, text), "%s: the edit changes nothing", name)
		require.NoError(t, os.WriteFile(file, edited, 0o600))
		assert.That(t, !takes(t, s, cursor, appendTo("Projects/a.md")), "%s", name)
		list, damaged, err := s.List()
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, len(list), 0, "%s", name)
		assert.Equal(t, len(damaged), 1, "%s", name)
		_, err = s.End(g.ID)
		_, isDamaged := errors.AsType[*DamagedGrant](err)
		assert.That(t, isDamaged, "%s: ended with %v", name, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		assert.That(t, takes(t, s, cursor, appendTo("Projects/a.md")), "%s: as it was written it counts", name)
	}
}

// A grant of another folder of grants was given by somebody else.
func TestAFileFromElsewhereCountsForNothing(t *testing.T) {
	t.Parallel()
	c := newGrantClock()
	s, _ := given(t, c, terms)
	other, g := given(t, c, terms)
	text := require.Value(os.ReadFile(filepath.Join(other.dir, g.ID+grantSuffix)))(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, g.ID+grantSuffix), text, 0o600))
	list, damaged, err := s.List()
	require.NoError(t, err)
	require.Equal(t, len(list), 1)
	assert.Equal(t, len(damaged), 1)
}

func TestWithoutAGrantNothingIsMade(t *testing.T) {
	t.Parallel()
	s := OpenGrants(t.TempDir(), nil)
	use, err := s.Take(cursor, appendTo("Projects/a.md"))
	require.That(t, use == nil, "%v, %v", use, err)
	require.NoError(t, err)
	assert.That(t, !s.MayHave(), "%v, %v", use, err)
	_, statErr := os.Stat(s.dir)
	assert.That(t, os.IsNotExist(statErr), "the folder was made: %v", statErr)
	assert.NoError(t, use.Settle(every))
	assert.That(t, !(*Grants)(nil).MayHave(), "no store has a grant")
}
