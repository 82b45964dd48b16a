//go:build unix

package consent

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAPlantedFileIsNoYes(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, path string){
		"a link to the file": func(t *testing.T, path string) {
			away := filepath.Join(t.TempDir(), "away")
			require.NoError(t, os.Rename(path, away))
			require.NoError(t, os.Symlink(away, path))
		},
		"a second name": func(t *testing.T, path string) {
			require.NoError(t, os.Link(path, filepath.Join(t.TempDir(), "second")))
		},
		"larger than memory": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 1<<38)) },
		"writable by others": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o602)) },
	} {
		t.Run(name, func(t *testing.T) {
			d, q, path, _ := approved(t)
			plant(t, path)
			wantDamaged(t, d, q, filepath.Base(path))
		})
	}
}

func TestAnUnfitFolderIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, d *Store){
		"open to others":      func(t *testing.T, d *Store) { require.NoError(t, os.Chmod(d.dir, 0o755)) },
		"a link":              func(t *testing.T, d *Store) { relink(t, d.dir) },
		"a link for the lock": func(t *testing.T, d *Store) { relink(t, filepath.Join(d.dir, lockFile)) },
		"a file": func(t *testing.T, d *Store) {
			require.NoError(t, os.RemoveAll(d.dir))
			require.NoError(t, os.WriteFile(d.dir, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, q, _, _ := approved(t)
			spoil(t, d)
			var unusable *Unusable
			grant, err := redeem(d, q)
			assert.That(t, grant.State != Approved, "redeem: %v", err)
			assert.That(t, errors.As(err, &unusable), "redeem: %v", err)
			_, err = d.Ask(about(2))
			assert.That(t, errors.As(err, &unusable), "ask: %v", err)
			_, _, err = d.List()
			assert.That(t, errors.As(err, &unusable), "list: %v", err)
			_, err = d.Approve(q.Code)
			assert.That(t, errors.As(err, &unusable), "approve: %v", err)
		})
	}
}

// relink moves what is at name away and puts a link to it in its place.
func relink(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.Rename(name, name+"-away"))
	require.NoError(t, os.Symlink(name+"-away", name))
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	d, q, path, _ := approved(t)
	for name, want := range map[string]os.FileMode{d.dir: 0o700 | os.ModeDir, path: 0o600, filepath.Join(d.dir, lockFile): 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	require.Value(redeem(d, q))(t)
}

// A link where a file is going to be written is not followed.
func TestAPlantedHalfIsNotWrittenThrough(t *testing.T) {
	d, _ := newStore(t)
	q := ask(t, d, about(1))
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	code, _ := parseCode(q.Code)
	require.NoError(t, os.Symlink(target, filepath.Join(d.dir, code+temporarySuffix)))
	require.Value(d.Approve(q.Code))(t)
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Equal(t, string(text), "mine")
	// Nor what cannot be removed.
	other := ask(t, d, about(2))
	code, _ = parseCode(other.Code)
	require.NoError(t, os.MkdirAll(filepath.Join(d.dir, code+temporarySuffix, "x"), 0o700))
	var unusable *Unusable
	_, err = d.Approve(other.Code)
	assert.That(t, errors.As(err, &unusable), "%v", err)
	wantUngranted(t, d, other, Pending)
}
