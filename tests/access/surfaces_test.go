package access

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// surface is a server of a vault with a secret of each kind, or of each third one, each in another place.
type surface struct {
	*testing.T
	session *harness.StdioServer
	vault   string
	paths   []string
	values  []string // what nobody may see
	answers int
	marks   int
}

func newSurface(t *testing.T, home string) *surface {
	t.Helper()
	s := &surface{T: t, vault: t.TempDir()}
	places := fake.Places()
	names := slices.Sorted(maps.Keys(places))
	for i, secret := range fake.Secrets() {
		if !testenv.Long() && i%3 > 0 {
			continue
		}
		place := places[names[i%len(names)]]
		path := fmt.Sprintf("Of %d.%s", i, place.Ext)
		harness.WriteFile(t, filepath.Join(s.vault, path), []byte(place.Put(secret.Line)))
		s.paths = append(s.paths, path)
		s.values = append(s.values, secret.Value)
	}
	s.session = harness.StartSession(t, home, append(harness.EverythingEnabled(s.vault), "--toolsets=all", "--log-level=debug")...)
	return s
}

// ask sends a request, and checks that its answer shows none of the secrets.
func (s *surface) ask(method string, params any) {
	s.Helper()
	answer := string(require.Value(s.session.Exchange(method, params))(s.T))
	s.answers++
	s.marks += strings.Count(answer, "‹secret:")
	s.hides(fmt.Sprintf("%s %v", method, params), answer)
}

// hides checks that a text shows none of the secrets, whether it is read as it is or as a string of JSON in JSON.
func (s *surface) hides(what, text string) {
	s.Helper()
	bare := strings.NewReplacer(`\`, "").Replace(text)
	for i, value := range s.values {
		middle := value[len(value)/2-4 : len(value)/2+4]
		assert.Equal(s.T, strings.Contains(text, middle) || strings.Contains(bare, middle), false, "%.200s shows the secret of %s", what, s.paths[i])
	}
}

func (s *surface) call(command string, params map[string]any, more ...map[string]any) {
	s.Helper()
	arguments := map[string]any{"command": command, "params": params}
	for _, m := range more {
		maps.Copy(arguments, m)
	}
	s.ask("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
}

// TestNoSurfaceShowsASecretOfAnyKind has secrets of all kinds in all places, and looks at what is no answer of a reading
// command: resources, prompts, completion, errors, previews of changes and batches, conflicts, differences, versions, the
// audit log and the log.
func TestNoSurfaceShowsASecretOfAnyKind(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := newSurface(t, home)
	dry := map[string]any{"dryRun": true}
	s.ask("resources/list", map[string]any{})
	var appends []any
	for _, path := range s.paths {
		uri := "vaultwicket://note/" + url.PathEscape(path)
		s.ask("resources/read", map[string]any{"uri": uri})
		s.ask("completion/complete",
			map[string]any{"ref": map[string]any{"type": "ref/resource", "uri": "vaultwicket://note/{+path}"},
				"argument": map[string]any{"name": "path", "value": path}})
		if !strings.HasSuffix(path, ".md") {
			s.call("attachment:text", map[string]any{"path": path})
			continue
		}
		s.call("note:replace", map[string]any{"path": path, "old": "no such text", "new": "x"})
		s.call("note:patch", map[string]any{"path": path, "heading": "none", "content": "x"})
		s.call("delete", map[string]any{"path": path}, dry)
		s.call("append", map[string]any{"path": path, "content": "more"}, dry)
		s.call("create", map[string]any{"path": path, "content": "other", "overwrite": true}, dry)
		appends = append(appends, map[string]any{"command": "append", "params": map[string]any{"path": path, "content": "more"}})
	}
	for _, prompt := range mcpserver.PromptNames() {
		s.ask("prompts/get", map[string]any{"name": prompt, "arguments": map[string]any{}})
	}
	s.ask("tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": appends, "dryRun": true}})
	s.ask("tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": appends}})
	for _, path := range s.paths {
		if !strings.HasSuffix(path, ".md") {
			continue
		}
		note := filepath.Join(s.vault, path)
		text := require.Value(os.ReadFile(note))(t)
		require.NoError(t, os.WriteFile(note, append(text, "from elsewhere\n"...), 0o600))
		s.call("undo", map[string]any{"path": path}, dry) // in conflict with what was written meanwhile
		s.call("undo", map[string]any{"path": path})
		s.call("diff", map[string]any{"path": path})
		s.call("history", map[string]any{"path": path})
		s.call("history:read", map[string]any{"path": path, "version": "1"})
	}
	// A call with a secret in its parameters: one that is made, one that fails and one that is refused.
	for _, value := range s.values {
		s.session.Exchange("tools/call",
			map[string]any{"name": "obsidianCli",
				"arguments": map[string]any{"command": "append",
					"params": map[string]any{"path": "Target.md", "content": value}}})
		s.session.Exchange("tools/call",
			map[string]any{"name": "obsidianCli",
				"arguments": map[string]any{"command": "create",
					"params": map[string]any{"path": s.paths[0], "content": value}}})
		s.session.Exchange("tools/call",
			map[string]any{"name": "obsidianCli",
				"arguments": map[string]any{"command": "eval", "params": map[string]any{"code": value}}})
	}
	s.session.End()
	s.hides("the log", s.session.Log.String())
	looked := 0
	_ = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		isJournal := strings.Contains(path, "journal") // which keeps the texts that undo needs
		if err != nil || entry.IsDir() || isJournal {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			looked++
			s.hides(path, string(text))
		}
		return nil
	})
	assert.That(t, s.answers >= 5*len(s.paths), "%d answers with %d marks, %d files", s.answers, s.marks, looked)
	assert.That(t, s.marks >= 3*len(s.paths), "%d answers with %d marks, %d files", s.answers, s.marks, looked)
	assert.That(t, looked >= 2, "%d answers with %d marks, %d files", s.answers, s.marks, looked)
}
