package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
)

func TestBaseCreate(t *testing.T) {
	h := build(t, map[string]string{"b/Books.base": "views: []\n", "a.md": "", "taken.md": "", "taken 1.md": ""})
	h.steps([]turn{
		{"by the name of the base", "base:create file=Books name=Dune content=x", command.ExitDone, "Created: Dune.md\n"},
		{"a taken name gets a number", "base:create path=b/Books.base name=Dune", command.ExitDone, "Created: Dune 1.md\n"},
		{"without a name, and with a view that nobody knows", "base:create path=b/Books.base view=None open newtab", command.ExitDone, "Created: Untitled.md\n"},
		{"a name may bring its extension", "base:create path=b/Books.base name=x.md", command.ExitDone, "Created: x.md\n"},
		{"a dot in a name", "base:create path=b/Books.base name=v1.2", command.ExitDone, "Created: v1.2.md\n"},
		{"a base that is not there", "base:create path=c.base name=x", command.ExitFailed, "Error: Base file not found: c.base\n"},
		{"nor by its name", "base:create file=None name=x", command.ExitFailed, "Error: Base file not found: None.base\n"},
		{"a note is no base", "base:create path=a.md name=x", command.ExitFailed, "Error: Not a base file: \"a.md\"\n"},
		{"no base at all", "base:create name=x", command.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a name with a folder", "base:create path=b/Books.base name=c/x", command.ExitMisuse, "Error: Invalid value for name: \"c/x\". It is a name without a folder.\n"},
		{"a name that no note can have", "base:create path=b/Books.base name=.x", command.ExitFailed, "Error: File \"b/.x.md\" cannot be created: path \"b/.x.md\": has a hidden segment.\n"},
	})
	if h.get("b/Dune.md") != "x" || h.get("b/Dune 1.md") != "" {
		t.Errorf("the notes are %q, %q", h.get("b/Dune.md"), h.get("b/Dune 1.md"))
	}
}

// What the filters of a view ask for plainly is in the note, and so is a key for
// each property that the view shows.
func TestBaseCreateMeetsTheFilters(t *testing.T) {
	h := build(t, map[string]string{"b/Books.base": `
filters:
  and:
    - file.hasTag("book")
    - file.inFolder("Shelf") && kind == "novel"
    - or: [rating > 3, lent == true]
views:
  - type: table
    name: All
    order: [file.name, rating, note.author, formula.x, kind]
  - type: table
    name: Done
    filters: status == "done"
    order: [status]
`})
	h.expect(command.ExitDone, "Created: Dune.md\n", "base:create", "path=b/Books.base", "name=Dune", "content=Text")
	if got, want := h.get("Shelf/Dune.md"), "---\nrating:\nauthor:\nkind: novel\ntags:\n  - book\n---\nText"; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
	h.expect(command.ExitDone, "Created: Ubik.md\n", "base:create", "path=b/Books.base", "view=Done", "name=Ubik", "content=---\nstatus: new\n---\nText")
	if got, want := h.get("Shelf/Ubik.md"), "---\nstatus: new\nkind: novel\ntags:\n  - book\n---\nText"; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
}

// A note gets the links that the filters ask for, and what it does not pass is said.
func TestBaseCreateLinksAndTellsWhatIsUnmet(t *testing.T) {
	for _, test := range []struct{ filters, content, want, notice string }{
		{`file.hasLink("Plan")`, "", "[[Plan]]\n", ""},
		{`file.hasLink(link("Plan"))`, "text", "text\n[[Plan]]\n", ""},
		{`file.hasLink("Nowhere") && file.hasLink("Plan")`, "see [[Plan]]", "see [[Plan]]\n[[Nowhere]]\n", ""},
		{`file.hasLink("Plan")`, "see [[Plan|it]]", "see [[Plan|it]]", ""},
		{`file.ctime > now() - "1 day" && file.size < 100 && file.ext == "md"`, "x", "x", ""},
		{`rating > 3`, "x", "x", "the view does not show the note: it does not pass rating > 3"},
		{`file.backlinks.length > 0`, "x", "x", "the view does not show the note: it does not pass file.backlinks.length > 0"},
	} {
		h := build(t, map[string]string{"b/All.base": "filters:\n  and:\n    - '" + test.filters + "'\nviews:\n  - type: table\n    name: V\n", "Plan.md": ""})
		args := []string{"--facts", "base:create", "path=b/All.base", "name=New"}
		if test.content != "" {
			args = append(args, "content="+test.content)
		}
		status, out, stderr := h.run(args...)
		_, facts, _ := frame.CutReport(stderr)
		if got := h.get("b/New.md"); status != command.ExitDone || got != test.want || facts.Notice != test.notice {
			t.Errorf("%s: status %d, %s%s, the note is %q, want %q", test.filters, status, out, stderr, got, test.want)
		}
		if _, rows, _ := h.run("base:query", "path=b/All.base", "format=paths"); strings.Contains(rows, "New.md") == (test.notice != "") {
			t.Errorf("%s: the view shows %q", test.filters, rows)
		}
	}
}

// The folder of a note is that of the base, or the one that a filter asks for,
// which both can be the vault's own.
func TestBaseCreateInTheFolderOfTheVault(t *testing.T) {
	h := build(t, map[string]string{"Top.base": "views: []\n", "b/Up.base": "filters: file.folder == \"/\"\n", "b/Down.base": "filters: file.inFolder(\"c/d/\")\n"})
	h.expect(command.ExitDone, "Created: a.md\n", "base:create", "path=Top.base", "name=a")
	h.expect(command.ExitDone, "Created: b.md\n", "base:create", "path=b/Up.base", "name=b")
	h.expect(command.ExitDone, "Created: c.md\n", "base:create", "path=b/Down.base", "name=c")
	for _, path := range []string{"a.md", "b.md", "c/d/c.md"} {
		if got := h.get(path); got != "" {
			t.Errorf("%s is %q", path, got)
		}
	}
}
