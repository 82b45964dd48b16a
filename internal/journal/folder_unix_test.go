//go:build unix

package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAnUnfitFolderIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, j *Journal){
		"a folder open to others":  func(t *testing.T, j *Journal) { require.NoError(t, os.Chmod(j.folder.root, 0o755)) },
		"a vault open to others":   func(t *testing.T, j *Journal) { require.NoError(t, os.Chmod(j.folder.dir, 0o750)) },
		"a segment open to others": func(t *testing.T, j *Journal) { require.NoError(t, os.Chmod(j.folder.file(segmentName(1)), 0o644)) },
		"a link to a segment":      func(t *testing.T, j *Journal) { relink(t, j.folder.file(segmentName(1))) },
		"a link for a lock":        func(t *testing.T, j *Journal) { relink(t, j.folder.file(appendLock)) },
		"a link for the next segment": func(t *testing.T, j *Journal) {
			require.NoError(t, os.Symlink("/nowhere", j.folder.file(segmentName(2))))
		},
		"a folder for a segment": func(t *testing.T, j *Journal) { require.NoError(t, os.Mkdir(j.folder.file(segmentName(2)), 0o700)) },
		"a file for a folder": func(t *testing.T, j *Journal) {
			require.NoError(t, os.RemoveAll(j.folder.dir))
			require.NoError(t, os.WriteFile(j.folder.dir, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t, Limits{})
			begun(t, j, "a.md", "a", "b")
			spoil(t, j)
			before := diskUse(t, filepath.Dir(j.folder.root))
			var unusable *Unusable
			for _, j := range []*Journal{j, again(j)} {
				e, content := change("a.md", "a", "b")
				err := j.Begin(e, content)
				assert.That(t, errors.As(err, &unusable), "begin: %v", err)
				_, _, err = j.Entries(t.Context(), Filter{})
				assert.That(t, errors.As(err, &unusable), "entries: %v", err)
			}
			assert.Equal(t, diskUse(t, filepath.Dir(j.folder.root)), before, "something was written")
		})
	}
	err := openAt("", testVault, Limits{}).Begin(Entry{ID: NewID(time.Now())}, nil)
	assert.That(t, isTyped(err), "%v", err)
}

// relink moves what is at name away and puts a link to it in its place.
func relink(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.Rename(name, name+"-away"))
	require.NoError(t, os.Symlink(name+"-away", name))
}

// What cannot be written is taken back through the file that was opened, never by
// its name alone: a link in its place is not followed.
func TestNothingIsTruncatedThroughALink(t *testing.T) {
	j := newJournal(t, Limits{})
	begun(t, j, "a.md", "a", "b")
	segment := j.folder.file(segmentName(1))
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	j.sys = &fake.FailingDisk{N: 2, Before: func() { // open, write
		require.NoError(t, os.Rename(segment, segment+"-away"))
		require.NoError(t, os.Symlink(target, segment))
	}}
	e, content := change("a.md", "a", "b")
	assert.ErrorIs(t, j.Begin(e, content), fake.ErrDisk)
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Equal(t, string(text), "mine")
}
