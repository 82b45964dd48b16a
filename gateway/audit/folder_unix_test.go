//go:build unix

package audit

import (
	"errors"
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAnUnfitFolderIsRefused(t *testing.T) {
	chmod := func(name string, mode os.FileMode) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) { require.NoError(t, os.Chmod(l.folder.file(name), mode)) }
	}
	relink := func(name string) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) {
			require.NoError(t, os.Rename(l.folder.file(name), l.folder.file(name)+"-away"))
			require.NoError(t, os.Symlink(l.folder.file(name)+"-away", l.folder.file(name)))
		}
	}
	for name, spoil := range map[string]func(*testing.T, *Log){
		"a folder open to others": func(t *testing.T, l *Log) { require.NoError(t, os.Chmod(l.folder.dir, 0o755)) },
		"a link to the folder":    relink(""),
		"a file for the folder": func(t *testing.T, l *Log) {
			require.NoError(t, os.RemoveAll(l.folder.dir))
			require.NoError(t, os.WriteFile(l.folder.dir, nil, 0o600))
		},
		"a file open to others":         chmod(currentFile, 0o644),
		"a link to the file":            relink(currentFile),
		"a head open to others":         chmod(headFile, 0o602),
		"a link to the head":            relink(headFile),
		"a link to the key":             relink(keyFile),
		"a key open to others":          chmod(keyFile, 0o604),
		"a link for the lock":           relink(lockFile),
		"a link to the next older file": func(t *testing.T, l *Log) { require.NoError(t, os.Symlink("/nowhere", l.folder.file(rotatedName(2)))) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, Limits{FileSize: 3250})
			writeAll(t, l, 1, 8)
			require.NoError(t, l.Close())
			spoil(t, l)
			l = again(t, l)
			var unusable *Unusable
			err := l.Write(sample(9), Buffered)
			assert.That(t, errors.As(err, &unusable), "write: %v", err)
			if name == "a link to the next older file" {
				return // a reader has no use for it
			}
			_, err = Verify(t.Context(), l.folder.dir)
			assert.That(t, errors.As(err, &unusable), "verify: %v", err)
		})
	}
}

// What is spoiled while a process has the files open is seen with the next line.
func TestAnOpenFileIsLookedAt(t *testing.T) {
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 3)
	require.NoError(t, os.Chmod(l.folder.file(currentFile), 0o666))
	assert.That(t, l.Write(sample(4), Buffered) != nil, "a file that others may write was written to")
	require.NoError(t, os.Chmod(l.folder.file(currentFile), 0o600))
	require.NoError(t, os.Link(l.folder.file(headFile), l.folder.file("second")))
	assert.That(t, l.Write(sample(4), Buffered) != nil, "a head with a second name was written to")
	require.NoError(t, os.Remove(l.folder.file("second")))
	writeAll(t, l, 4, 4)
	wantWhole(t, l, 4)
}

func TestReadingWhereNothingCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser writes everywhere")
	}
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 3)
	require.NoError(t, os.Remove(l.folder.file(lockFile)))
	require.NoError(t, os.Chmod(l.folder.dir, 0o500))
	defer os.Chmod(l.folder.dir, 0o700)
	wantWhole(t, l, 3)
}
