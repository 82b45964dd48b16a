//go:build unix

package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWalk(t *testing.T) {
	root := require.Value(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, folder := range []string{"a/b", "c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o700))
	}
	for link, target := range map[string]string{"c/up": "../a", "whole": filepath.Join(root, "c"), "round": "round", "lost": "nowhere"} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	for _, test := range []struct {
		path string
		want []string // below root, in the order of the visits
		err  error
	}{
		{"a/b", []string{"a", "a/b"}, nil},
		{"whole/up/b", []string{"whole", "c", "c/up", "a", "a/b"}, nil},
		{"a/b/../../c", []string{"a", "a/b", "c"}, nil},
		{"round", slices.Repeat([]string{"round"}, 41), syscall.ELOOP},
		{"lost/x", []string{"lost"}, fs.ErrNotExist},
	} {
		var got []string
		// Not by Join, which would take the ".." out.
		err := WalkPath(root+"/"+test.path, func(folder, entry string, info fs.FileInfo) error {
			assert.Equal(t, filepath.Dir(entry), folder, "%s: visited %q in %q, and it is %q", test.path, entry, folder, info.Name())
			assert.Equal(t, info.Name(), filepath.Base(entry), "%s: visited %q in %q, and it is %q", test.path, entry, folder, info.Name())
			if below, err := filepath.Rel(root, entry); err == nil && filepath.IsLocal(below) && below != "." {
				got = append(got, below)
			}
			return nil
		})
		assert.ErrorIs(t, err, test.err, "%s: visited %q", test.path, got)
		assert.EqualSlices(t, got, test.want, "%s: visited %q", test.path, got)
	}
	stop := errors.New("stop")
	visits := 0
	err := WalkPath(root, func(string, string, fs.FileInfo) error { visits++; return stop })
	assert.Equal(t, err, stop, "stopped with %v after %d visits", err, visits)
	assert.Equal(t, visits, 1, "stopped with %v after %d visits", err, visits)
}
