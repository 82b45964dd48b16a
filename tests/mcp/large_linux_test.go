package mcp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vaultwicket/gateway/mcpserver/wire"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// An attachment of 8 MiB fits into a message on both transports, one byte more is refused by its
// command, and a message over the limit by the transport. Many at once share one limit of memory.
func TestAttachmentsOfEightMiB(t *testing.T) {
	t.Parallel()
	r := rig.New(t, map[string]string{"a.md": ""}).Set("confirm", `"never"`).Set("max-parallel", "64")
	server := r.OverHTTP()
	stdio := rig.StartSession(t, t.TempDir(), rig.EverythingEnabled(r.Vault)...)
	for n, ask := range []func(string, map[string]any) rig.Answer{r.Stdio(false, "").Ask, r.Stateless(server).Ask} {
		e := &rig.Client{Rig: r, Name: fmt.Sprint(n), Ask: ask}
		for size, want := range map[int]string{8 << 20: "", 8<<20 + 1: "bad_value"} {
			if n > 0 && want != "" {
				continue // the command is the same
			}
			data := bytes.Repeat([]byte{0, byte(n)}, size/2+1)[:size]
			path := fmt.Sprintf("%d-%d.bin", n, size)
			result := e.Do(rig.Calling("attachment:write", "path="+path, "data="+base64.StdEncoding.EncodeToString(data)))
			if rig.CodeOf(result) != want || want == "" && r.Read(path) != string(data) || want != "" && !strings.Contains(result.Error.Message, "at most 8388608") {
				t.Errorf("%s by %d: %+v", path, n, result.Error)
			}
		}
		long := e.Do(rig.Calling("append", "path=a.md", "content="+strings.Repeat("x", 1<<20+1)))
		assert.That(t, rig.CodeOf(long) == "bad_value" && strings.Contains(long.Error.Hint, "1048576"), "a text of more than 1 MiB by %d: %+v", n, long.Error)
	}
	whole := func(id, size int) string {
		head, tail := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"attachment:write","params":{"path":"m%d.bin","data":"`, id, id), `}}}}`
		data := (size - len(head) - len(tail) - 1) &^ 3
		return head + strings.Repeat("A", data) + `"` + strings.Repeat(" ", size-len(head)-len(tail)-1-data) + tail
	}
	for size, want := range map[int]int{wire.MaxMessage: http.StatusOK, wire.MaxMessage + 1: http.StatusRequestEntityTooLarge} {
		if answer, err := server.Send(t.Context(), http.MethodPost, whole(1, size), "MCP-Protocol-Version", "2025-11-25"); err != nil || (answer.Status == http.StatusRequestEntityTooLarge) != (want != http.StatusOK) {
			t.Errorf("a message of %d bytes over HTTP: %+v, %v", size, answer, err)
		}
		stdio.Send(whole(1, size))
		assert.Equal(t, strings.Contains(rig.JSON(t, stdio.Read()), "message exceeds 12 MiB"), (want != http.StatusOK), "a message of %d bytes on a pipe", size)
	}

	const many = 3
	go func() {
		for id := range many {
			stdio.Send(whole(100+id, 10<<20))
		}
	}()
	most := 0
	for range many {
		answer := rig.JSON(t, stdio.Read())
		require.That(t, strings.Contains(answer, "Written: "), "%.300s", answer)
		most = max(most, rig.MemoryKiB(t, stdio.Process.Process.Pid))
	}
	if t.Logf("%d KiB with %d messages of 10 MiB", most, many); most > 160<<10 {
		t.Errorf("the server takes %d KiB", most)
	}
}
