package handlers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What a part of a note becomes is in package edit; here is how calls name it, and the line ends.
func TestEditsOfANote(t *testing.T) {
	for _, test := range []struct{ name, before, call, said, want string }{
		{"one text by another, by the name of the note", "a b c", "note:replace|file=a|old=b|new=x y", "Replaced in: ", "a x y c"},
		{"over several lines", "a\nb\nc", `note:replace|path=A.md|old=a\nb|new=x\n\ty`, "Replaced in: ", "x\n\ty\nc"},
		{"what is new gets the line ends of the note", "a\r\nb\r\n", "note:replace|path=A.md|old=b|new=x\ny", "Replaced in: ", "a\r\nx\r\ny\r\n"},
		{"after a section", "# A\na\n## B\nb\n# C\n", "note:insert|path=A.md|heading=A|position=after|content=x",
			"Inserted into: ", "# A\na\n## B\nb\n\nx\n\n# C\n"},
		{"before a heading below another", "# A\n## B\n# C\n## B\n",
			"note:insert|path=A.md|heading=C#B|position=before|content=x", "Inserted into: ",
			"# A\n## B\n# C\nx\n\n## B\n"},
		{"after a block", "a ^id\n\nb\n", "note:insert|path=A.md|block=^id|position=after|content=x", "Inserted into: ", "a ^id\n\nx\n\nb\n"},
		{"after the last of some lines", "a\r\nb\r\n", "note:insert|path=A.md|lines=1-2|position=after|content=x", "Inserted into: ", "a\r\nb\r\nx\r\n"},
		{"a section as it was read, heading included", "# A\r\nold\r\n# B",
			"note:set-section|path=A.md|heading=A|content=# A\r\nold\r\n", "Section set in: ", "# A\r\nold\r\n# B"},
		{"a line break empties it", "# A\nold\n# B\n", `note:set-section|path=A.md|heading=A|content=\n`, "Section set in: ", "# A\n# B\n"},
		{"a block keeps its id", "old ^id\n", "note:set-section|path=A.md|block=id|content=new", "Section set in: ", "new ^id\n"},
		{"below a heading, with the line ends of the note", "# A\r\n# B\r\n", "append|path=A.md|heading=A|content=x\ny",
			"Appended to: ", "# A\r\nx\r\ny\r\n\r\n# B\r\n"},
		{"as it does at the end", "# A\r\nb", "append|path=A.md|content=x\ny", "Appended to: ", "# A\r\nb\r\nx\r\ny"},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := test.said + "A.md"
			if test.want == test.before {
				said = "Nothing was changed: the part has this text already."
			}
			changed(t, map[string]string{"A.md": test.before}, said, map[string]string{"A.md": test.want}, strings.Split(test.call, "|")...)
		})
	}
}

// One value can come by standard input, where nothing is expanded.
func TestEditsTakeTheirTextsFromStandardInput(t *testing.T) {
	for _, test := range []struct{ stdin, args, want string }{
		{"new", "note:replace path=A.md old=b", "# a\n`%s` c\n"},
		{"content", "note:insert path=A.md heading=a position=after", "# a\n`b` c\n\n%s\n"},
		{"content", "note:set-section path=A.md heading=a", "# a\n%s\n"},
		{"content", "append path=A.md heading=a", "# a\n`b` c\n\n%s\n"},
	} {
		h := embedded.New(t, map[string]string{"A.md": "# a\n`b` c\n"})
		h.Stdin = `\nabla \times` + "\xff\r\n\t" + strings.Repeat("long ", 100_000) + "end"
		h.Does(append([]string{"--stdin", test.stdin}, strings.Fields(test.args)...)...)
		assert.Equal(t, h.Get("A.md"), fmt.Sprintf(test.want, h.Stdin), "%s: the note became", test.args)
	}
	h := embedded.New(t, map[string]string{"A.md": `a \nabla b`})
	h.Stdin = `\nabla`
	h.Expect(answer.ExitDone, "Replaced in: A.md\n", "--stdin", "old", "note:replace", "path=A.md", "new=x")
	assert.Equal(t, h.Get("A.md"), "a x b", "the note became")
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
		h := embedded.New(t, map[string]string{"A.md": "# H\n- [ ] b\n"})
		status, _, facts := h.Run(append([]string{"--facts"}, strings.Fields(args)...)...)
		if status != answer.ExitDone || !strings.Contains(facts, `"path":"A.md"`) || strings.Contains(facts, `"change":"`) != changes {
			t.Errorf("%s: status %d, %q", args, status, facts)
		}
		assert.Equal(t, h.Get("A.md") != "# H\n- [ ] b\n", changes, "%s: changed", args)
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
			for _, files := range []map[string]string{{path: "# Log\n- a\n"}, {".obsidian/daily-notes.json": `{"template":"T"}`, "T.md": "# Log\n- a\n"}} {
				changed(t, files, test.said+path, map[string]string{path: test.want}, strings.Fields(test.name)...)
			}
		})
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	text := "---\na: 1\n---\n# One\n## Log\n- [ ] first\n# Two\n## Log\nfirst ^id\n| a |\n|---|\n| b |\n```\n# Code\n```\n"
	h := embedded.New(t, map[string]string{"A.md": text, "B.md": "x", "C.txt": "x"})
	const headings = "The note has \"One\" (line 4), \"Log\" (line 5), \"Two\" (line 7), \"Log\" (line 8).\n"
	h.Steps([]embedded.Turn{
		{"no heading of this name", "append path=A.md heading=Three content=x", answer.ExitFailed, "Error: Heading \"Three\" not found. " + headings},
		{"no headings", "note:set-section path=B.md heading=Log content=x", answer.ExitFailed, "Error: Heading \"Log\" not found. The note has no headings.\n"},
		{"today's note has none, and is not made", "daily:append heading=Log content=x", answer.ExitFailed,
			"Error: Heading \"Log\" not found. The note has no headings.\n"},
		{"two headings of this name", "append path=A.md heading=Log content=x", answer.ExitFailed, "Error: Heading \"Log\" is ambiguous: lines 5, 8.\n"},
		{"no block", "note:insert path=A.md block=no position=after content=x", answer.ExitFailed, "Error: Block \"no\" not found. The note has \"id\".\n"},
		{"no line", "note:insert path=A.md lines=99 position=after content=x", answer.ExitFailed, "Error: Line \"99\" not found.\n"},
		{"the properties", "note:insert path=A.md lines=2 position=after content=x", answer.ExitFailed, "Error: Line 2: the line is one of the properties.\n"},
		{"text within a table", "note:insert path=A.md lines=11 position=after content=x", answer.ExitFailed,
			"Error: Line 12: the place is inside a table, and the text is not a part of it. Possible: lines 10, 12.\n"},
		{"no text", "note:replace path=A.md old=third new=x", answer.ExitFailed, "Error: Text \"third\" not found.\n"},
		{"a text whose first line is there", `note:replace path=A.md old=first\nlast new=x`, answer.ExitFailed,
			"Error: Text \"first…\" not found. Its first line is on lines 6, 9.\n"},
		{"several texts", "note:replace path=A.md old=first new=x", answer.ExitFailed,
			"Error: Text \"first\" matches 2 times: lines 6, 9. Include more surrounding text.\n"},
		{"several parts", "note:set-section path=A.md heading=One lines=1 content=x", answer.ExitMisuse,
			"Error: Use heading=<text>, block=<id> or lines=<n-m>, not several.\n"},
		{"no part", "note:set-section path=A.md content=x", answer.ExitMisuse,
			"Error: Missing required parameter: heading=<text>, block=<id> or lines=<n-m>\n"},
		{"no side", "note:insert path=A.md heading=One content=x", answer.ExitMisuse, "Error: Missing required parameter: position=before|after\n" +
			"Usage: note:insert [file=<name>] [path=<path>] [daily] [heading=<name>] [block=<name>] [lines=<name>] position=before|after content=<text>\n"},
		{"no note, whatever is focused", "note:replace old=a new=b", answer.ExitMisuse,
			"Error: Missing required parameter: path=<path>, file=<name> or daily\n"},
		{"two notes", "note:replace path=A.md daily old=a new=b", answer.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n"},
		{"another file", "note:replace path=C.txt old=x new=b", answer.ExitFailed, "Error: File is not a markdown file.\n"},
		{"no headings in another file", "append path=C.txt heading=x content=b", answer.ExitFailed, "Error: File is not a markdown file.\n"},
		{"a missing note", "note:replace path=D.md old=x new=b", answer.ExitFailed, "Error: File \"D.md\" not found.\n"},
		{"in the last line and below a heading", "append path=A.md heading=One inline content=x", answer.ExitMisuse,
			"Error: Use heading=<text> or inline, not both.\n"},
		{"the start has no heading", "prepend path=A.md heading=One content=x", answer.ExitMisuse,
			"Error: Unknown parameter: heading\nUsage: prepend [file=<name>] [path=<path>] content=<text> [inline]\n"},
	})
	got := h.Get("A.md")
	assert.Equal(t, got, text, "the note became %q", got)
	assert.Equal(t, h.Get("2026-11-21.md"), "(missing)", "the note became %q", got)
	h.Put("M.md", strings.Repeat("## h\n", 40)+strings.Repeat("b\n", 20))
	status, out, _ := h.Run("append", "path=M.md", "heading=x", "content=x")
	assert.Equal(t, status, answer.ExitFailed, "many headings: status %d", status)
	assert.That(t, strings.HasSuffix(out, "\"h\" (line 30) and 10 more.\n"), "many headings: status %d, %q", status, out)
	h.Expect(answer.ExitFailed,
		"Error: Text \"b\" matches 20 times: lines 41, 42, 43, 44, 45, 46, 47, 48, 49, 50 and 10 more. Include more surrounding text.\n",
		"note:replace", "path=M.md", "old=b", "new=x")
	long := strings.Repeat("é", 40)
	h.Expect(answer.ExitFailed, "Error: Text \""+long[:60]+"…\" not found.\n", "note:replace", "path=M.md", "old="+long, "new=x")
}

func TestTemplateInsert(t *testing.T) {
	for _, test := range []struct{ name, note, template, want string }{
		{"the text goes to the end", "# A\ntext", "## {{title}} {{date}}\n", "# A\ntext\n## n 2026-11-21\n"},
		{"an empty note becomes the template", " \n", "---\na: 'x' # c\n---\nT", "---\na: 'x' # c\n---\nT"},
		{"properties are added", "---\na: 1\n---\nbody\n", "---\nb: two\nempty:\n---\nmore", "---\na: 1\nb: two\nempty:\n---\nbody\nmore"},
		{"a value that is there stays", "---\nA: 1 # mine\n---\nb\n", "---\na: 2\n---\n", "---\nA: 1 # mine\n---\nb\n"},
		{"what has no value gets one", "---\na:\n---\nb\n", "---\na: 2\n---\n", "---\na: 2\n---\nb\n"},
		{"lists are united", "---\ntags: [x, y]\nz: 1\n---\nb\n", "---\ntags:\n  - y\n  - w\n---\n", "---\ntags: [x, y, w]\nz: 1\n---\nb\n"},
		{"a text stays beside a list", "---\ntags: x\n---\nb\n", "---\ntags:\n  - y\n---\n", "---\ntags: x\n---\nb\n"},
		{"a note without properties gets them", "b\n", "---\na: {{date}}\n---\n\nT\n", "---\na: 2026-11-21\n---\nb\n\nT\n"},
		{"other line ends stay", "---\r\na: 1\r\n---\r\nb\r\n", "---\nb: 2\n---\nT", "---\r\na: 1\r\nb: 2\r\n---\r\nb\r\nT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"n.md": test.note, "T/t.md": test.template, ".obsidian/templates.json": `{"folder":"T"}`}
			said := "Inserted into: n.md"
			if test.want == test.note {
				said = `Nothing was changed: the template adds nothing to "n.md".`
			}
			changed(t, files, said, map[string]string{"n.md": test.want}, "template:insert", "name=t", "path=n.md")
		})
	}
}

func TestTemplatesThatCannotBeInserted(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"n.md": "text", "bad.md": "---\na: 1\na: 2\n---\n", "x.canvas": "{}", "T/t.md": "---\nb: 1\n---\nx", "T/odd.md": "---\na: [\n---\nx",
	})
	h.Expect(answer.ExitFailed, "Error: No template folder configured.\n", "template:insert", "name=t", "path=n.md")
	h.Put(".obsidian/templates.json", `{"folder":"T"}`)
	h.Steps([]embedded.Turn{
		{"a template that is not there", "template:insert name=none path=n.md", answer.ExitFailed, "Error: Template \"none\" not found.\n"},
		{"a note that is not there", "template:insert name=t path=none.md", answer.ExitFailed, "Error: File \"none.md\" not found.\n"},
		{"no note", "template:insert name=t", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a canvas", "template:insert name=t path=x.canvas", answer.ExitFailed, "Error: File is not a markdown file.\n"},
	})
	for args, want := range map[string]string{
		"name=t path=bad.md": "Error: The properties of \"bad.md\" cannot be changed: line 3: ",
		"name=odd path=n.md": "Error: The properties of template \"odd\" cannot be read: line ",
	} {
		h.ExpectPrefix(answer.ExitFailed, want, append([]string{"template:insert"}, strings.Fields(args)...)...)
	}
	assert.Equal(t, h.Get("n.md"), "text", "a note was changed")
	assert.Equal(t, h.Get("bad.md"), "---\na: 1\na: 2\n---\n", "a note was changed")
}

func TestPropertyIsSet(t *testing.T) {
	const types = `{"types":{"n":"number","Due":"date","at":"datetime","l":"multitext","c":"checkbox","s":"text","tags":"tags","odd":"of-a-plugin"}}`
	for _, test := range []struct {
		name, before string
		args         []string
		want         string
	}{
		{"a block is made", "body", []string{"name=a", "value=b"}, "---\na: b\n---\nbody"},
		{"only its own lines change", "---\n# note\na: [x, y] # why\nz:   '1'\n---\n",
			[]string{"name=A", "value=b", "type=text"}, "---\n# note\na: b # why\nz:   '1'\n---\n"},
		{"what looks like a number is one", "", []string{"name=a", "value=12"}, "---\na: 12\n---\n"},
		{"a backslash is no escape", "", []string{"name=a", `value=C:\new\table`}, "---\na: C:\\new\\table\n---\n"},
		{"commas make no list by themselves", "", []string{"name=a", "value=x, y"}, "---\na: x, y\n---\n"},
		{"the user made it a number", "", []string{"name=N", "value=007"}, "---\nN: 7\n---\n"},
		{"a text stays one", "---\na: draft # why\n---\n", []string{"name=a", "value=12"}, "---\na: \"12\" # why\n---\n"},
		{"also one that looks like a number", "---\na: '007'\n---\n", []string{"name=A", "value=true"}, "---\na: \"true\"\n---\n"},
		{"a number stays one", "---\na: 5\n---\n", []string{"name=a", "value= 6.50 "}, "---\na: 6.5\n---\n"},
		{"a checkbox stays one", "---\na: true\n---\n", []string{"name=a", "value=False"}, "---\na: false\n---\n"},
		{"a date stays one", "---\na: 2026-11-21\n---\n", []string{"name=a", "value=2026-11-22"}, "---\na: 2026-11-22\n---\n"},
		{"nothing has no type", "---\na:\n---\n", []string{"name=a", "value=12"}, "---\na: 12\n---\n"},
		{"the type in the vault goes before that in the note", "---\nn: abc\ns: 1\n---\n", []string{"name=n", "value=5"}, "---\nn: 5\ns: 1\n---\n"},
		{"a list stays one where the vault has another type", "---\ns: [a, b]\n---\n", []string{"name=s", "value=c, d"}, "---\ns:\n  - c\n  - d\n---\n"},
		{"a given type goes before that in the note", "---\na: draft\n---\n", []string{"name=a", "value=12", "type=number"}, "---\na: 12\n---\n"},
		{"properties in a property are replaced if that is asked for", "---\na:\n  b: 1\n---\n",
			[]string{"name=a", "value=x", "type=text"}, "---\na: x\n---\n"},
		{"a list stays one", "---\na:\n  - \"[[X]]\"\n---\n", []string{"name=a", "value=[[A]], [[B]]"}, "---\na:\n  - \"[[A]]\"\n  - \"[[B]]\"\n---\n"},
		{"a list of one line stays one", "---\nA: [x, y]\n---\n", []string{"name=a", "value=z"}, "---\nA:\n  - z\n---\n"},
		{"a list becomes text if that is asked for", "---\na: [x, y]\n---\n", []string{"name=a", "value=z", "type=text"}, "---\na: z\n---\n"},
		{"the user made it text", "", []string{"name=s", "value=12"}, "---\ns: \"12\"\n---\n"},
		{"the user made it a list", "", []string{"name=l", "value=x, y"}, "---\nl:\n  - x\n  - y\n---\n"},
		{"tags are a list", "", []string{"name=tags", "value=x"}, "---\ntags:\n  - x\n---\n"},
		{"aliases are one in every vault", "", []string{"name=Aliases", "value=x"}, "---\nAliases:\n  - x\n---\n"},
		{"the type of a plugin says nothing", "", []string{"name=odd", "value=12"}, "---\nodd: 12\n---\n"},
		{"a type that is given goes first", "", []string{"name=n", "value=abc", "type=text"}, "---\nn: abc\n---\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := "Set " + test.args[0][len("name="):] + ": " + test.args[1][len("value="):]
			changed(t, map[string]string{"A.md": test.before, ".obsidian/types.json": types}, said,
				map[string]string{"A.md": test.want}, append([]string{"property:set", "path=A.md"}, test.args...)...)
		})
	}
}

func TestPropertyIsRemoved(t *testing.T) {
	for _, test := range []struct{ name, before, want string }{
		{"its lines alone", "---\n# x\na:\n  - 1\n  - 2\nb: 1\n---\nbody", "---\n# x\nb: 1\n---\nbody"},
		{"the last one with its block", "---\na: 1\n---\nbody", "body"},
		{"one that is not there", "---\nb: 1\n---\nbody", "---\nb: 1\n---\nbody"},
		{"from a note without any", "body", "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := "Removed: a"
			if test.want == test.before {
				said = `Nothing was changed: "A.md" has no property "a".`
			}
			changed(t, map[string]string{"A.md": test.before}, said, map[string]string{"A.md": test.want}, "property:remove", "file=A", "name=a")
		})
	}
}

func TestPropertiesThatCannotBeChanged(t *testing.T) {
	notes := map[string]string{
		"A.md": "---\na: 1\n---\n", "Bad.md": "\ufeff---\r\na: 1\r\nb: [x\r\n---\r\n",
		"Typed.md": "---\nnum: 5\nbox: true\nday: 2026-11-21\nmap:\n  b: 1\n---\n", "Braces.md": "---\n{a: 1}\n---\n",
		"p.png": "x", ".obsidian/types.json": `{"types":{"n":"number"}}`,
	}
	h := embedded.New(t, notes)
	const setUsage = "Usage: property:set name=<name> value=<value> [type=text|list|number|checkbox|date|datetime] [file=<name>] [path=<path>] [folder=<path>] [query=<text>]\n"
	h.Steps([]embedded.Turn{
		{"no number, and the user made it one", "property:set path=A.md name=N value=abc", answer.ExitMisuse,
			"Error: Invalid number: abc. In this vault \"N\" is of the type number; type= sets it to another.\n"},
		{"no number, where the note has one", "property:set path=Typed.md name=num value=many", answer.ExitMisuse,
			"Error: Invalid number: many. The property \"num\" of \"Typed.md\" is of the type number; type= sets it to another.\n"},
		{"no checkbox, where the note has one", "property:set path=Typed.md name=box value=maybe", answer.ExitMisuse,
			"Error: Invalid checkbox: maybe. Use true or false. The property \"box\" of \"Typed.md\" is of the type checkbox; type= sets it to another.\n"},
		{"no date, where one note of several has one", "property:set folder=/ query=[day] name=day value=soon", answer.ExitMisuse,
			"Error: Invalid date format. Use YYYY-MM-DD. The property \"day\" of \"Typed.md\" is of the type date; type= sets it to another.\n"},
		{"properties in a property", "property:set path=Typed.md name=map value=1", answer.ExitMisuse,
			"Error: The property \"map\" of \"Typed.md\" has properties of its own; type= replaces them.\n"},
		{"no type", "property:set path=A.md name=x value=1 type=tags", answer.ExitMisuse,
			"Error: Invalid value for type: tags. Use text, list, number, checkbox, date, datetime.\n"},
		{"no value", "property:set path=A.md name=x", answer.ExitMisuse, "Error: Missing required parameter: value=<value>\n" + setUsage},
		{"an empty value", "property:set path=A.md name=x value=", answer.ExitMisuse, "Error: Missing required parameter: value\n"},
		{"broken YAML, by its line in the note", "property:set path=Bad.md name=x value=1", answer.ExitFailed,
			"Error: The properties of \"Bad.md\" cannot be changed: line 4: did not find expected ',' or ']'.\n"},
		{"also to remove", "property:remove path=Bad.md name=a", answer.ExitFailed,
			"Error: The properties of \"Bad.md\" cannot be changed: line 4: did not find expected ',' or ']'.\n"},
		{"properties in braces", "property:set path=Braces.md name=b value=1", answer.ExitFailed,
			"Error: The properties of \"Braces.md\" cannot be changed: line 2: the properties are in braces, not on lines of their own.\n"},
		{"another file", "property:set path=p.png name=x value=1", answer.ExitFailed, "Error: File is not a markdown file.\n"},
		{"a missing note", "property:remove path=B.md name=x", answer.ExitFailed, "Error: File \"B.md\" not found.\n"},
		{"no note", "property:remove name=x", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
	})
	h.Expect(answer.ExitFailed,
		"Error: The properties of \"A.md\" cannot be changed: the name of a property is one line.\n", "property:set",
		"path=A.md", "name=a\nb", "value=1")
	for path, text := range notes {
		assert.Equal(t, h.Get(path), text, "%s became", path)
	}
	h.Put(".obsidian/types.json", "[")
	status, out, _ := h.Run("property:set", "path=A.md", "name=x", "value=1")
	require.Equal(t, status, answer.ExitFailed, "with types that cannot be read: status %d, %q", status, out)
	assert.Equal(t, h.Get("A.md"), notes["A.md"], "with types that cannot be read: status %d, %q", status, out)
	h.Expect(answer.ExitDone, "Set x: 1\n", "property:set", "path=A.md", "name=x", "value=1", "type=number")
}

// What a part is read with has its hash, and a change of the part takes that back.
func TestAPartIsReadWithItsHash(t *testing.T) {
	const note = "# A\none\n## B\ntwo\nthree ^id\n# C\nthree\n"
	for part, want := range map[string]string{
		"heading=B": "## B\ntwo\nthree ^id\n", "block=id": "two\nthree ^id", "lines=2": "one\n", "lines=1-2": "", "heading=C": "# C\nthree\n",
	} {
		h := embedded.New(t, map[string]string{"n.md": note})
		_, _, report := h.Run("--facts", "note:section", "path=n.md", part)
		var facts protocol.Facts
		_, line, _ := strings.Cut(report, "vaultwicket-facts: ")
		require.NoError(t, json.Unmarshal([]byte(line), &facts))
		assert.Equal(t, facts.Hash, answer.Digest([]byte(note)), part)
		if want == "" {
			assert.Equal(t, facts.Part, "", part)
			continue
		}
		assert.Equal(t, facts.Part, answer.Digest([]byte(want)), part)
		h.Put("n.md", strings.Replace(note, "# A\n", "# A\nmore\n", 1))
		changed := part
		if part == "lines=2" {
			changed = "lines=3"
		}
		status, said, _ := h.Run("--expect", facts.Part, "note:set-section", "path=n.md", changed, "content=new")
		assert.That(t, status == answer.ExitDone, "%s: %s", part, said)
	}
}

// A replacement can be limited to the section of a heading: the text occurs once there.
func TestReplaceWithinASection(t *testing.T) {
	const note = "# A\nx one\n## B\nx two\n# C\nx x\n"
	for _, test := range []struct{ heading, old, want, said string }{
		{"B", "x", "# A\nx one\n## B\ny two\n# C\nx x\n", "Replaced in: n.md\n"},
		{"A", "one", "# A\nx y\n## B\nx two\n# C\nx x\n", "Replaced in: n.md\n"},
		{"A", "x", note, "Error: Text \"x\" matches 2 times: lines 2, 4. Include more surrounding text.\n"},
		{"C", "x", note, "Error: Text \"x\" matches 2 times: lines 6, 6. Include more surrounding text.\n"},
		{"B", "one", note, "Error: Text \"one\" not found.\n"},
		{"D", "x", note, "Error: Heading \"D\" not found. The note has \"A\" (line 1), \"B\" (line 3), \"C\" (line 5).\n"},
	} {
		h := embedded.New(t, map[string]string{"n.md": note})
		_, out, _ := h.Run("note:replace", "path=n.md", "heading="+test.heading, "old="+test.old, "new=y")
		assert.Equal(t, out, test.said, test.heading)
		assert.Equal(t, h.Get("n.md"), test.want, test.heading)
	}
}

// A change may name the hash of the section or the line that it changes in place of that of the note.
func TestTheHashOfAPartIsEnough(t *testing.T) {
	const note = "# A\none\n## B\n- [ ] task 🔁 every day 📅 2026-11-21\ntwo\n# C\nthree\n"
	digest := func(text string) string { return answer.Digest([]byte(text)) }
	b := "## B\n- [ ] task 🔁 every day 📅 2026-11-21\ntwo\n"
	line := "- [ ] task 🔁 every day 📅 2026-11-21"
	for _, test := range []struct {
		hash string
		call []string
		fits bool
	}{
		{digest(b), []string{"note:set-section", "path=n.md", "heading=B", "content=new"}, true},
		{digest("# A\none\n" + b), []string{"note:set-section", "path=n.md", "heading=B", "content=new"}, true},
		{digest(b), []string{"note:replace", "path=n.md", "old=two", "new=2"}, true},
		{digest(b), []string{"note:replace", "path=n.md", "old=one", "new=2"}, false},
		{digest("# C\nthree\n"), []string{"note:set-section", "path=n.md", "heading=B", "content=new"}, false},
		{digest("## B\nold\n"), []string{"note:set-section", "path=n.md", "heading=B", "content=new"}, false},
		{digest(line), []string{"task", "path=n.md", "line=4", "done"}, true},
		{digest(line + "\n"), []string{"task", "path=n.md", "line=4", "done"}, true},
		{digest(b), []string{"task", "path=n.md", "line=4", "done"}, true},
		{digest("two"), []string{"task", "path=n.md", "line=4", "done"}, false},
		{digest(note), []string{"task", "path=n.md", "line=4", "done"}, true},
	} {
		h := embedded.New(t, map[string]string{"n.md": note})
		status, out, _ := h.Run(append([]string{"--expect", test.hash}, test.call...)...)
		assert.That(t, (status == answer.ExitDone) == test.fits, "%q: %d, %s", test.call, status, out)
		assert.That(t, (h.Get("n.md") == note) != test.fits, "%q leaves %s", test.call, h.Get("n.md"))
	}
	h := embedded.New(t, map[string]string{"n.md": note})
	assert.That(t, strings.Contains(h.Does("outline", "path=n.md", "format=json"), `"hash": "`+digest(b)+`"`), "outline")
}
