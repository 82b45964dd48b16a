package mcp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An attachment of 8 MiB fits into a message on both transports, and a message over the limit is
// refused by the transport. Many at once share one limit of memory.
func TestAttachmentsOfEightMiB(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"a.md": ""}).Set("confirm", `"never"`).Set("max-parallel", "64")
	server := r.OverHTTP()
	stdio := harness.StartSession(t, t.TempDir(), harness.EverythingEnabled(r.Vault)...)
	data := bytes.Repeat([]byte{0, 7}, 4<<20)
	encoded := base64.StdEncoding.EncodeToString(data)
	// message has the data written, and is padded with spaces to a size.
	message := func(id, size int, meta string) string {
		m := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"attachment:write","params":{"path":"m%d.bin","data":"%s"}}%s}}`,
			id, id, encoded, meta)
		return m + strings.Repeat(" ", size-len(m))
	}
	for id, want := range []string{string(data), ""} {
		answer, err := server.Send(t.Context(), http.MethodPost, message(id, transport.MaxMessage+id, ","+harness.ModernMeta),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
		require.Equal(t, err, nil, "%d bytes too many over HTTP: %+v", id, answer)
		assert.Equal(t, answer.Status == http.StatusRequestEntityTooLarge, want == "",
			"%d bytes too many over HTTP: %+v", id, answer)
		assert.That(t, r.Read(fmt.Sprintf("m%d.bin", id)) == want, "%d bytes too many over HTTP: %+v", id, answer)
	}
	stdio.Send(message(2, transport.MaxMessage+1, ""))
	said := harness.JSON(t, stdio.Read())
	assert.That(t, strings.Contains(said, "message exceeds 12 MiB"), "a byte too many on a pipe: %.300s", said)
	long := stdio.Result(harness.Calling("append", "path=a.md", "content="+strings.Repeat("x", 1<<20+1)))
	require.Equal(t, harness.CodeOf(long), "bad_value", "a text of more than 1 MiB: %+v", long.Error)
	assert.Contains(t, long.Error.Hint, "1048576", "a text of more than 1 MiB: %+v", long.Error)

	const many = 3
	go func() {
		for id := range many {
			stdio.Send(message(100+id, transport.MaxMessage, ""))
		}
	}()
	most := 0
	for range many {
		answer := harness.JSON(t, stdio.Read())
		require.That(t, strings.Contains(answer, "Written: "), "%.300s", answer)
		most = max(most, harness.MemoryKiB(t, stdio.Process.Process.Pid))
	}
	assert.That(t, r.Read("m100.bin") == string(data), "the attachment is another one")
	assert.That(t, most <= 160<<10, "the server takes %d KiB with %d messages of 12 MiB", most, many)
}
