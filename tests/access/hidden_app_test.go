package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// leakyApp is an official client that keeps what it is called with, and answers
// whatever could tell of hidden notes with a text of its own.
const leakyApp = `#!/bin/sh
echo "$*" >> "FOLDER/called"
for word; do case "$word" in
version) echo '1.12.7 (installer 1.12.7)'; exit 0;;
path=Open/*|path=Read/*|path=Write/*|path=Hid/Shown/*|path=Templates/Day.md|path=2026-11-21.md|path=Plan.md|ref=Open/*|file=Open/*) echo 'an answer'; exit 0;;
help|commands|hotkey*|plugin*|theme*|snippet*|vaults|web) echo 'an answer'; exit 0;;
esac; done
cat "FOLDER/says"
`

// apart are the commands that have to do with no note.
var apart = regexp.MustCompile(`^(vault=Vault )?(help|version|commands|hotkeys?|plugins?(:enabled)?|themes?|snippets(:enabled)?|vaults|web)( |$)`)

// onOne are calls on one visible note by its path, of commands that look at no other.
// A call that names its note otherwise reaches the app with the path in place of
// the name.
var onOne = regexp.MustCompile(`^(vault=Vault )?(file|open|create|read|append|prepend|delete|property:(set|remove|read)|task|diff|history(:(read|restore|open))?|outline|publish:(add|remove|open)|sync:(history|read|restore|open)|wordcount) (.* )?(path|ref|file)=((Open|Read|Write|Hid/Shown)/|Templates/Day.md|2026-11-21.md|Plan.md)`)

// With rules that hide something, the app is asked nothing whose answer could
// depend on what is hidden, so that it does not matter what it would say.
func TestTheAppIsNotAskedWhatCouldTell(t *testing.T) {
	t.Parallel()
	for _, backend := range []gateway.Backend{gateway.App, gateway.Auto} {
		t.Run(string(backend), func(t *testing.T) {
			h, folder := newLeakyVault(t, backend, "")
			// Without patterns some calls may reach the app at all.
			h.hide(map[string]string{"Hid/Secret.md": "zqx"})
			require.NoError(t, os.Remove(filepath.Join(h.dir, ".vaultwicketignore")))
			var first []string
			var requests []gateway.Request
			for c := range allowlist.Commands() {
				for i, req := range appRequests(t, c) {
					if backend == gateway.App || i%2 == 0 || testenv.Long() { // with rules both ask in the same way
						requests = append(requests, req)
					}
				}
			}
			for round, says := range []string{"Hid/Secret.md zqxone\n", "", "No matches found.\n"}[:testenv.Count(2, 3)] {
				harness.WriteFile(t, filepath.Join(folder, "says"), []byte(says))
				for i, req := range requests {
					said := h.ask(req)
					if round == 0 {
						first = append(first, said)
					} else if said != first[i] && !chancy(req) {
						t.Errorf("%s %v: %s\nbefore: %s", req.Command, req.Params, said, first[i])
					}
				}
			}
			called := require.Value(os.ReadFile(filepath.Join(folder, "called")))(t)
			lines := strings.Split(strings.TrimSuffix(string(called), "\n"), "\n")
			allowed := 0
			for _, line := range lines {
				if apart.MatchString(line) || onOne.MatchString(line) && !strings.Contains(line, "template=") {
					allowed++
				} else {
					t.Errorf("the app was asked %q", line)
				}
			}
			t.Logf("%d requests, each time; the app was started %d times", len(requests), len(lines))
			assert.That(t, allowed >= 20, "the app was asked only %d times: too few to mean anything", allowed)
		})
	}
}

// appRequests are fewer requests: a start of the app takes long.
func appRequests(t *testing.T, c allowlist.Command) []gateway.Request {
	all := sampleRequests(c)
	seen, i, mine := map[string]bool{}, -1, testenv.Shard(t, 3)
	return slices.DeleteFunc(all, func(req gateway.Request) bool {
		key := fmt.Sprint(req.Command, len(req.Params), req.Params["path"], req.Params["file"], req.Params["query"], req.Params["ref"], req.Params["to"])
		twice := seen[key]
		seen[key] = true
		if !twice {
			i++
		}
		return twice || !mine(i)
	})
}

// What changes something is worked out by the embedded program before the app
// makes it, and what that refuses does not reach the app.
func TestTheAppMakesNoChangeThatIsRefused(t *testing.T) {
	t.Parallel()
	h, folder := newLeakyVault(t, gateway.App, "zqx\n")
	h.hide(map[string]string{"Hid/Secret.md": "zqx", "Open/One.md": "zqx"})
	require.NoError(t, os.Remove(filepath.Join(h.dir, ".vaultwicketignore")))
	before := h.notes()
	texts := map[string][]byte{}
	for _, path := range []string{"Open/Plan.md", "Open/Note.md", "Open/Deep/Plan.md"} {
		texts[path] = require.Value(os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(path))))(t)
	}
	tried := 0
	for c := range allowlist.Commands() {
		for _, req := range appRequests(t, c) {
			call, err := allowlist.Parse(req.Command, req.Params)
			if err != nil || !h.gateway.Changes(req) || call.EmbeddedOnly() || call.FollowsLinks() {
				continue // the app is asked for none of these
			}
			result := h.gateway.Do(t.Context(), req)
			tried++
			if result.OK && allowlist.RestoresVersion(req.Command) { // the text of the app is written where that is allowed
				assert.That(t, strings.HasPrefix(result.Path, "Open/"), "%s %v restores %q", req.Command, req.Params, result.Path)
				harness.WriteFile(t, filepath.Join(h.dir, filepath.FromSlash(result.Path)), texts[result.Path])
			}
			text, _ := json.Marshal(result)
			assert.That(t, !strings.Contains(string(text), canaryWord), "%s %v tells what is hidden: %s", req.Command, req.Params, text)
		}
	}
	after := h.notes()
	assert.That(t, after == before, "notes were changed:\n%s\nbefore:\n%s", after, before)
	called, _ := os.ReadFile(filepath.Join(folder, "called"))
	for line := range strings.Lines(string(called)) {
		line = strings.TrimSuffix(line, "\n")
		assert.That(t, apart.MatchString(line) || onOne.MatchString(line), "the app was asked %q", line)
		assert.NotContains(t, line, "template=", "the app was asked %q", line)
		writes := regexp.MustCompile(`(append|prepend|property:|delete|restore|create|task .*(toggle|done|todo|status)).* (path|ref)=(Read|Hid/Shown)/`)
		assert.That(t, !writes.MatchString(line) || strings.Contains(line, "property:read"), "the app was asked to change what may only be read: %q", line)
		if strings.Contains(line, "path=Write/") &&
			(strings.Contains(line, "delete") || strings.Contains(line, "overwrite") ||
				strings.Contains(line, "restore")) {
			t.Errorf("the app was asked to delete what may only be written: %q", line)
		}
	}
	t.Logf("%d changes tried, the app was started %d times", tried, strings.Count(string(called), "\n"))
}

// newLeakyVault returns a vault whose app is leakyApp, which answers every call with a
// text, and the folder in which it keeps what it is called with.
func newLeakyVault(t *testing.T, backend gateway.Backend, says string) (h *hiddenVault, folder string) {
	t.Helper()
	folder = t.TempDir()
	client := filepath.Join(folder, "obsidian")
	testenv.WriteProgram(t, client, []byte(strings.ReplaceAll(leakyApp, "FOLDER", folder)))
	harness.WriteFile(t, filepath.Join(folder, "says"), []byte(says))
	return newHiddenVault(t, func(c *gateway.Config) {
		c.Backend = backend
		c.Runner.Close()
		c.Runner = exec.New(exec.Config{CLI: client, Self: harness.Binary, Resident: true, Session: "agent", Getenv: c.Getenv})
		t.Cleanup(c.Runner.Close)
	}), folder
}

// With access rules the app is not asked for a path that leads to a file of other
// names, through a link or a hard link: the rules know the path alone, and the app
// follows both.
func TestTheAppIsNotAskedForAPathThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	h, folder := newLeakyVault(t, gateway.App, "an answer\n")
	h.hide(map[string]string{"Hid/Secret.md": "zqx"})
	secret, open := filepath.Join(h.dir, "Hid", "Secret.md"), filepath.Join(h.dir, "Open")
	for _, make := range []func() error{
		func() error { return os.Remove(filepath.Join(h.dir, ".vaultwicketignore")) },
		func() error { return os.Link(secret, filepath.Join(open, "alias.md")) },
		func() error {
			return os.Symlink(filepath.Join("..", "Hid", "Secret.md"), filepath.Join(open, "link.md"))
		},
		func() error { return os.Symlink(filepath.Join("..", "Hid"), filepath.Join(open, "folder")) },
	} {
		if err := make(); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	asked := 0
	for c := range allowlist.Commands() {
		for _, req := range appRequests(t, c) {
			_, byPath := req.Params["path"]
			if _, byName := req.Params["file"]; !byPath || byName {
				continue
			}
			for path, code := range map[string]string{"Open/alias.md": "access_denied", "Open/link.md": "not_found", "Open/folder/Secret.md": "not_found"} {
				req := req
				req.Params = maps.Clone(req.Params)
				req.Params["path"] = allowlist.Text(path)
				result := h.gateway.Do(t.Context(), req)
				if asked++; result.OK && !apart.MatchString(c.Name) && c.Name != "canvas:create" { // that makes another file next to it
					t.Errorf("%s %v: %+v", req.Command, req.Params, result)
				}
				if c.Name == "read" {
					assert.Equal(t, harness.CodeOf(result), code, "read %s: %+v", path, result.Error)
				}
			}
		}
	}
	called, err := os.ReadFile(filepath.Join(folder, "called"))
	require.That(t, err == nil || os.IsNotExist(err), "%v", err)
	for line := range strings.Lines(string(called)) {
		for _, path := range []string{"Open/alias", "Open/link", "Open/folder"} {
			assert.That(t, !strings.Contains(line, path), "the app was asked %q", line)
		}
	}
	assert.That(t, asked >= 50, "only %d calls", asked)
}
