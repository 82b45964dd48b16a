package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// errFault is what a failing call answers in these tests.
var errFault = errors.New("the disk is on strike")

// faulty lets the n-th call fail. With killed every later call fails too, as
// if the process had ended there.
type faulty struct {
	real   system.Real
	n      int
	killed bool
	calls  int
	noMove bool // the file system has no move that never replaces
	noLink bool // nor hard links
}

func (f *faulty) fails() bool {
	f.calls++
	return f.calls == f.n || f.killed && f.calls > f.n
}

func (f *faulty) Create(dir *os.Root, name string, perm fs.FileMode) (system.Handle, error) {
	if f.fails() {
		return nil, errFault
	}
	file, err := f.real.Create(dir, name, perm)
	if err != nil {
		return nil, err
	}
	return &faultyHandle{Handle: file, faulty: f}, nil
}

func (f *faulty) Mkdir(dir *os.Root, name string) error {
	if f.fails() {
		return errFault
	}
	return f.real.Mkdir(dir, name)
}

func (f *faulty) Move(source *os.Root, from string, target *os.Root, to string) error {
	if f.noMove {
		return &os.LinkError{Op: "move", Old: from, New: to, Err: errors.ErrUnsupported}
	}
	if f.fails() {
		return errFault
	}
	return f.real.Move(source, from, target, to)
}

func (f *faulty) Rename(source *os.Root, from string, target *os.Root, to string) error {
	if f.fails() {
		return errFault
	}
	return f.real.Rename(source, from, target, to)
}

func (f *faulty) Link(source *os.Root, from string, target *os.Root, to string) error {
	if f.noLink || f.fails() {
		return errFault
	}
	if runtime.GOOS == "windows" {
		return os.Link(filepath.Join(source.Name(), from), filepath.Join(target.Name(), to)) // it needs none there
	}
	return f.real.Link(source, from, target, to)
}

func (f *faulty) Remove(dir *os.Root, name string) error {
	if f.fails() {
		return errFault
	}
	return f.real.Remove(dir, name)
}

func (f *faulty) Rmdir(dir *os.Root, name string) error {
	if f.fails() {
		return errFault
	}
	return f.real.Rmdir(dir, name)
}

func (f *faulty) Sync(dir *os.Root) error {
	if f.fails() {
		return errFault
	}
	return f.real.Sync(dir)
}

// faultyHandle writes half of the text before it fails.
type faultyHandle struct {
	system.Handle
	faulty *faulty
}

func (h *faultyHandle) Write(text []byte) (int, error) {
	if h.faulty.fails() {
		n, _ := h.Handle.Write(text[:len(text)/2])
		return n, errFault
	}
	return h.Handle.Write(text)
}

func (h *faultyHandle) Chmod(mode fs.FileMode) error {
	if h.faulty.fails() {
		return errFault
	}
	return h.Handle.Chmod(mode)
}

func (h *faultyHandle) Sync() error {
	if h.faulty.fails() {
		return errFault
	}
	return h.Handle.Sync()
}

func (h *faultyHandle) Close() error {
	err := h.Handle.Close()
	if h.faulty.fails() {
		return errFault
	}
	return err
}

const (
	oldText = "old text\n"
	newText = "new text, which is longer\n"
)

// everyFault runs act with the first, second, third … call failing until it
// succeeds, and looks at the note each time.
func everyFault(t *testing.T, sys faulty, before map[string]string, act func(*Folder) error, check func(t *testing.T, note, atCall string)) {
	t.Helper()
	for n := 1; ; n++ {
		if n > 50 {
			t.Fatal("the write never succeeded")
		}
		dir := planted(t, before)
		folder := openFolder(t, dir)
		broken := sys
		broken.n = n
		folder.sys = &broken
		err := act(folder)
		text, missing := os.ReadFile(filepath.Join(dir, "daily", "note.md"))
		if missing != nil {
			text = []byte("(missing)")
		}
		check(t, string(text), strings.Repeat("I", n))
		if left := temporaries(t, dir); !broken.killed && len(left) > 0 && !removeFailed(&broken, err) {
			t.Errorf("call %d failed and left %q", n, left)
		}
		if broken.calls < n {
			if err != nil {
				t.Errorf("nothing failed, and yet: %v", err)
			}
			return
		}
	}
}

// removeFailed reports whether the one failing call was the removal of the
// temporary file itself, behind which nothing can tidy up.
func removeFailed(f *faulty, err error) bool {
	return err != nil && strings.Contains(err.Error(), "a temporary file is left") && f.n > 0
}

func temporaries(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			found = append(found, entry.Name())
		}
		return err
	})
	must(t, err)
	return found
}

func TestEveryFaultOfAnEditLeavesTheOldNoteOrTheNew(t *testing.T) {
	for _, killed := range []bool{false, true} {
		edit := func(f *Folder) error {
			_, _, err := f.Edit(mustPath(t, "daily/note.md"), func([]byte) []byte { return []byte(newText) })
			return err
		}
		everyFault(t, faulty{killed: killed}, map[string]string{"daily/note.md": oldText}, edit, func(t *testing.T, note, atCall string) {
			if note != oldText && note != newText {
				t.Errorf("killed %v, fault %s: %q", killed, atCall, note)
			}
		})
	}
}

func TestEveryFaultOfAMakeLeavesNoNoteOrTheWholeOne(t *testing.T) {
	for _, sys := range []faulty{{}, {killed: true}, {noMove: true}, {noMove: true, killed: true}} {
		create := func(f *Folder) error { return f.Make(mustPath(t, "daily/note.md"), []byte(newText)) }
		everyFault(t, sys, nil, create, func(t *testing.T, note, atCall string) {
			if note != "(missing)" && note != newText {
				t.Errorf("%+v, fault %s: %q", sys, atCall, note)
			}
		})
	}
}

func TestWithoutHardLinksANoteIsMadeAllTheSame(t *testing.T) {
	create := func(f *Folder) error { return f.Make(mustPath(t, "daily/note.md"), []byte(newText)) }
	everyFault(t, faulty{noMove: true, noLink: true}, nil, create, func(t *testing.T, note, atCall string) {
		if note != "(missing)" && note != newText {
			t.Errorf("fault %s: %q", atCall, note)
		}
	})
	// A crash in between may leave the empty note that holds the name.
	everyFault(t, faulty{noMove: true, noLink: true, killed: true}, nil, create, func(t *testing.T, note, atCall string) {
		if note != "(missing)" && note != newText && note != "" {
			t.Errorf("fault %s: %q", atCall, note)
		}
	})
}
