package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
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
		if got := h.failure(strings.Split(c.call, "|")...); got.Code != c.code || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: %+v", c.call, got)
		}
		for path, text := range files {
			if got := h.get(path); got != text {
				t.Errorf("%s: %s became %q", c.call, path, got)
			}
		}
	}
	h := build(t, files)
	h.expect(command.ExitDone, "Created: Dune.md\n", "base:create", "file=B", "view=Done", "name=Dune", "group=top shelf")
	if got := h.get("Dune.md"); got != "---\nstatus: done\nshelf: top shelf\ntags:\n  - book\n---\n" && got != "---\nstatus: done\ntags:\n  - book\nshelf: top shelf\n---\n" {
		t.Errorf("%q", got)
	}
}
