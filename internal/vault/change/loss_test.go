package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAChangeThatRemovesMuchIsALoss(t *testing.T) {
	section := "# A\n" + embedded.Numbered(11) + "# B\n" + embedded.Numbered(40)
	yaml := "---\nlong: |\n" + strings.ReplaceAll(embedded.Numbered(12), "line", "  line") + "---\n"
	hub := strings.Repeat("[[target]] and more\n", 11)
	for _, test := range []struct {
		name, note string
		call       []string
		want       string
	}{
		{"a section of eleven lines", section, []string{"note:set-section", "path=a.md", "heading=A", "content=x"},
			`removes 11 of the 53 lines of the text of "a.md"`},
		{"a section of ten lines", strings.Replace(section, "line 5\n", "", 1), []string{"note:set-section", "path=a.md", "heading=A", "content=x"}, ""},
		{"three of five lines", embedded.Numbered(5),
			[]string{"note:replace", "path=a.md", "old=line 1\\nline 2\\nline 3", "new=x"},
			`removes 3 of the 5 lines of the text of "a.md"`},
		{"two of five lines", embedded.Numbered(5), []string{"note:replace", "path=a.md", "old=line 1\\nline 2", "new=x"}, ""},
		{"three of four lines", embedded.Numbered(4), []string{"note:replace", "path=a.md", "old=line 1\\nline 2\\nline 3", "new=x"}, ""},
		{"a body below frontmatter", "---\na: 1\nb: 2\nc: 3\n---\n" + embedded.Numbered(5),
			[]string{"note:replace", "path=a.md", "old=line 1\\nline 2\\nline 3", "new=x"},
			`removes 3 of the 5 lines of the text of "a.md"`},
		{"a property of twelve lines", yaml, []string{"property:set", "path=a.md", "name=long", "value=x"}, `removes 13 lines of "a.md"`},
		{"a property of one line", "---\na: 1\n---\n", []string{"property:set", "path=a.md", "name=a", "value=2"}, ""},
		{"an append", embedded.Numbered(5), []string{"append", "path=a.md", "content=" + strings.Repeat("x\\n", 50)}, ""},
		{"a body that becomes frontmatter", embedded.Numbered(5) + "---\n",
			[]string{"prepend", "path=a.md", "content=---"}, `removes 6 of the 6 lines of the text of "a.md"`},
		{"links in another note", "", []string{"rename", "path=target.md", "name=other"}, `removes 11 of the 11 lines of the text of "hub.md"`},
		{"a move without links", "", []string{"move", "path=lonely.md", "to=x/lonely.md"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{"a.md": test.note, "target.md": "", "hub.md": hub,
				"lonely.md": embedded.Numbered(40), ".obsidian/app.json": embedded.FollowLinks})
			before := h.Tree()
			assert.Equal(t, h.Plan(test.call...).Loses, test.want, "loses")
			status, out, _ := h.Run(append([]string{"--sparing"}, test.call...)...)
			if test.want == "" {
				assert.That(t, status == answer.ExitDone, "status %d, %q", status, out)
				return
			}
			want := "Error: Approval required: the change " + test.want + ". Nothing was changed.\n"
			assert.Equal(t, status, answer.ExitFailed, "want %q", want)
			assert.Equal(t, out, want)
			assert.Equal(t, h.Tree(), before, "want %q", want)
			status, out, _ = h.Run(append([]string{"--sparing", "--begin", call.ChangeSwitch, "20261121T093105.123456789Z-7f3a"}, test.call...)...)
			if status != answer.ExitFailed || out != want || len(h.Changes()) != 0 {
				t.Errorf("begun: status %d, %q, %d entries", status, out, len(h.Changes()))
			}
			h.Does(test.call...)
		})
	}
}

func TestTheLastChangeOfTheCallerIsNoLoss(t *testing.T) {
	a, b := []string{"--caller", "a"}, []string{"--caller", "b"}
	run := func(h *embedded.Vault, caller []string, args ...string) {
		t.Helper()
		h.Does(append(caller, args...)...)
	}
	h := embedded.New(t, map[string]string{"old.md": embedded.Numbered(20)})
	run(h, a, "create", "path=a.md", "content="+embedded.Numbered(20))
	run(h, a, "append", "path=a.md", "content="+embedded.Numbered(20))
	run(h, a, "delete", "path=old.md")
	ids := h.Changes()
	for _, test := range []struct {
		name     string
		caller   []string
		id, want string
	}{
		{"the last one brings a note back", a, ids[2], ""},
		{"of somebody else, too", b, ids[2], ""},
	} {
		assert.Equal(t, h.Plan(append(test.caller, "undo", test.id)...).Loses, test.want, "%s: loses", test.name)
	}
	run(h, a, "undo")
	undone := h.Changes()[3]
	for name, test := range map[string]struct {
		caller   []string
		id, want string
	}{
		"what was deleted is deleted again": {a, undone, `removes the file "old.md"`},
		"by somebody else":                  {b, undone, `removes the file "old.md"`},
		"the append of another":             {b, ids[1], `replaces what "a.md" contains`},
		"the own append":                    {a, ids[1], ""},
	} {
		assert.Equal(t, h.Plan(append(test.caller, "undo", test.id)...).Loses, test.want, "%s: loses", name)
	}
	h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", append(b, "undo")...)
	run(h, a, "--sparing", "undo")
	run(h, a, "--sparing", "undo")
	assert.That(t, h.Get("a.md") == "(missing)", "what was made is there")
	h.Expect(answer.ExitFailed,
		"Error: Approval required: the change removes the file \"old.md\". Nothing was changed.\n",
		append(a, "--sparing", "undo", undone)...)
}

func TestABatchIsTakenBackAsOne(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "0\n", "b.md": "b\n", "c.md": "c\n"})
	run := func(args string) {
		t.Helper()
		h.Does(strings.Fields(args)...)
	}
	run("--caller a append path=c.md content=x")
	before := h.Tree()
	run("--caller a --batch 1 append path=a.md content=1")
	run("--caller a --batch 1 move path=a.md to=x/a.md")
	run("--caller a --batch 1 append path=x/a.md content=2")
	run("--caller a --batch 1 delete path=b.md")
	run("--caller a --batch 1 create path=a.md content=new")
	after := h.Tree()
	ids := h.Changes()
	want := ""
	for i, of := range []string{"append a.md", "move a.md", "append x/a.md", "delete b.md", "create a.md"} {
		want = "Undone: " + ids[i+1] + " " + of + "\n" + want
	}
	assert.Equal(t, len(h.Plan("--caller", "a", "undo").Files), 3, "the plan lists each file once")
	h.Expect(answer.ExitDone, want, "--caller", "a", "--sparing", "undo")
	got := h.Tree()
	require.That(t, got == before, "undone, the vault is\n%s, was\n%s", got, before)
	run("--caller a undo " + h.Changes()[6])
	got = h.Tree()
	require.That(t, got == after, "done again, the vault is\n%s, was\n%s", got, after)
	h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", "undo", "batch="+ids[1])
	h.Expect(answer.ExitFailed, "Error: Change "+ids[0]+" belongs to no batch.\n", "undo", "batch="+ids[0])
	h.Expect(answer.ExitMisuse, "Error: Use id=<id> or batch=<id>, not both.\n", "undo", "id="+ids[0], "batch="+ids[1])
}

// One operation of a batch that was overwritten since keeps all of it.
func TestABatchIsTakenBackWhollyOrNotAtAll(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a\n", "b.md": "b\n"})
	for _, call := range []string{"append path=a.md content=1", "append path=b.md content=1"} {
		h.Run(append([]string{"--caller", "a", "--batch", "1"}, strings.Fields(call)...)...)
	}
	h.Put("a.md", "other\n")
	before := h.Tree()
	for _, undo := range []string{"undo", "undo batch=" + h.Changes()[1]} {
		status, out, _ := h.Run(append([]string{"--caller", "a"}, strings.Fields(undo)...)...)
		if status != answer.ExitFailed || !strings.HasPrefix(out, `Error: Conflict: "a.md" was changed since.`) || h.Tree() != before {
			t.Errorf("%s: status %d, %q", undo, status, out)
		}
	}
}

func TestASessionIsTakenBack(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "0\n"})
	before := h.Tree()
	h.Env[change.SessionVariable] = "first"
	h.Run("--caller", "a", "append", "path=a.md", "content=1")
	h.Run("--caller", "a", "append", "path=a.md", "content=2")
	h.Run("--caller", "b", "create", "path=b.md")
	h.Env[change.SessionVariable] = "second"
	h.Run("--caller", "a", "create", "path=c.md")
	ids := h.Changes()
	assert.Equal(t, h.Plan("--caller", "a", "undo", "session="+ids[0]).Loses, `replaces what "a.md" contains`, "loses")
	status, out, _ := h.Run("undo", "session="+ids[1])
	assert.Equal(t, status, answer.ExitDone, "%q", out)
	assert.Equal(t, h.Get("a.md"), "0\n", "%q", out)
	assert.Equal(t, h.Get("b.md"), "", "%q", out)
	assert.Equal(t, h.Get("c.md"), "", "%q", out)
	h.Run("undo", ids[2])
	h.Run("undo", ids[3])
	assert.Equal(t, h.Tree(), before, "the vault")
}

// A note that was changed since does not hold up the rest of a session, or of changes that are named
// together: it is left as it is, and named.
func TestAConflictDoesNotHoldUpTheRest(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "0\n", "b.md": "0\n", "c.md": "0\n"})
	for _, path := range []string{"a.md", "b.md", "a.md", "c.md"} {
		h.Run("--caller", "a", "append", "path="+path, "content=1")
	}
	h.Put("b.md", "other\n")
	ids := h.Changes()
	status, out, _ := h.Run("undo", "id="+ids[0]+","+ids[2])
	assert.Equal(t, status, answer.ExitDone, "two of a note: %q", out)
	assert.Equal(t, h.Get("a.md"), "0\n", "two of a note: %q", out)
	assert.That(t, h.Get("c.md") != "0\n", "two of a note: %q", out)
	status, out, _ = h.Run("undo", "session="+ids[0])
	want := "Undone: " + ids[3] + " append c.md\nNot undone, because it was changed since: " + ids[1] + " append b.md\n"
	assert.Equal(t, status, answer.ExitDone, "a session")
	assert.Equal(t, out, want, "a session")
	assert.Equal(t, h.Get("c.md"), "0\n", "a session")
	assert.Equal(t, h.Get("b.md"), "other\n", "a session")
	before := h.Tree()
	for _, named := range []string{"session=" + ids[1], "id=" + ids[1], "id=" + ids[1] + "," + ids[1]} {
		if status, out, _ := h.Run("undo", named); status != answer.ExitFailed ||
			!strings.HasPrefix(out, `Error: Conflict: "b.md" was changed since.`) || h.Tree() != before {
			t.Errorf("%s: status %d, %q", named, status, out)
		}
	}
	status, _, _ = h.Run("undo", "id="+ids[3]+","+ids[1])
	assert.Equal(t, status, answer.ExitFailed, "one that is undone already")
	assert.Equal(t, h.Tree(), before, "one that is undone already")
}

func TestLinesAreCounted(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "1\n2\n3\n", "l.md": "[[a]]\n[[a]]\n", ".obsidian/app.json": embedded.FollowLinks})
	for _, test := range []struct{ call, added, removed string }{
		{"append path=a.md content=4\\n5", "2", "0"},
		{"note:replace path=a.md old=2 new=x", "1", "1"},
		{"rename path=a.md name=b", "2", "2"},
		{"delete path=b.md", "0", "5"},
	} {
		status, out, facts := h.Run(append([]string{"--facts"}, strings.Fields(test.call)...)...)
		for _, want := range []string{`"added":` + test.added, `"removed":` + test.removed} {
			if status != answer.ExitDone || !strings.HasSuffix(want, ":0") && !strings.Contains(facts, want) ||
				strings.HasSuffix(want, ":0") && strings.Contains(facts, want[:8]) {
				t.Errorf("%q: status %d, %q, facts %q, want %s", test.call, status, out, facts, want)
			}
		}
	}
}

// Long lines count by their bytes, notes by their number, and a property by its type.
func TestWhatElseIsALoss(t *testing.T) {
	paragraph := strings.Repeat("words and more words ", 45) // 945 bytes
	const typedNote = "---\ntext: soon\ndue: 2026-11-25\ncount: 5\ndone: true\nnothing:\nblank: \"\"\nitems: one\n---\ntext\n"
	many := map[string]string{"typed.md": typedNote, ".obsidian/types.json": `{"types":{"items":"multitext"}}`,
		"list.md": "---\nattendees: [A, B]\nn: 1\nempty: []\n---\ntext\n", "long.md": paragraph + "\n",
		"typo.md": strings.Replace(paragraph, "more", "mroe", 1) + "\n", ".obsidian/app.json": embedded.FollowLinks,
		"hub.md": ""}
	for i := range 21 {
		many[fmt.Sprintf("n%02d.md", i)] = "[[hub]] old\n"
	}
	h := embedded.New(t, many)
	for _, test := range []struct {
		call []string
		want string
	}{
		{[]string{"note:replace", "path=long.md", "old=" + strings.TrimSpace(paragraph), "new=x"}, `removes 100% of the text of "long.md"`},
		{[]string{"note:replace", "path=typo.md", "old=mroe", "new=more"}, ""},
		{[]string{"property:set", "path=list.md", "name=attendees", "value=C", "type=text"},
			`replaces the value of the property "attendees" of "list.md" by one of another type`},
		{[]string{"property:set", "path=list.md", "name=attendees", "value=C, D", "type=list"}, ""},
		{[]string{"property:set", "path=list.md", "name=n", "value=2"}, ""},
		{[]string{"property:set", "path=list.md", "name=empty", "value=x", "type=text"}, ""},
		{[]string{"property:set", "path=typed.md", "name=text", "value=3", "type=number"},
			`replaces the value of the property "text" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=text", "value=true", "type=checkbox"},
			`replaces the value of the property "text" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=text", "value=a, b", "type=list"},
			`replaces the value of the property "text" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=count", "value=five", "type=text"},
			`replaces the value of the property "count" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=done", "value=1", "type=number"},
			`replaces the value of the property "done" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=due", "value=[]", "type=list"},
			`replaces the value of the property "due" of "typed.md" by one of another type`},
		{[]string{"property:set", "folder=/", "name=count", "value=five", "type=text"}, `affects 26 notes`},
		{[]string{"note:replace", "path=typed.md", "old=count: 5", "new=count: five"},
			`replaces the value of the property "count" of "typed.md" by one of another type`},
		{[]string{"property:set", "path=typed.md", "name=text", "value=later"}, ""},
		{[]string{"property:set", "path=typed.md", "name=due", "value=soon", "type=text"}, ""},
		{[]string{"property:set", "path=typed.md", "name=nothing", "value=a, b", "type=list"}, ""},
		{[]string{"property:set", "path=typed.md", "name=blank", "value=3", "type=number"}, ""},
		{[]string{"property:add", "path=typed.md", "name=items", "value=two"}, ""},
		{[]string{"property:remove", "path=typed.md", "name=text"}, `removes the property "text" of "typed.md"`},
		{[]string{"property:remove", "path=typed.md", "name=nothing"}, `removes the property "nothing" of "typed.md"`},
		{[]string{"property:remove", "path=typed.md", "name=absent"}, ""},
		{[]string{"property:remove-item", "path=list.md", "name=attendees", "value=A"}, ""},
		{[]string{"note:replace", "path=typed.md", "old=count: 5\\ndone", "new=done"}, `removes the property "count" of "typed.md"`},
		{[]string{"property:rename", "name=text", "to=when"}, ""},
		{[]string{"rename", "path=hub.md", "name=other"}, "affects 22 notes"},
		{[]string{"vault:replace", "old=old", "new=fresh"}, "affects 21 notes"},
	} {
		assert.Equal(t, h.Plan(test.call...).Loses, test.want, "%.80q loses", test.call)
	}
}
