package access

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// secretNotes are 50 notes with four secrets each, in all places that a note has.
func secretNotes(t *testing.T, vault string) (pieces []string) {
	t.Helper()
	for i := range 50 {
		var tokens []string
		for k := range 4 {
			token := fmt.Sprintf("ghp_%02d%dR8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4U", i, k)
			token += strings.Repeat("x", 40-len(token))
			tokens, pieces = append(tokens, token), append(pieces, token[4:14])
		}
		text := fmt.Sprintf("---\napi: %s\nlist: [a, %s]\n---\n# Note %d\nA line with %s in it, see [[Note %d]].\n- [ ] rotate %s 📅 2026-11-25\n",
			tokens[0], tokens[1], i, tokens[2], (i+1)%50, tokens[3])
		require.NoError(t, os.WriteFile(filepath.Join(vault, fmt.Sprintf("Note %d.md", i)), []byte(text), 0o600))
	}
	return pieces
}

var cursors = regexp.MustCompile(`cursor[\\\\": =]+([A-Za-z0-9_.-]{6,})`)

var durations = regexp.MustCompile(`\\?"(durationms|id)\\?":\d+`)

// TestNoSecretLeavesTheServer calls every command that reads, resources, prompts, previews, batches
// and errors of a server, in text and JSON, on small pages, and searches all bytes that it sends.
func TestNoSecretLeavesTheServer(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		vault, home := t.TempDir(), t.TempDir()
		pieces := secretNotes(t, vault)
		s := harness.StartSession(t, home,
			append(harness.EverythingEnabled(vault), "--max-output=1KiB", "--result-format="+format, "--toolsets=all",
				"--log-level=debug")...)
		marks, answers := 0, 0
		exchange := func(method string, params any) string {
			t.Helper()
			answer := require.Value(s.Exchange(method, params))(t)
			answers++
			marks += strings.Count(string(answer), "‹secret:github-pat:")
			for _, piece := range pieces {
				require.That(t, !strings.Contains(string(answer), piece), "%s %v: %s", method, params, answer)
			}
			return string(answer)
		}
		call := func(arguments map[string]any) string {
			return exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
		}
		for _, command := range harness.FolderCommands() {
			params := map[string]any{}
			for _, p := range command.Params {
				if value, known := map[string]any{"path": "Note 7.md", "query": "rotate", "name": "api", "expr": "api",
					"heading": "Note 7", "from": "2026-11-20", "period": "day", "ref": "Note 7.md:7",
					"version": "1"}[p.Name]; known &&
					(p.Required || p.Name == "path" || p.Name == "name" || p.Name == "heading") {
					params[p.Name] = value
				}
				if p.Name == "counts" || p.Name == "verbose" {
					params[p.Name] = true
				}
			}
			if command.Effect.Mutates() {
				params["content"], params["old"], params["new"], params["value"], params["to"] = "x", "A line", "The line", "x", "y"
				call(map[string]any{"command": command.Name, "params": params, "dryRun": true})
				continue
			}
			call(map[string]any{"command": command.Name, "params": params})
			delete(params, "path")
			arguments := map[string]any{"command": command.Name, "params": params}
			for page := 0; page < 40; page++ {
				cursor := cursors.FindStringSubmatch(call(arguments))
				if cursor == nil {
					break
				}
				arguments = map[string]any{"command": command.Name, "cursor": cursor[1]}
			}
		}
		whole := []harness.Call{harness.Calling("append", "path=Note 3.md", "content=more"),
			harness.Calling("note:replace", "path=Note 3.md", "old=line", "new=row"),
			harness.Calling("property:set", "path=Note 3.md", "name=api", "value=x")}
		for _, c := range whole {
			call(c)
			call(c.With("dryRun", true))
		}
		for _, name := range []string{"undo:list", "history", "diff", "history:read", "undo"} {
			call(map[string]any{"command": name, "params": map[string]any{"path": "Note 3.md"}})
			call(map[string]any{"command": name, "params": map[string]any{}})
		}
		exchange("tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": []any{
			map[string]any{"command": "read", "params": map[string]any{"path": "Note 1.md"}},
			map[string]any{"command": "read", "params": map[string]any{"path": "Note 2.md"}},
		}}})
		for _, uri := range []string{"vaultwicket://note/Note%201.md", "vaultwicket://daily", "vaultwicket://policy"} {
			exchange("resources/read", map[string]any{"uri": uri})
		}
		exchange("resources/list", map[string]any{})
		exchange("prompts/list", map[string]any{})
		for _, prompt := range mcpserver.PromptNames() {
			exchange("prompts/get", map[string]any{"name": prompt})
		}
		// Neither has what an agent sees of the journal.
		for _, name := range []string{"changes", "undo:list", "history"} {
			call(map[string]any{"command": name, "params": map[string]any{"limit": "100"}})
		}
		assert.That(t, marks >= 40, "%s: %d marks in %d answers", format, marks, answers)
		assert.That(t, answers >= 100, "%s: %d marks in %d answers", format, marks, answers)
		s.End()
		for _, piece := range pieces {
			assert.That(t, !strings.Contains(s.Log.String(), piece), "the log has %s", piece)
		}
		assert.Contains(t, s.Log.String(), "command=read", "%s: no log", format)
		for _, dir := range []string{filepath.Join(home, ".cache"), filepath.Join(home, ".local")} {
			_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
				text, _ := os.ReadFile(path)
				if strings.Contains(path, "journal") || err != nil {
					return nil // which keeps the texts that undo needs
				}
				for _, piece := range pieces {
					assert.That(t, !strings.Contains(string(text), piece), "%s has %s", path, piece)
				}
				return nil
			})
		}
	}
}
