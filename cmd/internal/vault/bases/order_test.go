package bases

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/tests/assert"
)

// span is a duration.
func span(text string) formula.Value {
	s, ok := formula.ParseSpan(text)
	if !ok {
		panic(text)
	}
	return formula.OfSpan(s)
}

// named makes notes a, b, c … with the property v; nothing is a note without it.
func named(values ...any) []*note {
	var notes []*note
	for i, v := range values {
		name := string(rune('a'+i)) + ".md"
		if v == nil {
			notes = append(notes, with(name))
			continue
		}
		notes = append(notes, with(name, "v", v))
	}
	return notes
}

func letters(t *Table) string {
	var out strings.Builder
	for _, row := range t.Rows {
		out.WriteString(strings.TrimSuffix(row.Path, ".md"))
	}
	return out.String()
}

func TestSort(t *testing.T) {
	null := formula.Value{}
	for _, test := range []struct {
		name            string
		notes           []*note
		ascending, down string
	}{
		{"numbers", named(10, 9, -1, 2.5), "cdba", "abdc"},
		{"texts, numbers in them by value, without regard to case", named("a10", "a2", "B", "A2", "b"), "bdace", "ceabd"},
		{"dates", named(day("2025-03-01"), day("2024-12-31"), day("2025-02-28")), "bca", "acb"},
		{"durations", named(span("1d"), span("90m"), span("23h"), span("1M")), "bcad", "dacb"},
		{"booleans", named(true, false, true), "bac", "acb"},
		{"a missing checkbox counts as not checked", named(true, nil, false), "bca", "abc"},
		{"an empty checkbox too", named(true, null, false), "bca", "abc"},
		{"nothing is last in both directions", named(nil, 2, null, 1), "dbac", "bdac"},
		{"an empty list is a value and the first", named([]any{"b"}, []any{}, nil, []any{"a", "z"}), "bdac", "adbc"},
		{"an empty text is a value and the first", named("b", "", nil, "a"), "bdac", "adbc"},
		{"links by their text", named(formula.OfTarget(formula.Target{Text: "b"}), formula.OfTarget(formula.Target{Text: "A", Display: "z"}), formula.OfTarget(formula.Target{Text: "a"})), "cba", "abc"},
		{"equal keys stay in the order of paths", named(1, 1, 1), "abc", "abc"},
		{"kinds that are mixed by their text", named("b", 3, day("2025-01-01"), true), "bcad", "dacb"},
	} {
		for direction, want := range map[string]string{"ASC": test.ascending, "DESC": test.down} {
			got := letters(answer(t, "views: [{sort: [{property: v, direction: "+direction+"}]}]", test.notes, Query{}))
			assert.That(t, got == want, "%s, %s: %s, want %s", test.name, direction, got, want)
		}
	}
}

func TestSortKeys(t *testing.T) {
	notes := []*note{with("x/b.md", "n", 1, "m", 2), with("a.md", "n", 1, "m", 1), with("y/B 2.md", "n", 0), with("y/B 10.md", "n", 0)}
	for _, test := range []struct{ base, want string }{
		{"", "a.md x/b.md y/B 2.md y/B 10.md"},
		{"views: [{sort: []}]", "a.md x/b.md y/B 2.md y/B 10.md"},
		{"views: [{sort: [{property: n}, {property: m, direction: DESC}]}]", "y/B 2.md y/B 10.md x/b.md a.md"},
		{"views: [{sort: [{property: file.name, direction: DESC}]}]", "y/B 10.md y/B 2.md x/b.md a.md"},
		{"formulas: {f: n - m}\nviews: [{sort: [{property: formula.f, direction: DESC}]}]", "a.md x/b.md y/B 2.md y/B 10.md"}, // 0, -1 and twice nothing
		{"formulas: {f: nope()}\nviews: [{sort: [{property: formula.f}]}]", "a.md x/b.md y/B 2.md y/B 10.md"},
		{"views: [{sort: [{property: none}, {property: formula.none}, {property: file.none}]}]", "a.md x/b.md y/B 2.md y/B 10.md"},
		{"views: [{limit: 2, sort: [{property: n}]}]", "y/B 2.md y/B 10.md"},
		{"views: [{limit: 100}]", "a.md x/b.md y/B 2.md y/B 10.md"},
	} {
		got := strings.Join(pathsOf(answer(t, test.base, notes, Query{})), " ")
		assert.That(t, got == test.want, "%s\n%s, want %s", test.base, got, test.want)
	}
}

func TestGroups(t *testing.T) {
	notes := named("x", nil, "y", []any{}, "x", []any{"b", "a"}, formula.Value{})
	for _, test := range []struct{ direction, rows, groups string }{
		{"", "dfaecbg", "=1 b, a=1 x=2 y=1 =2"}, {"direction: ASC", "dfaecbg", "=1 b, a=1 x=2 y=1 =2"}, {"direction: DESC", "caefdbg", "y=1 x=2 b, a=1 =1 =2"},
	} {
		table := answer(t, "views: [{groupBy: {property: v, "+test.direction+"}}]", notes, Query{})
		var groups []string
		for _, g := range table.Groups {
			groups = append(groups, g.Key.Text()+"="+string(rune('0'+g.Rows)))
		}
		if got := strings.Join(groups, " "); letters(table) != test.rows || got != test.groups {
			t.Errorf("%q: %s in %q, want %s in %q", test.direction, letters(table), got, test.rows, test.groups)
		}
		if last := table.Groups[len(table.Groups)-1]; !last.Key.IsNull() {
			t.Errorf("%q: the last group is %q", test.direction, last.Key.Text())
		}
	}
}

func TestSummaries(t *testing.T) {
	notes := []*note{
		with("a.md", "n", 3, "d", day("2025-01-01"), "c", true, "t", "x"), with("b.md", "n", 9, "d", day("2025-01-11"), "c", false, "t", "x"),
		with("c.md", "n", formula.Value{}, "c", true, "t", ""), with("d.md", "t", "y", "l", []any{}),
	}
	const base = "summaries: {mine: values.filter(value.isType(\"number\")).mean(), Sum: '\"own\"', all: values.length, bad: values.nope(), dates: values.latest()}\nviews: [{sort: [{property: file.name}], summaries: {%: @}}]"
	for _, test := range []struct{ column, name, want string }{
		{"n", "Average", "3"}, {"n", "Min", "3"}, {"n", "Max", "9"}, {"n", "Range", "6"}, {"n", "Median", "6"}, {"n", "Stddev", "3"}, {"n", "Sum", "own"}, {"n", "mine", "6"}, {"n", "all", "4"}, {"n", "Empty", "2"}, {"n", "Filled", "2"}, {"n", "Unique", "2"},
		{"d", "Earliest", "2025-01-01"}, {"d", "Latest", "2025-01-11"}, {"d", "Range", "10 days"}, {"d", "dates", "2025-01-11"}, {"c", "Checked", "2"}, {"c", "Unchecked", "1"}, {"t", "Unique", "2"}, {"t", "Empty", "1"}, {"l", "Empty", "4"},
		{"t", "Min", ""}, {"t", "Earliest", ""}, {"n", "bad", `Error: Cannot find function "nope" on type List`}, {"n", "Total", ""}, {"none", "Filled", "0"},
	} {
		text := strings.NewReplacer("%", test.column, "@", test.name).Replace(base)
		if got := answer(t, text, notes, Query{}).Summaries[0]; got.Value.Text() != test.want || got.ID != test.column || got.Name != test.name {
			t.Errorf("%s of %s is %q, want %q", test.name, test.column, got.Value.Text(), test.want)
		}
	}
	table := answer(t, "views: [{limit: 2, groupBy: {property: t}, summaries: {n: Max}}]", notes, Query{})
	assert.Equal(t, table.Summaries[0].Value.Text(), "3", "the summary of limited rows")
	assert.That(t, len(table.Groups) == 2 && table.Groups[0].Summaries[0].Value.IsNull() && table.Groups[1].Summaries[0].Value.Text() == "3", "the groups are %+v", table.Groups)
}
