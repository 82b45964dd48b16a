package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/require"
)

var errOpenElsewhere = errors.New("a sharing violation")

// A file that another program has open for a moment is moved, written and removed
// all the same. One that stays open is left as it is, under its one name.
func TestPatience(t *testing.T) {
	calls := map[string]func(f *Folder) error{
		"Move":   func(f *Folder) error { return f.Move(Path{"A.md"}, Path{"B.md"}, Text([]byte("text"))) },
		"Swap":   func(f *Folder) error { return f.Swap(Path{"A.md"}, []byte("text"), []byte("new")) },
		"Remove": func(f *Folder) error { return f.Remove(Path{"A.md"}, Text([]byte("text"))) },
		"Trash":  func(f *Folder) error { _, err := f.Trash(Path{"A.md"}, Text([]byte("text"))); return err },
	}
	for name, call := range calls {
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
			names := listedIn(t, dir)
			switch {
			case open <= 6 && err != nil:
				t.Errorf("%s of a file that is open %d times: %v", name, open, err)
			case open <= 6 && (waited > time.Second || (waited == 0) != (open == 0)):
				t.Errorf("%s of a file that is open %d times: waited %v", name, open, waited)
			case open > 6 && (!errors.Is(err, system.ErrInUse) || !slices.Equal(names, []string{"A.md=text"})):
				t.Errorf("%s of a file that stays open: %v, the folder has %q", name, err, names)
			}
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ".tmp") }) || len(names) > 1 {
				t.Errorf("%s of a file that is open %d times leaves %q", name, open, names)
			}
		}
	}
}

// listedIn returns the files of a folder with their texts.
func listedIn(t *testing.T, dir string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			files = append(files, e.Name()+"="+string(text))
		}
	}
	return files
}
