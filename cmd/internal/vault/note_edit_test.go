package vault

import (
	"fmt"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
)

// edited is one call that changes the note A.md.
type edited struct {
	name, before string
	args         []string
	want         string
}

func checkEdits(t *testing.T, said string, tests []edited) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{"A.md": test.before})
			h.expect(command.ExitDone, said+"A.md\n", test.args...)
			assert.Equal(t, h.get("A.md"), test.want, "the note became")
		})
	}
}

func TestReplaceInANote(t *testing.T) {
	checkEdits(t, "Replaced in: ", []edited{
		{"one text by another", "a b c", []string{"note:replace", "path=A.md", "old=b", "new=x y"}, "a x y c"},
		{"by its name", "a b c", []string{"note:replace", "file=a", "old=b", "new=b"}, "a b c"},
		{"over several lines", "a\nb\nc", []string{"note:replace", "path=A.md", `old=a\nb`, `new=x\n\ty`}, "x\n\ty\nc"},
		{"what is new gets the line ends of the note", "a\r\nb\r\n", []string{"note:replace", "path=A.md", "old=b", "new=x\ny"}, "a\r\nx\r\ny\r\n"},
	})
}

func TestInsertIntoANote(t *testing.T) {
	checkEdits(t, "Inserted into: ", []edited{
		{"after a section", "# A\na\n## B\nb\n# C\n", []string{"note:insert", "path=A.md", "heading=A", "position=after", "content=x"}, "# A\na\n## B\nb\n\nx\n\n# C\n"},
		{"before a heading below another", "# A\n## B\n# C\n## B\n", []string{"note:insert", "path=A.md", "heading=C#B", "position=before", "content=x"}, "# A\n## B\n# C\nx\n\n## B\n"},
		{"after a block", "a ^id\n\nb\n", []string{"note:insert", "path=A.md", "block=^id", "position=after", "content=x"}, "a ^id\n\nx\n\nb\n"},
		{"before a line", "a\nb\n", []string{"note:insert", "path=A.md", "lines=2", "position=before", "content=x"}, "a\nx\nb\n"},
		{"after the last of some lines", "a\r\nb\r\n", []string{"note:insert", "path=A.md", "lines=1-2", "position=after", "content=x"}, "a\r\nb\r\nx\r\n"},
	})
}

func TestSectionIsSet(t *testing.T) {
	checkEdits(t, "Section set in: ", []edited{
		{"below its heading", "# A\n\nold\n\n# B\n", []string{"note:set-section", "path=A.md", "heading=A", "content=new"}, "# A\n\nnew\n\n# B\n"},
		{"as it was read, heading included", "# A\r\nold\r\n# B", []string{"note:set-section", "path=A.md", "heading=A", "content=# A\r\nold\r\n"}, "# A\r\nold\r\n# B"},
		{"a line break empties it", "# A\nold\n# B\n", []string{"note:set-section", "path=A.md", "heading=A", `content=\n`}, "# A\n# B\n"},
		{"a block keeps its id", "old ^id\n", []string{"note:set-section", "path=A.md", "block=id", "content=new"}, "new ^id\n"},
		{"lines", "a\nb\nc\n", []string{"note:set-section", "path=A.md", "lines=1-2", "content=x"}, "x\nc\n"},
	})
}

func TestAppendBelowAHeading(t *testing.T) {
	checkEdits(t, "Appended to: ", []edited{
		{"before the blank line above the next one", "# A\n- a\n\n# B\n", []string{"append", "path=A.md", "heading=A", "content=- x"}, "# A\n- a\n- x\n\n# B\n"},
		{"content gets the line ends of the note", "# A\r\n# B\r\n", []string{"append", "path=A.md", "heading=A", "content=x\ny"}, "# A\r\nx\r\ny\r\n\r\n# B\r\n"},
		{"as it does at the end", "# A\r\nb", []string{"append", "path=A.md", "content=x\ny"}, "# A\r\nb\r\nx\r\ny"},
	})
}

// One value can come by standard input, where nothing is expanded.
func TestEditsTakeTheirTextsFromStandardInput(t *testing.T) {
	for _, test := range []struct{ stdin, args, want string }{
		{"new", "note:replace path=A.md old=b", "# a\n`%s` c\n"},
		{"content", "note:insert path=A.md heading=a position=after", "# a\n`b` c\n\n%s\n"},
		{"content", "note:set-section path=A.md heading=a", "# a\n%s\n"},
		{"content", "append path=A.md heading=a", "# a\n`b` c\n\n%s\n"},
	} {
		h := build(t, map[string]string{"A.md": "# a\n`b` c\n"})
		h.stdin = `\nabla \times` + "\xff\r\n\t" + strings.Repeat("long ", 100_000) + "end"
		if status, out, _ := h.run(append([]string{"--stdin", test.stdin}, strings.Fields(test.args)...)...); status != command.ExitDone {
			t.Errorf("%s: status %d, %q", test.args, status, out)
		}
		assert.Equal(t, h.get("A.md"), fmt.Sprintf(test.want, h.stdin), "%s: the note became", test.args)
	}
	h := build(t, map[string]string{"A.md": `a \nabla b`})
	h.stdin = `\nabla`
	h.expect(command.ExitDone, "Replaced in: A.md\n", "--stdin", "old", "note:replace", "path=A.md", "new=x")
	assert.Equal(t, h.get("A.md"), "a x b", "the note became")
}

// The gateway takes from the facts which note it was, and what can take the
// change back.
func TestFactsOfEdits(t *testing.T) {
	for args, changes := range map[string]bool{
		"note:replace path=A.md old=b new=x": true, "note:replace path=A.md old=b new=b": false,
		"note:insert file=A lines=1 position=after content=x": true, "note:set-section path=A.md heading=H content=x": true,
		"append path=A.md heading=H content=x": true, "task path=A.md line=2 done": true, "task path=A.md line=2 todo": false,
		"task path=A.md line=2": false, "property:set path=A.md name=a value=1": true, "property:remove path=A.md name=a": false,
	} {
		h := build(t, map[string]string{"A.md": "# H\n- [ ] b\n"})
		status, _, facts := h.run(append([]string{"--facts"}, strings.Fields(args)...)...)
		if status != command.ExitDone || !strings.Contains(facts, `"path":"A.md"`) || strings.Contains(facts, `"change":"`) != changes {
			t.Errorf("%s: status %d, %q", args, status, facts)
		}
		assert.Equal(t, h.get("A.md") != "# H\n- [ ] b\n", changes, "%s: changed", args)
	}
}

func TestTodaysNoteIsEdited(t *testing.T) {
	const path = "2026-11-21.md"
	for _, test := range []struct{ name, said, want string }{
		{"note:insert daily heading=Log position=before content=x", "Inserted into: ", "x\n\n# Log\n- a\n"},
		{"note:set-section daily heading=Log content=x", "Section set in: ", "# Log\nx\n"},
		{"note:replace daily old=a new=x", "Replaced in: ", "# Log\n- x\n"},
		{"daily:append heading=Log content=-", "Added to: ", "# Log\n- a\n-\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{path: "# Log\n- a\n"})
			h.expect(command.ExitDone, test.said+path+"\n", strings.Fields(test.name)...)
			assert.Equal(t, h.get(path), test.want, "the note became")
			h = build(t, map[string]string{".obsidian/daily-notes.json": `{"template":"T"}`, "T.md": "# Log\n- a\n"})
			h.expect(command.ExitDone, test.said+path+"\n", strings.Fields(test.name)...)
			assert.Equal(t, h.get(path), test.want, "the note that is made became")
		})
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	text := "---\na: 1\n---\n# One\n## Log\n- [ ] first\n# Two\n## Log\nfirst ^id\n| a |\n|---|\n| b |\n```\n# Code\n```\n"
	h := build(t, map[string]string{"A.md": text, "B.md": "x", "C.txt": "x"})
	const headings = "The note has \"One\" (line 4), \"Log\" (line 5), \"Two\" (line 7), \"Log\" (line 8).\n"
	h.steps([]turn{
		{"no heading of this name", "append path=A.md heading=Three content=x", command.ExitFailed, "Error: Heading \"Three\" not found. " + headings},
		{"a heading in code is none", "note:insert path=A.md heading=Code position=after content=x", command.ExitFailed, "Error: Heading \"Code\" not found. " + headings},
		{"no headings", "note:set-section path=B.md heading=Log content=x", command.ExitFailed, "Error: Heading \"Log\" not found. The note has no headings.\n"},
		{"today's note has none, and is not made", "daily:append heading=Log content=x", command.ExitFailed, "Error: Heading \"Log\" not found. The note has no headings.\n"},
		{"two headings of this name", "append path=A.md heading=Log content=x", command.ExitFailed, "Error: Heading \"Log\" is ambiguous: lines 5, 8.\n"},
		{"no block", "note:insert path=A.md block=no position=after content=x", command.ExitFailed, "Error: Block \"no\" not found. The note has \"id\".\n"},
		{"no line", "note:insert path=A.md lines=99 position=after content=x", command.ExitFailed, "Error: Line \"99\" not found.\n"},
		{"no number of a line", "note:insert path=A.md lines=x position=after content=x", command.ExitMisuse, "Error: Invalid lines: x. Use <n> or <n-m>, counted from 1.\n"},
		{"the properties", "note:insert path=A.md lines=2 position=after content=x", command.ExitFailed, "Error: Line 2: the line is one of the properties.\n"},
		{"text within a table", "note:insert path=A.md lines=11 position=after content=x", command.ExitFailed,
			"Error: Line 12: the place is inside a table, and the text is not a part of it. Possible: lines 10, 12.\n"},
		{"no text", "note:replace path=A.md old=third new=x", command.ExitFailed, "Error: Text \"third\" not found.\n"},
		{"a text whose first line is there", `note:replace path=A.md old=first\nlast new=x`, command.ExitFailed, "Error: Text \"first…\" not found. Its first line is on lines 6, 9.\n"},
		{"several texts", "note:replace path=A.md old=first new=x", command.ExitFailed, "Error: Text \"first\" matches 2 times: lines 6, 9. Include more surrounding text.\n"},
		{"several parts", "note:set-section path=A.md heading=One lines=1 content=x", command.ExitMisuse, "Error: Use heading=<text>, block=<id> or lines=<n-m>, not several.\n"},
		{"no part", "note:set-section path=A.md content=x", command.ExitMisuse, "Error: Missing required parameter: heading=<text>, block=<id> or lines=<n-m>\n"},
		{"no side", "note:insert path=A.md heading=One content=x", command.ExitMisuse, "Error: Missing required parameter: position=before|after\n" +
			"Usage: note:insert [file=<name>] [path=<path>] [daily] [heading=<name>] [block=<name>] [lines=<name>] position=before|after content=<text>\n"},
		{"no note, whatever is focused", "note:replace old=a new=b", command.ExitMisuse, "Error: Missing required parameter: path=<path>, file=<name> or daily\n"},
		{"two notes", "note:replace path=A.md daily old=a new=b", command.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n"},
		{"another file", "note:replace path=C.txt old=x new=b", command.ExitFailed, "Error: File is not a markdown file.\n"},
		{"no headings in another file", "append path=C.txt heading=x content=b", command.ExitFailed, "Error: File is not a markdown file.\n"},
		{"a missing note", "note:replace path=D.md old=x new=b", command.ExitFailed, "Error: File \"D.md\" not found.\n"},
		{"in the last line and below a heading", "append path=A.md heading=One inline content=x", command.ExitMisuse, "Error: Use heading=<text> or inline, not both.\n"},
		{"the start has no heading", "prepend path=A.md heading=One content=x", command.ExitMisuse, "Error: Unknown parameter: heading\nUsage: prepend [file=<name>] [path=<path>] content=<text> [inline]\n"},
	})
	got := h.get("A.md")
	assert.That(t, got == text && h.get("2026-11-21.md") == "(missing)", "the note became %q", got)
	h.put("M.md", strings.Repeat("## h\n", 40)+strings.Repeat("b\n", 20))
	status, out, _ := h.run("append", "path=M.md", "heading=x", "content=x")
	assert.That(t, status == command.ExitFailed && strings.HasSuffix(out, "\"h\" (line 30) and 10 more.\n"), "many headings: status %d, %q", status, out)
	h.expect(command.ExitFailed, "Error: Text \"b\" matches 20 times: lines 41, 42, 43, 44, 45, 46, 47, 48, 49, 50 and 10 more. Include more surrounding text.\n", "note:replace", "path=M.md", "old=b", "new=x")
	long := strings.Repeat("é", 40)
	h.expect(command.ExitFailed, "Error: Text \""+long[:60]+"…\" not found.\n", "note:replace", "path=M.md", "old="+long, "new=x")
}
