package access

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestNothingKeptTellsOfANoteThatBecamePrivate has a server list, read and change notes in pages, under
// keys and in batches, then closes a note with an editor, and asks for everything that is kept.
func TestNothingKeptTellsOfANoteThatBecamePrivate(t *testing.T) {
	t.Parallel()
	vault, home := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(vault, name), []byte(text), 0o600))
	}
	long := strings.Repeat("a line of the note zqxline\n", 200)
	for i := range 120 {
		write(fmt.Sprintf("Note %03d.md", i), "words [[Hub]] #tag\n")
	}
	write("Hub.md", "hub\n")
	write("zqx.md", "words [[Hub]] #tag #zqxtag\n"+long)
	s := harness.StartSession(t, home, append(harness.EverythingEnabled(vault), "--max-output=1KiB", "--toolsets=all")...)
	call := func(arguments harness.Call) string {
		t.Helper()
		answer := require.Value(s.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments}))(t)
		return string(answer)
	}
	listings := []harness.Call{
		harness.Calling("files"), harness.Calling("search", "query=words"), harness.Calling("search:context", "query=words"),
		harness.Calling("backlinks", "path=Hub.md"),
		harness.Calling("read", "path=zqx.md"), harness.Calling("query", "select=file.path"),
		harness.Calling("find", "query=words", "limit=60"), harness.Calling("recent", "limit=100"),
	}
	cursor := map[int]string{}
	for i, listing := range listings {
		if found := cursors.FindStringSubmatch(call(listing)); found != nil {
			cursor[i] = found[1]
		}
	}
	require.That(t, len(cursor) >= 6, "only %d of the answers have several pages", len(cursor))
	keyed := harness.Calling("append", "path=zqx.md", "content=more zqxline").With("idempotencyKey", "one")
	operations := harness.BatchOf(harness.Calling("append", "path=Hub.md", "content=x").With("idempotencyKey", "two"),
		harness.Calling("read", "path=zqx.md"), harness.Calling("search", "query=zqxline"))
	batch := map[string]any{"name": "obsidianBatch", "arguments": operations}
	require.That(t, !strings.Contains(call(keyed), `"ok":false`), "the append failed")
	said, err := s.Exchange("tools/call", batch)
	require.Equal(t, err, nil, "%s", said)
	require.Contains(t, string(said), "zqxline")

	write("zqx.md", "---\nprivate: true\n---\nwords [[Hub]] #tag #zqxtag\n"+long)
	silent := func(what, said string) {
		t.Helper()
		if strings.Contains(said, "zqx.md") && !strings.Contains(said, "not found") || strings.Contains(said, "zqxl") || strings.Contains(said, "zqxt") {
			t.Errorf("%s tells of the note:\n%s", what, said)
		}
	}
	for i, listing := range listings {
		for at := cursor[i]; at != ""; {
			said := call(harness.Call{"command": listing["command"], "cursor": at})
			silent(fmt.Sprint("the next page of ", listing), said)
			at = ""
			if found := cursors.FindStringSubmatch(said); found != nil {
				at = found[1]
			}
		}
		silent(fmt.Sprint(listing), call(listing))
	}
	silent("the answer to a key", call(keyed))
	again, err := s.Exchange("tools/call", batch)
	require.NoError(t, err)
	silent("the answer to the key of a batch", string(again))
	for _, name := range []string{"undo:list", "history", "changes", "tags", "unresolved", "orphans", "properties", "briefing"} {
		silent(name, call(harness.Calling(name)))
	}
	for _, uri := range []string{"vaultwicket://note/zqx.md", "vaultwicket://policy", "vaultwicket://status"} {
		answer := require.Value(s.Exchange("resources/read", map[string]any{"uri": uri}))(t)
		silent(uri, string(answer))
	}
	for _, path := range []string{"ZQX.md", "zqx", "Zqx"} { // no name of the disk is told
		a, b := call(harness.Calling("read", "path="+path)), call(harness.Calling("read", "path="+strings.Replace(strings.ToLower(path), "zqx", "qqq", 1)))
		if a = strings.ReplaceAll(strings.ToLower(a), "zqx", "qqq"); !sameButTime(a, strings.ToLower(b)) {
			t.Errorf("%s:\n%s\nof a missing note:\n%s", path, a, b)
		}
	}
	s.End()
}

// sameButTime compares two answers without their durations and ids.
func sameButTime(a, b string) bool {
	return durations.ReplaceAllString(a, "") == durations.ReplaceAllString(b, "")
}
