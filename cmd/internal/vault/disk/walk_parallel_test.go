package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// tree makes a vault of folders and files, and opens it.
func tree(t testing.TB, files ...string) *Folder {
	t.Helper()
	texts := map[string]string{}
	for _, name := range files {
		texts[name] = "text of " + name
	}
	dir := t.TempDir()
	plant(t, dir, texts)
	return openFolder(t, dir)
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
		at, err := ParseFolder(under)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		if err := folder.Walk(at, func(e Entry) { want = append(want, fmt.Sprint(e.Path, e.IsDir)) }); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		err = folder.WalkParallel(at, func(e Entry) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(e.Path, e.IsDir))
		})
		slices.Sort(want)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("below %q: %d entries (%v), want %d", under, len(got), err, len(want))
		}
	}
}

func TestAnEntryIsReadFromItsOpenFolder(t *testing.T) {
	folder := tree(t, "a/one.md", "a/b/two.md", "three.md")
	var mu sync.Mutex
	read := map[string]string{}
	err := folder.WalkParallel(Path{}, func(e Entry) {
		if e.IsDir {
			return
		}
		text, info, err := e.Read()
		if err != nil || info.Size() != int64(len(text)) || e.Size() != info.Size() {
			t.Errorf("%s: %v", e.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		read[e.Path.String()] = string(text)
	})
	if err != nil || len(read) != 3 {
		t.Fatalf("read %d files, %v", len(read), err)
	}
	for name, text := range read {
		if text != "text of "+name {
			t.Errorf("%s holds %q", name, text)
		}
	}
}

func TestAParallelWalkOfNothing(t *testing.T) {
	folder := tree(t, "a/one.md")
	missing, _ := ParseFolder("nowhere")
	if err := folder.WalkParallel(missing, func(Entry) { t.Error("visited") }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
	file, _ := ParseFolder("a/one.md")
	if err := folder.WalkParallel(file, func(Entry) { t.Error("visited") }); !IsMissing(err) {
		t.Errorf("a file gives %v", err)
	}
}

func TestAFolderThatMayNotBeEnteredIsEmpty(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root enters every folder")
	}
	folder := tree(t, "open/one.md", "shut/two.md")
	shut := filepath.Join(folder.root.Name(), "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
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
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

func BenchmarkWalk(b *testing.B) {
	var files []string
	for i := range 10_000 {
		files = append(files, fmt.Sprintf("%02d/%d/note %d.md", i%50, i%7, i))
	}
	folder := tree(b, files...)
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			folder.Walk(Path{}, func(e Entry) { e.Size() })
		}
	})
	b.Run("parallel", func(b *testing.B) {
		for b.Loop() {
			folder.WalkParallel(Path{}, func(e Entry) { e.Size() })
		}
	})
}
