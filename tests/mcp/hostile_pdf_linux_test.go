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
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// A file that takes all the memory that its process may have costs that process alone: the call
// has a typed error, and the worker answers the next one.
func TestAHostilePDFEndsItsOwnProcess(t *testing.T) {
	// Memory that is asked for at once is refused at once. A gigabyte that is filled takes seconds, and on a busy
	// machine the time of a session.
	files := map[string]string{"Table.pdf": pdfWithALargeTable()}
	if testenv.Long() {
		files["Numbers.pdf"] = pdfWithManyNumbers()
	}
	folder := filepath.Join(t.TempDir(), "Notes")
	harness.WriteFile(t, filepath.Join(folder, "a.md"), []byte("next\n"))
	s := harness.StartSession(t, t.TempDir(), "--config=none", "--backend=embedded", "--vault="+folder, "--tier=v1", "--timeout=55s")
	ask := func(command, path, want string) {
		answer, err := s.Exchange("tools/call",
			map[string]any{"name": "obsidianCli",
				"arguments": map[string]any{"command": command, "params": map[string]any{"path": path}}})
		require.Equal(t, err, nil, "%s of %s: %.300s", command, path, answer)
		assert.Contains(t, string(answer), want, "%s of %s", command, path)
	}
	for name, text := range files {
		harness.WriteFile(t, filepath.Join(folder, name), []byte(text))
		ask("attachment:text", name, "output_limit")
		ask("read", "a.md", "next")
	}
}

// pdfWithALargeTable is a file that says that it has 100 million objects: the library makes a table of them at once.
func pdfWithALargeTable() string {
	const start = "%PDF-1.5\n"
	return start + "1 0 obj\n<</Type/XRef/Size 100000000/W[1 2 1]/Root 2 0 R/Length 0>>\nstream\n\nendstream\nendobj\n" +
		fmt.Sprintf("startxref\n%d\n%%%%EOF\n", len(start))
}

// pdfWithManyNumbers is a file with a page of 18 million operands, which are all kept until an operator comes.
func pdfWithManyNumbers() string {
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
	return out + table + fmt.Sprintf("trailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(out))
}
