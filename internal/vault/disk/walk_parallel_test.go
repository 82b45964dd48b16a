package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// tree makes a vault of folders and files, and opens it.
func tree(t testing.TB, files ...string) *Folder {
	t.Helper()
	texts := map[string]string{}
	for _, name := range files {
		texts[name] = "text of " + name
	}
	return openFolder(t, planted(t, texts))
}

func TestAParallelWalkMeetsWhatAWalkMeets(t *testing.T) {
	var files []string
	for i := range 3*batch + 5 {
		files = append(files, fmt.Sprintf("many/%03d.md", i))
	}
	for i := range 40 {
		files = append(files, fmt.Sprintf("deep/%d/%d/%d/note.md", i%2, i%5, i))
	}
	folder := tree(t, append(files, ".hidden/x.md", "a/.b/x.md", "top.md", "a/b/c/d/e/f.txt")...)
	for _, under := range []string{"", "many", "deep", "a/b"} {
		at := require.Value(ParseFolder(under))(t)
		var want, got []string
		require.NoError(t, folder.Walk(at, func(e Entry) { want = append(want, fmt.Sprint(e.Path, e.IsDir)) }))
		var mu sync.Mutex
		err := folder.WalkParallel(at, func(e Entry) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(e.Path, e.IsDir))
		})
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, err, nil, "below %q: %d entries (%v), want %d", under, len(got), err, len(want))
		assert.EqualSlices(t, got, want, "below %q: %d entries (%v), want %d", under, len(got), err, len(want))
		assert.That(t, len(got) != 0, "below %q: %d entries (%v), want %d", under, len(got), err, len(want))
	}
}

func TestAFolderThatMayNotBeEnteredIsEmpty(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are made up there")
	}
	if os.Geteuid() == 0 {
		t.Skip("root enters every folder")
	}
	folder := tree(t, "open/one.md", "shut/two.md")
	shut := filepath.Join(folder.root.Name(), "shut")
	require.NoError(t, os.Chmod(shut, 0))
	t.Cleanup(func() { os.Chmod(shut, 0o755) })
	files := 0
	var mu sync.Mutex
	err := folder.WalkParallel(Path{}, func(e Entry) {
		mu.Lock()
		defer mu.Unlock()
		if !e.IsDir {
			files++
		}
	})
	require.Equal(t, err, nil, "%d files", files)
	assert.Equal(t, files, 1, "%d files", files)
}

func TestAParallelWalkKeepsEveryProcessorBusyAndNoMore(t *testing.T) {
	most := runtime.GOMAXPROCS(0)
	var files []string
	for i := range most * batch {
		files = append(files, fmt.Sprintf("one/%04d.md", i))
	}
	var mu sync.Mutex
	now, highest, arrived := 0, 0, 0
	count := func(by int) (first bool) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		highest = max(highest, now)
		arrived += max(by, 0)
		return arrived <= most
	}
	var met sync.WaitGroup // the first visits wait for one another
	met.Add(most)
	err := tree(t, files...).WalkParallel(mustPath(t, "one"), func(Entry) {
		first := count(1)
		defer count(-1)
		if first {
			met.Done()
			met.Wait()
		}
	})
	require.Equal(t, err, nil, "%d visits at once of %d", highest, most)
	assert.Equal(t, highest, most, "%d visits at once of %d", highest, most)
}

func TestAWalkInsideAWalkEnds(t *testing.T) {
	folder := tree(t, "a/one.md", "b/two.md", "c/d/three.md")
	var files atomic.Int64
	err := folder.WalkParallel(Path{}, func(e Entry) {
		if !e.IsDir {
			return
		}
		assert.NoError(t, folder.WalkParallel(e.Path, func(e Entry) { files.Add(1) }))
	})
	require.Equal(t, err, nil, "%d files", files.Load())
	assert.Equal(t, files.Load(), 5, "%d files", files.Load())
}

func TestAChildIsWhatParsePathMakesOfIt(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", ".", "..", ".b", "c.md", "/", `\`, "\n", "\x7f", "\u202e", "\xff", " ", "NUL", "é", strings.Repeat("x", 250)})
	folder := rapid.SampledFrom([]string{"", "a", "a/b c", strings.Repeat("d/", maxSegments-2) + "d",
		strings.Repeat("d/", maxSegments-1) + "d", strings.Repeat(strings.Repeat("y", 255)+"/", 15) + "y"})
	rapid.Check(t, func(t *rapid.T) {
		at := require.Value(ParseFolder(folder.Draw(t, "folder")))(t)
		name := strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "name"), "")
		if strings.Contains(name, "/") {
			child, ok := at.child(name)
			require.That(t, !ok, "%q is one name", child)
			return
		}
		full := name
		if at.text != "" {
			full = at.text + "/" + name
		}
		want, err := ParsePath(full)
		got, ok := at.child(name)
		require.Equal(t, ok, err == nil, "%q in %q: %q, parsed %q, %v", name, at, got, want, err)
		require.That(t, !ok || got == want, "%q in %q: %q, parsed %q, %v", name, at, got, want, err)
	})
	long := Path{strings.Repeat("a", maxPath-len("/b"))}
	_, fits := long.child("b")
	_, over := long.child("bb")
	assert.That(t, fits, "a path as long as can be: and a byte more")
	assert.That(t, !over, "a path as long as can be: and a byte more")
}
