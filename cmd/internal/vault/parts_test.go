package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

func TestTaskIsShown(t *testing.T) {
	h := build(t, map[string]string{"A.md": "text\n- [x] done one\n", "2026-11-21.md": "- [ ] today", "b.txt": "- [ ] no"})
	const shown = "status\tx\ntext\t- [x] done one\nfile\tA.md\nline\t2\n"
	h.expect(command.ExitDone, shown, "task", "path=A.md", "line=2")
	h.expect(command.ExitDone, shown, "task", "file=A", "line=2")
	h.expect(command.ExitDone, shown, "task", "ref=A.md:2")
	h.expect(command.ExitDone, "status\t \ntext\t- [ ] today\nfile\t2026-11-21.md\nline\t1\n", "task", "daily", "line=1")
	h.expect(command.ExitFailed, "Error: Task \"A.md:1\" not found. The nearest are line 2 \"- [x] done one\".\n", "task", "path=A.md", "line=1")
	h.expect(command.ExitFailed, "Error: Task \"b.txt:1\" not found. Only Markdown notes have tasks.\n", "task", "path=b.txt", "line=1")
	h.expect(command.ExitFailed, "Error: File \"C.md\" not found.\n", "task", "ref=C.md:1")
	h.expect(command.ExitFailed, "Error: File \"../C.md\" not found.\n", "task", "ref=../C.md:1")
	h.expect(command.ExitMisuse, "Error: Invalid ref: A.md. Use <path>:<line>.\n", "task", "ref=A.md")
	h.expect(command.ExitMisuse, "Error: Invalid number: 0\n", "task", "ref=A.md:0")
	h.expect(command.ExitMisuse, "Error: Missing required parameter: line=<n>\n", "task", "path=A.md")
	h.expect(command.ExitMisuse, "Error: ref=<path:line> names the note and the line: leave out file, path, daily and line.\n", "task", "ref=A.md:2", "line=2")
	h.expect(command.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n", "task", "path=A.md", "daily", "line=2")
}

func TestNoteSection(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":    "---\na: b\n---\n# One\nintro\n## Log\nfirst log\n### Deep\ndeep\n# Two: (more)\r\n## Log\r\nsecond log\r\na block ^id1\r\n",
		"pic.png": "x",
	})
	h.expect(command.ExitDone, "# One\nintro\n## Log\nfirst log\n### Deep\ndeep\n", "note:section", "path=A.md", "heading=One")
	h.expect(command.ExitDone, "### Deep\ndeep\n", "note:section", "path=A.md", "heading=#deep")
	h.expect(command.ExitDone, "## Log\nfirst log\n### Deep\ndeep\n", "note:section", "path=A.md", "heading=One#Log")
	h.expect(command.ExitDone, "### Deep\ndeep\n", "note:section", "path=A.md", "heading=One#Deep")
	h.expect(command.ExitDone, "## Log\r\nsecond log\r\na block ^id1\r\n", "note:section", "path=A.md", "heading=two more#log")
	h.expect(command.ExitFailed, "Error: Heading \"Log\" is ambiguous: lines 6, 11.\n", "note:section", "path=A.md", "heading=Log")
	h.expect(command.ExitFailed, "Error: Heading \"Two#Deep\" not found. The note has \"One\" (line 4), \"Log\" (line 6), \"Deep\" (line 8), \"Two: (more)\" (line 10), \"Log\" (line 11).\n", "note:section", "path=A.md", "heading=Two#Deep")
	h.expect(command.ExitDone, "# One\nintro\n", "note:section", "path=A.md", "lines=4-5")
	h.expect(command.ExitDone, "intro\n", "note:section", "path=A.md", "lines=5")
	h.expect(command.ExitDone, "a block ^id1\r\n", "note:section", "path=A.md", "lines=13-99")
	h.expect(command.ExitFailed, "Error: Line \"14\" not found. The note has 13 lines.\n", "note:section", "path=A.md", "lines=14-15")
	h.expect(command.ExitFailed, "Error: Block \"no\" not found. The note has \"id1\".\n", "note:section", "path=A.md", "block=no")
	for _, lines := range []string{"0", "2-1", "x", "1-x", "-1"} {
		h.expect(command.ExitMisuse, "Error: Invalid lines: "+lines+". Use <n> or <n-m>, counted from 1.\n", "note:section", "path=A.md", "lines="+lines)
	}
	h.expect(command.ExitMisuse, "Error: Missing required parameter: heading=<text>, block=<id> or lines=<n-m>\n", "note:section", "path=A.md")
	h.expect(command.ExitMisuse, "Error: Use heading=<text>, block=<id> or lines=<n-m>, not several.\n", "note:section", "path=A.md", "lines=1", "heading=One")
	h.expect(command.ExitFailed, "Error: File is not a markdown file.\n", "note:section", "path=pic.png", "lines=1")
	if status, out, _ := h.run("note:section", "path=A.md", "block=^id1"); status != command.ExitDone || out == "" {
		t.Errorf("%d %q", status, out)
	}
}

// What shows a part of a note tells the path and the hash of the whole one, so
// that a change of the part can be tied to what was read.
func TestAPartHasTheHashOfItsNote(t *testing.T) {
	const text = "# One\nintro\n## Two\nend ^id\n"
	h := build(t, map[string]string{"Notes/A.md": text, "Empty.md": ""})
	for _, args := range [][]string{
		{"note:section", "file=A", "heading=Two"}, {"note:section", "path=Notes/A.md", "block=id"}, {"note:section", "path=Notes/A.md", "lines=2"},
		{"outline", "file=A"}, {"outline", "file=A", "total"}, {"outline", "file=A", "format=json"}, {"outline", "file=A", "format=md"},
	} {
		status, _, facts := h.run(append([]string{"--facts"}, args...)...)
		if want := `vaultwicket-facts: {"path":"Notes/A.md","hash":"` + command.Digest([]byte(text)) + "\"}\n"; status != command.ExitDone || facts != want {
			t.Errorf("%q: %d, %q, want %q", args, status, facts, want)
		}
	}
	if _, _, facts := h.run("--facts", "outline", "path=Empty.md"); facts != `vaultwicket-facts: {"path":"Empty.md","hash":"`+command.Digest(nil)+"\"}\n" {
		t.Errorf("an empty note has the facts %q", facts)
	}
	if status, _, facts := h.run("--facts", "note:section", "file=A", "heading=None"); status != command.ExitFailed || !strings.HasPrefix(facts, `vaultwicket-facts: {"code":"not_found"`) {
		t.Errorf("a part that is not there has the facts %q", facts)
	}
}
