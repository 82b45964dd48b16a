package vault

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
	"vaultwicket/tests/require"
)

// snapshot describes every file and folder of the vault, hidden ones included.
func (h *testVault) snapshot() (text string, files, folders int) {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			folders++
			out.WriteString(path + "/\n")
			return err
		}
		files++
		content, err := os.ReadFile(path)
		out.WriteString(path + "\t" + command.Digest(content) + "\n")
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	return out.String(), files, folders
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	v, err := command.NewHost(func(string) string { return "" }, nil).Open(context.Background(), command.Line{Folder: h.dir})
	require.NoError(t, err)
	defer v.Disk.Close()
	said := respond(v, command.Request{Command: "read", Args: []string{"path=a.md"}})
	said.Close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.Print(&out); status != command.ExitFailed || !strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	if got := said.Report(); got.Code != frame.CodeCLIError || !strings.HasPrefix(got.Reason, "Error: reading stopped: ") {
		t.Errorf("reported as %+v", got)
	}
}
