package disk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// errFault is what a failing call answers in these tests.
var errFault = errors.New("the disk is on strike")

// faulty lets the n-th call fail. With killed every later call fails too, as
// if the process had ended there.
type faulty struct {
	n      int
	killed bool
	made   int  // calls
	noMove bool // the file system has no move that never replaces
	noLink bool // nor hard links
}

// faults is locked by files that are prepared at once.
var faults sync.Mutex

func (f *faulty) fails() bool {
	faults.Lock()
	defer faults.Unlock()
	f.made++
	return f.made == f.n || f.killed && f.made > f.n
}

func (f *faulty) unless(call func() error) error {
	if f.fails() {
		return errFault
	}
	return call()
}

// calls returns the calls of which some fail. A disk of Windows always has the move.
func (f *faulty) calls(patience system.Patience) system.Calls {
	return system.Calls{
		Patience: patience,
		Around: func(call func() error, method string, names ...string) error {
			switch {
			case method == "Move" && f.noMove && (f.noLink || runtime.GOOS != "windows"):
				return &os.LinkError{Op: "move", Old: names[0], New: names[1], Err: errors.ErrUnsupported}
			case method == "Link" && f.noLink:
				return errFault
			}
			return f.unless(call)
		},
		Opened: func(file system.Handle) system.Handle { return &faultyHandle{Handle: file, faulty: f} },
	}
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
	return h.faulty.unless(func() error { return h.Handle.Chmod(mode) })
}

func (h *faultyHandle) Sync() error { return h.faulty.unless(h.Handle.Sync) }

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

// eachFault runs act with the first, second, third … call failing, on a new folder each time,
// until it succeeds without a fault, and checks the files. Nothing temporary is left unless the
// process was killed.
func eachFault(t *testing.T, sys faulty, files map[string]string, act func(*Folder) error, check func(n int, err error, tree map[string]string)) {
	t.Helper()
	for n := 1; ; n++ {
		require.That(t, n <= 50, "it never succeeded")
		dir := planted(t, files)
		folder, broken := openFolder(t, dir), sys
		broken.n = n
		folder.sys = broken.calls(system.Patient)
		err := act(folder)
		left := temporaries(t, dir)
		assert.That(t, sys.killed || len(left) == 0, "call %d failed and left %q", n, left)
		tree := contents(t, dir)
		maps.DeleteFunc(tree, func(path, _ string) bool { return strings.HasSuffix(path, ".tmp") })
		check(n, err, tree)
		if broken.made < n {
			assert.That(t, err == nil, "nothing failed, and yet: %v", err)
			return
		}
	}
}

func temporaries(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			found = append(found, entry.Name())
		}
		return err
	})
	require.NoError(t, err)
	return found
}

// Changes that become durable together leave each note old or new.
func TestEveryFaultOfSeveralLeavesTheOldOrTheNew(t *testing.T) {
	start := map[string]string{"a.md": oldText, "f/b.md": oldText, "f/c.md": oldText, "f/g/moved.md": oldText}
	done := map[string]string{"a.md": newText, "f/b.md": newText, "f/c.md": newText, "h/moved.md": oldText}
	for _, sys := range []faulty{{}, {killed: true}} {
		eachFault(t, sys, start, func(f *Folder) error {
			var all []Staging
			for _, p := range []string{"a.md", "f/b.md", "f/c.md"} {
				all = append(all, Staging{Draft: f.NewDraft(mustPath(t, p)), Text: textIs([]byte(newText)), Like: mustPath(t, p)})
			}
			g, sync := f.Gathering()
			_, err := g.StageAll(t.Context(), all)
			if err == nil {
				err = g.Move(mustPath(t, "f/g/moved.md"), mustPath(t, "h/moved.md"), Text([]byte(oldText)))
			}
			for _, one := range all {
				if err == nil {
					err = g.Replace(one.Like, Text([]byte(oldText)), one.Draft, Text([]byte(newText)))
				}
			}
			if err == nil {
				err = sync()
			}
			for _, one := range all {
				err = errors.Join(err, discard(f, one.Draft))
			}
			return err
		}, func(n int, err error, tree map[string]string) {
			if _, both := tree["h/moved.md"]; both && sys.killed {
				delete(tree, "f/g/moved.md")
			}
			for p, text := range tree {
				assert.That(t, text == start[p] || text == done[p], "fault %d: %s is %q", n, p, text)
			}
			assert.Equal(t, len(tree), len(start), "fault %d: files", n)
			assert.That(t, err != nil || maps.Equal(tree, done), "fault %d: %q", n, tree)
		})
	}
}

func TestEveryFaultOfANoteLeavesTheOldOrTheNew(t *testing.T) {
	note := mustPath(t, "daily/note.md")
	edit := func(f *Folder) error { return swap(f, note, []byte(oldText), []byte(newText)) }
	create := func(f *Folder) error { return makeNote(f, note, []byte(newText)) }
	old, missing := map[string]string{"daily/note.md": oldText}, map[string]string{}
	for _, test := range []struct {
		name   string
		sys    faulty
		before map[string]string
		act    func(*Folder) error
		empty  bool // a crash may leave the empty note that reserves the name
	}{
		{"edit", faulty{}, old, edit, false}, {"killed edit", faulty{killed: true}, old, edit, false},
		{"make", faulty{}, missing, create, false}, {"killed make", faulty{killed: true}, missing, create, false},
		{"make without move", faulty{noMove: true}, missing, create, false},
		{"killed without move", faulty{noMove: true, killed: true}, missing, create, false},
		{"make without links", faulty{noMove: true, noLink: true}, missing, create, false},
		{"killed without links", faulty{noMove: true, noLink: true, killed: true}, missing, create, true},
	} {
		eachFault(t, test.sys, test.before, test.act, func(n int, _ error, tree map[string]string) {
			got, made := tree["daily/note.md"]
			isEmpty := test.empty && made && got == ""
			isWhole := maps.Equal(tree, test.before) || got == newText
			assert.That(t, isWhole || isEmpty, "%s, fault %d: %q", test.name, n, tree)
		})
	}
}

// patient are the calls that wait for another program, for the note A.md.
var patient = map[string]func(f *Folder) error{
	"Move":   func(f *Folder) error { return f.Move(Path{"A.md"}, Path{"B.md"}, Text([]byte("text"))) },
	"Swap":   func(f *Folder) error { return swap(f, Path{"A.md"}, []byte("text"), []byte("new")) },
	"Remove": func(f *Folder) error { return remove(f, Path{"A.md"}, Text([]byte("text"))) },
	"Trash":  func(f *Folder) error { _, err := trash(f, Path{"A.md"}, Text([]byte("text"))); return err },
}

var errOpenElsewhere = errors.New("a sharing violation")

// A file that another program has open for a moment is moved, written and removed
// all the same. One that stays open is left as it is, under its one name.
func TestPatience(t *testing.T) {
	for name, call := range patient {
		for _, open := range []int{0, 1, 40, 100, 1000} {
			dir := planted(t, map[string]string{"A.md": "text"})
			folder := openFolder(t, dir)
			left, waited := open, time.Duration(0)
			folder.sys = system.Calls{
				Patience: system.Patience{
					InUse: func(err error) bool { return errors.Is(err, errOpenElsewhere) },
					Sleep: func(d time.Duration) { waited += d },
				},
				Around: func(call func() error, method string, names ...string) error {
					if slices.Contains([]string{"Move", "Rename", "Exchange", "Remove"}, method) && slices.Contains(names, "A.md") {
						if left--; left >= 0 {
							return errOpenElsewhere
						}
					}
					return call()
				},
			}
			err := call(folder)
			tree := contents(t, dir)
			switch {
			case open <= 40 && err != nil:
				t.Errorf("%s of a file that is open %d times: %v", name, open, err)
			case open <= 40 && (waited > 2*time.Second || (waited == 0) != (open == 0)):
				t.Errorf("%s of a file that is open %d times: waited %v", name, open, waited)
			case open > 40 && (!errors.Is(err, system.ErrInUse) || !maps.Equal(tree, map[string]string{"A.md": "text"})):
				t.Errorf("%s of a file that stays open: %v, the folder has %q", name, err, tree)
			}
			assert.That(t, len(tree) <= 1, "%s of a file that is open %d times leaves %q", name, open, tree)
			assert.Equal(t, len(temporaries(t, dir)), 0,
				"%s of a file that is open %d times leaves %q", name, open, tree)
		}
	}
}

func TestTemporaryNames(t *testing.T) {
	for range 100 {
		name := temporary()
		assert.That(t, isTemporary(name), "%q is none", name)
	}
	for _, name := range []string{
		"", ".tmp", ".vaultwicket-.tmp", ".vaultwicket-0123456789abcde.tmp", ".vaultwicket-0123456789abcdeff.tmp", ".vaultwicket-0123456789ABCDEF.tmp",
		".vaultwicket-0123456789abcdeg.tmp", "vaultwicket-0123456789abcdef.tmp", ".vaultwicket-0123456789abcdef.tmp.md",
		".vaultwicket-0123456789abcdef", ".vaultwicketignore",
	} {
		assert.That(t, !isTemporary(name), "%q is one", name)
	}
}
