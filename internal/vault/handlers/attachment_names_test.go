package handlers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The attachments in properties that follow any changes of a vault are those that are collected anew.
func TestAttachmentNamesFollowChanges(t *testing.T) {
	values := []string{
		"cover: \"![[a.png]]\"", "cover: a.png", "files: [a.png, F/b.pdf#page=2, a.png]", "up: \"[[a.png]]\"", "rank: 3",
	}
	rapid.Check(t, func(t *rapid.T) {
		dir := require.Value(os.MkdirTemp("", "attachments-"))(t)
		defer os.RemoveAll(dir)
		folder := require.Value(disk.Open(dir))(t)
		defer folder.Close()
		var names map[int32][]string
		var last *index.Index
		var before []*index.File
		for range 5 {
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				note := filepath.Join(dir, rapid.SampledFrom([]string{"A.md", "B.md", "C.md", "a.png"}).Draw(t, "file"))
				if rapid.IntRange(0, 4).Draw(t, "removal") == 0 {
					os.Remove(note)
					continue
				}
				text := "---\n" + rapid.SampledFrom(values).Draw(t, "property") + "\n---\n"
				require.NoError(t, os.WriteFile(note, []byte(text), 0o600))
			}
			x := require.Value(index.Build(folder, last, index.Memory{}, time.Time{}, nil))(t)
			names = followAttachmentNames(names, before, x.Files)
			assert.Equal(t, fmt.Sprint(names), fmt.Sprint(attachmentNames.Compute(x.Files)), "the names that followed")
			last = x
			before = x.Files
		}
	})
}

// Only new and changed notes have their properties decoded: a listing of attachments takes no time for all the others.
func TestAttachmentNamesDecodeOnlyWhatChanged(t *testing.T) {
	const notes = 300
	dir := t.TempDir()
	for i := range notes {
		text := fmt.Sprintf("---\nrank: %d\npeople: [Ann, Bob]\n---\n", i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(text), 0o600))
	}
	folder := require.Value(disk.Open(dir))(t)
	defer folder.Close()
	x := require.Value(index.Build(folder, nil, index.Memory{}, time.Time{}, nil))(t)
	first := testing.AllocsPerRun(3, func() { attachmentNames.Compute(x.Files) })
	again := testing.AllocsPerRun(3, func() { followAttachmentNames(nil, x.Files, x.Files) })
	assert.That(t, first > notes, "%v allocations for %d notes: the properties were not decoded", first, notes)
	assert.That(t, again < notes/10, "%v allocations for %d notes of which none has changed", again, notes)
}
