package handlers_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// shelf is a vault with a base about books.
var shelf = map[string]string{
	"Books/Dune.md":  "---\nstatus: done\nrating: 5\nfinished: 2026-01-11\ntags: [book]\n---\nSee [[Ubik]].\n",
	"Books/Ubik.md":  "---\nstatus: reading\nrating: 4\ntags: [book]\n---\n",
	"Books/Solar.md": "---\nstatus: done\nrating: 2\ntags: [book]\n---\n",
	"Plan.md":        "# Plan\n\n```base\nfilters: status == \"reading\"\nviews:\n  - {type: table, name: Now, order: [file.name]}\n```\n\n![[Books.base#Best]]\n",
	"Books.base": `filters: file.hasTag("book")
formulas:
  stars: '"*".repeat(rating)'
properties:
  note.status: {displayName: State}
views:
  - type: table
    name: All
    order: [file.name, status, formula.stars]
    sort: [{property: rating, direction: DESC}]
    summaries: {rating: Sum}
  - type: cards
    name: Best
    filters: rating > 3
    order: [file.name]
`,
	"cover.png": "png",
}

func TestBaseQuery(t *testing.T) {
	h := embedded.New(t, shelf)
	h.Steps([]embedded.Turn{
		{"as CSV", "base:query file=Books format=csv", answer.ExitDone, "file name,State,stars\nDune,done,*****\nUbik,reading,****\nSolar,done,**\n"},
		{"as TSV", "base:query file=Books view=Best format=tsv", answer.ExitDone, "file name\nDune\nUbik\n"},
		{"as a table", "base:query file=Books view=Best format=md", answer.ExitDone, "| file name |\n| --------- |\n|   Dune    |\n|   Ubik    |\n"},
		{"as paths", "base:query path=Books.base format=paths", answer.ExitDone, "Books/Dune.md\nBooks/Ubik.md\nBooks/Solar.md\n"},
		{"a view by its number", "base:query path=Books.base view=2 format=paths", answer.ExitDone, "Books/Dune.md\nBooks/Ubik.md\n"},
		{"a view that is missing", "base:query path=Books.base view=Worst", answer.ExitFailed, "Error: View not found: Worst\nAvailable views: All, Best\n"},
		{"a base that is missing", "base:query path=None.base", answer.ExitFailed, "Error: Base file not found: None.base\n"},
		{"no base at all", "base:query", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"the base of a note", "base:query path=Plan.md format=paths", answer.ExitDone, "Books/Ubik.md\n"},
		{"the base that a note embeds", "base:query path=Plan.md view=Best format=paths", answer.ExitDone, "Books/Dune.md\nBooks/Ubik.md\n"},
		{"a view that the note does not show", "base:query path=Plan.md view=All", answer.ExitFailed,
			"Error: View not found: All\nAvailable views: Now, Best\n"},
		{"a note without a base", "base:query path=Books/Dune.md", answer.ExitFailed, "Error: There is no base in the note: \"Books/Dune.md\"\n"},
		{"a limit that is none", "base:query path=Books.base limit=0", answer.ExitMisuse,
			"Error: Invalid value for limit: \"0\": want a whole number of at least 1\n"},
	})
	h.Expect(answer.ExitDone, "Books/Solar.md\n", "base:query", "path=Books.base", "where=rating < 3", "format=paths")
	h.Expect(answer.ExitDone, "Books/Ubik.md\n", "base:query", "path=Books.base", "sort=file.name desc", "limit=1", "format=paths")
	h.Expect(answer.ExitDone, "Books/Solar.md\nBooks/Dune.md\n", "base:query", "path=Books.base", "sort=rating",
		"group=status desc", "offset=1", "format=paths")
	h.Expect(answer.ExitDone, "double,State\n10,done\n", "base:query", "path=Books.base", "select=double: rating * 2, status", "limit=1", "format=csv")
	h.Expect(answer.ExitMisuse,
		"Error: Invalid value for where: \"rating >\": Unable to parse formula. (position 8) the expression ends too early\n",
		"base:query", "path=Books.base", "where=rating >")
}

func TestBaseQueryHasDetailsInJSON(t *testing.T) {
	h := embedded.New(t, shelf)
	const ubik = "[\n  {\n    \"path\": \"Books/Ubik.md\",\n    \"rating\": 4,\n    \"finished\": null\n  }\n]\n"
	h.Expect(answer.ExitDone, ubik, "base:query", "path=Books.base", "select=rating, finished", "values=typed", "offset=1", "limit=1")
	h.Put("Books/Emma.md", "---\nrating: none\n---\n")
	status, out, _ := h.Run("query", "where=rating.round() == 4", "explain")
	want := `"filter": "rating.round() == 4",
        "asked": 5,
        "dropped": 4,
        "failed": 1,
        "error": "Cannot find function \"round\" on type String"`
	assert.Equal(t, status, answer.ExitDone, "status %d", status)
	assert.Contains(t, out, want, "status %d", status)
}

func TestQuery(t *testing.T) {
	h := embedded.New(t, shelf)
	h.Expect(answer.ExitDone, "[]\n", "query", "where=rating > 9")
	h.Expect(answer.ExitDone, "Books/Dune.md\nPlan.md\nBooks/Solar.md\nBooks/Ubik.md\n", "query", "format=paths")
	h.Expect(answer.ExitDone, "Books.base\ncover.png\n", "query", `where=file.ext != "md"`, "all", "format=paths")
	h.Expect(answer.ExitDone, "Books/Dune.md\n", "query", `where=file.hasLink("Ubik")`, "format=paths")
	h.Expect(answer.ExitDone, "Books/Ubik.md\n", "query", "where=this.file.hasLink(file)", "this=Books/Dune.md", "format=paths")
	h.Expect(answer.ExitFailed, "Error: File \"Books/None.md\" not found.\n", "query", "this=Books/None.md", "format=paths")
}

func TestBaseEval(t *testing.T) {
	h := embedded.New(t, shelf)
	h.Expect(answer.ExitDone, "10\n", "base:eval", "file=Dune", "expr=rating * 2")
	h.Expect(answer.ExitDone, "*****!\n", "base:eval", "file=Dune", `expr=formula.stars + "!"`, "base=Books.base")
	h.Expect(answer.ExitDone, `{"type":"Date","text":"2026-01-11","value":"2026-01-11"}`+"\n", "base:eval", "file=Dune", "expr=finished", "format=json")
	h.Expect(answer.ExitFailed, "Error: Cannot find function \"map\" on type Number\n", "base:eval", "file=Dune", "expr=rating.map(value)")
	h.Expect(answer.ExitMisuse,
		"Error: Invalid value for expr: \"1.round()\": Unable to parse formula. (position 1) a number cannot be followed by '.'; put it in parentheses\n",
		"base:eval", "file=Dune", "expr=1.round()")
	h.Expect(answer.ExitFailed, "Error: File \"None\" not found.\n", "base:eval", "file=None", "expr=1")
	h.Expect(answer.ExitFailed, "Error: Base file not found: None.base\n", "base:eval", "file=Dune", "expr=1", "base=None.base")
}

func TestBaseCheck(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"Good.base": shelf["Books.base"],
		"Bad.base": `filters:
  and:
    - status ==
    - nope()
formulas:
  f: 3
  g: formula.none
views:
  - type: table
    order: [formula.h, file.colour]
    groupBy: status
    summaries: {rating: Total}
`,
		"Broken.base": "filters: [\n",
	})
	h.Expect(answer.ExitDone, "No problems found.\n", "base:check", "file=Good")
	h.Expect(answer.ExitDone, `line 3: warning: Unable to parse filters: Unable to parse formula. (position 9) the expression ends too early, in "status =="
line 4: warning: Filters: Cannot find function "nope", in "nope()"
line 6: warning: Formula values must be strings. Value for property f is not.
line 7: warning: Formula "g": no formula is called "none", in "formula.none"
line 9: warning: Missing or invalid "name" in view 1
line 9: warning: View "": no formula is called "h"
line 9: warning: View "": a file has no field "colour"
line 9: warning: View "": no summary is called "Total"
line 11: error: "groupBy" must be a object in view ""
`, "base:check", "file=Bad")
	h.Expect(answer.ExitFailed, "Error: \"groupBy\" must be a object in view \"\"\n", "base:query", "file=Bad")
	status, out, _ := h.Run("base:check", "file=Broken", "format=json")
	assert.Equal(t, status, answer.ExitDone, "status %d", status)
	assert.Contains(t, out, `"severity": "error"`, "status %d", status)
	h.ExpectPrefix(answer.ExitFailed, "Error: line ", "base:query", "file=Broken")
}

func TestBaseSet(t *testing.T) {
	h := embedded.New(t, shelf)
	h.Expect(answer.ExitDone, "Set status: read in 2 notes\n", "base:set", "path=Books.base", "where=rating > 3", "name=status", "value=read")
	if !strings.Contains(h.Get("Books/Dune.md"), "status: read\n") ||
		!strings.Contains(h.Get("Books/Ubik.md"), "status: read\n") ||
		h.Get("Books/Solar.md") != shelf["Books/Solar.md"] {
		t.Error("other notes were changed")
	}
	h.Expect(answer.ExitDone,
		"Nothing was changed: the property \"status\" has this value already in all notes that are meant (2).\n",
		"base:set", "path=Books.base", "view=Best", "name=status", "value=read")
	if status, out, _ := h.Run("undo"); status != answer.ExitDone || h.Get("Books/Dune.md") != shelf["Books/Dune.md"] ||
		h.Get("Books/Ubik.md") != shelf["Books/Ubik.md"] {
		t.Errorf("status %d, %s: undo does not take back all of it", status, out)
	}
	h.Expect(answer.ExitFailed, "Error: View not found: None\nAvailable views: All, Best\n", "base:set", "path=Books.base", "view=None", "name=a", "value=b")
}

// documented is the vault of docs/bases.md, without the base that the page shows.
var documented = map[string]string{
	"Books/Dune.md":    "---\nstatus: done\nrating: 5\nfinished: 2026-01-11\nauthor: \"[[Frank Herbert]]\"\ntags: [book]\n---\nSee [[Ubik]].\n",
	"Books/Ubik.md":    "---\nstatus: reading\nrating: 4\nauthor: \"[[Philip K. Dick|Dick]]\"\ntags: [book]\n---\n",
	"Books/Solaris.md": "---\nstatus: done\nrating: 2\nfinished: 2025-12-24\ntags: [book]\n---\n",
	"Books/Emma.md":    "---\nstatus: to-read\ntags: [book]\n---\n",
	"Broken.base":      "filters:\n  and:\n    - status ==\n    - nope()\nformulas:\n  a: formula.b\n  b: formula.a\nviews:\n  - type: table\n    name: V\n    order: [file.colour]\n",
	"Plan.md":          "# Plan\n\n```base\nfilters: status == \"reading\"\nviews:\n  - {type: table, name: Now, order: [file.name]}\n```\n",
}

// The examples of docs/bases.md print what the page says.
func TestDocumentedBases(t *testing.T) {
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "..", "docs", "bases.md")))(t)
	page := string(text)
	_, base, _ := strings.Cut(page, "```yaml\n")
	base, _, _ = strings.Cut(base, "```")
	files := map[string]string{"Books.base": base}
	for path, content := range documented {
		files[path] = content
	}
	printsExamples(t, page, files, 10)
}

// printsExamples compares what the examples of a page print with what it says, on a
// vault with these files.
func printsExamples(t *testing.T, page string, files map[string]string, least int) {
	t.Helper()
	h := embedded.New(t, files)
	examples := 0
	for _, block := range strings.Split(page, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, example := range strings.Split(block, "$ vaultwicket vault ~/Notes ")[1:] {
			line, want, _ := strings.Cut(example, "\n")
			_, out, _ := h.Run(words(strings.TrimPrefix(line, "--write "))...)
			assert.That(t, out == want, "%s prints\n%swant\n%s", line, out, want)
			examples++
		}
	}
	assert.That(t, examples >= least, "the page has %d examples", examples)
}

var word = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)

// words takes a line apart as a shell does that knows single quotes alone.
func words(line string) (all []string) {
	for _, found := range word.FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(found, "'", ""))
	}
	return all
}

// A text without quotes would be null, as is a property that a note does not have, so that the opposite
// notes would be the answer. It is refused with the expression that was meant.
func TestAQueryWithoutQuotesIsRefused(t *testing.T) {
	h := embedded.New(t, shelf)
	for _, tt := range []struct{ command, param, text, hint string }{
		{"query", "where", `status == done`, `write status == "done"`},
		{"query", "where", `type == done`, `write type == "done"`},
		{"query", "where", `contains(tags, "book")`, `write tags.contains("book")`},
		{"query", "where", `status = done AND rating > 3`, `write status == "done" && rating > 3`},
		{"query", "select", `file.name, lower(status)`, `write status.lower()`},
		{"query", "sort", `file.modified desc`, `write file.mtime`},
		{"query", "group", `upper(status)`, `write status.lower()`},
		{"base:query", "where", `rating > 3 and status is done`, `write rating > 3 && status == "done"`},
		{"base:query", "where", `formula.star == "*"`, "formulas are those of the base; write the expression itself, or name a property"},
		{"base:eval", "expr", `lower(status)`, `write status.lower()`},
		{"base:set", "where", `status == done`, `write status == "done"`},
		{"base:set-formula", "expr", `rating = 3`, `write rating == 3`},
		{"base:set-view", "filters", `rating = 3 and done`, `write rating == 3 && done`},
	} {
		words := []string{tt.command, tt.param + "=" + tt.text}
		if strings.HasPrefix(tt.command, "base:") && tt.command != "base:eval" {
			words = append(words, "path=Books.base")
		}
		switch tt.command {
		case "base:eval":
			words = append(words, "file=Dune")
		case "base:set":
			words = append(words, "name=seen", "value=yes")
		case "base:set-formula":
			words = append(words, "name=f")
		case "base:set-view":
			words = append(words, "view=All")
		}
		before := h.Tree()
		failed := h.Failure(words...)
		assert.Equal(t, failed.Code, "bad_value", "%v", words)
		assert.Equal(t, failed.Hint, tt.hint, "%v", words)
		assert.Equal(t, h.Tree(), before, "%v", words)
	}
}

func noticeOf(t *testing.T, h *embedded.Vault, words ...string) string {
	t.Helper()
	status, _, stderr := h.Run(append([]string{"--facts"}, words...)...)
	_, facts, _ := embedded.CutReport(stderr)
	assert.Equal(t, status, answer.ExitDone, "%v: %s", words, stderr)
	return facts.Notice
}

func TestAnExpressionThatFailsIsTold(t *testing.T) {
	h := embedded.New(t, shelf)
	got := h.Failure("query", "where=file.name.round() > 3")
	assert.Equal(t, got.Reason,
		`Error: The expression "file.name.round() > 3" failed for each of 4 files, as for "Books/Dune.md": "Cannot find function \"round\" on type String"`)
	got = h.Failure("query", "select=file.name.round()")
	assert.Equal(t, got.Code, "bad_value")
	h.Put("Books/Emma.md", "---\nrating: none\n---\n")
	const some = `the expression "rating.round() > 4" failed for 1 of 5 files, as for "Books/Emma.md": "Cannot find function \"round\" on type String"`
	assert.Equal(t, noticeOf(t, h, "query", "where=rating.round() > 4"), some)
}

// A property that no note has, or has any more, does not break a query that is made each night. A
// change of all notes by it is refused.
func TestAPropertyThatNoNoteHasIsTold(t *testing.T) {
	h := embedded.New(t, shelf)
	h.Expect(answer.ExitDone, "[]\n", "query", `where=company == "Acme"`)
	assert.Equal(t, noticeOf(t, h, "query", `where=company == "Acme"`), `no note has the property "company"`)
	assert.Equal(t, noticeOf(t, h, "query", `where=company != "Acme"`), `no note has the property "company"`)
	assert.Equal(t, noticeOf(t, h, "base:query", "path=Books.base", "select=file.name, stauts"), `no note has the property "stauts"; did you mean "status"?`)
	got := h.Failure("base:set", "path=Books.base", `where=stauts != "done"`, "name=seen", "value=yes")
	assert.Equal(t, got.Reason, `Error: Nothing was changed: no note has the property "stauts"; did you mean "status"?.`)
	h.Put(".obsidian/types.json", `{"types":{"company":"text"}}`)
	assert.Equal(t, noticeOf(t, h, "query", `where=company == "Acme"`), "no row passes the filters; explain says how many each of them dropped")
}

// A path, a folder or a name that no file has is answered with the one that was meant, where there is one.
func TestAPathThatIsNearlyThatOfANote(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"Plan/Alpha.md": "# Alpha\n", "Plan/Beta.md": "", "Old/Beta.md": "", "Top.md": "", "Plan/scan.pdf": "x",
	})
	for where, right := range map[string]string{
		`file.path == "Alpha"`:           `file.path == "Plan/Alpha.md"`,
		`file.path == "Alpha.md"`:        `file.path == "Plan/Alpha.md"`,
		`file.path == "plan/alpha.md"`:   `file.path == "Plan/Alpha.md"`,
		`file.path != "Plan/Alpha"`:      `file.path != "Plan/Alpha.md"`,
		`file.path == "scan.pdf"`:        `file.path == "Plan/scan.pdf"`,
		`file.folder == "plan"`:          `file.folder == "Plan"`,
		`file.name == "top"`:             `file.name == "Top"`,
		`"alpha" == file.basename`:       `"Alpha" == file.basename`,
		`file.path == "Old/beta" && n`:   `file.path == "Old/Beta.md" && n`,
		`file.name == "SCAN.pdf" || 1>0`: `file.name == "scan.pdf" || 1>0`,
	} {
		got := h.Failure("query", "where="+where)
		assert.Equal(t, got.Hint, "write "+right, "%s", where)
	}
	for _, where := range []string{
		`file.path == "Plan/Alpha.md"`, `file.folder == "/"`, `file.name == "Beta"`, `file.path == "Gone.md"`, `file.path == "beta.md"`,
	} {
		status, out, _ := h.Run("query", "where="+where)
		assert.Equal(t, status, answer.ExitDone, "%s: %s", where, out)
	}
}

// Values of several kinds have no order among each other, and the answer says so.
// A name has one form in an expression, whichever of its two the disk has.
func TestNamesOfFilesAreComposedInExpressions(t *testing.T) {
	const folder, name = "S\u00e4le", "\u00dcber"
	h := embedded.New(t, map[string]string{"Sa\u0308le/U\u0308ber.md": "text\n", "other.md": "text\n"})
	for _, where := range []string{
		`file.name == "` + name + `"`,
		`file.basename == "` + name + `"`,
		`file.path == "` + folder + `/` + name + `.md"`,
		`file.folder == "` + folder + `"`,
		`file.inFolder("` + folder + `")`,
		`file.inFolder("` + "Sa\u0308le" + `")`,
		`file == "` + folder + `/` + name + `.md"`,
	} {
		got := h.Does("query", "where="+where, "format=paths")
		assert.Equal(t, strings.Count(got, "\n"), 1, "%s: %q", where, got)
		assert.Contains(t, got, "ber.md", "%s", where)
	}
}

func TestASortOfMixedKindsIsTold(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"a.md": "---\nwhen: 2026-01-02\nrank: 1\nmark: x\n---\n", "b.md": "---\nwhen: soon\nrank: 2\nmark: true\n---\n",
		"c.md": "---\nwhen: 5\nrank:\n---\n", "d.md": "---\nwhen: 2025-01-02\n---\n",
	})
	assert.Equal(t, noticeOf(t, h, "query", "sort=when"),
		`the values of "when" are of several kinds, which have no order among each other: 2 dates, 1 number, 1 text`)
	assert.Equal(t, noticeOf(t, h, "query", "sort=rank"), "")
	assert.Equal(t, noticeOf(t, h, "query", "sort=mark"), "")
	assert.Equal(t, noticeOf(t, h, "query", "where=when == 5", "sort=when"), "")
}

// A base has the meaning that the app gives it, and what looks wrong is told.
func TestDoubtsAboutABaseAreTold(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "---\nstatus: open\n---\n", "b.base": "filters: status == open\nviews:\n  - type: table\n    name: All\n"})
	const doubt = `Filters: no note has the property "open", and a text needs quotes; write status == "open"`
	h.Expect(answer.ExitDone, "line 1: warning: "+doubt+", in \"status == open\"\n", "base:check", "path=b.base")
	assert.Contains(t, noticeOf(t, h, "base:query", "path=b.base", "format=paths"), `in the base, "Filters: no note has the property \"open\"`)
	const ofView = `View "Mine": no note has the property "waiting", and a text needs quotes; write status == "waiting"`
	assert.Equal(t, noticeOf(t, h, "base:add-view", "path=b.base", "name=Mine", "filters=status == waiting"), ofView)
	assert.Equal(t, noticeOf(t, h, "base:add-view", "path=b.base", "name=Others", `filters=status == "waiting"`), "")
}
