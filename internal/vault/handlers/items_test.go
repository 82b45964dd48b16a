package handlers_test

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

func TestATaskIsFoundByItsWords(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md":      "---\narea: home\n---\n- [ ] buy milk\n- [x] call Ann\n- [ ] call Bob\n",
		"Work/B.md": "---\narea: [work, home]\n---\n- [ ] call Ann about milk\n", "Work/C.md": "- [x] old milk\n",
	})
	for _, test := range []struct {
		call, want string
		status     int
	}{
		{"task text=BOB", "status\t \ntext\t- [ ] call Bob\nfile\tA.md\nline\t6\n", answer.ExitDone},
		{"task|text=ann call|done", "status\tx\ntext\t- [x] call Ann about milk\nfile\tWork/B.md\nline\t4\n", answer.ExitDone}, // an open one goes before
		{"task|text=call ann|path=A.md", "status\tx\ntext\t- [x] call Ann\nfile\tA.md\nline\t5\n", answer.ExitDone},
		{"task text=call", "status\t \ntext\t- [ ] call Bob\nfile\tA.md\nline\t6\n", answer.ExitDone},
		{"task text=milk|path=Work/C.md|todo", "status\t \ntext\t- [ ] old milk\nfile\tWork/C.md\nline\t1\n", answer.ExitDone},
		{"task text=milk", "Error: Text \"milk\" is in 2 tasks: A.md:4 \"- [ ] buy milk\", Work/C.md:1 \"- [ ] old milk\".\n", answer.ExitFailed},
		{"task text=nothing", "Error: No task with the text \"nothing\" found.\n", answer.ExitFailed},
		{"task text=x|ref=A.md:4", "Error: Use text=<words>, ref=<path:line> or line=<n>, not several.\n", answer.ExitMisuse},
		{"task:reschedule|text=buy|due=2026-12-01", "Rescheduled: A.md:4\n- [ ] buy milk 📅 2026-12-01\n", answer.ExitDone},
		{"tasks text=ann", "A.md:5: - [x] call Ann\nWork/B.md:4: - [x] call Ann about milk\n", answer.ExitDone},
		{"tasks|text=call|group=folder",
			"==> / <==\nA.md:5: - [x] call Ann\nA.md:6: - [ ] call Bob\n==> Work <==\nWork/B.md:4: - [x] call Ann about milk\n",
			answer.ExitDone},
		{"tasks|text=milk|group=property:area",
			"==> home <==\nA.md:4: - [ ] buy milk 📅 2026-12-01\nWork/B.md:4: - [x] call Ann about milk\n==> work <==\nWork/B.md:4: - [x] call Ann about milk\n==> (no value) <==\nWork/C.md:1: - [ ] old milk\n",
			answer.ExitDone},
		{"tasks|text=bob|group=file", "==> A.md <==\nA.md:6: - [ ] call Bob\n", answer.ExitDone},
	} {
		call := strings.Split(test.call, "|")
		h.Expect(test.status, test.want, append(strings.SplitN(call[0], " ", 2), call[1:]...)...)
	}
}

func TestItemsOfAList(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md": "---\nwho: [Ann, 7] # c\ntags: one\nstatus: open\n---\ntext\n",
		"N.md": "---\nnum: [1, 02, 1.50, null]\n---\n", "F/B.md": "text", "F/C.md": "---\nwho:\n  - Bob\n---\n",
	})
	for _, test := range []struct {
		call, said string
		status     int
		note, want string
	}{
		{`property:add|path=A.md|name=who|value=Bob, "Smith, Joe", Ann`,
			"Added to who: Bob, Smith, Joe\nIn the list already: Ann\n", answer.ExitDone, "A.md",
			"---\nwho: [Ann, 7, Bob, \"Smith, Joe\"] # c\ntags: one\nstatus: open\n---\ntext\n"},
		{`property:remove-item|path=A.md|name=who|value="Smith, Joe",7`, "Removed from who: \"Smith, Joe\",7\n",
			answer.ExitDone, "A.md", "---\nwho: [Ann, Bob] # c\ntags: one\nstatus: open\n---\ntext\n"},
		{`property:add|path=A.md|name=tags|value=two`, "Added to tags: two\n", answer.ExitDone, "A.md",
			"---\nwho: [Ann, Bob] # c\ntags:\n  - one\n  - two\nstatus: open\n---\ntext\n"},
		{`property:remove-item|path=A.md|name=tags|value=three, one`,
			"Removed from tags: one\nNot in the list: three\n", answer.ExitDone, "A.md",
			"---\nwho: [Ann, Bob] # c\ntags:\n  - two\nstatus: open\n---\ntext\n"},
		{`property:add|path=A.md|name=tags|value=one`, "Added to tags: one\n", answer.ExitDone, "A.md", ""},
		{`property:add|path=N.md|name=num|value=3,4.50`, "Added to num: 3,4.50\n", answer.ExitDone, "N.md", "---\nnum: [1, 02, 1.50, null, 3, 4.50]\n---\n"},
		{`property:remove-item|path=N.md|name=num|value=1.5,2`, "Removed from num: 1.5,2\n", answer.ExitDone, "N.md", "---\nnum: [1, null, 3, 4.50]\n---\n"},
		{`property:add|path=A.md|name=status|value=two`, "Error: The property \"status\" of \"A.md\" is not a list.\n", answer.ExitFailed, "A.md", ""},
		{`property:add|folder=F|name=who|value=Eve`, "Added to who: Eve in 2 notes\n", answer.ExitDone, "F/B.md", "---\nwho:\n  - Eve\n---\ntext"},
		{`property:remove-item|folder=F|name=who|value=Eve`, "Removed from who: Eve in 2 notes\n", answer.ExitDone, "F/C.md", "---\nwho:\n  - Bob\n---\n"},
		{`property:set|path=A.md|name=who|value="A, B", C`, "Set who: \"A, B\", C\nBefore: Ann, Bob\nAfter: A, B, C\n",
			answer.ExitDone, "A.md",
			"---\nwho: # c\n  - A, B\n  - C\ntags:\n  - two\n  - one\nstatus: open\n---\ntext\n"},
		{`property:set|path=A.md|name=who|value=A|type=text`, "Set who: A\nBefore: A, B, C\nAfter: A\n",
			answer.ExitDone, "A.md", "---\nwho: A # c\ntags:\n  - two\n  - one\nstatus: open\n---\ntext\n"},
		{`read|path=A.md|frontmatter=false`, "text\n", answer.ExitDone, "A.md", ""},
		{`read|path=F/C.md|frontmatter=true`, "---\nwho:\n  - Bob\n---\n", answer.ExitDone, "A.md", ""},
	} {
		h.Expect(test.status, test.said, strings.Split(test.call, "|")...)
		got := h.Get(test.note)
		assert.That(t, test.want == "" || got == test.want, "%s: %s is %q, want %q", test.call, test.note, got, test.want)
	}
}

// A value that replaces items of a list says so, and that is a loss where the list gets shorter.
func TestItemsThatAValueReplacesAreTold(t *testing.T) {
	files := map[string]string{
		"A.md": "---\ntags: [work, home]\none: [x]\ntext: a, b\n---\n", "F/a.md": "---\ntags: [a, b, c]\n---\n",
		"F/b.md": "", "G/a.md": "---\ntags: [a, b, c]\n---\n", "G/b.md": "---\ntags: [x, y]\n---\n",
		".obsidian/types.json": `{"types":{"due":"date","done":"checkbox","code":"text","who":"multitext"}}`,
	}
	for _, test := range []struct{ call, said, loses string }{
		{"property:set|path=A.md|name=tags|value=urgent", "Set tags: urgent\nBefore: work, home\nAfter: urgent\n",
			`removes 2 items from the property "tags" of "A.md"`},
		{"property:set|path=A.md|name=tags|value=home", "Set tags: home\nBefore: work, home\nAfter: home\n",
			`removes 1 item from the property "tags" of "A.md"`},
		{"property:set|path=A.md|name=tags|value=work, home, new", "Set tags: work, home, new\n", ""},
		{"property:set|path=A.md|name=tags|value=work, new", "Set tags: work, new\nBefore: work, home\nAfter: work, new\n", ""},
		{"property:set|path=A.md|name=one|value=y", "Set one: y\n", ""},
		{"property:set|folder=F|name=tags|value=x",
			"Set tags: x in 2 notes\nThe change removes 3 items from the property \"tags\" of \"F/a.md\"\nType: list\n",
			`removes 3 items from the property "tags" of "F/a.md"`},
		{"property:set|folder=G|name=tags|value=x",
			"Set tags: x in 2 notes\nThe change removes 4 items from the property \"tags\" of 2 notes: \"G/a.md\", \"G/b.md\"\n",
			`removes 4 items from the property "tags" of 2 notes: "G/a.md", "G/b.md"`},
		{"property:set|path=A.md|name=new|value=[a, b]", "Set new: [a, b]\nType: list\n", ""},
		{"property:set|path=A.md|name=new|value=true", "Set new: true\nType: checkbox\n", ""},
		{"property:set|path=A.md|name=new|value=tomorrow", "Set new: tomorrow\nType: text\n", ""},
		{"property:set|path=A.md|name=new|value=2026-12-01", "Set new: 2026-12-01\nType: date\n", ""},
		{"property:set|path=A.md|name=new|value=4.5", "Set new: 4.5\nType: number\n", ""},
		{"property:set|path=A.md|name=new|value=[[Note]]", "Set new: [[Note]]\nType: text\n", ""},
		{"property:set|path=A.md|name=code|value=true", "Set code: true\nType: text\n", ""},
		{"property:set|path=A.md|name=who|value=Ann", "Set who: Ann\nType: list\n", ""},
		{"property:set|path=A.md|name=new|value=7|type=text", "Set new: 7\n", ""},
		{"property:set|path=A.md|name=text|value=[a, b]", "Set text: [a, b]\n", ""},
	} {
		h := embedded.New(t, files)
		call := strings.Split(test.call, "|")
		assert.Equal(t, h.Plan(call...).Loses, test.loses, "%s loses", test.call)
		h.Expect(answer.ExitDone, test.said, call...)
	}
	h := embedded.New(t, files)
	h.Does("property:set", "path=A.md", "name=new", "value=[a, 'b c', 2]")
	assert.That(t, strings.Contains(h.Get("A.md"), "new:\n  - a\n  - b c\n  - 2\n"), "%s", h.Get("A.md"))
	got := h.Failure("property:set", "path=A.md", "name=due", "value=tomorrow")
	assert.Equal(t, got.Hint, `"tomorrow" is value=2026-11-22`, "hint")
	status, out, _ := h.Run("--sparing", "property:set", "path=A.md", "name=tags", "value=urgent")
	assert.Equal(t, status, answer.ExitFailed)
	assert.That(t, strings.HasPrefix(out, "Error: Approval required: the change removes 2 items"), "%s", out)
}
