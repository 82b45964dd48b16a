//go:build unix

package audit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
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
	secondName := func(name string) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) {
			require.NoError(t, os.Link(l.folder.file(name), filepath.Join(filepath.Dir(l.folder.dir), "second")))
		}
	}
	instead := func(name string, do func(path string) error) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) {
			require.NoError(t, os.Rename(l.folder.file(name), l.folder.file(name)+"-away"))
			require.NoError(t, do(l.folder.file(name)))
		}
	}
	mkfifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for name, spoil := range map[string]func(*testing.T, *Log){
		"a folder open to others":       func(t *testing.T, l *Log) { require.NoError(t, os.Chmod(l.folder.dir, 0o755)) },
		"a folder the group may write":  func(t *testing.T, l *Log) { require.NoError(t, os.Chmod(l.folder.dir, 0o770)) },
		"a link to the folder":          relink(""),
		"a file for the folder":         instead("", func(path string) error { return os.WriteFile(path, nil, 0o600) }),
		"a file open to others":         chmod(currentFile, 0o644),
		"a file the group may write":    chmod(currentFile, 0o620),
		"a link to the file":            relink(currentFile),
		"a link to nowhere":             instead(currentFile, func(path string) error { return os.Symlink("/nowhere", path) }),
		"a second name of the file":     secondName(currentFile),
		"a folder for the file":         instead(currentFile, func(path string) error { return os.Mkdir(path, 0o700) }),
		"a pipe for the file":           instead(currentFile, mkfifo),
		"a head open to others":         chmod(headFile, 0o602),
		"a link to the head":            relink(headFile),
		"a second name of the head":     secondName(headFile),
		"a pipe for the head":           instead(headFile, mkfifo),
		"a link to the key":             relink(keyFile),
		"a key open to others":          chmod(keyFile, 0o604),
		"a second name of the key":      secondName(keyFile),
		"a link for the lock":           relink(lockFile),
		"a second name of the lock":     secondName(lockFile),
		"a lock open to others":         chmod(lockFile, 0o666),
		"a link to the next older file": func(t *testing.T, l *Log) { require.NoError(t, os.Symlink("/nowhere", l.folder.file(rotatedName(2)))) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, Limits{FileSize: 3250})
			writeAll(t, l, 1, 8)
			require.NoError(t, l.Close())
			spoil(t, l)
			l = again(t, l)
			var unusable *Unusable
			err := l.Write(sample(9), false)
			assert.That(t, errors.As(err, &unusable), "write: %v", err)
			if name == "a link to the next older file" {
				return // a reader has no use for it
			}
			_, err = Verify(l.folder.dir)
			assert.That(t, errors.As(err, &unusable), "verify: %v", err)
		})
	}
}

// What is spoiled while a process has the files open is seen with the next line.
func TestAnOpenFileIsLookedAt(t *testing.T) {
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 3)
	require.NoError(t, os.Chmod(l.folder.file(currentFile), 0o666))
	assert.That(t, l.Write(sample(4), false) != nil, "a file that others may write was written to")
	require.NoError(t, os.Chmod(l.folder.file(currentFile), 0o600))
	require.NoError(t, os.Link(l.folder.file(headFile), l.folder.file("second")))
	assert.That(t, l.Write(sample(4), false) != nil, "a head with a second name was written to")
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
