package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

// maxContextBytes bounds the lines of an answer, in bytes.
const maxContextBytes = 4 << 20

func TestATruncatedSearchSaysSo(t *testing.T) {
	line := strings.Repeat("water ", 160) + "\n"
	h := build(t, map[string]string{"A.md": strings.Repeat(line, maxContextBytes/len(line)+10), "B.md": "water\n"})
	for _, format := range []string{"text", "json"} {
		status, out, remark := h.run("search:context", "query=water", "format="+format)
		if status != command.ExitDone || len(out) > maxContextBytes*5/4 || remark != "Truncated after 4096 KiB of lines: narrow the query, or search below a folder with path=.\n" {
			t.Errorf("%s: status %d, %d bytes, %q", format, status, len(out), remark)
		}
	}
	if status, _, remark := h.run("search:context", "query=water", "path=/"); status != command.ExitDone || remark == "" {
		t.Errorf("status %d, %q", status, remark)
	}
	if status, _, remark := h.run("search", "query=water"); status != command.ExitDone || remark != "" {
		t.Errorf("status %d, %q", status, remark)
	}
}
