package handlers_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
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
		{"a view",
			"base:add-view|path=B.base|name=By: status|type=kanban|group=status desc|filters=status != \"done\" && rating > 3|sort=rating desc, file.name|order=file.name,status|limit=9|summaries=rating: Average",
			`Added: view "By: status" in B.base`,
			"      direction: ASC\n",
			"      direction: ASC\n  - type: kanban\n    name: \"By: status\"\n    filters: status != \"done\" && rating > 3\n    order:\n      - file.name\n      - status\n    sort:\n      - property: rating\n        direction: DESC\n      - property: file.name\n        direction: ASC\n" +
				"    groupBy:\n      property: status\n      direction: DESC\n    limit: 9\n    summaries:\n      rating: Average\n"},
		{"a plain view", "base:add-view|file=B|name=New", `Added: view "New" in B.base`, "      direction: ASC\n",
			"      direction: ASC\n  - type: table\n    name: New\n"},
		{"filters of several parts", `base:set-view|file=B|view=Done|filters=["a == 1", {"not": ["b"]}]`,
			`Changed: view "Done" in B.base`, `filters: status == "done"`,
			"filters:\n      and:\n        - a == 1\n        - not:\n            - b"},
		{"another type, with its comment", "base:set-view|file=B|view=All|type=map", `Changed: view "All" in B.base`, "type: table   #", "type: map   #"},
		{"a limit for a view by its number", "base:set-view|file=B|view=2|limit=5", `Changed: view "Done" in B.base`,
			"      direction: ASC\n", "      direction: ASC\n    limit: 5\n"},
		{"no filters", "base:set-view|file=B|view=Done|filters=none|limit=0", `Changed: view "Done" in B.base`, "    filters: status == \"done\"\n", ""},
		{"another group", "base:set-view|file=B|view=Done|group=status", `Changed: view "Done" in B.base`, "property: shelf", "property: status"},
		{"a formula", "base:set-formula|file=B|name=stars|expr=rating * 2", `Set: formula "stars" in B.base`, `if(rating, "*", "")`, "rating * 2"},
		{"a formula more", "base:set-formula|file=B|name=half|expr=formula.stars.length / 2",
			`Set: formula "half" in B.base`, "  broken: nope(\n",
			"  broken: nope(\n  half: formula.stars.length / 2\n"},
		{"a formula less", "base:set-formula|file=B|name=broken|remove", `Removed: formula "broken" in B.base`, "  broken: nope(\n", ""},
		{"a view less, and the comment behind it stays", "base:remove-view|file=B|view=All", `Removed: view "All" in B.base`,
			"  - type: table   # the default\n    name: \"All\"\n    order: [file.name, status, formula.stars]\n    columnSize:\n      note.status: 90\n", ""},
	} {
		for _, lineEnd := range []string{"\n", "\r\n"} {
			ends := func(text string) string { return strings.ReplaceAll(text, "\n", lineEnd) }
			assert.Equal(t, strings.Count(ownBase, c.from), 1, "%s: places", c.name)
			want := ends(strings.Replace(ownBase, c.from, c.to, 1))
			changed(t, map[string]string{"B.base": ends(ownBase)}, c.said, map[string]string{"B.base": want}, strings.Split(c.call, "|")...)
		}
	}
}

// refusal is a call that changes nothing, with its code and a part of the reason.
type refusal struct{ call, code, reason string }

func refusals(t *testing.T, files map[string]string, all []refusal) {
	t.Helper()
	for _, c := range all {
		h := embedded.New(t, files)
		got := h.Failure(strings.Split(c.call, "|")...)
		assert.Equal(t, got.Code, c.code, "%s", c.call)
		assert.Contains(t, got.Reason, c.reason, "%s", c.call)
		assert.That(t, maps.Equal(h.Texts(true), files), "%s made %q", c.call, h.Texts(true))
	}
}

func TestBaseStructureRefusals(t *testing.T) {
	files := map[string]string{"B.base": ownBase, "flow.base": "views: [{type: table, name: V}]\n", "bad.base": "views: [", "a.md": "x"}
	refusals(t, files, []refusal{
		{"base:add-view|file=B|name=All", protocol.CodeAlreadyExists, `View "All" already exists.`},
		{"base:add-view|file=B|name=V|filters=a ==", protocol.CodeBadValue, "Invalid value for filters"},
		{"base:add-view|file=B|name=V|filters=[\"a ==\"]", protocol.CodeBadValue, "The change would break the base"},
		{"base:add-view|file=B|name=V|filters={\"and\": [\"a\"], \"or\": [\"b\"]}", protocol.CodeBadValue, `may only have one of an "and", "or", or "not"`},
		{"base:add-view|file=B|name=V|filters=[a", protocol.CodeBadValue, "Invalid value for filters"},
		{"base:add-view|file=B|name=V|order=formula.none", protocol.CodeBadValue, `no formula is called "none"`},
		{"base:add-view|file=B|name=V|sort=file.nope", protocol.CodeBadValue, `a file has no field "nope"`},
		{"base:add-view|file=B|name=V|sort=a,,b", protocol.CodeBadValue, "want a property, optionally followed by asc or desc"},
		{"base:add-view|file=B|name=V|summaries=rating", protocol.CodeBadValue, "want property: summary"},
		{"base:add-view|file=B|name=V|summaries=rating: Nope", protocol.CodeBadValue, `no summary is called "Nope"`},
		{"base:add-view|file=B|name=V|type=chart", protocol.CodeBadValue, "Use table, cards, list, kanban, map."},
		{"base:set-view|file=B|view=Nope|limit=1", protocol.CodeNotFound, "View not found: Nope"},
		{"base:set-view|file=B|view=All", protocol.CodeBadValue, "Nothing to change"},
		{"base:set-view|path=flow.base|view=V|limit=1", protocol.CodeCLIError, "cannot be changed: "},
		{"base:remove-view|file=B|view=Nope", protocol.CodeNotFound, "View not found: Nope"},
		{"base:set-formula|file=B|name=x|expr=1 +", protocol.CodeBadValue, "Invalid value for expr"},
		{"base:set-formula|file=B|name=x|expr=nope()", protocol.CodeBadValue, `Cannot find function "nope"`},
		{"base:set-formula|file=B|name=x|expr=formula.x", protocol.CodeBadValue, "Infinite loop"},
		{"base:set-formula|file=B|name=Stars|expr=1", protocol.CodeAlreadyExists, `Formula "stars" already exists, with other capitals.`},
		{"base:set-formula|file=B|name=none|remove", protocol.CodeNotFound, `Formula "none" not found.`},
		{"base:set-formula|file=B|name=stars|remove", protocol.CodeBadValue, `no formula is called "stars"`},
		{"base:set-formula|file=B|name=x", protocol.CodeBadValue, "Use expr=<expression> or remove."},
		{"base:add-view|path=bad.base|name=V", protocol.CodeCLIError, ""},
		{"base:add-view|path=a.md|name=V", protocol.CodeCLIError, "Not a base file"},
		{"base:add-view|path=no.base|name=V", protocol.CodeNotFound, "no.base"},
		{"base:create|file=B|view=All|group=x", protocol.CodeBadValue, `The view "All" has no groups.`},
	})
	h := embedded.New(t, files)
	h.Expect(answer.ExitDone, "Created: Dune.md\n", "base:create", "file=B", "view=Done", "name=Dune", "group=top shelf")
	if got := h.Get("Dune.md"); got != "---\nstatus: done\nshelf: top shelf\ntags:\n  - book\n---\n" &&
		got != "---\nstatus: done\ntags:\n  - book\nshelf: top shelf\n---\n" {
		t.Errorf("%q", got)
	}
}

func TestBaseCreate(t *testing.T) {
	h := embedded.New(t, map[string]string{"b/Books.base": "views: []\n", "a.md": "", "taken.md": "", "taken 1.md": ""})
	h.Steps([]embedded.Turn{
		{"by the name of the base", "base:create file=Books name=Dune content=x", answer.ExitDone, "Created: Dune.md\n"},
		{"a taken name gets a number", "base:create path=b/Books.base name=Dune", answer.ExitDone, "Created: Dune 1.md\n"},
		{"without a name, and with a view that nobody knows", "base:create path=b/Books.base view=None open newtab", answer.ExitDone, "Created: Untitled.md\n"},
		{"a name may bring its extension", "base:create path=b/Books.base name=x.md", answer.ExitDone, "Created: x.md\n"},
		{"a dot in a name", "base:create path=b/Books.base name=v1.2", answer.ExitDone, "Created: v1.2.md\n"},
		{"a base that is not there", "base:create path=c.base name=x", answer.ExitFailed, "Error: Base file not found: c.base\n"},
		{"nor by its name", "base:create file=None name=x", answer.ExitFailed, "Error: Base file not found: None.base\n"},
		{"a note is no base", "base:create path=a.md name=x", answer.ExitFailed, "Error: Not a base file: \"a.md\"\n"},
		{"no base at all", "base:create name=x", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a name with a folder", "base:create path=b/Books.base name=c/x", answer.ExitMisuse,
			"Error: Invalid value for name: \"c/x\". It is a name without a folder.\n"},
		{"a name that no note can have", "base:create path=b/Books.base name=.x", answer.ExitFailed,
			"Error: File \"b/.x.md\" cannot be created: path \"b/.x.md\": has a hidden segment.\n"},
	})
	assert.Equal(t, h.Get("b/Dune.md"), "x", "the notes are %q", h.Get("b/Dune.md"))
	assert.Equal(t, h.Get("b/Dune 1.md"), "", "the notes are %q", h.Get("b/Dune.md"))
}

// What the filters of a view ask for plainly is in the note, and so is a key for
// each property that the view shows.
func TestBaseCreateMeetsTheFilters(t *testing.T) {
	h := embedded.New(t, map[string]string{"b/Books.base": `
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
	h.Expect(answer.ExitDone, "Created: Dune.md\n", "base:create", "path=b/Books.base", "name=Dune", "content=Text")
	got, want := h.Get("Shelf/Dune.md"), "---\nrating:\nauthor:\nkind: novel\ntags:\n  - book\n---\nText"
	assert.Equal(t, got, want, "the note")
	h.Expect(answer.ExitDone, "Created: Ubik.md\n", "base:create", "path=b/Books.base", "view=Done", "name=Ubik", "content=---\nstatus: new\n---\nText")
	got, want = h.Get("Shelf/Ubik.md"), "---\nstatus: new\nkind: novel\ntags:\n  - book\n---\nText"
	assert.Equal(t, got, want, "the note")
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
		h := embedded.New(t, map[string]string{"b/All.base": "filters:\n  and:\n    - '" + test.filters +
			"'\nviews:\n  - type: table\n    name: V\n", "Plan.md": ""})
		args := []string{"--facts", "base:create", "path=b/All.base", "name=New"}
		if test.content != "" {
			args = append(args, "content="+test.content)
		}
		status, out, stderr := h.Run(args...)
		_, facts, _ := embedded.CutReport(stderr)
		if got := h.Get("b/New.md"); status != answer.ExitDone || got != test.want || facts.Notice != test.notice {
			t.Errorf("%s: status %d, %s%s, the note is %q, want %q", test.filters, status, out, stderr, got, test.want)
		}
		_, rows, _ := h.Run("base:query", "path=b/All.base", "format=paths")
		assert.That(t, strings.Contains(rows, "New.md") != (test.notice != ""), "%s: the view shows %q", test.filters, rows)
	}
}

// The folder of a note is that of the base, or the one that a filter asks for,
// which both can be the vault's own.
func TestBaseCreateInTheFolderOfTheVault(t *testing.T) {
	h := embedded.New(t, map[string]string{"Top.base": "views: []\n", "b/Up.base": "filters: file.folder == \"/\"\n",
		"b/Down.base": "filters: file.inFolder(\"c/d/\")\n"})
	h.Expect(answer.ExitDone, "Created: a.md\n", "base:create", "path=Top.base", "name=a")
	h.Expect(answer.ExitDone, "Created: b.md\n", "base:create", "path=b/Up.base", "name=b")
	h.Expect(answer.ExitDone, "Created: c.md\n", "base:create", "path=b/Down.base", "name=c")
	for _, path := range []string{"a.md", "b.md", "c/d/c.md"} {
		assert.Equal(t, h.Get(path), "", "%s", path)
	}
}

const saturdayMS = "1795244707000"

func TestBookmarkIsAdded(t *testing.T) {
	const entry = `{"type":"url","ctime":` + saturdayMS + `,"url":"https://x.org/?a&b"}`
	for _, test := range []struct{ name, before, want string }{
		{"to no file", "(missing)", "{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " +
			saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{"to an empty file", " \n", "{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " +
			saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{"on one line", `{"items":[]}`, `{"items":[` + entry + `]}`},
		{"behind others on one line", `{"v":1, "items":[{"type":"graph"}] ,"w":[2]}`, `{"v":1, "items":[{"type":"graph"},` + entry + `] ,"w":[2]}`},
		{"to an empty list over several lines", "{\n  \"items\": []\n}",
			"{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS +
				",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{
			"in the layout that is there", "{\n\t\"items\": [\n\t\t{\"type\":\"group\",\"items\":[{}]}\n\t],\n\t\"x\": \"items\"\n}\n",
			"{\n\t\"items\": [\n\t\t{\"type\":\"group\",\"items\":[{}]},\n\t\t{\n\t\t\t\"type\": \"url\",\n\t\t\t\"ctime\": " +
				saturdayMS + ",\n\t\t\t\"url\": \"https://x.org/?a&b\"\n\t\t}\n\t],\n\t\"x\": \"items\"\n}\n",
		},
		{"to a file without a list", `{"v":{"items":1}}`, `{"v":{"items":1},"items":[` + entry + `]}`},
		{"to an empty object", `{}`, `{"items":[` + entry + `]}`},
		{
			"to a file without a list over several lines", "{\n  \"v\": 1\n}",
			"{\n  \"v\": 1,\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS +
				",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{".obsidian/bookmarks.json": test.before}
			if test.before == "(missing)" {
				files = nil
			}
			changed(t, files, "Bookmarked: https://x.org/?a&b", map[string]string{".obsidian/bookmarks.json": test.want}, "bookmark", "url=https://x.org/?a&b")
			assert.That(t, json.Valid([]byte(test.want)), "it is no JSON")
		})
	}
}

func TestWhatCanBeBookmarked(t *testing.T) {
	h := embedded.New(t, map[string]string{"f/a.md": "x", ".obsidian/app.json": "{}", ".obsidian/bookmarks.json": `{"items":[]}`})
	h.Steps([]embedded.Turn{
		{"a file", "bookmark file=f/a.md", answer.ExitDone, "Bookmarked: f/a.md\n"},
		{"a heading in it", "bookmark file=f/a.md subpath=H title=T", answer.ExitDone, "Bookmarked: f/a.md#H\n"},
		{"a block in it", "bookmark file=f/a.md subpath=^b", answer.ExitDone, "Bookmarked: f/a.md#^b\n"},
		{"a folder", "bookmark folder=f/", answer.ExitDone, "Bookmarked: f\n"},
		{"the whole vault", "bookmark folder=/", answer.ExitDone, "Bookmarked: /\n"},
		{"a search", "bookmark search=tag:#x", answer.ExitDone, "Bookmarked: tag:#x\n"},
		{"the same search again", "bookmark search=tag:#x", answer.ExitDone, "Nothing was changed: \"tag:#x\" is bookmarked already.\n"},
		{"the same heading again", "bookmark file=f/a.md subpath=#H title=T", answer.ExitDone, "Nothing was changed: \"f/a.md#H\" is bookmarked already.\n"},
		{"all of them are listed", "bookmarks total", answer.ExitDone, "6\n"},
		{"a file that is not there", "bookmark file=a.md", answer.ExitFailed, "Error: File \"a.md\" not found.\n"},
		{"a hidden file", "bookmark file=.obsidian/app.json", answer.ExitFailed, "Error: File \".obsidian/app.json\" not found.\n"},
		{"a folder that is not there", "bookmark folder=g", answer.ExitFailed, "Error: Folder \"g\" not found.\n"},
		{"nothing", "bookmark title=x", answer.ExitMisuse, "Error: Use exactly one of file=<path>, folder=<path>, search=<query>, url=<address>.\n"},
		{"two things", "bookmark folder=f search=x", answer.ExitMisuse,
			"Error: Use exactly one of file=<path>, folder=<path>, search=<query>, url=<address>.\n"},
		{"a part of nothing", "bookmark folder=f subpath=x", answer.ExitMisuse, "Error: Use subpath=<heading> with file=<path>.\n"},
	})
	const first = `{"items":[{"type":"file","ctime":` + saturdayMS + `,"path":"f/a.md"},{"type":"file","ctime":` +
		saturdayMS + `,"path":"f/a.md","subpath":"#H","title":"T"},`
	got := h.Get(".obsidian/bookmarks.json")
	assert.That(t, strings.HasPrefix(got, first), "the file is %s", got)
}

func TestBookmarksThatCannotBeUsed(t *testing.T) {
	for _, text := range []string{"[]", "null", "{", `{"items":{}}`, `{"items":1}`, "3"} {
		h := embedded.New(t, map[string]string{".obsidian/bookmarks.json": text})
		status, out, _ := h.Run("bookmark", "search=x")
		if status != answer.ExitFailed ||
			!strings.HasPrefix(out, "Error: Cannot use the bookmarks in .obsidian/bookmarks.json: ") ||
			h.Get(".obsidian/bookmarks.json") != text {
			t.Errorf("%q: status %d, %q", text, status, out)
		}
	}
}

// drawn is a canvas as the app writes one, with unknown fields.
const drawn = "{\n\t\"nodes\":[\n" +
	"\t\t{\"id\":\"g1\",\"type\":\"group\",\"x\":-40,\"y\":-40,\"width\":700,\"height\":500,\"label\":\"Phase one\",\"backgroundStyle\":\"cover\"},\n" +
	"\t\t{\"id\":\"a\",\"type\":\"text\",\"text\":\"Call  the\\nplumber\",\"x\":0,\"y\":0,\"width\":250,\"height\":60,\"styleAttributes\":{\"shape\":null}},\n" +
	"\t\t{\"id\":\"b\",\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Costs\",\"x\":300,\"y\":0,\"width\":300,\"height\":300},\n" +
	"\t\t{\"id\":\"t\",\"x\":0,\"y\":100.5,\"width\":250,\"height\":60,\"type\":\"text\",\"text\":\"twice\"},\n" +
	"\t\t{\"id\":\"u\",\"type\":\"text\",\"text\":\"twice\",\"x\":0,\"y\":200,\"width\":250,\"height\":60}\n" +
	"\t],\n\t\"edges\":[\n" +
	"\t\t{\"id\":\"e1\",\"fromNode\":\"a\",\"fromSide\":\"right\",\"toNode\":\"b\",\"toSide\":\"left\",\"styleAttributes\":{}},\n" +
	"\t\t{\"id\":\"e2\",\"fromNode\":\"b\",\"toNode\":\"nobody\"}\n" +
	"\t],\n\t\"metadata\":{\"version\":\"1.0-1.0\"}\n}"

func TestCanvasChanges(t *testing.T) {
	line := func(id string) string {
		_, rest, _ := strings.Cut(drawn, "\t\t{\"id\":\""+id+"\"")
		rest, _, _ = strings.Cut(rest, "\n")
		return "\t\t{\"id\":\"" + id + "\"" + rest
	}
	for _, c := range []struct {
		name, call, said string
		from, to         string // what of the file becomes what; the rest is the same bytes
	}{
		{"a card", "canvas:add|path=B.canvas|text=Buy <seeds> & \"soil\"\\nsoon", "Added: text ID to B.canvas", line("u"),
			line("u") +
				",\n\t\t{\"id\":\"ID\",\"type\":\"text\",\"text\":\"Buy <seeds> & \\\"soil\\\"\\nsoon\",\"x\":640,\"y\":200,\"width\":250,\"height\":84}"},
		{"a note where it is put", "canvas:add|file=B|note=Plan#Old|x=-900|y=7|width=20|height=30|color=#00ff00", "Added: file ID to B.canvas", line("u"),
			line("u") +
				",\n\t\t{\"id\":\"ID\",\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Old\",\"x\":-900,\"y\":7,\"width\":20,\"height\":30,\"color\":\"#00ff00\"}"},
		{"an address", "canvas:add|file=B.canvas|url=https://x.org/?a=1&b|width=100|height=40", "Added: link ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"link\",\"url\":\"https://x.org/?a=1&b\",\"x\":640,\"y\":200,\"width\":100,\"height\":40}"},
		{"a group", "canvas:add|file=B|label=Phase two|color=4", "Added: group ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"group\",\"label\":\"Phase two\",\"x\":700,\"y\":200,\"width\":600,\"height\":400,\"color\":\"4\"}"},
		{"the text of a card", "canvas:set|file=B|id=a|text=Done", "Changed: a in B.canvas", `"Call  the\nplumber"`, `"Done"`},
		{"a card by what it shows", "canvas:set|file=B|id=Call the plumber|color=2|width=300",
			"Changed: Call the plumber in B.canvas", `"width":250,"height":60,"styleAttributes":{"shape":null}`,
			`"width":300,"height":60,"styleAttributes":{"shape":null},"color":"2"`},
		{"another note, whole", "canvas:set|file=B|id=Plan.md#Costs|note=Garden", "Changed: Plan.md#Costs in B.canvas",
			`"file":"Plan.md","subpath":"#Costs"`, `"file":"Areas/Garden.md"`},
		{"a place", "canvas:set|file=B|id=t|y=101", "Changed: t in B.canvas", `"y":100.5`, `"y":101`},
		{"the label of a group", "canvas:set|file=B|id=Phase one|label=Phase 1", "Changed: Phase one in B.canvas", `"Phase one"`, `"Phase 1"`},
		{"the label of an edge", "canvas:set|file=B|id=e1|label=needs|color=1", "Changed: e1 in B.canvas",
			`"toSide":"left","styleAttributes":{}`, `"toSide":"left","styleAttributes":{},"color":"1","label":"needs"`},
		{"an edge down", "canvas:connect|file=B|from=a|to=t|label=then|arrow=both", "Connected: edge ID in B.canvas", line("e2"),
			line("e2") +
				",\n\t\t{\"id\":\"ID\",\"fromNode\":\"a\",\"fromSide\":\"bottom\",\"toNode\":\"t\",\"toSide\":\"top\",\"fromEnd\":\"arrow\",\"label\":\"then\"}"},
		{"an edge to the left", "canvas:connect|file=B|from=b|to=a|arrow=none|to-side=top", "Connected: edge ID in B.canvas", line("e2"),
			line("e2") + ",\n\t\t{\"id\":\"ID\",\"fromNode\":\"b\",\"fromSide\":\"left\",\"toNode\":\"a\",\"toSide\":\"top\",\"toEnd\":\"none\"}"},
		{"no edge", "canvas:remove|file=B|id=e1", "Removed: edge e1 from B.canvas", line("e1") + "\n", ""},
		{"no group, and what is in it stays", "canvas:remove|file=B|id=g1", "Removed: group g1 with 0 edges from B.canvas", line("g1") + "\n", ""},
	} {
		h := embedded.New(t, map[string]string{"B.canvas": drawn, "Plan.md": "# Costs", "Areas/Garden.md": ""})
		status, said, _ := h.Run(strings.Split(c.call, "|")...)
		got := h.Get("B.canvas")
		id := ""
		if _, rest, added := strings.Cut(c.said, "ID"); added {
			before, _, _ := strings.Cut(c.said, "ID")
			id = strings.TrimSuffix(strings.TrimPrefix(said, before), rest+"\n")
		}
		filled := strings.NewReplacer("ID", id)
		if status != answer.ExitDone || said != filled.Replace(c.said)+"\n" ||
			got != strings.Replace(drawn, c.from, filled.Replace(c.to), 1) || strings.Count(drawn, c.from) != 1 {
			t.Errorf("%s: %d, %q\n%s", c.name, status, said, got)
		}
		if id != "" {
			assert.Equal(t, len(id), 16, "%s: the length of the id %q", c.name, id)
			assert.Equal(t, strings.Trim(id, "0123456789abcdef"), "", "%s: what is not hexadecimal in %q", c.name, id)
		}
		status, _, _ = h.Run("undo")
		assert.Equal(t, status, answer.ExitDone, "%s: undo leaves %s", c.name, h.Get("B.canvas"))
		assert.Equal(t, h.Get("B.canvas"), drawn, "%s: undo leaves %s", c.name, h.Get("B.canvas"))
	}
	h := embedded.New(t, map[string]string{"B.canvas": drawn})
	h.Expect(answer.ExitDone, "Removed: file b with 2 edges from B.canvas\n", "canvas:remove", "file=B", "id=b")
	want := strings.Replace(strings.Replace(drawn, line("b")+"\n", "", 1), "\n"+line("e1")+"\n"+line("e2")+"\n\t", "", 1)
	assert.Equal(t, h.Get("B.canvas"), want)
}

func TestCanvasRefusals(t *testing.T) {
	files := map[string]string{"B.canvas": drawn, "bad.canvas": "{\"nodes\":[", "list.canvas": "[]",
		"odd.canvas": `{"nodes":{}}`, "twice.canvas": `{"nodes":[],"nodes":[]}`, "n.canvas": `{"nodes":[{"x":"1"}]}`,
		"a.md": "x", "p.png": embedded.OnePixel}
	refusals(t, files, []refusal{
		{"canvas:add|path=bad.canvas|text=x", protocol.CodeCLIError, "cannot be read: it is not a canvas in JSON"},
		{"canvas:add|path=list.canvas|text=x", protocol.CodeCLIError, "cannot be read"},
		{"canvas:add|path=odd.canvas|text=x", protocol.CodeCLIError, "cannot be read"},
		{"canvas:add|path=n.canvas|text=x", protocol.CodeCLIError, "cannot be read"},
		{"canvas:add|path=twice.canvas|text=x", protocol.CodeCLIError, `cannot be changed: line 1, column 13: "nodes" is given twice`},
		{"canvas:add|path=a.md|text=x", protocol.CodeCLIError, `File is not a canvas: "a.md"`},
		{"canvas:set|path=p.png|id=x|text=x", protocol.CodeCLIError, `File is not a canvas: "p.png"`},
		{"canvas:add|path=none.canvas|text=x", protocol.CodeNotFound, "not found"},
		{"canvas:add|path=B.canvas|note=Nobody", protocol.CodeNotFound, `"Nobody" not found`},
		{"canvas:add|path=B.canvas", protocol.CodeBadValue, "Missing required parameter: text=<text>, note=<name>, url=<url> or label=<text>"},
		{"canvas:add|path=B.canvas|text=a|label=b", protocol.CodeBadValue, "Use one of text, note, url and label."},
		{"canvas:add|path=B.canvas|text=a|color=red", protocol.CodeBadValue, "Invalid value for color"},
		{"canvas:add|path=B.canvas|text=a|x=1.5", protocol.CodeBadValue, "Invalid number: 1.5"},
		{"canvas:add|path=B.canvas|text=a|width=0", protocol.CodeBadValue, "Use width from 1 to 1000000"},
		{"canvas:set|path=B.canvas|id=nope|text=x", protocol.CodeNotFound, `Node "nope" not found in the canvas.`},
		{"canvas:set|path=B.canvas|id=twice|text=x", protocol.CodeAmbiguous, `2 nodes of the canvas are "twice": "t", "u"`},
		{"canvas:set|path=B.canvas|id=b|text=x", protocol.CodeBadValue, `The node is of the type "file": text is for the type text.`},
		{"canvas:set|path=B.canvas|id=e1|x=1", protocol.CodeBadValue, "An edge has a label and a color, and no x."},
		{"canvas:set|path=B.canvas|id=b", protocol.CodeBadValue, "Nothing to change"},
		{"canvas:connect|path=B.canvas|from=a|to=b", protocol.CodeAlreadyExists, "connected already"},
		{"canvas:connect|path=B.canvas|from=a|to=e1", protocol.CodeNotFound, `Node "e1" not found`},
		{"canvas:remove|path=B.canvas|id=x", protocol.CodeNotFound, `Node "x" not found`},
		{"canvas:create|path=B.canvas", protocol.CodeAlreadyExists, "already exists"}, {"canvas:create|path=B", protocol.CodeAlreadyExists, "already exists"},
		{"canvas:create|path=a*.canvas", protocol.CodeCLIError, "not every system"},
	})
}

// A plan is drawn from nothing, and every file on the way is one of JSON Canvas.
func TestCanvasFromNothing(t *testing.T) {
	for _, begin := range []string{"", "{}", "(created)"} {
		h := embedded.New(t, map[string]string{"A.md": ""})
		if begin == "(created)" {
			h.Expect(answer.ExitDone, "Created: Maps/Plan.canvas\n", "canvas:create", "path=Maps/Plan")
		} else {
			h.Put("Maps/Plan.canvas", begin)
		}
		for _, call := range []string{"canvas:add|file=Plan|text=One", "canvas:add|file=Plan|text=Two",
			"canvas:add|file=Plan|text=Two", "canvas:add|file=Plan|note=A",
			"canvas:add|file=Plan|label=All|x=-20|y=-20|width=2000|height=800",
			"canvas:connect|file=Plan|from=One|to=A.md", "canvas:remove|file=Plan|id=One", "canvas:add|file=Plan|text=One"} {
			h.Does(strings.Split(call, "|")...)
			isJSONCanvas(t, h.Get("Maps/Plan.canvas"))
		}
		h.Expect(answer.ExitDone, "4 cards, 1 group, 0 edges\n\n# All\n[1] Two\n[2] Two\n[3] file: A.md\n[4] One\n", "canvas:read", "file=Plan")
	}
}

// isJSONCanvas checks a text against the format JSON Canvas 1.0.
func isJSONCanvas(t *testing.T, text string) {
	t.Helper()
	var c struct {
		Nodes []struct {
			ID, Type, Text, File, URL *string
			X, Y, Width, Height       *int
			Label, Color              string
		}
		Edges []struct{ ID, FromNode, FromSide, ToNode, ToSide, FromEnd, ToEnd, Label, Color string }
	}
	err := json.Unmarshal([]byte(text), &c)
	require.That(t, err == nil, "%v: %s", err, text)
	ids := map[string]bool{}
	for _, n := range c.Nodes {
		shows := map[string]*string{"text": n.Text, "file": n.File, "link": n.URL, "group": n.Type}
		require.That(t, n.ID != nil, "%+v in %s", n, text)
		require.That(t, !ids[*n.ID], "%+v in %s", n, text)
		require.That(t, n.Type != nil, "%+v in %s", n, text)
		assert.That(t, shows[*n.Type] != nil, "%+v in %s", n, text)
		assert.That(t, n.X != nil, "%+v in %s", n, text)
		assert.That(t, n.Y != nil, "%+v in %s", n, text)
		assert.That(t, n.Width != nil, "%+v in %s", n, text)
		assert.That(t, n.Height != nil, "%+v in %s", n, text)
		ids[*n.ID] = true
	}
	for _, e := range c.Edges {
		assert.That(t, e.ID != "", "%+v in %s", e, text)
		assert.That(t, !ids[e.ID], "%+v in %s", e, text)
		assert.That(t, ids[e.FromNode], "%+v in %s", e, text)
		assert.That(t, ids[e.ToNode], "%+v in %s", e, text)
	}
}

// What is wrong with a long expression is told in full, and base:create says what makes a base.
func TestErrorsOfBasesSayWhatToDo(t *testing.T) {
	h := embedded.New(t, map[string]string{"Plan/a.md": "- [ ] x\n", "F/b.md": "b\n"})
	assert.Equal(t, h.Failure("base:create", "path=New.base", "name=x").Hint, `"create" with path="NAME.base" makes a base; base:create makes a note in one`)
	assert.Equal(t, h.Failure("folder:move", "path=F", "to=Plan").Hint, `with a slash at its end, to="Plan/" is the folder into which it goes`)
	assert.Equal(t, h.Failure("tasks", "path=Plan").Hint, `"Plan" is a folder: give it as folder="Plan"`)
	h.Expect(answer.ExitDone, "Added to: 2026-11-22.md\n", "daily:append", "content=x", "date=2026-11-22")
	h.Expect(answer.ExitDone, "Written: p.png\n", "attachment:write", "path=p.png", "data=data:image/png;base64,iVBORw0KGgo=")
}
