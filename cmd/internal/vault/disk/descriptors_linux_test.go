package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
	defer func() {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	}()
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
		text, _, err := rooted{dir: root}.read(path.base(), nil)
		return string(text), err
	}
	for name, act := range map[string]func() (string, error){
		"Read":   func() (string, error) { text, err := folder.Read(path); return string(text), err },
		"rooted": rootedRead,
		"Stat":   func() (string, error) { _, err := folder.Stat(path); return "text", err },
		"Stamp":  func() (string, error) { _, err := folder.Stamp(path); return "text", err },
		"Edit": func() (string, error) {
			before, _, err := folder.Edit(path, func(text []byte) []byte { return text })
			return string(before), err
		},
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
				if done = err == nil; done && text != "text" {
					t.Errorf("%s with %d descriptors: %q", name, more, text)
				}
				assert.That(t, err == nil || errors.Is(err, unix.EMFILE), "%s with %d descriptors: %v", name, more, err)
			})
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "b", "n.md")); err != nil || string(text) != "text" {
		t.Errorf("the note became %q, %v", text, err)
	}
}
