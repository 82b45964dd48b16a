package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
)

func TestTemplateInsert(t *testing.T) {
	for _, test := range []struct{ name, note, template, want string }{
		{"the text goes to the end", "# A\ntext", "## {{title}} {{date}}\n", "# A\ntext\n## n 2026-11-21\n"},
		{"an empty note becomes the template", " \n", "---\na: 'x' # c\n---\nT", "---\na: 'x' # c\n---\nT"},
		{"properties are added", "---\na: 1\n---\nbody\n", "---\nb: two\nempty:\n---\nmore", "---\na: 1\nb: two\nempty:\n---\nbody\nmore"},
		{"a value that is there stays", "---\nA: 1 # mine\n---\nb\n", "---\na: 2\n---\n", "---\nA: 1 # mine\n---\nb\n"},
		{"what has no value gets one", "---\na:\n---\nb\n", "---\na: 2\n---\n", "---\na: 2\n---\nb\n"},
		{"lists are united", "---\ntags: [x, y]\nz: 1\n---\nb\n", "---\ntags:\n  - y\n  - w\n---\n", "---\ntags:\n  - x\n  - y\n  - w\nz: 1\n---\nb\n"},
		{"a text stays beside a list", "---\ntags: x\n---\nb\n", "---\ntags:\n  - y\n---\n", "---\ntags: x\n---\nb\n"},
		{"a note without properties gets them", "b\n", "---\na: {{date}}\n---\n\nT\n", "---\na: 2026-11-21\n---\nb\n\nT\n"},
		{"other line ends stay", "---\r\na: 1\r\n---\r\nb\r\n", "---\nb: 2\n---\nT", "---\r\na: 1\r\nb: 2\r\n---\r\nb\r\nT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{"n.md": test.note, "T/t.md": test.template, ".obsidian/templates.json": `{"folder":"T"}`})
			h.expect(command.ExitDone, "Inserted into: n.md\n", "template:insert", "name=t", "path=n.md")
			assert.Equal(t, h.get("n.md"), test.want, "the note")
			h.run("undo")
			assert.Equal(t, h.get("n.md"), test.note, "undone, the note")
		})
	}
}

func TestTemplatesThatCannotBeInserted(t *testing.T) {
	h := build(t, map[string]string{
		"n.md": "text", "bad.md": "---\na: 1\na: 2\n---\n", "x.canvas": "{}", "T/t.md": "---\nb: 1\n---\nx", "T/odd.md": "---\na: [\n---\nx",
	})
	h.expect(command.ExitFailed, "Error: No template folder configured.\n", "template:insert", "name=t", "path=n.md")
	h.put(".obsidian/templates.json", `{"folder":"T"}`)
	h.steps([]turn{
		{"a template that is not there", "template:insert name=none path=n.md", command.ExitFailed, "Error: Template \"none\" not found.\n"},
		{"a note that is not there", "template:insert name=t path=none.md", command.ExitFailed, "Error: File \"none.md\" not found.\n"},
		{"no note", "template:insert name=t", command.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a canvas", "template:insert name=t path=x.canvas", command.ExitFailed, "Error: File is not a markdown file.\n"},
	})
	for args, want := range map[string]string{
		"name=t path=bad.md": "Error: The properties of \"bad.md\" cannot be changed: line 3: ", "name=odd path=n.md": "Error: The properties of template \"odd\" cannot be read: line ",
	} {
		status, out, _ := h.run(append([]string{"template:insert"}, strings.Fields(args)...)...)
		assert.That(t, status == command.ExitFailed && strings.HasPrefix(out, want), "%s: status %d, %q", args, status, out)
	}
	assert.That(t, h.get("n.md") == "text" && h.get("bad.md") == "---\na: 1\na: 2\n---\n", "a note was changed")
}
