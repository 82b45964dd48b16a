package bases

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// anyVault makes notes with the properties k, of one kind a vault, and n and v, of
// every kind. Several notes have the same value, and some have none.
func anyVault(t *rapid.T) []*note {
	kinds := map[string]*rapid.Generator[any]{
		"number": rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(-3, 12).Draw(t, "number") }),
		"text":   rapid.Custom(func(t *rapid.T) any { return rapid.StringMatching(`[abAB]?[0-9]{0,2}`).Draw(t, "text") }),
		"bool":   rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		"date":   rapid.Custom(func(t *rapid.T) any { return day(fmt.Sprintf("2025-01-%02d", rapid.IntRange(1, 9).Draw(t, "day"))) }),
	}
	names := slices.Sorted(maps.Keys(kinds))
	same := kinds[rapid.SampledFrom(names).Draw(t, "kind")]
	var notes []*note
	for i := range rapid.IntRange(0, 14).Draw(t, "notes") {
		n := with(fmt.Sprintf("%s/note %d.md", rapid.SampledFrom([]string{"x", "Y", "z 10", "z 9"}).Draw(t, "folder"), i%5+i/5*100))
		set := func(name string, of *rapid.Generator[any]) {
			if rapid.IntRange(0, 4).Draw(t, "has "+name) > 0 {
				n.fields.Keys, n.fields.Values = append(n.fields.Keys, name), append(n.fields.Values, asValue(of.Draw(t, name)))
			}
		}
		set("k", same)
		set("n", kinds["number"])
		set("v", kinds[rapid.SampledFrom(names).Draw(t, "kind of v")])
		notes = append(notes, n)
	}
	return notes
}

func pathsOf(t *Table) []string {
	var paths []string
	for _, row := range t.Rows {
		paths = append(paths, row.Path)
	}
	return paths
}

func ask(t *rapid.T, base string, notes []*note, q Query) *Table {
	b, err := Read([]byte(base))
	require.That(t, err == nil, "%s\n%v", base, err)
	table, err := b.Run(t.Context(), vaultOf(notes), q)
	require.That(t, err == nil, "%s\n%v", base, err)
	return table
}

// anyFilter makes a filter that never fails, or one that always does.
var anyFilter = rapid.Custom(func(t *rapid.T) string {
	return rapid.SampledFrom([]string{"k > 3", `v == "a1"`, "n", "!v", "k == v", "v.isEmpty()", "n % 2 == 0",
		"k && n < 5", `v.isType("string")`, "nope()", "v.map(value)", "n >= k || v == true", "1 +"}).Draw(t,
		"statement")
})

// A filter and its negation part the rows: each row is in one of them, in the same
// order.
func TestAFilterAndItsNegationPartTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := anyVault(t)
		parts := rapid.SliceOfN(anyFilter, 1, 3).Draw(t, "parts")
		mode := rapid.SampledFrom([]string{"and", "or", "not"}).Draw(t, "mode")
		quoted := make([]string, len(parts))
		for i, p := range parts {
			quoted[i] = "'" + p + "'"
		}
		filter := "{" + mode + ": [" + strings.Join(quoted, ", ") + "]}"
		all := pathsOf(ask(t, "", notes, Query{}))
		kept := pathsOf(ask(t, "filters: "+filter, notes, Query{}))
		dropped := pathsOf(ask(t, "filters: {not: ["+filter+"]}", notes, Query{}))
		for _, path := range all {
			assert.That(t, slices.Contains(kept, path) != slices.Contains(dropped, path), "%s: %s is in both or in neither", filter, path)
		}
		inOrder := func(some []string) bool {
			return slices.Equal(some, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !slices.Contains(some, p) }))
		}
		assert.Equal(t, len(kept)+len(dropped), len(all), "%s keeps %q and drops %q of %q", filter, kept, dropped, all)
		assert.That(t, inOrder(kept), "%s keeps %q and drops %q of %q", filter, kept, dropped, all)
		assert.That(t, inOrder(dropped), "%s keeps %q and drops %q of %q", filter, kept, dropped, all)
	})
}

func TestFiltersOfBaseAndViewAreJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes, a, b := anyVault(t), anyFilter.Draw(t, "a"), anyFilter.Draw(t, "b")
		both := pathsOf(ask(t, fmt.Sprintf("filters: '%s'\nviews: [{filters: '%s'}]", a, b), notes, Query{}))
		one := pathsOf(ask(t, fmt.Sprintf("filters: {and: ['%s', '%s']}", a, b), notes, Query{}))
		none := pathsOf(ask(t, fmt.Sprintf("filters: {not: [{or: [{not: ['%s']}, {not: ['%s']}]}]}", a, b), notes, Query{}))
		where := pathsOf(ask(t, fmt.Sprintf("filters: '%s'", a), notes, Query{Where: formula.Compile(b)}))
		assert.EqualSlices(t, both, one, "%s and %s", a, b)
		assert.EqualSlices(t, one, none, "%s and %s", a, b)
		assert.EqualSlices(t, one, where, "%s and %s", a, b)
	})
}

// The groups, one after the other, are all rows. Within a group rows are in the
// order that they have without groups, and no group comes twice.
func TestGroupsAreTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := anyVault(t)
		direction := rapid.SampledFrom([]string{"ASC", "DESC"}).Draw(t, "direction")
		sort := rapid.SampledFrom([]string{"", ", sort: [{property: n, direction: DESC}]", ", sort: [{property: v}, {property: file.name}]"}).Draw(t, "sort")
		flat := ask(t, "views: [{order: [k]"+sort+"}]", notes, Query{})
		grouped := ask(t, "views: [{order: [k], groupBy: {property: k, direction: "+direction+"}"+sort+"}]", notes, Query{})
		alone := ask(t, "views: [{order: [k], sort: [{property: k, direction: "+direction+"}]}]", notes, Query{})
		require.Equal(t, len(grouped.Rows), len(flat.Rows), "%d rows in groups, %d without", len(grouped.Rows), len(flat.Rows))
		require.Equal(t, len(grouped.Rows), len(alone.Rows), "%d rows in groups, %d without", len(grouped.Rows), len(flat.Rows))
		start, seen := 0, map[string]bool{}
		for _, g := range grouped.Groups {
			rows := grouped.Rows[start : start+g.Rows]
			start += g.Rows
			key := strings.ToLower(g.Key.Kind().String() + g.Key.Text())
			assert.That(t, !seen[key], "the group %q comes twice", key)
			seen[key] = true
			var want []string
			for _, row := range flat.Rows {
				if strings.EqualFold(row.Cells[0].Kind().String()+row.Cells[0].Text(), key) {
					want = append(want, row.Path)
				}
			}
			assert.EqualSlices(t, pathsOf(&Table{Rows: rows}), want, "the group %q has", key)
		}
		assert.That(t, start == len(grouped.Rows), "the groups have %d of %d rows", start, len(grouped.Rows))
	})
}

// Limit and offset cut one piece out of the rows; the total does not change.
func TestLimitAndOffsetCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := anyVault(t)
		limit, offset := rapid.IntRange(-1, 16).Draw(t, "limit"), rapid.IntRange(0, 16).Draw(t, "offset")
		const base = "views: [{order: [k], groupBy: {property: k}, sort: [{property: n}]"
		all := ask(t, base+"}]", notes, Query{})
		cut := ask(t, fmt.Sprintf("%s, limit: %d}]", base, limit), notes, Query{Offset: offset})
		want := pathsOf(all)[min(offset, len(all.Rows)):]
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		got := pathsOf(cut)
		assert.EqualSlices(t, got, want, "limit %d, offset %d", limit, offset)
		assert.Equal(t, cut.Total, len(all.Rows), "limit %d, offset %d", limit, offset)
		rows := 0
		for _, g := range cut.Groups {
			rows += g.Rows
		}
		assert.That(t, rows == len(cut.Rows), "the groups have %d of %d rows", rows, len(cut.Rows))
	})
}

// Whatever a file is, reading it ends in a base or in a reason, twice the same;
// what is wrong is on a line of the file, and a base can be answered or says why
// it cannot.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "views: []\n", "filters: a == 1\nviews:\n  - type: table\n    name: V\n    order: [file.name, formula.f]\nformulas: {f: a + 1}\n",
		"filters:\n  and:\n    - a\n    - or: [b, not: [c]]\n", "- a\n",
		"views:\n  - {groupBy: x, sort: [a, {property: b, direction: down}], limit: -3, summaries: {a: Sum}}\n",
		"filters: {and: {}, or: []}\n",
		"formulas:\n  a: formula.b\n  b: formula.a\n  c: 1.x\n",
		"properties: {note.a: {displayName: B}, b: 3}\ndisplay: {a: b, c: 1}\n", "summaries: {s: values.}\n",
		"a: &x [1]\nb: *x\n", "views: [null, 1, [a]]\n", "\xef\xbb\xbfviews:\r\n  - name: A\r\n",
		"filters: !!binary aGk=\n", "? [a]\n: b\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Read(text)
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		if err != nil {
			var malformed *frontmatter.Malformed
			require.That(t, errors.As(err, &malformed), "%q is refused with %v", text, err)
			require.That(t, malformed.Line >= 0, "%q is refused with %v", text, err)
			require.That(t, malformed.Line <= lines, "%q is refused with %v", text, err)
			return
		}
		again, _ := Read(text)
		for i, p := range b.Problems {
			assert.That(t, p.Line >= 0, "%q has the problem %+v", text, p)
			assert.That(t, p.Line <= lines, "%q has the problem %+v", text, p)
			assert.That(t, p.Text != "", "%q has the problem %+v", text, p)
			assert.That(t, p.Position <= len(p.Expression), "%q has the problem %+v", text, p)
			assert.Equal(t, p, again.Problems[i], "%q has the problem %+v", text, p)
		}
		src := vaultOf(rowsOfEveryKind)
		_, err = b.Run(t.Context(), src, Query{})
		assert.Equal(t, (err != nil), (b.Fatal() != nil), "%q: answering fails with %v, and %v is fatal", text, err, b.Fatal())
	})
}

// typed is a note with a property of every form, and its types.
const typed = `---
int: 3
float: 2.50
yes: true
nothing:
tilde: ~
list: [1, "2", true, 2025-03-01, "[[A]]", null]
map: {a: 1, b: [x, "[[A]]"], C: 2025-03-01}
link: "[[A]]"
shown: "[[A | B | c ]]"
heading: "[[A#B|c]]"
around: "see [[A]]"
two: "[[A]] [[B]]"
markdown: "[a](A.md)"
day: 2025-03-01
quoted: "2025-03-01"
minute: 2025-03-01 09:30
moment: 2025-03-01T09:30:15
zoned: 2025-03-01T09:30:00Z
offset: "2025-03-01T09:30:00+02:00"
fraction: 2025-03-01T09:30:00.250
wrong: 2025-13-01
compact: "20250301"
spaced: " 2025-03-01"
url: https://example.org/a?b=c
urls: https://a.b and more
padded: "0930"
texted: 2025-03-01
numbered: "42"
unnumbered: 42 km
checked: "true"
unchecked: "maybe"
multi: [2025-03-01]
tags: a, b/c
aliases: [2025-03-01, "[[A]]", plain]
cssclasses: https://a.b/c
"with blank": 5
MixedCase: 6
text: word
---
`

var typedTypes = map[string]string{"texted": "text", "numbered": "number", "unnumbered": "number",
	"checked": "checkbox", "unchecked": "checkbox", "multi": "multitext", "link": "text"}

func TestPropertiesBecomeValues(t *testing.T) {
	v := newVault(t, map[string]string{"N.md": typed, "A.md": "", "one.md": "---\ntag: solo\ntags:\n---\n"}, "")
	v.Types = typedTypes
	session := formula.NewSession(t.Context(), v.Source().Environment)
	kind := func(name, kind string) [2]string {
		return [2]string{`note["` + name + `"].isType("` + kind + `")`, "true"}
	}
	for _, s := range []subject{
		{"kinds", agreed, [][2]string{
			kind("int", "number"), kind("float", "number"), kind("yes", "boolean"), kind("nothing", "null"),
			kind("tilde", "null"), kind("list", "list"), kind("map", "object"), kind("link", "link"),
			kind("shown", "link"), kind("heading", "link"),
			kind("around", "string"), kind("two", "string"), kind("markdown", "string"), kind("day", "date"),
			kind("quoted", "date"), kind("minute", "date"), kind("moment", "date"), kind("zoned", "date"),
			kind("offset", "date"), kind("fraction", "date"),
			kind("wrong", "string"), kind("compact", "string"), kind("spaced", "string"), kind("url", "url"),
			kind("urls", "string"), kind("padded", "string"), kind("tags", "list"), kind("aliases", "list"),
			kind("cssclasses", "string"), kind("text", "string"),
		}},
		{"declared types", agreed, [][2]string{
			kind("texted", "string"), kind("numbered", "number"), kind("unnumbered", "string"),
			kind("checked", "boolean"), kind("unchecked", "string"), kind("multi", "list"),
			{`texted + 1`, "2025-03-011"}, {`numbered + 1`, "43"}, {`!checked`, "false"},
		}},
		{"texts", recorded, [][2]string{
			{`int`, "3"}, {`float`, "2.5"}, {`yes`, "true"}, {`nothing`, null},
			{`list`, "1, 2, true, 2025-03-01, [[A]], "}, {`map`, `{"a":1,"b":["x","[[A]]"],"C":"2025-03-01"}`},
			{`link`, "[[A]]"}, {`shown`, "[[A | B|c]]"}, {`heading`, "[[A#B|c]]"}, {`day`, "2025-03-01"},
			{`minute`, "2025-03-01T09:30:00"}, {`moment`, "2025-03-01T09:30:15"}, {`zoned`, "2025-03-01T06:30:00"},
			{`offset`, "2025-03-01T04:30:00"}, {`fraction.millisecond`, "250"}, {`padded`, "0930"},
			{`url`, "https://example.org/a?b=c"}, {`tags`, "#a, #b/c"}, {`aliases`, "2025-03-01, [[A]], plain"},
		}},
		{"elements", agreed, [][2]string{
			{`list[3].isType("date")`, "true"}, {`list[4].asFile().name`, "A"}, {`list[1].isType("string")`, "true"},
			{`list[5]`, null}, {`map.b[1].isType("link")`, "true"}, {`map.C.month`, "3"}, {`map.c`, null},
			{`map["a"]`, "1"}, {`map.none`, null}, {`map.keys()`, "a, b, C"}, {`map.values().length`, "3"},
			{`map.isEmpty()`, "false"},
			{`tags[0].isType("tag")`, "true"}, {`tags.contains("b")`, "true"}, {`aliases[0].isType("string")`, "true"},
			{`aliases[1].isType("string")`, "true"}, {`map == map`, "true"},
		}},
		{"names", documented, [][2]string{{`note["with blank"]`, "5"}, {`mixedcase`, "6"}, {`MixedCase`, "6"},
			{`note.MIXEDCASE`, "6"}, {`file.properties.mixedcase`, "6"}, {`file.properties["with blank"]`, "5"},
			{`file.hasProperty("mixedcase")`, "true"}, {`file.hasProperty("nothing")`, "true"},
			{`file("A").properties.int`, null}}},
	} {
		t.Run(s.subject, func(t *testing.T) { s.check(t, session.Row(v.Entry("N.md"))) })
	}
	one := subject{"tags of one note", agreed, [][2]string{{`tag`, "#solo"}, {`tags`, null}, {`tag.contains("solo")`, "true"}}}
	one.check(t, session.Row(v.Entry("one.md")))
}

// Adding days and months is done by the calendar where clocks are changed, and
// hours by the clock.
func TestCalendarWhereClocksAreChanged(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("the machine has no time zones: ", err)
	}
	v := newVault(t, map[string]string{"N.md": "---\nbefore: 2025-03-29T12:00\n---\n"}, "")
	v.Now = time.Date(2025, 3, 10, 8, 0, 0, 0, zone)
	s := subject{"29 to 30 March 2025", computed, [][2]string{
		{`before + "1d"`, "2025-03-30T12:00:00"}, {`before + "24h"`, "2025-03-30T13:00:00"},
		{`before + "1M"`, "2025-04-29T12:00:00"}, {`(date("2025-03-31") - date("2025-03-30")).hours`, "23"},
		{`date("2025-03-30") + "1d"`, "2025-03-31"},
		{`date("2025-03-30T00:00:00Z")`, "2025-03-30T01:00:00"}, {`date("2025-03-30T01:00:00Z")`, "2025-03-30T03:00:00"},
	}}
	s.check(t, formula.NewSession(t.Context(), v.Source().Environment).Row(v.Entry("N.md")))
}
