package gateway

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"
)

// pagesOf cuts a whole into all its pages, each fetched with a cursor.
func pagesOf(t require.T, whole string, form pageForm, limit pageLimit) []pagePart {
	var all []pagePart
	var at pagePosition
	id := strings.Repeat("A", idLength)
	for {
		page, err := Cut(whole, form, at, limit)
		require.That(t, err == nil, "Cut(%q, %d, %+v, %+v): %v", whole, form, at, limit, err)
		all = append(all, page)
		if page.Last() {
			return all
		}
		require.That(t, page.Next.At > at.At, "Cut(%q, %d, %+v, %+v) = %+v: no step forward", whole, form, at, limit, page)
		require.That(t, page.Text != "", "Cut(%q, %d, %+v, %+v) = %+v: no step forward", whole, form, at, limit, page)
		if _, at, err = parseCursor(cursorAt(id, page.Next)); err != nil || at != page.Next {
			t.Fatalf("cursor of %+v: %+v, %v", page.Next, at, err)
		}
	}
}

// checkPages checks what Cut promises about all pages of a whole.
func checkPages(t require.T, whole string, form pageForm, limit pageLimit) {
	all := pagesOf(t, whole, form, limit)
	rows := 0
	for i, page := range all {
		rows += page.Rows
		switch {
		case len(page.Text) > limit.Bytes:
			t.Fatalf("page %d of %q, form %d, has %d bytes, limit %+v", i, whole, form, len(page.Text), limit)
		case limit.Rows > 0 && page.Rows > limit.Rows:
			t.Fatalf("page %d of %q, form %d, has %d rows, limit %+v", i, whole, form, page.Rows, limit)
		case !utf8.ValidString(page.Text):
			t.Fatalf("page %d of %q, form %d, limit %+v: cut in a character", i, whole, form, limit)
		}
	}
	if rows != rowsOf(whole, form) {
		t.Fatalf("%q, form %d, limit %+v: the pages have %d rows, the whole %d", whole, form, limit, rows, rowsOf(whole, form))
	}
	elements, isArray := elementsOf(whole)
	if form == formJSON && isArray {
		checkArray(t, all, whole, elements)
		return
	}
	checkSlices(t, all, whole, limit)
	switch form {
	case formJSON:
		checkOther(t, all, whole)
	case formCSV:
		checkCSV(t, all, whole)
	default:
		checkText(t, all, whole)
	}
}

// checkSlices: the pages are the whole, and no cut is in a cluster of characters
// that fits on a page.
func checkSlices(t require.T, all []pagePart, whole string, limit pageLimit) {
	var out strings.Builder
	cuts := map[int]bool{}
	for _, page := range all {
		out.WriteString(page.Text)
		cuts[out.Len()] = true
	}
	require.Equal(t, out.String(), whole, "the pages of %q are", whole)
	for clusters := graphemes.FromString(whole); clusters.Next(); {
		for at := clusters.Start() + 1; at < clusters.End(); at++ {
			if cuts[at] && clusters.End()-clusters.Start() <= limit.Bytes {
				t.Fatalf("%q, limit %+v: cut at %d, in %q", whole, limit, at, clusters.Value())
			}
		}
	}
}

func checkText(t require.T, all []pagePart, whole string) {
	rows := len(slices.Collect(strings.Lines(whole)))
	if got := rowsOf(whole, formText); got != rows { // with headings a line may be none
		t.Fatalf("%q has %d lines, want %d", whole, got, rows)
	}
	for i, page := range all {
		partial := i > 0 && !strings.HasSuffix(all[i-1].Text, "\n") || !page.Last() && !strings.HasSuffix(page.Text, "\n")
		require.That(t, page.Partial == partial, "page %d of %q: %+v, partial should be %v", i, whole, page, partial)
	}
}

// checkCSV compares with encoding/csv.
func checkCSV(t require.T, all []pagePart, whole string) {
	r := csv.NewReader(strings.NewReader(whole))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	borders := map[int]bool{len(whole): true}
	records := 0
	for {
		if _, err := r.Read(); err != nil {
			break
		}
		records++
		borders[int(r.InputOffset())] = true
	}
	got := rowsOf(whole, formCSV)
	require.That(t, got == records, "%q has %d records, want %d", whole, got, records)
	end := 0
	for i, page := range all {
		end += len(page.Text)
		if !page.Partial && !borders[end] || page.Partial && page.Next.Until == 0 && !borders[end] {
			t.Fatalf("page %d of %q ends at %d: %+v", i, whole, end, page)
		}
	}
}

// elementsOf is what encoding/json says the rows are.
func elementsOf(whole string) (elements []json.RawMessage, isArray bool) {
	return elements, json.Unmarshal([]byte(whole), &elements) == nil && elements != nil
}

// checkArray compares the rows of the pages with those of encoding/json.
func checkArray(t require.T, all []pagePart, whole string, elements []json.RawMessage) {
	var got []string
	piece, pieces := "", 0
	for i, page := range all {
		if page.Partial {
			piece, pieces = piece+page.Text, pieces+page.Rows
			if page.Next.Until == 0 {
				got, piece = append(got, piece), ""
			}
			continue
		}
		rows, ok := elementsOf(page.Text)
		require.That(t, ok, "page %d of %q is no array of %d rows: %q", i, whole, page.Rows, page.Text)
		require.Equal(t, piece, "", "page %d of %q is no array of %d rows: %q", i, whole, page.Rows, page.Text)
		require.Equal(t, len(rows), page.Rows, "page %d of %q is no array of %d rows: %q", i, whole, page.Rows, page.Text)
		for _, row := range rows {
			got = append(got, string(row))
		}
	}
	require.Equal(t, len(got), len(elements), "%q has %d rows, its pages %d", whole, len(elements), len(got))
	require.Equal(t, len(got), rowsOf(whole, formJSON), "%q has %d rows, its pages %d", whole, len(elements), len(got))
	for i, element := range elements {
		if got[i] != string(element) {
			t.Fatalf("row %d of %q is %q, want %q", i, whole, got[i], element)
		}
	}
	if len(all) == 1 && !all[0].Partial && all[0].Text != whole && len(whole) <= len(all[0].Text) {
		t.Fatalf("the only page of %q is %q", whole, all[0].Text)
	}
}

// checkOther: what is no array is one row, and JSON only as a whole.
func checkOther(t require.T, all []pagePart, whole string) {
	for i, page := range all {
		if ok := len(all) == 1 && json.Valid([]byte(whole)); page.Partial == ok || page.Rows > 1 || (page.Rows == 1) != (i == 0 && whole != "") {
			t.Fatalf("page %d of %q: %+v", i, whole, page)
		}
	}
}

// atoms are what texts are made of in these tests: line ends, marks of the forms,
// and characters that belong together.
var atoms = []string{
	"a", "bc", "def ghi", " ", "\n", "\n", "\r\n", "\r", "\t", ",", "\"", "\"\"", ",\"", "\",", "\"\n", "x,y\n",
	"é", "e\u0301", "\u0301\u0302\u0303", "ß", "語", "日本", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🇫", "❤\ufe0f", "\u200d", "각", "\u1112\u1161\u11ab",
	"क्षि", "நி", "\u0600", "\u00a0", "[", "]", "{", "}", "1", "1e400", ":", "==> ", " <==\n", "==> a <==\n", "12: ",
	"A.md\n", "\\", "\\u00e9", "\"a\":1", "null", "true",
}

func limits() *rapid.Generator[pageLimit] {
	return rapid.Custom(func(t *rapid.T) pageLimit {
		return pageLimit{rapid.IntRange(minPageBytes, 80).Draw(t, "bytes"), rapid.IntRange(0, 5).Draw(t, "rows")}
	})
}

func TestPartsTogetherAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 60).Draw(t, "atoms"), "")
		checkPages(t, whole, pageForm(rapid.IntRange(0, int(formCount)-1).Draw(t, "form")), limits().Draw(t, "limit"))
	})
}

func TestPagesOfTablesTogetherAreTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.OneOf(rapid.SampledFrom(atoms), rapid.StringN(0, 8, 30))
		table := rapid.SliceOfN(rapid.SliceOfN(cell, 1, 4), 0, 20).Draw(t, "table")
		var out strings.Builder
		w := csv.NewWriter(&out)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		require.NoError(t, w.WriteAll(table))
		checkPages(t, out.String(), formCSV, limits().Draw(t, "limit"))
	})
}

// values writes JSON as other programs may: with space, escapes and all numbers.
func values(depth int) *rapid.Generator[string] {
	gap := rapid.SampledFrom([]string{"", "", " ", "\n  ", "\r\n\t"})
	scalar := rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "0", "-1.50", "1e400", "123456789012345678901234567890",
			`"\ud83d\ude00"`, `"\ud800"`, `"],[\"\\"`, `"é👩‍👧"`}),
		rapid.Map(rapid.String(), func(s string) string { text, _ := json.Marshal(s); return string(text) }),
	)
	if depth == 0 {
		return scalar
	}
	inner := values(depth - 1)
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if kind == 0 {
			return scalar.Draw(t, "scalar")
		}
		var out strings.Builder
		out.WriteString(string(" {[["[kind]))
		for i := range rapid.IntRange(0, 6).Draw(t, "count") {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(gap.Draw(t, "gap"))
			if kind == 1 {
				out.WriteString(rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"c d"`, `""`}).Draw(t, "key") + gap.Draw(t, "gap") + ":")
			}
			out.WriteString(gap.Draw(t, "gap") + inner.Draw(t, "value") + gap.Draw(t, "gap"))
		}
		return out.String() + gap.Draw(t, "gap") + string(" }]]"[kind])
	})
}

func TestPagesOfJSONAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := values(3).Draw(t, "whole")
		require.That(t, json.Valid([]byte(whole)), "the test writes no JSON: %q", whole)
		checkPages(t, whole, formJSON, limits().Draw(t, "limit"))
	})
}

// seeds are texts in which each form has its difficulties.
var seeds = []string{
	"", "a\nb\r\nc", "1234567e\u0301👩‍👩‍👧‍👦🇩🇪🇫🇷", "k,v\n\"a\n\"\"b\",1\n\n\"c\"d\"\ne\"f\n\"", "\r", "\r\n\n,\n\"\"\r",
	"[\n  {\n    \"a\": 1e400\n  },\n  {\n    \"b\": \"]\\\"\"\n  }\n]\n", `[1,[2,{"a":[]}],"x","",null]`, `{"a":[1,2]}`,
	"[1,]", "[ ]", "[{],}]", `["`, `["\`, "[1 2]", "\x80\x80\xf0\x9f", "[[[[[[[[", "[                    1,2                    ]",
}

func FuzzCut(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, uint8(8), uint8(0), 3, 5)
		f.Add(seed, uint8(12), uint8(1), 1, 0)
	}
	f.Fuzz(func(t *testing.T, whole string, bytes, rows uint8, at, until int) {
		limit := pageLimit{minPageBytes + int(bytes%64), int(rows % 8)}
		valid := strings.ToValidUTF8(whole, "\ufffd")
		for form := range formCount {
			checkPages(t, valid, form, limit)
			checkMadeUp(t, whole, form, pagePosition{at, until}, limit)
		}
	})
}

// checkMadeUp: from wherever it is, cutting comes to an end, keeps to its limit,
// and says JSON only of JSON. The text may be any bytes.
func checkMadeUp(t require.T, whole string, form pageForm, at pagePosition, limit pageLimit) {
	for steps := 0; ; steps++ {
		page, err := Cut(whole, form, at, limit)
		if err != nil && steps == 0 {
			return
		}
		if err != nil || len(page.Text) > limit.Bytes || steps > len(whole) || !page.Last() && page.Next.At <= at.At {
			t.Fatalf("Cut(%q, %d, %+v, %+v) = %+v, %v", whole, form, at, limit, page, err)
		}
		if form == formJSON && !page.Partial && !json.Valid([]byte(page.Text)) {
			t.Fatalf("Cut(%q, %d, %+v, %+v) = %+v: no JSON", whole, form, at, limit, page)
		}
		if page.Last() {
			return
		}
		at = page.Next
	}
}

func FuzzFields(f *testing.F) {
	for _, seed := range append(seeds, `[{"a":1,"b":2},{"b":3}]`, `{"\u0061":1,"a":{"b":[1 , 2]}}`, `[{"a" : "\ud800"}]`) {
		f.Add(seed, "a b")
		f.Add(seed, "b")
	}
	f.Fuzz(func(t *testing.T, text, fields string) {
		checkFields(t, strings.ToValidUTF8(text, "\ufffd"), strings.Split(strings.ToValidUTF8(fields, "\ufffd"), " "))
	})
}

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", someID, someID + ".1", someID + ".1.2", someID + ".01", someID + ".1073741824.1073741824", someID + ".9999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		id, at, err := parseCursor(cursor)
		switch {
		case err == nil && (cursorAt(id, at) != cursor || len(id) != idLength || strings.Trim(id, idLetters) != "" ||
			at.At < 0 || at.Until < 0 || at.At > maxOffset || at.Until > maxOffset):
			t.Fatalf("%q: %s, %+v", cursor, id, at)
		case err != nil && (id != "" || at != pagePosition{}):
			t.Fatalf("%q: %s, %+v, %v", cursor, id, at, err)
		}
		_, err = Cut("[1,2,3]", formJSON, at, pageLimit{})
		require.That(t, err == nil || at.At >= 7 || at.Until != 0, "%q: %v", cursor, err)
	})
}
