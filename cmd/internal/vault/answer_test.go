package vault

import (
	"vaultwicket/exec/frame"

	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snapshot describes every file and folder of the vault, hidden ones included.
func (h *house) snapshot() (text string, files, folders int) {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			folders++
			out.WriteString(path + "/\n")
			return err
		}
		files++
		content, err := os.ReadFile(path)
		out.WriteString(path + "\t" + digest(content) + "\n")
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	return out.String(), files, folders
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	v, err := newHost(func(string) string { return "" }, nil).vault(context.Background(), line{folder: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer v.disk.Close()
	said := answer(v, request{command: "read", args: []string{"path=a.md"}})
	said.close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.print(&out); status != failed || !strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	if got := said.failure(); got.Code != frame.CodeCLIError || !strings.HasPrefix(got.Reason, "Error: reading stopped: ") {
		t.Errorf("reported as %+v", got)
	}
}
