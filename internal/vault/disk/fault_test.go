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
	"github.com/vaultwicket/vaultwicket/tests/memory"
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

// A series leaves each note old or new, and durable: the folders are synced at its end, once.
func TestEveryFaultOfASeriesLeavesTheOldOrTheNew(t *testing.T) {
	start := map[string]string{"a.md": oldText, "f/b.md": oldText, "f/c.md": oldText, "f/g/moved.md": oldText}
	done := map[string]string{"a.md": newText, "f/b.md": newText, "f/c.md": newText, "h/moved.md": oldText}
	for _, sys := range []faulty{{}, {killed: true}} {
		eachFault(t, sys, start, func(f *Folder) error {
			texts := map[Path][]byte{}
			for _, p := range []string{"a.md", "f/b.md", "f/c.md", "missing.md"} {
				texts[mustPath(t, p)] = []byte(newText)
			}
			g, end := f.Series(texts)
			err := g.Move(mustPath(t, "f/g/moved.md"), mustPath(t, "h/moved.md"), Text([]byte(oldText)))
			for _, p := range []string{"a.md", "f/b.md", "f/c.md"} {
				if err == nil {
					err = g.Swap(mustPath(t, p), []byte(oldText), []byte(newText))
				}
			}
			return errors.Join(err, end(err == nil))
		}, func(n int, err error, tree map[string]string) {
			if _, both := tree["h/moved.md"]; both && sys.killed {
				delete(tree, "f/g/moved.md")
			}
			for p, text := range tree {
				assert.That(t, text == start[p] || text == done[p], "fault %d: %s is %q", n, p, text)
			}
			assert.That(t, len(tree) == len(start) && (err != nil || maps.Equal(tree, done)), "fault %d: %v, %q", n, err, tree)
		})
	}
}

// What was prepared and is not what is written is not used, and nothing of it is left.
func TestASeriesWritesWhatItIsGiven(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": oldText, "b.md": oldText})
	f, a := openFolder(t, dir), mustPath(t, "a.md")
	g, end := f.Series(map[Path][]byte{a: []byte("first"), mustPath(t, "b.md"): []byte("first")})
	require.NoError(t, errors.Join(g.Swap(a, []byte(oldText), []byte(newText)), g.Swap(a, []byte(newText), []byte("first")), end(true)))
	got := contents(t, dir)
	assert.That(t, maps.Equal(got, map[string]string{"a.md": "first", "b.md": oldText}) && len(temporaries(t, dir)) == 0, "%q", got)
}

func TestEveryFaultOfANoteLeavesTheOldOrTheNew(t *testing.T) {
	note := mustPath(t, "daily/note.md")
	edit := func(f *Folder) error { return f.Swap(note, []byte(oldText), []byte(newText)) }
	create := func(f *Folder) error { return f.Make(note, []byte(newText)) }
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
		{"make without move", faulty{noMove: true}, missing, create, false}, {"killed without move", faulty{noMove: true, killed: true}, missing, create, false},
		{"make without links", faulty{noMove: true, noLink: true}, missing, create, false},
		{"killed without links", faulty{noMove: true, noLink: true, killed: true}, missing, create, true},
	} {
		eachFault(t, test.sys, test.before, test.act, func(n int, _ error, tree map[string]string) {
			got, made := tree["daily/note.md"]
			assert.That(t, maps.Equal(tree, test.before) || got == newText || (test.empty && made && got == ""), "%s, fault %d: %q", test.name, n, tree)
		})
	}
}

// patient are the calls that wait for another program, for the note A.md.
var patient = map[string]func(f *Folder) error{
	"Move":   func(f *Folder) error { return f.Move(Path{"A.md"}, Path{"B.md"}, Text([]byte("text"))) },
	"Swap":   func(f *Folder) error { return f.Swap(Path{"A.md"}, []byte("text"), []byte("new")) },
	"Remove": func(f *Folder) error { return f.Remove(Path{"A.md"}, Text([]byte("text"))) },
	"Trash":  func(f *Folder) error { _, err := f.Trash(Path{"A.md"}, Text([]byte("text"))); return err },
}

var errOpenElsewhere = errors.New("a sharing violation")

// A file that another program has open for a moment is moved, written and removed
// all the same. One that stays open is left as it is, under its one name.
func TestPatience(t *testing.T) {
	for name, call := range patient {
		for _, open := range []int{0, 1, 6, 7, 1000} {
			dir := planted(t, map[string]string{"A.md": "text"})
			folder := openFolder(t, dir)
			left, waited := open, time.Duration(0)
			folder.sys = system.Calls{
				Patience: system.Patience{
					InUse: func(err error) bool { return errors.Is(err, errOpenElsewhere) },
					Sleep: func(d time.Duration) { waited += d },
				},
				Around: func(call func() error, method string, names ...string) error {
					if slices.Contains([]string{"Move", "Rename", "Remove"}, method) && slices.Contains(names, "A.md") {
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
			case open <= 6 && err != nil:
				t.Errorf("%s of a file that is open %d times: %v", name, open, err)
			case open <= 6 && (waited > time.Second || (waited == 0) != (open == 0)):
				t.Errorf("%s of a file that is open %d times: waited %v", name, open, waited)
			case open > 6 && (!errors.Is(err, system.ErrInUse) || !maps.Equal(tree, map[string]string{"A.md": "text"})):
				t.Errorf("%s of a file that stays open: %v, the folder has %q", name, err, tree)
			}
			assert.That(t, len(tree) <= 1 && len(temporaries(t, dir)) == 0, "%s of a file that is open %d times leaves %q", name, open, tree)
		}
	}
}

const tempName = ".vaultwicket-0123456789abcdef.tmp"

func TestTemporaryNames(t *testing.T) {
	for range 100 {
		name := temporary()
		assert.That(t, isTemporary(name), "%q is none", name)
	}
	for _, name := range []string{
		"", ".tmp", ".vaultwicket-.tmp", ".vaultwicket-0123456789abcde.tmp", ".vaultwicket-0123456789abcdeff.tmp", ".vaultwicket-0123456789ABCDEF.tmp",
		".vaultwicket-0123456789abcdeg.tmp", "vaultwicket-0123456789abcdef.tmp", ".vaultwicket-0123456789abcdef.tmp.md", ".vaultwicket-0123456789abcdef", ".vaultwicketignore",
	} {
		assert.That(t, !isTemporary(name), "%q is one", name)
	}
}

// What a killed writer left is removed wherever it can be, and nothing else is,
// whatever a view hides.
func TestSweep(t *testing.T) {
	dir := memory.Folder(t)
	other := t.TempDir()
	kept := map[string]string{
		"a.md": "text", "A/.vaultwicket-0123456789abcdeg.tmp": "x", "A/vaultwicket-0123456789abcdef.tmp": "x", ".hidden/" + tempName: "x",
		".obsidian/plugins/" + tempName: "x", ".trash/deep/" + tempName: "x", "A/folder/" + tempName + "/n.md": "x", ".vaultwicketignore": "Private/\n",
	}
	plant(t, dir, kept)
	plant(t, dir, map[string]string{
		tempName: "left", "A/" + tempName: "left", "A/B/C/" + tempName: "left", "Private/" + tempName: "left", ".trash/" + tempName: "left", ".obsidian/" + tempName: "left",
	})
	plant(t, other, map[string]string{tempName: "elsewhere", "n.md": "elsewhere"})
	linked := os.Symlink(other, filepath.Join(dir, "A", "link")) == nil && os.Symlink(filepath.Join(other, "n.md"), filepath.Join(dir, "A", "B", ".vaultwicket-00000000000000aa.tmp")) == nil
	f := openFolder(t, dir).WithView(levels{"Private": false})

	left, err := f.Sweep(time.Now().Add(-time.Hour))
	assert.That(t, left == 6 && err == nil, "what is young stays: %d, %v", left, err)
	left, err = f.Sweep(time.Now().Add(time.Hour))
	assert.That(t, left == 0 && err == nil, "%d are left, %v", left, err)
	assert.That(t, !linked || os.Remove(filepath.Join(dir, "A", "link")) == nil, "the link to a folder is gone")
	got := contents(t, dir)
	delete(got, "A/B/.vaultwicket-00000000000000aa.tmp") // read through the link
	assert.That(t, maps.Equal(got, kept), "the tree is %q, want %q", got, kept)
	if linked && len(contents(t, other)) != 2 {
		t.Errorf("the target of the link is %q", contents(t, other))
	}
}

// A file that was given an old time is not old where the system tells when it was
// last changed.
func TestSweepGoesByTheLastChange(t *testing.T) {
	dir := memory.Folder(t)
	plant(t, dir, map[string]string{tempName: "x"})
	full := filepath.Join(dir, tempName)
	require.NoError(t, os.Chtimes(full, time.Unix(1, 0), time.Unix(1, 0)))
	info := require.Value(os.Stat(full))(t)
	if system.StampOf(info).Changed == 0 {
		t.Skip("this system does not tell")
	}
	left, err := openFolder(t, dir).Sweep(time.Now().Add(-time.Hour))
	assert.That(t, left == 1 && err == nil, "%d are left, %v", left, err)
}

func TestSweepFindsWhatEveryKilledWriterLeft(t *testing.T) {
	left := 0
	for name, act := range changesOfSwapped {
		for n := 1; ; n++ {
			dir := memory.Folder(t)
			plant(t, dir, swappedVault)
			f, broken := openFolder(t, dir), &faulty{n: n, killed: true}
			f.sys = broken.calls(system.Patient)
			err := act(f)
			left += len(temporaries(t, dir))
			if _, err := openFolder(t, dir).Sweep(time.Now().Add(time.Hour)); err != nil || len(temporaries(t, dir)) > 0 {
				t.Errorf("%s, killed at call %d: %v, %q", name, n, err, temporaries(t, dir))
			}
			if broken.made < n {
				assert.That(t, err == nil, "%s: %v", name, err)
				break
			}
		}
	}
	assert.That(t, left != 0, "no writer left anything")
}

// What cannot be removed is told, and looked for again.
func TestSweepTellsWhatItCouldNotRemove(t *testing.T) {
	dir := memory.Folder(t)
	plant(t, dir, map[string]string{tempName: "x", "A/" + tempName: "x"})
	f := openFolder(t, dir)
	f.sys = (&faulty{n: 1, killed: true}).calls(system.Patient)
	left, err := f.Sweep(time.Now().Add(time.Hour))
	assert.That(t, left == 2 && err == nil, "%d are left, %v", left, err)
	f.Close()
	_, err = f.Sweep(time.Now())
	assert.ErrorIs(t, err, os.ErrClosed, "a closed folder")
}
