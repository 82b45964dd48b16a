package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
)

// ownBase is a base with comments, unknown keys and a mistake of its own.
const ownBase = `# all books
filters: file.hasTag("book") # not "Book"
formulas:
  stars: if(rating, "*", "")   # nicer
  # an old one
  broken: nope(
plugin: {I: 'am'}
views:
  - type: table   # the default
    name: "All"
    order: [file.name, status, formula.stars]
    columnSize:
      note.status: 90

  # read ones
  - type: cards
    name: Done
    filters: status == "done"
    groupBy:
      property: shelf
      direction: ASC
`

func TestBaseStructure(t *testing.T) {
	for _, c := range []struct {
		name, call, said, from, to string // what of the file becomes what; the rest is the same bytes
	}{
		{"a view", "base:add-view|path=B.base|name=By: status|type=kanban|group=status desc|filters=status != \"done\" && rating > 3|sort=rating desc, file.name|order=file.name,status|limit=9|summaries=rating: Average", `Added: view "By: status" in B.base`,
			"      direction: ASC\n", "      direction: ASC\n  - type: kanban\n    name: \"By: status\"\n    filters: status != \"done\" && rating > 3\n    order:\n      - file.name\n      - status\n    sort:\n      - property: rating\n        direction: DESC\n      - property: file.name\n        direction: ASC\n" +
				"    groupBy:\n      property: status\n      direction: DESC\n    limit: 9\n    summaries:\n      rating: Average\n"},
		{"a plain view", "base:add-view|file=B|name=New", `Added: view "New" in B.base`, "      direction: ASC\n", "      direction: ASC\n  - type: table\n    name: New\n"},
		{"filters of several parts", `base:set-view|file=B|view=Done|filters=["a == 1", {"not": ["b"]}]`, `Changed: view "Done" in B.base`, `filters: status == "done"`, "filters:\n      and:\n        - a == 1\n        - not:\n            - b"},
		{"another type, with its comment", "base:set-view|file=B|view=All|type=map", `Changed: view "All" in B.base`, "type: table   #", "type: map   #"},
		{"a limit for a view by its number", "base:set-view|file=B|view=2|limit=5", `Changed: view "Done" in B.base`, "      direction: ASC\n", "      direction: ASC\n    limit: 5\n"},
		{"no filters", "base:set-view|file=B|view=Done|filters=none|limit=0", `Changed: view "Done" in B.base`, "    filters: status == \"done\"\n", ""},
		{"another group", "base:set-view|file=B|view=Done|group=status", `Changed: view "Done" in B.base`, "property: shelf", "property: status"},
		{"a formula", "base:set-formula|file=B|name=stars|expr=rating * 2", `Set: formula "stars" in B.base`, `if(rating, "*", "")`, "rating * 2"},
		{"a formula more", "base:set-formula|file=B|name=half|expr=formula.stars.length / 2", `Set: formula "half" in B.base`, "  broken: nope(\n", "  broken: nope(\n  half: formula.stars.length / 2\n"},
		{"a formula less", "base:set-formula|file=B|name=broken|remove", `Removed: formula "broken" in B.base`, "  broken: nope(\n", ""},
		{"a view less, and the comment behind it stays", "base:remove-view|file=B|view=All", `Removed: view "All" in B.base`,
			"  - type: table   # the default\n    name: \"All\"\n    order: [file.name, status, formula.stars]\n    columnSize:\n      note.status: 90\n", ""},
	} {
		for _, lineEnd := range []string{"\n", "\r\n"} {
			ends := func(text string) string { return strings.ReplaceAll(text, "\n", lineEnd) }
			h := build(t, map[string]string{"B.base": ends(ownBase)})
			status, said, _ := h.run(strings.Split(c.call, "|")...)
			if want := ends(strings.Replace(ownBase, c.from, c.to, 1)); status != command.ExitDone || said != c.said+"\n" || h.get("B.base") != want || strings.Count(ownBase, c.from) != 1 {
				t.Errorf("%s: %d, %q\n%s\nwant\n%s", c.name, status, said, h.get("B.base"), want)
			}
			if status, _, _ := h.run("undo"); status != command.ExitDone || h.get("B.base") != ends(ownBase) {
				t.Errorf("%s: undo leaves %s", c.name, h.get("B.base"))
			}
		}
	}
}

func TestBaseStructureRefusals(t *testing.T) {
	files := map[string]string{"B.base": ownBase, "flow.base": "views: [{type: table, name: V}]\n", "bad.base": "views: [", "a.md": "x"}
	for _, c := range []struct{ call, code, want string }{
		{"base:add-view|file=B|name=All", frame.CodeAlreadyExists, `View "All" already exists.`},
		{"base:add-view|file=B|name=V|filters=a ==", frame.CodeBadValue, "Invalid value for filters"},
		{"base:add-view|file=B|name=V|filters=[\"a ==\"]", frame.CodeBadValue, "The change would break the base"},
		{"base:add-view|file=B|name=V|filters={\"and\": [\"a\"], \"or\": [\"b\"]}", frame.CodeBadValue, `may only have one of an "and", "or", or "not"`},
		{"base:add-view|file=B|name=V|filters=[a", frame.CodeBadValue, "Invalid value for filters"},
		{"base:add-view|file=B|name=V|order=formula.none", frame.CodeBadValue, `no formula is called "none"`},
		{"base:add-view|file=B|name=V|sort=file.nope", frame.CodeBadValue, `a file has no field "nope"`},
		{"base:add-view|file=B|name=V|sort=a,,b", frame.CodeBadValue, "want a property, optionally followed by asc or desc"},
		{"base:add-view|file=B|name=V|summaries=rating", frame.CodeBadValue, "want property: summary"},
		{"base:add-view|file=B|name=V|summaries=rating: Nope", frame.CodeBadValue, `no summary is called "Nope"`},
		{"base:add-view|file=B|name=V|type=chart", frame.CodeBadValue, "Use table, cards, list, kanban, map."},
		{"base:set-view|file=B|view=Nope|limit=1", frame.CodeNotFound, "View not found: Nope"},
		{"base:set-view|file=B|view=All", frame.CodeBadValue, "Nothing to change"},
		{"base:set-view|path=flow.base|view=V|limit=1", frame.CodeCLIError, "cannot be changed: "},
		{"base:remove-view|file=B|view=Nope", frame.CodeNotFound, "View not found: Nope"},
		{"base:set-formula|file=B|name=x|expr=1 +", frame.CodeBadValue, "Invalid value for expr"},
		{"base:set-formula|file=B|name=x|expr=nope()", frame.CodeBadValue, `Cannot find function "nope"`},
		{"base:set-formula|file=B|name=x|expr=formula.x", frame.CodeBadValue, "Infinite loop"},
		{"base:set-formula|file=B|name=Stars|expr=1", frame.CodeAlreadyExists, `Formula "stars" already exists, with other capitals.`},
		{"base:set-formula|file=B|name=none|remove", frame.CodeNotFound, `Formula "none" not found.`},
		{"base:set-formula|file=B|name=stars|remove", frame.CodeBadValue, `no formula is called "stars"`},
		{"base:set-formula|file=B|name=x", frame.CodeBadValue, "Use expr=<expression> or remove."},
		{"base:add-view|path=bad.base|name=V", frame.CodeCLIError, ""}, {"base:add-view|path=a.md|name=V", frame.CodeCLIError, "Not a base file"}, {"base:add-view|path=no.base|name=V", frame.CodeNotFound, "no.base"},
		{"base:create|file=B|view=All|group=x", frame.CodeBadValue, `The view "All" has no groups.`},
	} {
		h := build(t, files)
		got := h.failure(strings.Split(c.call, "|")...)
		assert.That(t, got.Code == c.code && strings.Contains(got.Reason, c.want), "%s: %+v", c.call, got)
		for path, text := range files {
			assert.Equal(t, h.get(path), text, "%s: %s became", c.call, path)
		}
	}
	h := build(t, files)
	h.expect(command.ExitDone, "Created: Dune.md\n", "base:create", "file=B", "view=Done", "name=Dune", "group=top shelf")
	if got := h.get("Dune.md"); got != "---\nstatus: done\nshelf: top shelf\ntags:\n  - book\n---\n" && got != "---\nstatus: done\ntags:\n  - book\nshelf: top shelf\n---\n" {
		t.Errorf("%q", got)
	}
}

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
	assert.That(t, h.get("b/Dune.md") == "x" && h.get("b/Dune 1.md") == "", "the notes are %q, %q", h.get("b/Dune.md"), h.get("b/Dune 1.md"))
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
		assert.Equal(t, h.get(path), "", "%s", path)
	}
}
