package disk

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"golang.org/x/sys/unix"
)

// dirent returns an entry as the kernel writes it.
func dirent(name string, kind byte) []byte {
	entry := make([]byte, (direntName+len(name)+1+7)&^7)
	binary.NativeEndian.PutUint16(entry[direntLength:], uint16(len(entry)))
	entry[direntKind] = kind
	copy(entry[direntName:], name)
	return entry
}

func TestEntriesOfAFolder(t *testing.T) {
	dir := planted(t, map[string]string{"file.md": "", "folder/x": ""})
	require.NoError(t, os.Symlink("file.md", dir+"/link.md"))
	at := require.Value(openFolder(t, dir).place(nil))(t)
	defer at.close()
	cut := dirent("b.md", unix.DT_REG)
	endless := dirent("b.md", unix.DT_REG)
	binary.NativeEndian.PutUint16(endless[direntLength:], 0)
	first := listed{"a.md", false}
	for name, test := range map[string]struct {
		entries [][]byte
		want    []listed
	}{
		"a file and a folder":     {[][]byte{dirent("a.md", unix.DT_REG), dirent("b", unix.DT_DIR)}, []listed{first, {"b", true}}},
		"links and special files": {[][]byte{dirent("a.md", unix.DT_REG), dirent("l", unix.DT_LNK), dirent("p", unix.DT_FIFO)}, []listed{first}},
		"hidden ones": {[][]byte{dirent(".", unix.DT_DIR), dirent("..", unix.DT_DIR),
			dirent(".x", unix.DT_REG), dirent("a.md", unix.DT_REG)}, []listed{first}},
		"kinds that are not told": {[][]byte{dirent("file.md", unix.DT_UNKNOWN), dirent("folder", unix.DT_UNKNOWN)},
			[]listed{{"file.md", false}, {"folder", true}}},
		"a link that is not told":   {[][]byte{dirent("link.md", unix.DT_UNKNOWN), dirent("gone.md", unix.DT_UNKNOWN)}, nil},
		"an entry that is cut":      {[][]byte{dirent("a.md", unix.DT_REG), cut[:len(cut)-1]}, []listed{first}},
		"a head that is cut":        {[][]byte{dirent("a.md", unix.DT_REG), cut[:direntKind]}, []listed{first}},
		"an entry without a length": {[][]byte{dirent("a.md", unix.DT_REG), endless}, []listed{first}},
		"an entry without a name":   {[][]byte{dirent("", unix.DT_REG), dirent("a.md", unix.DT_REG)}, []listed{first}},
	} {
		assert.EqualSlices(t, at.(steady).place.(descriptor).pick(nil, slices.Concat(test.entries...)), test.want, "%s", name)
	}
}

func TestAWalkLeavesNothingOpen(t *testing.T) {
	folder := tree(t, "a/b/c/one.md", "a/two.md", "d/three.md", "four.md", access.IgnoreFile)
	require.NoError(t, os.Mkdir(folder.root.Name()+"/empty", 0o755))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what is forgotten
	open := func() int {
		found, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("cannot be counted here")
		}
		return len(found)
	}
	before := open()
	for range 20 {
		require.NoError(t, folder.Walk(Path{}, func(e Entry) { e.Read() }))
		require.NoError(t, folder.WalkParallel(Path{}, func(e Entry) { e.Read() }))
		root := require.Value(folder.enter([]string{"a"}))(t)
		folder.Ignored()
		at := rooted{dir: root}
		at.list()
		at.read("two.md", nil)
		at.close()
		for _, name := range []string{"a/b/c/one.md", "a/b", "a/none.md", "a/two.md/x"} {
			folder.ReadStamped(mustPath(t, name))
			folder.Stamp(mustPath(t, name))
			folder.Stat(mustPath(t, name))
			swap(folder, mustPath(t, name), []byte("text of "+name), []byte("text of "+name))
		}
	}
	after := open()
	assert.That(t, after == before, "%d descriptors, %d before", after, before)
}

// starved lets the process open so many more files and no others while it runs
// try.
func starved(t *testing.T, more int, try func()) {
	t.Helper()
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	next, err := unix.Open(".", unix.O_RDONLY|unix.O_CLOEXEC, 0) // the lowest number that is free
	require.NoError(t, err)
	unix.Close(next)
	lowered := limit
	lowered.Cur = uint64(next + more)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lowered); err != nil {
		t.Skip("the limit cannot be changed here:", err)
	}
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }()
	try()
}

// A process that can open no more files says so, at whichever of its steps: it
// neither stops nor takes a note for another or for an empty one.
func TestWithoutDescriptorsNothingIsGuessed(t *testing.T) {
	dir := planted(t, map[string]string{"a/b/n.md": "text", "n.md": "other"})
	folder := openFolder(t, dir)
	path := mustPath(t, "a/b/n.md")
	rootedRead := func() (string, error) {
		root, err := folder.enter(path.parents())
		if err != nil {
			return "", err
		}
		defer root.Close()
		text, _, err := rooted{dir: root}.read(path.Base(), nil)
		return string(text), err
	}
	for name, act := range map[string]func() (string, error){
		"Read":   func() (string, error) { text, err := folder.Read(path); return string(text), err },
		"rooted": rootedRead,
		"Stat":   func() (string, error) { _, err := folder.Stat(path); return "text", err },
		"Stamp":  func() (string, error) { _, err := folder.Stamp(path); return "text", err },
		"Swap":   func() (string, error) { return "text", swap(folder, path, []byte("text"), []byte("text")) },
		"Walk": func() (text string, err error) {
			err = folder.Walk(Path{}, func(e Entry) {
				if read, _, err := e.Read(); e.Path == path && err == nil {
					text = string(read)
				} else if e.Path == path {
					text = "text" // the entry has said so itself
				}
			})
			return text, err
		},
	} {
		done := false
		for more := 0; !done; more++ {
			require.That(t, more <= 20, "%s: does not come to an end with %d descriptors", name, more)
			starved(t, more, func() {
				text, err := act()
				done = err == nil
				assert.That(t, !done || text == "text", "%s with %d descriptors: %q", name, more, text)
				assert.That(t, err == nil || errors.Is(err, unix.EMFILE), "%s with %d descriptors: %v", name, more, err)
			})
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "a", "b", "n.md"))
	require.Equal(t, err, nil, "the note became %q", text)
	assert.Equal(t, string(text), "text", "the note became %q", text)
}
