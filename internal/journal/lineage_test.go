package journal

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// done journals an entry of some steps, as made by a call that takes back others.
func done(t *testing.T, j *Journal, at time.Time, takesBack []string, steps ...Step) (id string) {
	t.Helper()
	texts := map[string][]byte{}
	for i := range steps {
		if steps[i].Before.Exists {
			texts[steps[i].Source()] = []byte(steps[i].Source())
		}
	}
	e := Entry{ID: NewID(at), Time: at, Command: "c", Steps: steps}
	if len(takesBack) > 0 {
		e.Undoes, e.Also = takesBack[0], takesBack[1:]
	}
	require.NoError(t, j.Begin(e, textsOf(texts)))
	require.NoError(t, j.End(e.ID, Outcome{State: Done}))
	for _, undone := range takesBack {
		require.NoError(t, j.MarkUndone(undone, e.ID))
	}
	return e.ID
}

// at is the image of the file at a path, whose text is the path.
func at(path string) Image { return ImageOf([]byte(path)) }

func copied(from, to string) Step {
	return Step{Path: to, After: at(to), Of: []Origin{{Path: from}}}
}

func moved(from, to string) Step {
	return Step{Path: to, From: from, Before: at(from), After: at(from)}
}

func made(path string) Step { return Step{Path: path, After: at(path)} }

func removed(path string) Step { return Step{Path: path, Before: at(path)} }

func originsOf(t *testing.T, j *Journal, path string) (paths []string) {
	t.Helper()
	l, err := j.Lineage(t.Context())
	require.NoError(t, err)
	for _, o := range l.Of(path) {
		paths = append(paths, o.Path)
	}
	slices.Sort(paths)
	return paths
}

// TestTheLineageOfANote follows notes through changes, and asks after each of them in the process that made it, in one that
// has asked before, and in a new one.
func TestTheLineageOfANote(t *testing.T) {
	j := newJournal(t, Limits{})
	other := again(j)
	now := time.Now().Add(-time.Hour)
	ids := map[string]string{}
	for _, test := range []struct {
		name  string
		undo  []string
		steps []Step
		of    map[string][]string
	}{
		{"make", nil, []Step{made("a.md")}, map[string][]string{"a.md": nil}},
		{"copy", nil, []Step{copied("J/j.md", "b.md")}, map[string][]string{"b.md": {"J/j.md"}}},
		{"move", nil, []Step{moved("b.md", "c.md")}, map[string][]string{"c.md": {"J/j.md", "b.md"}, "b.md": nil, "C.md": {"J/j.md", "b.md"}}},
		{"copy on", nil, []Step{copied("c.md", "F/d.md")}, map[string][]string{"F/d.md": {"J/j.md", "b.md", "c.md"}}},
		{"undo the move", []string{"move"}, []Step{moved("c.md", "b.md")},
			map[string][]string{"b.md": {"J/j.md"}, "c.md": nil, "F/d.md": {"J/j.md", "b.md", "c.md"}}},
		{"remove", nil, []Step{removed("F/d.md")}, map[string][]string{"F/d.md": {"J/j.md", "b.md", "c.md"}}},
		{"another of its name", nil, []Step{made("F/d.md")}, map[string][]string{"F/d.md": nil}},
		{"undo that", []string{"another of its name"}, []Step{removed("F/d.md")}, map[string][]string{"F/d.md": {"J/j.md", "b.md", "c.md"}}},
		{"merge", nil, []Step{{Path: "m.md", Before: at("m.md"), After: at("m"),
			Of: []Origin{{Path: "b.md", Marks: []string{"#x"}}}}, removed("b.md")},
			map[string][]string{"m.md": {"J/j.md", "b.md"}}},
		{"swap", nil, []Step{moved("m.md", "n.md"), moved("a.md", "m.md")}, map[string][]string{"n.md": {"J/j.md", "b.md", "m.md"}, "m.md": {"a.md"}}},
	} {
		now = now.Add(time.Second)
		var back []string
		for _, name := range test.undo {
			back = append(back, ids[name])
		}
		ids[test.name] = done(t, j, now, back, test.steps...)
		for path, want := range test.of {
			for which, j := range []*Journal{j, other, again(j)} {
				assert.Equal(t, fmt.Sprint(originsOf(t, j, path)), fmt.Sprint(want), "%s: %s, journal %d", test.name, path, which)
			}
		}
	}
	l, err := other.Lineage(t.Context())
	require.NoError(t, err)
	madeOf := l.MadeOf(func(o Origin) bool { return slices.Contains(o.Marks, "#x") })
	assert.Equal(t, fmt.Sprint(madeOf), "[n.md]", "made of a note with a tag")
}

// TestALineageOutlivesItsEntries removes the oldest segments after each change: what notes were made of stays known, also
// that an undo has restored it.
func TestALineageOutlivesItsEntries(t *testing.T) {
	j := newJournal(t, Limits{MaxAge: 24 * time.Hour})
	later := time.Duration(0)
	start := time.Now()
	j.now = func() time.Time { return start.Add(later) }
	asked := again(j)
	steps := []Step{copied("J/j.md", "b.md"), moved("b.md", "c.md"), copied("c.md", "F/d.md")}
	for _, s := range steps {
		later += time.Second
		done(t, j, j.now(), nil, s)
	}
	later += time.Second
	undone := done(t, j, j.now(), nil, moved("F/d.md", "x.md"))
	done(t, j, j.now().Add(time.Millisecond), []string{undone}, moved("x.md", "F/d.md"))
	want := originsOf(t, asked, "F/d.md")
	assert.Equal(t, fmt.Sprint(want), "[J/j.md b.md c.md]", "before")
	for range 3 { // all that was written before is too old each time
		later += 40 * 24 * time.Hour
		done(t, j, j.now(), nil, made(fmt.Sprint(later)))
		require.NoError(t, j.Prune())
	}
	list := entries(t, again(j))
	assert.That(t, len(list) < 3, "%d entries are left", len(list))
	for which, j := range []*Journal{j, asked, again(j)} {
		assert.Equal(t, fmt.Sprint(originsOf(t, j, "F/d.md")), fmt.Sprint(want), "journal %d", which)
		assert.Equal(t, fmt.Sprint(originsOf(t, j, "x.md")), "[]", "journal %d", which)
	}
	later += time.Second
	done(t, j, j.now(), nil, copied("F/d.md", "last.md"))
	assert.Equal(t, fmt.Sprint(originsOf(t, asked, "last.md")), "[F/d.md J/j.md b.md c.md]", "made of it later")
}

// TestTheOwnerClearsALineage: what a note was made of is forgotten, and what is made of others later counts again.
func TestTheOwnerClearsALineage(t *testing.T) {
	j := newJournal(t, Limits{})
	other := again(j)
	now := time.Now().Add(-time.Minute)
	done(t, j, now, nil, copied("J/j.md", "F/b.md"), copied("J/j.md", "c.md"))
	assert.Equal(t, fmt.Sprint(originsOf(t, other, "F/b.md")), "[J/j.md]", "before")
	require.NoError(t, other.ClearLineage("F"))
	for which, j := range []*Journal{j, other, again(j)} {
		assert.Equal(t, fmt.Sprint(originsOf(t, j, "F/b.md"), originsOf(t, j, "c.md")), "[] [J/j.md]", "journal %d", which)
	}
	done(t, j, time.Now(), nil, Step{Path: "F/b.md", Before: at("F/b.md"), After: at("x"), Of: []Origin{{Path: "J/k.md"}}})
	for which, j := range []*Journal{j, other, again(j)} {
		assert.Equal(t, fmt.Sprint(originsOf(t, j, "F/b.md")), "[J/k.md]", "journal %d", which)
	}
	require.NoError(t, j.ClearLineage("/"))
	assert.Equal(t, fmt.Sprint(originsOf(t, other, "F/b.md"), originsOf(t, other, "c.md")), "[] []", "all")
}

// TestALineageIsBounded: of very many notes their folders are kept.
func TestALineageIsBounded(t *testing.T) {
	j := newJournal(t, Limits{})
	now := time.Now().Add(-time.Hour)
	for n := range 3 * maxOrigins {
		from := fmt.Sprintf("J/%d/note.md", n)
		done(t, j, now.Add(time.Duration(n)*time.Second), nil, Step{Path: "all.md", Before: at("all.md"), After: at("x"), Of: []Origin{{Path: from}}})
	}
	origins := originsOf(t, again(j), "all.md")
	require.That(t, len(origins) > 0, "%d origins", len(origins))
	require.That(t, len(origins) <= maxOrigins, "%d origins", len(origins))
	assert.That(t, slices.Contains(origins, "J/"), "%q", origins)
}

// TestADamagedLineageIsAnError: it is not taken for none.
func TestADamagedLineageIsAnError(t *testing.T) {
	j := newJournal(t, Limits{})
	done(t, j, time.Now(), nil, copied("J/j.md", "b.md"))
	require.NoError(t, j.ClearLineage("c.md"))
	name := j.folder.file(clearedFile)
	file, err := j.sys.Open(name, os.O_WRONLY|os.O_APPEND)
	require.NoError(t, err)
	_, err = file.Write([]byte("0"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = again(j).Lineage(t.Context())
	assert.That(t, err != nil, "a damaged file")
}
