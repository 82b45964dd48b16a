package handlers_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// changed runs a call on a vault and compares all notes with what they shall be; those
// that are not named stay. An undo then restores every byte.
func changed(t *testing.T, files map[string]string, said string, want map[string]string, call ...string) {
	t.Helper()
	h := embedded.New(t, files)
	before := h.Texts(true)
	after := maps.Clone(before)
	maps.Copy(after, want)
	h.ExpectPrefix(answer.ExitDone, said+"\n", call...)
	maps.DeleteFunc(after, func(_, text string) bool { return text == "(missing)" })
	for path, text := range h.Texts(true) {
		assert.Equal(t, text, after[path], "%q made of %s", call, path)
		delete(after, path)
	}
	assert.Equal(t, len(after), 0, "%q made too little: missing files", call)
	if maps.Equal(h.Texts(true), before) {
		return
	}
	ids := h.Changes()
	assert.That(t, len(ids) == 1, "%q is %d changes", call, len(ids))
	h.Does("undo")
	got := h.Texts(true)
	assert.That(t, maps.Equal(got, before), "undone, there is %q, was %q", got, before)
}

// refused runs a call that has to change nothing.
func refused(t *testing.T, files map[string]string, said string, call ...string) {
	t.Helper()
	h := embedded.New(t, files)
	before := h.Texts(true)
	status, out, _ := h.Run(call...)
	assert.That(t, status != answer.ExitDone, "%q: %d, %q, want %q", call, status, out, said)
	assert.That(t, strings.HasPrefix(out, "Error: "+said), "%q: %d, %q, want %q", call, status, out, said)
	got := h.Texts(true)
	assert.That(t, maps.Equal(got, before), "%q is refused and made %.500q", call, got)
	assert.Equal(t, len(h.Changes()), 0, "%q is refused and in the journal", call)
}

func TestTagRename(t *testing.T) {
	files := map[string]string{
		"body.md":  "#old and #Old/sub, #older\n`#old` [#old](x) \\#old\n```\n#old\n```\n%% #old %%\n",
		"list.md":  "---\ntags: [ \"#old\", 'Old/x', old , other ] # why\n---\n",
		"lines.md": "\ufeff---\r\ntags:\r\n  - old\r\n  - b\r\ncategory: old\r\n---\r\n#old\r\n#x",
		"one.md":   "---\nTags: old\n---\nold",
		"twins.md": "---\na: 1\ntags:\n  - new\n  - old\n---\n",
		"none.md":  "old #older ##old",
		"B.canvas": `{"nodes":[{"type":"text","text":"#old"}]}`,
	}
	changed(t, files, "Renamed tag #old to #new: 10 places in 5 notes", map[string]string{
		"body.md":  "#new and #new/sub, #older\n`#old` [#old](x) \\#old\n```\n#old\n```\n%% #new %%\n",
		"list.md":  "---\ntags: [ \"#new\", 'new/x', new , other ] # why\n---\n",
		"lines.md": "\ufeff---\r\ntags:\r\n  - new\r\n  - b\r\ncategory: old\r\n---\r\n#new\r\n#x",
		"one.md":   "---\nTags: new\n---\nold",
		"twins.md": "---\na: 1\ntags:\n  - new\n---\n",
	}, "tag:rename", "name=old", "to=#new")
	changed(t, map[string]string{"a.md": "#a #A/b", "F/b.md": "#a", "F2/b.md": "#a"},
		"Renamed tag #a to #b/c: 1 place in 1 note", map[string]string{"F/b.md": "#b/c"}, "tag:rename", "name=a",
		"to=b/c", "folder=F")
	changed(t, map[string]string{"a.md": "#Foo #foo #FOO/x"}, "Renamed tag #foo to #foo: 2 places in 1 note",
		map[string]string{"a.md": "#foo #foo #foo/x"}, "tag:rename", "name=#foo", "to=foo")
	changed(t, map[string]string{"a.md": "---\ntags: [\"a, b\", 1, 'x y']\n---\n#x"},
		"Renamed tag #x to #1a: 1 place in 1 note",
		map[string]string{"a.md": "---\ntags: [\"a, b\", 1, 'x y']\n---\n#1a"}, "tag:rename", "name=x", "to=1a")
	changed(t, map[string]string{"a.md": "---\ntags: [x]\n---\n"}, "Renamed tag #x to #true: 1 place in 1 note",
		map[string]string{"a.md": "---\ntags: [\"true\"]\n---\n"}, "tag:rename", "name=x", "to=true")
	refused(t, files, `Tag "#nothing" not found.`, "tag:rename", "name=nothing", "to=x")
	refused(t, files, "Invalid value for to: \"a b\".", "tag:rename", "name=old", "to=a b")
	refused(t, files, "Invalid value for to: \"12\".", "tag:rename", "name=old", "to=12")
	for range 20 { // of two wrong values the first one is named each time
		refused(t, files, "Invalid value for name: \"a b\".", "tag:rename", "name=a b", "to=c d")
		refused(t, files, "Invalid date \"x\"", "tasks", "due-after=z", "due-before=y", "due=x")
	}
	refused(t, files, `Folder "Nowhere" not found.`, "tag:rename", "name=old", "to=new", "folder=Nowhere")
	refused(t, map[string]string{"a.md": "#x", "b.md": "---\nk: &a x\ntags: *a\n---\n"},
		`The properties of "b.md" cannot be changed: line 2: tag x cannot be changed where it is.`, "tag:rename",
		"name=x", "to=y")
}

func TestPropertyRename(t *testing.T) {
	files := map[string]string{
		"a.md": "---\nStatus: [done, x] # c\nb: 1\n---\nStatus: stays\n",
		"b.md": "\ufeff---\r\n\"status\": |-\r\n  two\r\n  lines\r\n---\r\nx",
		"c.md": "---\nb: status\n---\n", "d.md": "status: no block", "F/e.md": "---\nstatus:\n---\n",
		".obsidian/types.json": `{"types":{"status":"multitext"}}`,
	}
	changed(t, files,
		"Renamed property status to my: state in 3 notes\nThe type multitext of status is not carried over: the user can set it for my: state in the app.",
		map[string]string{
			"a.md":   "---\n\"my: state\": [done, x] # c\nb: 1\n---\nStatus: stays\n",
			"b.md":   "\ufeff---\r\n\"my: state\": |-\r\n  two\r\n  lines\r\n---\r\nx",
			"F/e.md": "---\n\"my: state\":\n---\n",
		}, "property:rename", "name=status", "to=my: state")
	changed(t, map[string]string{"a.md": "---\nA: 1\n---\n"}, "Renamed property a to a in 1 note",
		map[string]string{"a.md": "---\na: 1\n---\n"}, "property:rename", "name=a", "to=a")
	refused(t, map[string]string{"a.md": "---\na: 1\n---\n", "z.md": "---\na: 1\nB: 2\n---\n"},
		`The properties of "z.md" cannot be changed: line 3: there is a property "B" already.`, "property:rename",
		"name=a", "to=b")
	refused(t, files, `Property "nothing" not found.`, "property:rename", "name=nothing", "to=x")
	refused(t, map[string]string{"a.md": "---\n{a: 1}\n---\n"},
		`The properties of "a.md" cannot be changed: line 2: the properties are in braces`, "property:rename", "name=a",
		"to=b")
}

func TestPropertySetOnSeveral(t *testing.T) {
	files := map[string]string{"F/a.md": "milk", "F/b.md": "---\nstatus: open # c\n---\nmilk", "F/c.md": "bread", "a.md": "milk", "F/x.canvas": "{}"}
	changed(t, files, "Set status: done in 2 notes\nType: text",
		map[string]string{"F/a.md": "---\nstatus: done\n---\nmilk", "F/b.md": "---\nstatus: done # c\n---\nmilk"},
		"property:set", "name=status", "value=done", "folder=F", "query=milk")
	changed(t, files, "Set n: 3 in 3 notes\nType: number",
		map[string]string{"F/a.md": "---\nn: 3\n---\nmilk", "F/b.md": "---\nstatus: open # c\nn: 3\n---\nmilk",
			"F/c.md": "---\nn: 3\n---\nbread"}, "property:set", "name=n", "value=3", "folder=F")
	changed(t, files, "Nothing was changed: there is no note that is meant.", nil, "property:set", "name=n", "value=3", "query=nothing")
	refused(t, files, "Use file=<name> or path=<path> for one note", "property:set", "name=n", "value=3", "folder=F", "path=a.md")
	refused(t, map[string]string{"a.md": "x", "b.md": "---\na: 1\na: 2\n---\n"},
		`The properties of "b.md" cannot be changed`, "property:set", "name=n", "value=3", "folder=/")
	refused(t, files, "query, character 1: a parenthesis is not closed", "property:set", "name=n", "value=3", "query=(")
}

func TestVaultReplace(t *testing.T) {
	files := map[string]string{
		"a.md": "foo Foo foobar\n`foo`", "F/b.md": "\ufeff---\r\ntitle: foo\r\n---\r\nfoo\r\nbar\r\nfoo\nbar\r\n",
		"F/c.md": "\xff\xfefoo\xff", "x.txt": "foo", "B.canvas": "foo",
	}
	changed(t, files, "Replaced 7 places in 3 notes", map[string]string{
		"a.md": "$1 Foo $1bar\n`$1`", "F/b.md": "\ufeff---\r\ntitle: $1\r\n---\r\n$1\r\nbar\r\n$1\nbar\r\n", "F/c.md": "\xff\xfe$1\xff",
	}, "vault:replace", "old=foo", "new=$1")
	changed(t, files, "Replaced 2 places in 1 note",
		map[string]string{"F/b.md": "\ufeff---\r\ntitle: foo\r\n---\r\nx\r\ny\r\nx\r\ny\r\n"}, "vault:replace",
		`old=foo\nbar`, `new=x\ny`)
	changed(t, files, "Replaced 4 places in 1 note", map[string]string{"a.md": "x x xbar\n`x`"}, "vault:replace",
		"old=FOO", "new=x", "ignore-case", "query=path:a.md")
	changed(t, files, "Replaced 3 places in 1 note",
		map[string]string{"F/b.md": "\ufeff---\r\ntitle: \r\n---\r\n\r\nbar\r\n\nbar\r\n"}, "vault:replace", "old=foo",
		"remove", "folder=F", "query=bar")
	changed(t, files, "Replaced 2 places in 1 note",
		map[string]string{"F/b.md": "\ufeff---\r\ntitle: foo\r\n---\r\n<foo> oo $ f\r\nbar\r\n<foo> oo $ f\nbar\r\n"},
		"vault:replace", "old=^(?<first>f)(o+)$", "new=<$&> $2 $$ $<first>", "regex", "folder=F", "query=bar")
	changed(t, map[string]string{"a.md": "one\r\ntwo\r\n"}, "Replaced 3 places in 1 note",
		map[string]string{"a.md": "> one\r\n> two\r\n> "}, "vault:replace", "old=^", "new=> ", "regex")
	changed(t, map[string]string{"a.md": "é \xff b é"}, "Replaced 2 places in 1 note",
		map[string]string{"a.md": "[é \xff] b [é]"}, "vault:replace", `old=é( [^b ])?`, "new=[$&]", "regex")
	changed(t, files, "Nothing was changed: no note that is meant has the text.", nil, "vault:replace", "old=nothing", "new=x")
	for _, call := range [][2]string{
		{"Use new=<text> or remove, one of them.", "old=foo"}, {"Use new=<text> or remove, one of them.", "old=foo new=x remove"},
		{"Invalid value for old: no regular expression", "old=( new=x regex"},
		{"Invalid value for new: the expression has no group $2.", "old=(f) new=$2 regex"},
		{"Invalid value for new: the expression has no group $<x>.", "old=(f) new=$<x> regex"},
		{"Invalid value for new: the expression has no group $<>.", "old=(?<x>f) new=$<> regex"},
		{`Folder "N" not found.`, "old=f new=x folder=N"},
		{`The properties of "F/b.md" could not be read with the new text.`, "old=title: new=["},
		{`The properties of "F/b.md" could not be read with the new text.`, "old=--- new=x"},
	} {
		refused(t, files, call[0], append([]string{"vault:replace"}, strings.Fields(call[1])...)...)
	}
}

// An expression that goes through all ways of a long line ends with an error, and
// nothing is changed.
func TestVaultReplaceHasLimits(t *testing.T) {
	enough := budget.Default
	t.Cleanup(func() { budget.Default = enough })
	budget.Default.Match = 100 * time.Millisecond
	refused(t, map[string]string{"a.md": strings.Repeat("a", 5000) + "!", "b.md": "aa"},
		"the regular expression \"^(a+)+$\" takes more than 100ms", "vault:replace", "old=^(a+)+$", "new=x", "regex")
	budget.Default.Match = time.Hour // the others are not about time
	refused(t, map[string]string{"a.md": strings.Repeat("a", 100_001)}, "More than 100000 places of one note match.",
		"vault:replace", "old=a", "new=b", "regex")
	refused(t, map[string]string{"a.md": strings.Repeat("a", 1<<20)},
		"With the new text a note would have more than 32 MiB.", "vault:replace", "old=a",
		"new="+strings.Repeat("b", 64))
	many := map[string]string{}
	for i := range 1001 {
		many[fmt.Sprint(i, ".md")] = "a"
	}
	refused(t, many, "More than 1000 notes would be changed.", "vault:replace", "old=a", "new=b")
}

func TestHeadingRename(t *testing.T) {
	files := map[string]string{
		"N.md":          "# Top\n## Old: one ##\n[[#Old one]] [[#Top#Old one|x]]\n### Below\n# Other\n",
		"a.md":          "[[N#Old one]] ![[N#Old: one|y]] [t](N.md#Old%20one) [[N#Top#old ONE#below]] [[N]] [[N#Below]] [[N#Other]] `[[N#Old one]]` [[M#Old one]]",
		"b.md":          "\ufeff---\r\nup: \"[[N#Old one]]\"\r\n---\r\n[t](<N.md#Old one> \"x\")\r\n| [[N#Old one\\|c]] |\r\n",
		"M.md":          "# Old: one\n",
		"f/B.canvas":    "{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"N.md\",\"subpath\":\"#Old one\"},{\"type\":\"text\",\"text\":\"\\u00e9 [[N#Old one]]\"},{\"type\":\"file\",\"file\":\"M.md\",\"subpath\":\"#Old one\"}\n\t]}",
		"unrelated.md":  "[[N#Nothing]] #tag",
		"f/sub/deep.md": "[[../../N#Old one]]",
	}
	changed(t, files, `Renamed heading to "New: *two*": 12 links updated, 5 notes changed`, map[string]string{
		"N.md":          "# Top\n## New: *two* ##\n[[#New *two*]] [[#Top#New *two*|x]]\n### Below\n# Other\n",
		"a.md":          "[[N#New *two*]] ![[N#New *two*|y]] [t](N.md#New%20*two*) [[N#Top#New *two*#below]] [[N]] [[N#Below]] [[N#Other]] `[[N#Old one]]` [[M#Old one]]",
		"b.md":          "\ufeff---\r\nup: \"[[N#New *two*]]\"\r\n---\r\n[t](<N.md#New *two*> \"x\")\r\n| [[N#New *two*\\|c]] |\r\n",
		"f/B.canvas":    "{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"N.md\",\"subpath\":\"#New *two*\"},{\"type\":\"text\",\"text\":\"\\u00e9 [[N#New *two*]]\"},{\"type\":\"file\",\"file\":\"M.md\",\"subpath\":\"#Old one\"}\n\t]}",
		"f/sub/deep.md": "[[../../N#New *two*]]",
	}, "heading:rename", "path=N.md", "heading=old one", "to=New: *two*")
	changed(t, map[string]string{"N.md": "Old\r\n===\r\n\r\n# B ^id\r\n[[#Old]]"},
		`Renamed heading to "New": 1 link updated, 1 note changed`,
		map[string]string{"N.md": "New\r\n===\r\n\r\n# B ^id\r\n[[#New]]"}, "heading:rename", "file=N", "heading=Old",
		"to=New")
	changed(t, map[string]string{"N.md": "# B ^id\n[[#^id]] [[#B]]"},
		`Renamed heading to "C": 0 links updated, 1 note changed`,
		map[string]string{"N.md": "# C ^id\n[[#^id]] [[#B]]"}, "heading:rename", "file=N", "heading=B ^id", "to=C")
	// Of two headings with one text a link leads to the first.
	two := map[string]string{"N.md": "# P\n## A\n# Q\n## A\n[[#A]] [[#Q#A]] [[#P#A]]"}
	changed(t, two, `Renamed heading to "B": 1 link updated, 1 note changed`,
		map[string]string{"N.md": "# P\n## A\n# Q\n## B\n[[#A]] [[#Q#B]] [[#P#A]]"}, "heading:rename", "file=N",
		"heading=Q#A", "to=B")
	changed(t, two, `Renamed heading to "B": 2 links updated, 1 note changed`,
		map[string]string{"N.md": "# P\n## B\n# Q\n## A\n[[#B]] [[#Q#A]] [[#P#B]]"}, "heading:rename", "file=N",
		"heading=P#A", "to=B")
	refused(t, two, `Heading "A" is ambiguous`, "heading:rename", "file=N", "heading=A", "to=B")
	refused(t, two, `The note has a heading "Q" already (line 3).`, "heading:rename", "file=N", "heading=P", "to=q!")
	refused(t, two, `Heading "X" not found.`, "heading:rename", "file=N", "heading=X", "to=B")
	refused(t, two, "Missing required parameter: path=<path> or file=<name>", "heading:rename", "heading=P", "to=B")
	for _, to := range []string{"#", "a\nb", "  "} {
		refused(t, two, "Invalid value for to:", "heading:rename", "file=N", "heading=P", "to="+to)
	}
	refused(t, map[string]string{"N.md": "# A\n[[#A]]", "b.md": "[[N#A]]"},
		`Link "#A" in "N.md", line 2, cannot be changed: no link can hold the new heading. Nothing was changed.`,
		"heading:rename", "file=N", "heading=A", "to=:|:")
}

// A plan lists every file with its difference; where all of them together are too
// long, those that are left out are named with the number of their lines.
func TestAPlanListsEveryFile(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("n%d.md", i)] = strings.Repeat("old "+strings.Repeat("x", 1000)+"\n", 6)
	}
	h := embedded.New(t, files)
	before := h.Texts(true)
	plan := h.Plan("vault:replace", "old=old", "new=fresh")
	require.Equal(t, len(plan.Files), 40, "%d files, %q", len(plan.Files), plan.Loses)
	require.That(t, plan.Loses != "", "%d files, %q", len(plan.Files), plan.Loses)
	bytes, whole := 0, 0
	for _, f := range plan.Files {
		assert.Equal(t, f.Added, 6, "%s: %d added, %d removed, %d lines", f.Path, f.Added, f.Removed, len(f.Lines))
		assert.Equal(t, f.Removed, 6, "%s: %d added, %d removed, %d lines", f.Path, f.Added, f.Removed, len(f.Lines))
		assert.That(t, len(f.Lines) >= 2, "%s: %d added, %d removed, %d lines", f.Path, f.Added, f.Removed, len(f.Lines))
		if len(f.Lines) == 12 {
			whole++
		}
		for _, l := range f.Lines {
			bytes += len(l.Text)
		}
	}
	assert.Equal(t, whole, 40, "files that are told in full")
	isBounded := bytes <= 3<<20
	assert.That(t, isBounded, "%d bytes", bytes)
	assert.That(t, maps.Equal(before, h.Texts(true)), "a plan has changed the vault")
}

// The examples of docs/refactoring.md print what the page says.
func TestDocumentedRefactoring(t *testing.T) {
	page := require.Value(os.ReadFile(filepath.Join("..", "..", "..", "docs", "refactoring.md")))(t)
	files := map[string]string{
		"Books/Dune.md":   "---\nrating: 5\ntags: [book]\n---\n# Plot\nA desert on a far planet. 412 pages\n",
		"Books/Sand.md":   "A #book about the planet of [[Dune#Plot]], a #Book of sand and desert. ![[cover.png]]\n",
		"Books/cover.png": embedded.OnePixel,
		"Index.md":        "[[Dune#Plot|the plot]]\n",
		"Map.canvas":      `{"nodes":[{"id":"g","type":"group","label":"Sources","width":400,"height":400},{"id":"f","type":"file","file":"Books/Dune.md","width":100,"height":50},{"id":"t","type":"text","text":"Ask about the map","y":900}],"edges":[{"fromNode":"t","toNode":"f"}]}`,
		"Plan.md":         "---\nstatus: open\n---\n",
	}
	for i := range 20 {
		files[fmt.Sprintf("Notes/%d.md", i)] = "A note about something else.\n"
	}
	printsExamples(t, string(page), files, 10)
}

func TestAChangeOfManyNotesIsDestructive(t *testing.T) {
	for n, want := range map[int]string{20: "", 21: "affects 21 notes"} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("n%d.md", i)] = "#old and text\n"
		}
		h := embedded.New(t, files)
		assert.Equal(t, h.Plan("tag:rename", "name=old", "to=new").Loses, want, "%d notes", n)
		before := h.Texts(true)
		status, said, _ := h.Run("--sparing", "tag:rename", "name=old", "to=new")
		if (status == answer.ExitDone) != (want == "") ||
			want != "" && (!strings.Contains(said, "the change affects 21 notes. Nothing was changed.") ||
				!maps.Equal(before, h.Texts(true))) {
			t.Errorf("%d notes, and no one was asked: %d, %q", n, status, said)
		}
		status, said, _ = h.Run("tag:rename", "name=text", "to=x")
		assert.That(t, status != answer.ExitDone, "a word is a tag: %q", said)
	}
}

// drawnNote is a note with the marks that the changes across a vault look for, in
// places where they count and where they do not.
var drawnNote = rapid.Custom(func(t *rapid.T) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	text := rapid.SampledFrom([]string{"", "", "\ufeff"}).Draw(t, "mark")
	if rapid.Bool().Draw(t, "properties") {
		line := rapid.SampledFrom([]string{"tags: [old, 'old/x']", "tags: old", "p: 1 # c", "P: [a]", "q: \"[[A#Old]]\"", "x: old"})
		text += "---" + end + strings.Join(rapid.SliceOfNDistinct(line, 0, 3,
			func(s string) string { return strings.ToLower(s[:1]) }).Draw(t, "lines"), end) + end + "---" + end
	}
	piece := rapid.SampledFrom([]string{
		"#old", "#old/x", "#OLD", "#older", "`#old`", "# Old", "## Old", "# Other", "[[A#Old]]", "[[#Old|o]]",
		"![[B#Old]]", "[t](A.md#Old)", "[[A#Other#Old]]", "old", "Old", "\n```\n", "%% #old %%", "é", "\xff",
		"- [ ] old",
	})
	for _, p := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
		text += strings.ReplaceAll(p, "\n", end) + rapid.SampledFrom([]string{" ", end, ""}).Draw(t, "gap")
	}
	return text
})

// TestChangesAcrossTheVaultAgainstAModel makes changes of many notes, each all or
// nothing, and takes all of them back byte for byte.
func TestChangesAcrossTheVaultAgainstAModel(t *testing.T) {
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		start := map[string]string{"B.canvas": `{"nodes":[{"type":"file","file":"A.md","subpath":"#Old"},{"type":"text","text":"[[A#Old]] #old"}]}`}
		for _, path := range []string{"A.md", "B.md", "F/C.md", "F/D.md"} {
			start[path] = drawnNote.Draw(rt, path)
		}
		start["A.md"] += "\n\n## Old\n"
		h := embedded.New(t, start)
		var states []map[string]string
		for range rapid.IntRange(1, 4).Draw(rt, "calls") {
			before := h.Texts(true)
			call := rapid.SampledFrom([][]string{
				{"tag:rename", "name=old", "to=new/tag"}, {"tag:rename", "name=old/x", "to=old"},
				{"property:rename", "name=p", "to=q"}, {"property:rename", "name=P", "to=z", "folder=F"},
				{"property:set", "name=tags", "value=old", "query=old"},
				{"heading:rename", "path=A.md", "heading=Old", "to=New: [x]"},
				{"heading:rename", "path=A.md", "heading=Other", "to=Old one"},
				{"vault:replace", "old=old", "new=[[A]]"}, {"vault:replace", "old=(o)ld$", "new=$1", "regex"},
				{"vault:replace", "old=Old", "remove", "folder=F"},
			}).Draw(rt, "call")
			status, out, _ := h.Run(call...)
			after := h.Texts(true)
			if status != answer.ExitDone {
				require.That(rt, maps.Equal(before, after), "%q says %q and made %q of %q", call, out, after, before)
				continue
			}
			done[call[0]]++
			judgeRefactoring(rt, call, before, after)
			if !maps.Equal(before, after) {
				states = append(states, before)
			}
		}
		for _, before := range slices.Backward(states) {
			status, out, _ := h.Run("undo")
			require.Equal(rt, status, answer.ExitDone, "undo: %q", out)
			got := h.Texts(true)
			require.That(rt, maps.Equal(got, before), "undone, there is %q, was %q", got, before)
		}
		got := h.Texts(true)
		require.That(rt, maps.Equal(got, start), "in the end there is %q, was %q", got, start)
	})
	t.Log(done)
	if testing.Short() {
		return // a fifth of the cases may well lack one of the commands
	}
	for _, name := range []string{"tag:rename", "property:rename", "property:set", "heading:rename", "vault:replace"} {
		assert.That(t, done[name] != 0, "%s was never done: the test shows nothing", name)
	}
}

// judgeRefactoring compares what the index finds in the notes before and after.
func judgeRefactoring(t *rapid.T, call []string, before, after map[string]string) {
	for path, old := range before {
		if !strings.HasSuffix(path, ".md") {
			continue
		}
		was, is := index.ReadNote([]byte(old)), index.ReadNote([]byte(after[path]))
		switch call[0] {
		case "tag:rename":
			from, to := strings.TrimPrefix(call[1], "name="), strings.TrimPrefix(call[2], "to=")
			wanted := tagsAfter(was, from, to)
			if got := tagsAfter(is, "", ""); !maps.Equal(got, wanted) || len(was.Links) != len(is.Links) || len(was.Headings) != len(is.Headings) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "heading:rename":
			if len(was.Headings) != len(is.Headings) || len(was.Links) != len(is.Links) || len(was.Properties) != len(is.Properties) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "property:rename":
			if old[was.Body:] != after[path][is.Body:] || len(was.Properties) != len(is.Properties) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "vault:replace":
			inFolder := !slices.Contains(call, "folder=F") || strings.HasPrefix(path, "F/")
			switch {
			case !inFolder && old != after[path]:
				t.Fatalf("%q changed %s", call, path)
			case inFolder && !slices.Contains(call, "regex"):
				put := ""
				if value, given := strings.CutPrefix(call[2], "new="); given {
					put = value
				}
				require.Equal(t, strings.ReplaceAll(old, strings.TrimPrefix(call[1], "old="), put), after[path], "%q made of %q", call, old)
			}
		}
	}
}

// tagsAfter are the different tags of a note in lower case, with one of them renamed.
func tagsAfter(found *index.Found, from, to string) map[string]bool {
	all := map[string]bool{}
	for _, tag := range frontmatter.Tags(found.Properties) {
		all[strings.ToLower(tag)] = true
	}
	for _, tag := range found.Tags {
		all[strings.ToLower(tag.Text)] = true
	}
	if from == "" {
		return all
	}
	renamed := map[string]bool{}
	for tag := range all {
		if rest, below := strings.CutPrefix(tag, "#"+from); below && (rest == "" || rest[0] == '/') {
			tag = "#" + to + rest
		}
		renamed[tag] = true
	}
	return renamed
}

// A note that may be seen and not changed is a reason to change nothing; a hidden one
// is not there.
func TestChangesAcrossTheVaultObeyTheRules(t *testing.T) {
	files := map[string]string{"W/a.md": "---\np: 1\n---\n#t old\n# H\n", "W/b.md": "#t [[a#H]]",
		"R/r.md": "---\np: 1\n---\n#t old [[a#H]]", "Hid/h.md": "---\np: 1\n---\n#t #u old [[a#H]]"}
	calls := map[string]string{
		"tag:rename": "name=t to=n", "property:rename": "name=p to=n", "property:set": "name=x value=1 query=t",
		"heading:rename": "path=W/a.md heading=H to=I", "vault:replace": "old=old new=x",
	}
	rules := map[string]string{"/": "rwd", "R": "r", "Hid": "none"}
	for name, params := range calls {
		h := embedded.New(t, files)
		h.Env[call.AccessVariable] = embedded.Rules(t, rules).String()
		before := h.Texts(true)
		words := append([]string{name}, strings.Fields(params)...)
		status, out, _ := h.Run(words...)
		if status == answer.ExitDone || out != "Error: Access denied: \"R/r.md\" may not be changed.\n" || !maps.Equal(before, h.Texts(true)) {
			t.Errorf("%q: %d, %q", words, status, out)
		}
		delete(rules, "R")
		h.Env[call.AccessVariable] = embedded.Rules(t, rules).String()
		rules["R"] = "r"
		status, out, _ = h.Run(words...)
		assert.Equal(t, status, answer.ExitDone, "%q", words)
		assert.That(t, !strings.Contains(out, "4"), "%q: %d, %q", words, status, out)
		after := h.Texts(true)
		require.Equal(t, after["Hid/h.md"], before["Hid/h.md"], "%q made %q", words, after)
		assert.That(t, after["R/r.md"] != before["R/r.md"], "%q made %q", words, after)
	}
	h := embedded.New(t, files)
	h.Env[call.AccessVariable] = embedded.Rules(t, rules).String()
	h.Expect(answer.ExitFailed, "Error: Tag \"#u\" not found.\n", "tag:rename", "name=u", "to=n")
	for _, folder := range []string{"Hid", "Nowhere"} {
		h.Expect(answer.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "vault:replace", "old=a", "new=b", "folder="+folder)
	}
}
