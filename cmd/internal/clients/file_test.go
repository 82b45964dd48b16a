package clients

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What a user reads of a client's settings file that cannot be read or written, such as one of a project in Documents.
func TestWhatAUserReadsOfAClientsFile(t *testing.T) {
	const allow = "System Settings, Privacy & Security, Files and Folders"
	for _, test := range []struct {
		goos       string
		err        error
		said, hint string
	}{
		{"darwin", syscall.EPERM, `"mcp.json": macOS does not allow access to it`, allow},
		{"darwin", syscall.EACCES, `"mcp.json": permission denied`, ""},
		{"linux", syscall.EPERM, `"mcp.json": operation not permitted`, ""},
		{"windows", syscall.EACCES, `"mcp.json": permission denied`, ""},
		{"darwin", errors.New("the disk is full"), `"mcp.json": the disk is full`, ""},
	} {
		err := environmentOn(test.goos, "mcp.json", &fs.PathError{Op: "open", Path: "/Users/me/Documents/mcp.json", Err: test.err})
		failed, ok := errors.AsType[*terminal.Failure](err)
		require.That(t, ok, "%T", err)
		assert.Equal(t, failed.Error(), test.said, "%s, %v", test.goos, test.err)
		assert.That(t, strings.HasPrefix(test.hint, "System") == strings.Contains(failed.Hint(), allow), "%s, %v: the hint is %q", test.goos, test.err, failed.Hint())
	}
}
