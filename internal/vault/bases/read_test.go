package bases

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// read reads a base that is YAML.
func read(t testing.TB, text string) *Base {
	t.Helper()
	b, err := Read([]byte(text))
	require.That(t, err == nil, "%s\n%v", text, err)
	return b
}

// Each thing that is wrong has the sentence of the app and its line. What is fatal
// keeps the base from being answered.
func TestReadSaysWhatIsWrong(t *testing.T) {
	inView := func(fields string) string { return "views:\n  - type: table\n    name: V\n" + fields }
	for _, test := range []struct{ name, text, want string }{
		{"a list", "- a\n- b\n", "line 1: error: Query is an invalid format. It should be a YAML object."},
		{"a text", "# A comment\nhello\n", "line 2: error: Query is an invalid format. It should be a YAML object."},
		{"views is a mapping", "filters: a\nviews:\n  a: b\n", "line 3: error: Views must be an array"},
		{"views is a text", "views: all\n", "line 1: error: Views must be an array"},
		{"a view is a text", "views:\n  - {type: table, name: A}\n  - table\n", `line 3: error: "view" items must be a YAML object, however item 2 is not`},
		{"a view is nothing", "views: [null]\n", `line 1: error: "view" items must be a YAML object, however item 1 is not`},
		{"no name", "views:\n  - type: table\n", `line 2: warning: Missing or invalid "name" in view 1`},
		{"a name that is a number", "views:\n  - type: table\n    name: 7\n", `line 2: warning: Missing or invalid "name" in view 1`},
		{"no type", "views:\n  - name: A\n", `line 2: warning: "type" is required in view "A"`},
		{"a type that is a list", "views:\n  - name: A\n    type: [table]\n", `line 3: error: "type" must be a string in view "A"`},
		{"order is a text", inView("    order: file.name\n"), `line 4: error: "order" must be a array in view "V"`},
		{"order has a number", inView("    order:\n      - file.name\n      - 7\n"), `line 6: error: "order" values must all be of type string in view "V"`},
		{"sort is a mapping", inView("    sort: {property: a}\n"), `line 4: error: "sort" must be a array in view "V"`},
		{"sort has a text", inView("    sort: [a]\n"), `line 4: error: "sort" values must all be of type object in view "V"`},
		{"sort without a property", inView("    sort:\n      - direction: ASC\n"), `line 5: warning: "property" is required in view "V"`},
		{"a direction that is none", inView("    sort:\n      - property: a\n        direction: up\n"),
			`line 6: warning: "direction" must be ASC or DESC in view "V"`},
		{"groupBy is a text", inView("    groupBy: status\n"), `line 4: error: "groupBy" must be a object in view "V"`},
		{"groupBy without a property", inView("    groupBy: {direction: ASC}\n"), `line 4: warning: "property" is required in view "V"`},
		{"limit is a text", inView("    limit: many\n"), `line 4: warning: "limit" must be a number in view "V"`},
		{"summaries of a view are a list", inView("    summaries: [Sum]\n"), `line 4: error: "summaries" must be a object in view "V"`},
		{"formulas is a list", "formulas: [a]\n", `line 1: error: "formulas" must be a object`},
		{"summaries is a text", "summaries: a\n", `line 1: error: "summaries" must be a object`},
		{"filters is a list", "filters:\n  - a\n", `line 2: error: "filters" must be a string or an object`},
		{"filters is a number", "filters: 7\n", `line 1: error: "filters" must be a string or an object`},
		{"filters is a boolean", "filters: true\n", `line 1: error: "filters" must be a string or an object`},
		{"a filter within others is a list", "filters:\n  and:\n    - [a]\n", `line 3: error: "filters" must be a string or an object`},
		{"and is a text", "filters:\n  and: a\n", `line 2: error: "and" filter must be an array`},
		{"or is a mapping", "filters:\n  or: {and: []}\n", `line 2: error: "or" filter must be an array`},
		{"not is a text", inView("    filters:\n      not: a\n"), `line 5: error: "not" filter must be an array`},
		{"two keys", "filters:\n  and: []\n  or: []\n", `line 2: error: "filters" may only have one of an "and", "or", or "not" keys.`},
		{"another key", "filters:\n  all: []\n", `line 2: error: "filters" may only have one of an "and", "or", or "not" keys.`},
		{"a filter that does not parse", "filters:\n  and:\n    - a ==\n",
			`line 3: warning: Unable to parse filters: Unable to parse formula. (position 4) the expression ends too early, in "a =="`},
		{"a filter of a view that does not parse", inView("    filters: a ==\n"),
			`line 4: warning: Unable to parse filters in view "V": Unable to parse formula. (position 4) the expression ends too early, in "a =="`},
		{"a formula that does not parse", "formulas:\n  f: 1.x\n",
			`line 2: warning: Formula "f": Unable to parse formula. (position 1) a number cannot be followed by '.'; put it in parentheses, in "1.x"`},
		{"a formula that is a number", "formulas:\n  f: 1\n", "line 2: warning: Formula values must be strings. Value for property f is not."},
		{"a formula that is a boolean", "formulas:\n  f: true\n", "line 2: warning: Formula values must be strings. Value for property f is not."},
		{"a formula that is nothing", "formulas:\n  f:\n", "line 2: warning: Formula values must be strings. Value for property f is not."},
		{"display is a list", "display: [a]\n", `line 1: error: "display" must be a object`},
		{"display of a number", "display:\n  a: 7\n", "line 2: error: Display values must be strings. Value for property \"a\" is not."},
		{"properties is a list", "properties: [a]\n", "line 1: error: Invalid properties configuration."},
		{"a property that is a text", "properties:\n  a: b\n", `line 2: error: Invalid property config for "a".`},
		{"a summary that does not parse", "summaries:\n  s: values.\n",
			`line 2: warning: Summary "s": Unable to parse formula. (position 7) the expression ends too early, in "values."`},
		{"a summary that is a number", "summaries:\n  s: 1\n", "line 2: warning: Summary values must be strings. Value for s is not."},
		{"an unknown function", "formulas:\n  f: nope(1)\n", `line 2: warning: Formula "f": Cannot find function "nope", in "nope(1)"`},
		{"a formula that needs itself", "formulas:\n  f: formula.f + 1\n", `line 2: warning: Formula "f": Infinite loop detected in formula`},
		{
			"formulas that need each other", "formulas:\n  a: formula[\"b\"]\n  b: formula.a\n  c: formula.a\n",
			"line 2: warning: Formula \"a\": Infinite loop detected in formula\nline 3: warning: Formula \"b\": Infinite loop detected in formula",
		},
		{"an unknown formula", "formulas:\n  a: formula[\"none\"]\n", `line 2: warning: Formula "a": no formula is called "none", in "formula[\"none\"]"`},
		{"an unknown formula in a filter", "filters: formula.none\n", `line 1: warning: Filters: no formula is called "none", in "formula.none"`},
		{"unknown columns", inView("    order: [formula.x, file.colour]\n"),
			"line 2: warning: View \"V\": no formula is called \"x\"\nline 2: warning: View \"V\": a file has no field \"colour\""},
		{"an unknown summary", inView("    summaries: {a: Total}\n"), `line 2: warning: View "V": no summary is called "Total"`},
		{"nothing", "", ""}, {"a comment", "# nothing\n", ""}, {"keys without a value", "filters:\nformulas:\nproperties:\nsummaries:\ndisplay:\nviews:\n", ""},
		{"a view of keys without a value", inView("    filters:\n    order:\n    sort:\n    groupBy:\n    limit:\n    summaries:\n"), ""},
		{"keys that nobody knows", "version: 3\nplugin: {a: [1]}\n" +
			inView("    filter: nope(\n    columnSize: {note.a: 100}\n    rowHeight: tall\n    image: note.cover\n    mapHeight: 3\n"),
			""},
		{"a type that nobody knows", "views:\n  - type: kanban-by-someone\n    name: V\n", ""},
		{"every built-in summary",
			inView("    summaries: {a: Average, b: Min, c: Max, d: Sum, e: Range, f: Median, g: Stddev, h: Earliest, i: Latest, j: Checked, k: Unchecked, l: Empty, m: Filled, n: Unique}\n"),
			""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := read(t, test.text)
			var lines []string
			for _, p := range b.Problems {
				lines = append(lines, p.String())
			}
			got := strings.Join(lines, "\n")
			assert.That(t, got == test.want, "%s\nsays\n%s\nwant\n%s", test.text, got, test.want)
			var fatal *Error
			if isFatal := errors.As(b.Fatal(), &fatal); isFatal != strings.Contains(test.want, ": error: ") {
				t.Errorf("fatal is %v", b.Fatal())
			}
		})
	}
}

func TestReadRefusesWhatIsNoYAML(t *testing.T) {
	for _, test := range []struct {
		text string
		line int
	}{{"filters: [\n", 1}, {": [", 1}, {"views:\n  - a: b\n c: d\n", 3}, {"a: *none\n", 1}, {"a: 1\nb: \"open\n", 2}} {
		_, err := Read([]byte(test.text))
		var malformed *frontmatter.Malformed
		if !errors.As(err, &malformed) || malformed.Reason == "" {
			t.Errorf("%q is read: %v", test.text, err)
			continue
		}
		assert.Equal(t, malformed.Line, test.line, "%q: line", test.text)
	}
}

func TestReadTakesAllOfABase(t *testing.T) {
	b := read(t, `
filters:
  and:
    - a
    - or: [b, not: [c, d]]
formulas: {f: a + 1, "two words": "2"}
properties:
  note.a: {displayName: First, width: 3}
  file.name: {displayName: Name}
summaries: {half: values.mean() / 2}
views:
  - type: table
    name: One
    filters: e
    order: [file.name, a, formula.f]
    sort:
      - {property: a, direction: DESC}
      - {property: file.name}
      - {column: note.b, direction: asc}
    groupBy: {property: note.c, direction: DESC}
    limit: 7
    summaries: {a: half, formula.f: Max}
  - {type: cards, name: Two, limit: 0}
  - {type: map, name: Three, limit: -1}
  - {type: list, name: Four, limit: 2.9, group_by: {property: c}}
  - {type: list, name: Five, group_by: c}
`)
	got, want := b.Filter.String(), "and(a, or(b, not(c, d)))"
	assert.Equal(t, got, want, "filter")
	v := b.Views[0]
	if v.Name != "One" || v.Type != "table" || v.Filter.String() != "e" || !slices.Equal(v.Order, []string{"file.name", "a", "formula.f"}) || v.Limit != 7 {
		t.Errorf("view %+v", v)
	}
	got = fmt.Sprint(v.Sort, *v.Group, v.Summaries)
	assert.Equal(t, got, "[{a <nil> true} {file.name <nil> false} {note.b <nil> false}] {note.c <nil> true} [{a half} {formula.f Max}]", "keys")
	for i, limit := range []int{7, 0, 0, 2, 0} {
		assert.Equal(t, b.Views[i].Limit, limit, "view %d has limit", i)
	}
	require.Equal(t, b.Views[3].Group.Property, "c", "group_by of old files is not read")
	assert.Equal(t, b.Views[4].Group.Property, "c", "group_by of old files is not read")
	if b.Labels["note.a"] != "First" || b.Labels["file.name"] != "Name" || !slices.Equal(b.Properties, []string{"note.a", "file.name"}) {
		t.Errorf("labels %v, properties %v", b.Labels, b.Properties)
	}
	require.Equal(t, b.Formulas["f"].Source(), "a + 1", "formulas or summaries are missing")
	require.Equal(t, b.Formulas["two words"].Source(), "2", "formulas or summaries are missing")
	assert.That(t, b.Summaries["half"] != nil, "formulas or summaries are missing")
}

func TestLabels(t *testing.T) {
	b := read(t, `
display: {author: Old author, note.kind: Old kind}
properties:
  note.a: {displayName: With prefix}
  a: {displayName: Without}
  b: {displayName: Only bare}
  note.author: {displayName: Author}
  file.name: {displayName: Title}
  formula.f: {displayName: Sum}
  f: {displayName: Not of the formula}
  note.empty: {displayName: ""}
  note.number: {displayName: 7}
`)
	for id, want := range map[string]string{
		"note.a": "With prefix", "a": "With prefix", "note.b": "Only bare", "b": "Only bare", "note.author": "Author",
		"author": "Author", "kind": "Old kind", "note.kind": "Old kind",
		"file.name": "Title", "formula.f": "Sum", "f": "Not of the formula", "empty": "empty", "number": "7",
		"note.task.status": "task.status", "task.status": "task.status", "n * 2": "n * 2",
		"formula.no.such": "no.such",
		"file.file":       "file", "file.basename": "file base name", "file.fullname": "file full name",
		"file.path": "file path", "file.folder": "folder", "file.ext": "file extension", "file.size": "file size",
		"file.ctime": "created time",
		"file.mtime": "modified time", "file.tags": "file tags", "file.links": "file links",
		"file.embeds": "file embeds", "file.backlinks": "file backlinks", "file.properties": "properties",
		"file.other": "other",
	} {
		assert.Equal(t, b.Label(id), want, "the label of %s", id)
	}
	assert.Equal(t, new(Base).Label("file.name"), "file name", "file.name")
}

func TestView(t *testing.T) {
	b := read(t, "views:\n  - {type: table, name: A}\n  - {type: table, name: \"1\"}\n  - {type: table}\n  - {type: table, name: A, limit: 3}\n")
	for _, test := range []struct {
		name  string
		index int
	}{{"", 0}, {"A", 0}, {"1", 1}, {"2", 1}, {"3", 2}, {"4", 3}} {
		v, err := b.View(test.name)
		require.Equal(t, err, nil, "view %q is %+v", test.name, v)
		require.Equal(t, v.Name, b.Views[test.index].Name, "view %q is %+v", test.name, v)
		assert.Equal(t, v.Limit, b.Views[test.index].Limit, "view %q is %+v", test.name, v)
	}
	for _, name := range []string{"a", "5", "0", "-1", "A ", "99999999999999999999"} {
		_, err := b.View(name)
		require.That(t, err != nil, "view %q: %v", name, err)
		assert.Equal(t, err.Error(), "View not found: "+name+"\nAvailable views: A, 1, , A", "view %q", name)
	}
}

// The position of a function that does not exist is that of its name, in UTF-16
// code units.
func TestProblemsHavePositions(t *testing.T) {
	for _, test := range []struct {
		formula  string
		position int
	}{{"1 + nope(2)", 4}, {`"💩" + nope()`, 7}, {"n + formula.none", 12}, {"n +", 3}, {"formula.f", -1}} {
		b := read(t, "formulas:\n  f: '"+test.formula+"'\n")
		require.Equal(t, len(b.Problems), 1, "%s has the problems %+v, want one at %d", test.formula, b.Problems, test.position)
		assert.Equal(t, b.Problems[0].Position, test.position, "%s has the problems %+v, want one at %d", test.formula, b.Problems, test.position)
	}
}
