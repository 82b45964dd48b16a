package changes

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// What an operation of a batch, and a page of an answer that is read as a resource, could not read is counted as in the
// answer to a call.
func TestEverySurfaceCountsWhatCouldNotBeRead(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	for n := range 400 {
		harness.WriteFile(t, filepath.Join(d.files, "P", fmt.Sprintf("word %d.md", n)), []byte("word word word\n"))
	}
	harness.WriteFile(t, filepath.Join(d.files, "Bad.md"), []byte("word\n"))
	d.lose()
	s := harness.ServeHTTPIn(t, filepath.Join(folder, "state"), "--backend=embedded", "--vault="+filepath.Join(folder, "Vault"),
		"--tier=v2", "--toolsets=all", "--max-output=4096")
	session := require.Value(s.Connect(t.Context()))(t)
	search := map[string]any{"command": "search", "params": map[string]any{"query": "word"}}
	asked := require.Value(session.Call(t.Context(), search))(t)
	require.That(t, asked.OK, "%+v", asked)
	require.That(t, asked.Truncated != nil, "%+v", asked)
	assert.Equal(t, asked.Unread, 1, "a call: %v", asked.Notices)
	next := require.Value(session.Call(t.Context(), map[string]any{"command": "search", "cursor": asked.Truncated.Cursor}))(t)
	assert.Equal(t, next.Unread, 1, "the next page: %+v", next)
	read := require.Value(session.Ask(t.Context(), "resources/read", map[string]any{"uri": "vaultwicket://output/" + asked.Truncated.Cursor}))(t)
	require.That(t, len(read.Result.Contents) == 1, "%+v", read)
	assert.Equal(t, fmt.Sprint(read.Result.Contents[0].Meta["vaultwicket/unread"]), "1", "the resource: %v", read.Result.Contents[0].Meta)
	operations := []map[string]any{{"clientId": "one", "command": "search", "params": map[string]any{"query": "word"}}}
	whole := require.Value(session.Ask(t.Context(), "tools/call",
		map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": operations}}))(t)
	var batch gateway.BatchResult
	require.NoError(t, json.Unmarshal(whole.Result.StructuredContent, &batch))
	require.That(t, len(batch.Results) == 1, "%s", whole.Result.StructuredContent)
	assert.Equal(t, batch.Results[0].Result.Unread, 1, "an operation of a batch: %s", whole.Result.StructuredContent)
	typed := require.Value(session.Ask(t.Context(), "tools/call",
		map[string]any{"name": "search_notes", "arguments": map[string]any{"query": "word"}}))(t)
	assert.Contains(t, string(typed.Result.StructuredContent), `"unread":1`, "a typed tool")
}
