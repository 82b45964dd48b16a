//go:build unix

package disk

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"vaultwicket/tests/assert"
)

func TestAPipeDoesNotBlock(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Skip("no pipes here")
	}
	folder := openFolder(t, dir)
	var refusal *Refusal
	if _, err := folder.Open(mustPath(t, "pipe.md")); !errors.As(err, &refusal) {
		t.Errorf("opening: %v", err)
	}
	if _, _, err := folder.Edit(mustPath(t, "pipe.md"), func([]byte) []byte { return nil }); !errors.As(err, &refusal) {
		t.Errorf("editing: %v", err)
	}
	got := walked(t, folder, Path{})
	assert.That(t, len(got) == 0, "the walk met %q", got)
}
