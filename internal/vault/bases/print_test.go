package bases

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// printed are notes with texts that a form has to take care of.
var printed = []*note{
	with("One.md", "a", "plain", "b", 3, "c", true),
	with("Two.md", "a", "comma, quote \" and\nline", "b", nil, "c", []any{"x", "y"}),
	with("Three | bar.md", "a", "tab\tand \r\nbreak", "b", 2.5, "c", formula.OfTarget(formula.Target{Text: "One", Display: "1|2"})),
	with("日本.md", "a", "ｆｕｌｌ", "b", math.Copysign(0, -1), "c", day("2025-03-01")),
	with("e\u0301.md", "a", "<&> \u2028 \u0001", "b", 1e21, "c", formula.OfTag("#t")),
}

const printedBase = "views:\n  - type: cards\n    name: V\n    order: [file.name, a, b, note.c]\n"

func TestPrint(t *testing.T) {
	for _, test := range []struct{ format, want string }{
		{CSV, `file name,a,b,c
é,<&> ` + "\u2028 \u0001" + `,1e+21,#t
One,plain,3,true
Three | bar,"tab	and ` + "\r" + `
break",2.5,[[One|1|2]]
Two,"comma, quote "" and
line",,"x, y"
日本,ｆｕｌｌ,0,2025-03-01`},
		{TSV, strings.Join([]string{
			"file name\ta\tb\tc", "\u00e9\t<&> \u2028 \u0001\t1e+21\t#t", "One\tplain\t3\ttrue",
			"Three | bar\ttab and  break\t2.5\t[[One|1|2]]", "Two\tcomma, quote \" and line\t\tx, y",
			"日本\tｆｕｌｌ\t0\t2025-03-01",
		}, "\n")},
		{Paths, "e\u0301.md\nOne.md\nThree | bar.md\nTwo.md\n日本.md"},
	} {
		got := answer(t, printedBase, printed, Query{}).Print(test.format)
		assert.Equal(t, got, test.want, "%s", test.format)
	}
}

func TestPrintMarkdown(t *testing.T) {
	for _, test := range []struct {
		name, base string
		notes      []*note
		want       []string
	}{
		{
			"cells are centred, what is left goes to the right", "views: [{order: [file.name, status]}]",
			[]*note{with("Beta.md", "status", "active"), with("Alpha.md", "status", "done")},
			[]string{"| file name | status |", "| --------- | ------ |", "|   Alpha   |  done  |", "|   Beta    | active |"},
		},
		{"three is the least width", "views: [{order: [a]}]", []*note{with("x.md", "a", "b")}, []string{"|  a  |", "| --- |", "|  b  |"}},
		{"a wide character takes two places", "views: [{order: [file.name, a]}]",
			[]*note{with("日本.md", "a", "ｆ"), with("e\u0301.md", "a", "👍")},
			[]string{"| file name |  a  |", "| --------- | --- |", "|     \u00e9     | 👍  |", "|   日本    | ｆ  |"}},
		{"bars are escaped, lines are joined", "views: [{order: [a]}]", []*note{with("x.md", "a", "b|c\nd\r\ne")},
			[]string{"|    a     |", "| -------- |", "| b\\|c d e |"}},
		{"nothing is empty", "views: [{order: [a, b]}]", []*note{with("x.md", "a", 1)}, []string{"|  a  |  b  |", "| --- | --- |", "|  1  |     |"}},
		{"no row", "filters: {or: []}\nviews: [{order: [file.name, a]}]", nil, []string{"| file name |  a  |", "| --------- | --- |"}},
		{"an error", "formulas: {long: nope()}\nviews: [{order: [formula.long]}]", []*note{with("x.md")},
			[]string{"|" + strings.Repeat(" ", 16) + "long" + strings.Repeat(" ", 16) + "|",
				"| " + strings.Repeat("-", 34) + " |", `| Error: Cannot find function "nope" |`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.Join(test.want, "\n")
			got := answer(t, test.base, test.notes, Query{}).Print(Markdown)
			assert.That(t, got == want, "it is\n%s\nwant\n%s", got, want)
		})
	}
}

func TestPrintJSON(t *testing.T) {
	one := []*note{with("One.md", "a", 3, "b", true, "c", nil, "d", []any{1, "x"}, "path", "other", "e", "<\"\\\u2028\n")}
	for _, test := range []struct{ name, base, want string }{
		{"every value is a text, nothing is null", "views: [{order: [a, b, c, d, none]}]", `[
  {
    "path": "One.md",
    "a": "3",
    "b": "true",
    "c": null,
    "d": "1, x",
    "none": null
  }
]`},
		{"of two columns with one label the later is the value", "properties: {b: {displayName: a}}\nviews: [{order: [a, d, note.b]}]", `[
  {
    "path": "One.md",
    "a": "true",
    "d": "1, x"
  }
]`},
		{"a column may be called path", "views: [{order: [a, note.path]}]", `[
  {
    "path": "other",
    "a": "3"
  }
]`},
		{"as JavaScript escapes", "views: [{order: [e]}]", "[\n  {\n    \"path\": \"One.md\",\n    \"e\": \"<\\\"\\\\\u2028\\n\"\n  }\n]"},
		{"no row", "filters: a > 5", "[]"},
		{"an entry of order is no expression", "views: [{order: [a + 1, file.nope, formula.none]}]",
			"[\n  {\n    \"path\": \"One.md\",\n    \"a + 1\": null,\n    \"nope\": null,\n    \"none\": null\n  }\n]"},
		{"columns that the base names", "properties: {note.b: {displayName: B}, a: {}, file.name: {}}",
			"[\n  {\n    \"path\": \"One.md\",\n    \"file name\": \"One\",\n    \"B\": \"true\",\n    \"a\": \"3\"\n  }\n]"},
		{"no view", "", "[\n  {\n    \"path\": \"One.md\",\n    \"file name\": \"One\"\n  }\n]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := answer(t, test.base, one, Query{}).Print(JSON)
			assert.That(t, got == test.want, "it is\n%s\nwant\n%s", got, test.want)
			assert.That(t, json.Valid([]byte(got)), "it is no JSON")
		})
	}
}

func TestPrintWithoutRows(t *testing.T) {
	const base = "filters: {or: []}\nviews: [{order: [file.name, a]}]"
	for format, want := range map[string]string{CSV: "file name,a", TSV: "file name\ta", Paths: "", JSON: "[]",
		Markdown: "| file name |  a  |\n| --------- | --- |"} {
		assert.Equal(t, answer(t, base, printed, Query{}).Print(format), want, "%s", format)
	}
}
