package mcp

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A file that takes all the memory that its process may have costs that process alone: the call
// has a typed error, and the worker answers the next one.
func TestAHostilePDFEndsItsOwnProcess(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes")
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(bytes.Repeat([]byte("0 "), 18_000_000))
	_ = w.Close()
	out, table := "%PDF-1.4\n", "xref\n0 5\n0000000000 65535 f \n"
	for i, object := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
		fmt.Sprintf("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", packed.Len(), packed.String())} {
		table += fmt.Sprintf("%010d 00000 n \n", len(out))
		out += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	harness.WriteFile(t, filepath.Join(folder, "Numbers.pdf"), []byte(out+table+
		fmt.Sprintf("trailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(out))))
	harness.WriteFile(t, filepath.Join(folder, "a.md"), []byte("next\n"))
	s := harness.StartSession(t, t.TempDir(), "--config=none", "--backend=embedded", "--vault="+folder, "--tier=v1", "--timeout=55s")
	for _, c := range []struct{ command, path, want string }{{"attachment:text", "Numbers.pdf", "output_limit"}, {"read", "a.md", "next"}} {
		answer, err := s.Exchange("tools/call",
			map[string]any{"name": "obsidianCli",
				"arguments": map[string]any{"command": c.command, "params": map[string]any{"path": c.path}}})
		require.Equal(t, err, nil, "%s of %s: %.300s", c.command, c.path, answer)
		assert.Contains(t, string(answer), c.want, "%s of %s", c.command, c.path)
	}
}
