package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// vaultWithRights is a vault with a folder for each level, on which a person has
// worked before: what they did is in the journal.
func vaultWithRights(t *testing.T, settings string) *embedded.Vault {
	h := embedded.New(t, map[string]string{
		"none/a.md": "a", "r/a.md": "- [ ] a [[w/linked]]\n", "w/a.md": "- [ ] a\n", "w/linked.md": "x",
		"w/long.md": embedded.Numbered(12), "d/long.md": embedded.Numbered(12), "d/a.md": "a",
		"d/linked.md": "y [[w/a]]", "t/T.md": "template", "w/B.base": "views: []\n", "r/B.base": "views: []\n",
		".obsidian/templates.json": `{"folder":"t"}`, ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
	})
	h.Put(".vaultwicketignore", "*.draft.md\n")
	for name, text := range map[string]string{"daily-notes.json": `{"folder":"` + settings + `"}`, "zk-prefixer.json": `{"folder":"` + settings + `"}`} {
		h.Put(".obsidian/"+name, text)
	}
	h.Env[change.SessionVariable] = "person"
	for _, call := range []string{
		"append path=r/a.md content=more", "append path=w/a.md content=more", "create path=w/made.md content=x",
		"create path=d/made.md content=x", "create path=r/made.md content=x",
		"create path=w/gone.md content=x", "delete path=w/gone.md", "create path=w/old.md content=x",
		"move path=w/old.md to=w/sub/new.md", "create path=r/out.md content=x", "delete path=r/out.md",
	} {
		h.Does(strings.Fields(call)...)
	}
	h.Env[change.SessionVariable] = "agent"
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "r", "none": "none", "w": "rw", "d": "rwd"}).String()
	return h
}

// What the rules do not allow is refused, and nothing is changed; what they allow
// is done.
func TestRights(t *testing.T) {
	vaults := map[string]*embedded.Vault{}
	for _, test := range []struct {
		call     string
		settings string // the folder of daily and unique notes
		allowed  bool
	}{
		{call: "append path=r/a.md content=x"}, {call: "append path=w/a.md content=x", allowed: true},
		{call: "prepend path=r/a.md content=x"}, {call: "create path=r/new.md content=x"}, {call: "create path=new.md content=x"},
		{call: "create path=none/new.md content=x"}, {call: "create path=d/x.draft.md content=x"},
		{call: "rename path=d/a.md name=x.draft"}, {call: "create path=none/a.md content=x"},
		{call: "create path=none/a.md content=x overwrite"},
		{call: "create path=w/new.md content=x", allowed: true}, {call: "create path=w/a.md content=x overwrite"},
		{call: "create path=d/a.md content=x overwrite", allowed: true},
		{call: "create path=r/new.md template=T"}, {call: "create path=w/new.md template=T", allowed: true},
		{call: "template:insert name=T path=r/a.md"}, {call: "template:insert name=T path=w/a.md", allowed: true},
		{call: "delete path=r/a.md"}, {call: "delete path=w/a.md"}, {call: "delete path=w/a.md permanent"}, {call: "delete path=d/a.md", allowed: true},
		{call: "move path=w/a.md to=d/"}, {call: "move path=d/a.md to=w/b.md", allowed: true},
		{call: "move path=d/a.md to=r/b.md"}, {call: "move path=d/a.md to=none/"}, {call: "move path=r/a.md to=d/"},
		{call: "rename path=w/a.md name=b", allowed: true}, // the link that follows is in a note of level rwd
		{call: "rename path=w/linked.md name=b"},           // a link in a note of level r would have to follow
		{call: "move path=w/linked.md to=w/b.md"},          // the same
		{call: "rename path=r/a.md name=b"}, {call: "rename path=w/a.md name=a.md", allowed: true},
		{call: "property:set path=r/a.md name=p value=1"},
		{call: "property:set path=w/a.md name=p value=1", allowed: true},
		{call: "property:remove path=r/a.md name=p", allowed: true}, // it has none
		{call: "task path=r/a.md line=1 done"}, {call: "task path=w/a.md line=1 done", allowed: true},
		{call: "task:add path=r/a.md content=x"}, {call: "task:add path=none/a.md content=x"},
		{call: "task:add path=w/a.md content=x heading=A create-heading due=today", allowed: true},
		{call: "task:add daily content=x", settings: "r"}, {call: "task:add daily content=x", settings: "none"},
		{call: "task:add daily content=x", settings: "w", allowed: true},
		{call: "daily:ensure", settings: "r"}, {call: "daily:ensure date=tomorrow", settings: "none"}, {call: "daily:ensure", settings: "w", allowed: true},
		{call: "periodic:append period=week content=x"},
		{call: "periodic:append period=day content=x", settings: "none"},
		{call: "periodic:append period=day content=x", settings: "w", allowed: true},
		{call: "create path=r/new.md template=T content=x"}, {call: "create path=w/new.md template=T content=x", allowed: true},
		{call: "task:reschedule path=r/a.md line=1 due=today"}, {call: "task:reschedule ref=none/a.md:1 due=today"},
		{call: "task:reschedule ref=w/a.md:1 due=today", allowed: true},
		{call: "note:replace path=r/a.md old=a new=b"},
		{call: "note:insert path=r/a.md lines=1 position=after content=x"},
		{call: "note:set-section path=r/a.md lines=1 content=x"},
		{call: "note:set-section path=w/long.md lines=1-12 content=x"},
		{call: "note:set-section path=d/long.md lines=1-12 content=x", allowed: true},
		{call: "note:set-section path=w/long.md lines=1-2 content=x", allowed: true}, // what removes much needs rwd
		{call: "history:restore path=r/a.md version=1"}, {call: "history:restore path=w/a.md version=1"},
		{call: "history:restore path=w/gone.md version=1", allowed: true},
		{call: "daily:append content=x", settings: "r"}, {call: "daily", settings: "r"},
		{call: "daily", settings: "none"}, {call: "daily:prepend content=x", settings: "w", allowed: true},
		{call: "note:insert daily lines=1 position=after content=x", settings: "none"},
		{call: "unique content=x", settings: "r"}, {call: "unique", settings: "none"},
		{call: "unique content=x", settings: "w", allowed: true},
		{call: "base:create path=r/B.base name=x content=y"}, {call: "bookmark file=r/a.md"},
		{call: "undo ID0"}, {call: "undo ID1", allowed: true}, {call: "undo ID2"}, {call: "undo ID3", allowed: true},
		{call: "undo ID4"}, {call: "undo ID6", allowed: true}, {call: "undo ID8"}, {call: "undo ID10"},
	} {
		h := vaults[test.settings]
		if h == nil {
			h = vaultWithRights(t, test.settings)
			vaults[test.settings] = h
		}
		line := test.call
		for i, id := range slices.Backward(h.Changes()) {
			line = strings.ReplaceAll(line, fmt.Sprint("ID", i), id)
		}
		before := h.Tree()
		for _, words := range [][]string{append([]string{call.PlanSwitch}, strings.Fields(line)...), strings.Fields(line)} {
			status, stdout, _ := h.Run(words...)
			assert.That(t, (status == answer.ExitDone) == test.allowed, "%q answers %d, %q", words, status, stdout)
			after := h.Tree()
			if mayChange := words[0] != call.PlanSwitch && test.allowed; !mayChange {
				assert.Equal(t, after, before, "what %q left", words)
			}
		}
		if test.allowed {
			delete(vaults, test.settings) // it is another one now
		}
	}
}

// A caller may take back what it made where it may not delete, and nothing that
// another one made there.
func TestUndoOfWhatTheCallerMade(t *testing.T) {
	h := vaultWithRights(t, "")
	h.Run("create", "path=w/nobodys.md")
	status, stdout, _ := h.Run("undo")
	assert.That(t, status != answer.ExitDone, "undo of what no known caller made: %s", stdout)
	for _, line := range []string{"create path=w/mine.md content=x", "create path=w/mine.md template=T"} {
		h := vaultWithRights(t, "")
		before := h.Tree()
		h.Does(append([]string{"--caller", "agent"}, strings.Fields(line)...)...)
		id := h.Changes()[0]
		h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", "--caller", "another", "undo")
		for _, other := range [][]string{{"--caller", "another"}, nil} {
			status, stdout, _ := h.Run(append(other, "undo", id)...)
			assert.That(t, status != answer.ExitDone, "undo by %q: %s", other, stdout)
			assert.Contains(t, stdout, "Access denied", "undo by %q", other)
		}
		status, stdout, _ = h.Run("--caller", "agent", "undo")
		assert.Equal(t, status, answer.ExitDone, "undo by the same caller: %s", stdout)
		assert.Equal(t, h.Tree(), before, "undo by the same caller: %s", stdout)
	}
}

func TestUndoOfAnUndoIsNoWayToDelete(t *testing.T) {
	h := embedded.New(t, map[string]string{"w/a.md": "text"})
	h.Run("--caller", "owner", "delete", "path=w/a.md", "permanent")
	h.Env[call.AccessVariable] = vaultWithRights(t, "").Env[call.AccessVariable]
	status, out, _ := h.Run("--caller", "agent", "undo", h.Changes()[0])
	require.Equal(t, status, answer.ExitDone, "%q", out)
	require.Equal(t, h.Get("w/a.md"), "text", "%q", out)
	status, out, _ = h.Run("--caller", "agent", "undo", h.Changes()[1])
	assert.That(t, status != answer.ExitDone, "status %d, %q", status, out)
	assert.Equal(t, h.Get("w/a.md"), "text", "status %d, %q", status, out)
}
