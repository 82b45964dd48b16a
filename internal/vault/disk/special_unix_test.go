//go:build unix

package disk

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// special makes a pipe and a socket, neither of which has another end, and
// returns their names.
func special(t *testing.T, dir string) (names []string) {
	t.Helper()
	if syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644) == nil {
		names = append(names, "pipe.md")
	}
	t.Chdir(dir) // the path of a socket may not be long
	if socket, err := net.Listen("unix", "socket.md"); err == nil {
		t.Cleanup(func() { socket.Close() })
		names = append(names, "socket.md")
	}
	return names
}

func init() {
	replaced["a pipe"] = struct {
		by     func(full string) error
		reason string
	}{func(full string) error { syscall.Unlink(full); return syscall.Mkfifo(full, 0o644) }, "is not a regular file"}
}

func TestAPipeDoesNotBlock(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Skip("no pipes here")
	}
	folder := openFolder(t, dir)
	var refusal *Refusal
	_, err := folder.Open(mustPath(t, "pipe.md"))
	assert.That(t, errors.As(err, &refusal), "opening: %v", err)
	assert.That(t, errors.As(swap(folder, mustPath(t, "pipe.md"), nil, nil), &refusal), "writing")
	got := walked(t, folder, Path{})
	assert.That(t, len(got) == 0, "the walk met %q", got)
}
