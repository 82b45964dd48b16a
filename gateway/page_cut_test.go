package gateway

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// shown writes pages as a table can hold them: a tilde before one that cannot be
// read by itself, and the number of its rows.
func shown(all []pagePart) (list []string) {
	for _, page := range all {
		text := fmt.Sprintf("%d %s", page.Rows, page.Text)
		if page.Partial {
			text = "~" + text
		}
		list = append(list, text)
	}
	return list
}

func TestCut(t *testing.T) {
	tests := []struct {
		name  string
		form  pageForm
		limit pageLimit
		whole string
		want  []string
	}{
		{"an empty text", formText, pageLimit{}, "", []string{"0 "}},
		{"a text that fits", formText, pageLimit{8, 0}, "a\nb", []string{"2 a\nb"}},
		{"whole lines where they cost little", formText, pageLimit{8, 0}, "1234567\n1234\n6", []string{"1 1234567\n", "2 1234\n6"}},
		{"a line is cut where whole ones cost much", formText, pageLimit{8, 0}, "1234\n12345678", []string{"~2 1234\n123", "~0 45678"}},
		{"an eighth is given for a whole line", formText, pageLimit{16, 0}, "12345678901234\n678", []string{"1 12345678901234\n", "1 678"}},
		{"no more than an eighth is", formText, pageLimit{16, 0}, "1234567890123\n5678", []string{"~2 1234567890123\n56", "~0 78"}},
		{"a text of the size of a page", formText, pageLimit{16, 0}, "12345678901234\n6", []string{"2 12345678901234\n6"}},
		{"a number of lines", formText, pageLimit{80, 2}, "a\n\nb\r\nc\n", []string{"2 a\n\n", "2 b\r\nc\n"}},
		{"a line that is longer than a page counts once", formText, pageLimit{8, 1}, "123456789\nb\n", []string{"~1 12345678", "~1 9\nb\n"}},
		{"a return is not parted from its newline", formText, pageLimit{8, 0}, "1234567\r\n", []string{"~1 1234567", "~0 \r\n"}},
		{"characters stay whole", formText, pageLimit{8, 0}, "日本語", []string{"~1 日本", "~0 語"}},
		{"a letter keeps its marks", formText, pageLimit{8, 0}, "1234567e\u0301", []string{"~1 1234567", "~0 e\u0301"}},
		{"an emoji of several parts stays one", formText, pageLimit{12, 0}, "123456👩‍👧", []string{"~1 123456", "~0 👩‍👧"}},
		{"flags are pairs", formText, pageLimit{20, 0}, "🇩🇪🇫🇷🇮🇹", []string{"~1 🇩🇪🇫🇷", "~0 🇮🇹"}},
		{"a cluster larger than a page is cut all the same", formText, pageLimit{8, 0}, "👩‍👩‍👧", []string{"~1 👩‍", "~0 👩‍", "~0 👧"}},
		{"what is no UTF-8 is cut all the same", formText, pageLimit{8, 0}, strings.Repeat("\x80", 9), []string{"~1 " + strings.Repeat("\x80", 8), "~0 \x80"}},

		{"a heading is no row", formHeaded, pageLimit{80, 2}, "==> A <==\na\nb\n==> B <==\nc\n", []string{"2 ==> A <==\na\nb\n", "1 ==> B <==\nc\n"}},
		{"a heading stays with its first row", formHeaded, pageLimit{19, 0}, "one\ntwo\n==> B <==\nthree\n", []string{"2 one\ntwo\n", "1 ==> B <==\nthree\n"}},
		{"headings with nothing below them are shown", formHeaded, pageLimit{80, 1}, "==> A <==\n==> B <==\n", []string{"0 ==> A <==\n==> B <==\n"}},
		{"a heading that is larger than a page", formHeaded, pageLimit{8, 0}, "==> A <==\na\n", []string{"~0 ==> A <=", "~1 =\na\n"}},
		{"rows with numbers below their files", formNumbered, pageLimit{80, 1}, "A.md\n3: x\n4: y\nB.md\n1: z\n",
			[]string{"1 A.md\n3: x\n", "1 4: y\n", "1 B.md\n1: z\n"}},

		{"every record of bare CSV counts", formCSV, pageLimit{80, 1}, "a,1\nb,2\n", []string{"1 a,1\n", "1 b,2\n"}},
		{"a record holds line ends", formCSV, pageLimit{11, 0}, "\"a\n\"\"b\",1\nb,2\n", []string{"1 \"a\n\"\"b\",1\n", "1 b,2\n"}},
		{"a record that is larger than a page", formCSV, pageLimit{8, 0}, "a\n\"234567890\"\nb\n", []string{"1 a\n", "~1 \"2345678", "~0 90\"\n", "1 b\n"}},
		{"a record of the size of a page", formCSV, pageLimit{8, 0}, "1234567\nb\n", []string{"1 1234567\n", "1 b\n"}},
		{"empty lines are no rows", formCSV, pageLimit{80, 1}, "\r\na\n\n\nb\n\n", []string{"1 \r\na\n", "1 \n\nb\n", "0 \n"}},
		{"a record that ends with a comma", formCSV, pageLimit{80, 1}, "a,\nb,", []string{"1 a,\n", "1 b,"}},
		{"a quotation mark without its second one", formCSV, pageLimit{80, 0}, "a\n\"b\nc\n", []string{"2 a\n\"b\nc\n"}},
		{"quotation marks where none should be", formCSV, pageLimit{80, 1}, "a\"b\n\"c\"d\ne\"\nf", []string{"1 a\"b\n", "1 \"c\"d\ne\"\n", "1 f"}},

		{"an array that fits", formJSON, pageLimit{80, 0}, " [1,\n2] \n", []string{"2  [1,\n2] \n"}},
		{"an array is cut by bytes", formJSON, pageLimit{9, 0}, `[100,200,300]`, []string{"2 [100,200]", "1 [300]"}},
		{"an array is cut by rows", formJSON, pageLimit{80, 2}, `[1,{"a":[2,3]},"]"]`, []string{`2 [1,{"a":[2,3]}]`, `1 ["]"]`}},
		{"an indented array stays indented", formJSON, pageLimit{80, 2}, "[\n  1,\n  2,\n  3\n]\n", []string{"2 [\n  1,\n  2\n]\n", "1 [\n  3\n]\n"}},
		{"brackets lose their space where a row needs it", formJSON, pageLimit{12, 0}, "[\n  123456,\n  12345678\n]\n", []string{"1 [123456]", "1 [12345678]"}},
		{"much space is not shown again", formJSON, pageLimit{8, 0},
			"[" + strings.Repeat(" ", 20) + "1,2" + strings.Repeat(" ", 20) + "]", []string{"2 [1,2]"}},
		{"an array of nothing but space", formJSON, pageLimit{8, 0}, "[" + strings.Repeat(" ", 20) + "]", []string{"0 []"}},
		{"a row that is larger than a page", formJSON, pageLimit{8, 0}, `[1,"23456789",{}, 4]`, []string{"1 [1]", `~1 "2345678`, `~0 9"`, "2 [{}, 4]"}},
		{"the last row is larger than a page", formJSON, pageLimit{8, 0}, `["23456789" ] `, []string{`~1 "2345678`, `~0 9"`}},
		{"a row that fits alone, but not with brackets", formJSON, pageLimit{8, 0}, `["234567",1]`, []string{`~1 "234567"`, "1 [1]"}},
		{"an object that fits", formJSON, pageLimit{8, 1}, "{\n\n\n}", []string{"1 {\n\n\n}"}},
		{"an object of the size of a page", formJSON, pageLimit{8, 0}, `{"a":78}`, []string{`1 {"a":78}`}},
		{"an object that does not", formJSON, pageLimit{8, 1}, `{"a": "5678"}`, []string{`~1 {"a": "5`, `~0 678"}`}},
		{"what is no JSON", formJSON, pageLimit{8, 0}, "[1,2,3,4,]", []string{"~1 [1,2,3,4", "~0 ,]"}},
		{"what is no JSON and fits", formJSON, pageLimit{8, 0}, "[1", []string{"~1 [1"}},
		{"an empty text as JSON", formJSON, pageLimit{8, 0}, "", []string{"~0 "}},
	}
	for _, test := range tests {
		assert.EqualSlices(t, shown(pagesOf(t, test.whole, test.form, test.limit)), test.want, "%s", test.name)
	}
}

func TestZeroLimitIsNone(t *testing.T) {
	whole := strings.Repeat("x", 1<<20)
	page, err := Cut(whole, formText, pagePosition{}, pageLimit{})
	require.Equal(t, err, nil, "%d bytes, next %+v", len(page.Text), page.Next)
	require.Equal(t, page.Text, whole, "%d bytes, next %+v", len(page.Text), page.Next)
	assert.That(t, page.Last(), "%d bytes, next %+v, %v", len(page.Text), page.Next, err)
}

func TestDeepJSONIsNoJSON(t *testing.T) {
	for depth := 9_999; depth <= 10_001; depth++ { // encoding/json draws the line between them
		whole := strings.Repeat("[", depth) + "7" + strings.Repeat("]", depth)
		page, err := Cut(whole, formJSON, pagePosition{}, pageLimit{Bytes: 1 << 20})
		require.Equal(t, err, nil, "depth %d: partial %v", depth, page.Partial)
		require.Equal(t, page.Text, whole, "depth %d: partial %v", depth, page.Partial)
		assert.That(t, page.Partial != json.Valid([]byte(whole)), "depth %d: partial %v, %v", depth, page.Partial, err)
	}
	deep := strings.Repeat("[", 1<<20)
	assert.Equal(t, rowsOf(deep+strings.Repeat("]", 1<<20), formJSON), 1, "rows")
	page, err := Cut(deep, formJSON, pagePosition{}, pageLimit{Bytes: 1000})
	require.Equal(t, err, nil, "%d bytes, partial %v", len(page.Text), page.Partial)
	require.That(t, page.Partial, "%d bytes, partial %v, %v", len(page.Text), page.Partial, err)
	assert.Equal(t, page.Text, deep[:1000], "%d bytes, partial %v", len(page.Text), page.Partial)
}

func TestCutRefuses(t *testing.T) {
	const whole = "aé\r\nbcdefgh"
	tests := []struct {
		name  string
		form  pageForm
		at    pagePosition
		limit pageLimit
		want  string
	}{
		{"a page that is too small", formText, pagePosition{}, pageLimit{Bytes: 7}, "size of a page is 7 bytes, which is below 8"},
		{"a page below zero", formText, pagePosition{}, pageLimit{Bytes: -1}, "size of a page is -1 bytes, which is below 8"},
		{"rows below zero", formText, pagePosition{}, pageLimit{Rows: -1}, "number of rows is -1, which is below zero"},
		{"a place before the start", formText, pagePosition{At: -1}, pageLimit{}, "position is outside of the answer"},
		{"a place behind the end", formText, pagePosition{At: len(whole)}, pageLimit{}, "position is outside of the answer"},
		{"a row that ends where it begins", formJSON, pagePosition{At: 1, Until: 1}, pageLimit{}, "position is outside of the answer"},
		{"a row that ends behind the end", formCSV, pagePosition{At: 1, Until: len(whole) + 1}, pageLimit{}, "position is outside of the answer"},
		{"a row in a text", formText, pagePosition{At: 1, Until: 3}, pageLimit{}, "position is of an answer of another form"},
		{"a place in a character", formText, pagePosition{At: 2}, pageLimit{}, "position is within a character"},
		{"a place between return and newline", formText, pagePosition{At: 4}, pageLimit{}, "position is within a character"},
		{"a row that ends in a character", formJSON, pagePosition{Until: 2}, pageLimit{}, "position is within a character"},
	}
	for _, test := range tests {
		page, err := Cut(whole, test.form, test.at, test.limit)
		var invalid *failure.RequestError
		if !errors.As(err, &invalid) || err.Error() != test.want || invalid.Code() != "bad_value" || invalid.Hint() == "" || page != (pagePart{}) {
			t.Errorf("%s: %+v, %v, want %s", test.name, page, err, test.want)
		}
	}
}

// A position that was made up must not make a page that claims to be JSON and is
// none.
func TestMadeUpPositions(t *testing.T) {
	const whole = `[{"a":"x],{\"b\":1},[2"},[3,4],{"c":[5]}]`
	for at := range whole {
		for until := range len(whole) + 1 {
			place := pagePosition{at, until}
			for steps := 0; ; steps++ {
				page, err := Cut(whole, formJSON, place, pageLimit{Bytes: 9})
				if err != nil {
					break
				}
				if !page.Partial && !json.Valid([]byte(page.Text)) || len(page.Text) > 9 || steps > len(whole) {
					t.Fatalf("at %+v, from %d and %d: %+v", place, at, until, page)
				}
				if page.Last() {
					break
				}
				place = page.Next
			}
		}
	}
}

// Longer than any page, once with a row of that size at the end.
func TestLongArrays(t *testing.T) {
	rows := strings.Repeat("{\"name\":\"Bücher/日本\", \"size\": 1e400},\n", 4000)
	long := `"` + strings.Repeat("👩‍👧", 64<<10) + `"`
	for _, whole := range []string{"[" + rows + "1]", "[" + rows + long + "]", "[" + long + ",1]"} {
		for _, limit := range []pageLimit{{4000, 0}, {64 << 10, 0}, {1 << 20, 500}} {
			checkPages(t, whole, formJSON, limit)
		}
	}
	assert.Equal(t, rowsOf("["+rows+"{]", formJSON), 1, "an array that breaks at its end has, rows")
	assert.Equal(t, rowsOf("[nul,"+rows+"1]", formJSON), 1, "an array that breaks at its start has, rows")
}

// After a row that was made up nothing is known, so the rest is text.
func TestBehindMadeUpRows(t *testing.T) {
	const whole = `["a",{"b":2} 3]`
	page, err := Cut(whole, formJSON, pagePosition{5, 12}, pageLimit{})
	want := (pagePart{Text: `{"b":2}`, Next: pagePosition{12, len(whole)}, Partial: true})
	assert.NoError(t, err)
	assert.Equal(t, page, want)
}

func TestBracketsOf(t *testing.T) {
	blank := strings.Repeat(" ", maxSpace)
	tests := []struct{ whole, open, shut string }{
		{"[1]", "[", "]"},
		{"\n[\n  1\n]\n", "\n[\n  ", "\n]\n"},
		{"[" + blank[1:] + "1" + blank[1:] + "]", "[" + blank[1:], blank[1:] + "]"},
		{"[" + blank + "1" + blank + "]", "[", "]"},
		{blank + "[1]" + blank, "[", "]"},
		{"{}", "[", "]"},
		{"", "[", "]"},
	}
	for _, test := range tests {
		assert.Equal(t, bracketsOf(test.whole), (brackets{test.open, test.shut}), "brackets of %q are", test.whole)
	}
}

// A long text is read where it is, and copied once for what it would become; under the race detector
// encoding/json gets one more. Bytes are counted: how many small things it takes from pools differs.
func TestFewCopiesAreMade(t *testing.T) {
	text := "[" + strings.Repeat("[\"a\", {\"b\": 1.5}],\n", 10_000) + "1]"
	tight, _ := compactRows(text)
	for _, c := range []struct {
		name   string
		text   string
		copies float64
		do     func(text string)
	}{
		{"surveyed", text, 0, func(text string) { surveyJSON(text) }},
		{"compact already", tight, 2, func(text string) { compactRows(text) }},
	} {
		const runs = 5
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			c.do(c.text)
		}
		runtime.ReadMemStats(&after)
		made := float64(after.TotalAlloc-before.TotalAlloc) / runs / float64(len(c.text))
		assert.That(t, made <= c.copies+0.2, "%s: memory for %.2f copies, at most %v", c.name, made, c.copies)
	}
}

var numberedLine = regexp.MustCompile(`^[0-9]+:`)

// rowsOf counts the rows of a whole, as a second statement of what the pages of it
// must have together: lines, records, or the elements of an array of JSON. Other JSON, and
// text that is not JSON, is one row. An empty text has none.
func rowsOf(whole string, form pageForm) int {
	switch {
	case whole == "":
		return 0
	case form == formJSON:
		if rows := surveyJSON(whole); rows.isArray {
			return rows.count
		}
		return 1
	case form == formCSV:
		count := 0
		for at := 0; at < len(whole); {
			next, rows := record(whole, at)
			at, count = next, count+rows
		}
		return count
	}
	rows := 0
	for line := range strings.Lines(whole) {
		line = strings.TrimRight(line, "\r\n")
		isArrow := strings.HasPrefix(line, "==> ") && strings.HasSuffix(line, " <==")
		if !(form == formHeaded && isArrow || form == formNumbered && !numberedLine.MatchString(line)) {
			rows++
		}
	}
	return rows
}

// TestRowsOfAllPagesAreCounted: what begins before a page and what begins on it are
// the rows of the whole, for every form and size of pages.
func TestRowsOfAllPagesAreCounted(t *testing.T) {
	texts := map[pageForm][]string{
		formText:     {"", "a", "a\n", "a\nb\nc", "one\n\ntwo\n", strings.Repeat("a long line of a note\n", 20)},
		formHeaded:   {"==> A.md <==\none\ntwo\n\n==> B.md <==\nthree\n", "==> only a heading <==\n", "one\n==> an end <==\ntwo", "==> a\n==> b <==\nc"},
		formNumbered: {"A.md\n3: - [ ] one\n4: - [ ] two\nB.md\n1: - [ ] three\n", "A.md\n", "1: one\nA\nB\n2: two", "a: b\n12: c\n:d\n"},
		formJSON:     {"[]", "[1]", `["a", "b,]", {"c": [1, 2]}]`, "[\n  1,\n  2,\n  3\n]", `{"a": 1}`, "[" + strings.Repeat(`"row",`, 30) + `"last"]`},
		formCSV:      {"a,b\nc,d\n", "\"a\nb\",c\nd,e", "h\n\na\n"},
	}
	wants := map[string]int{"": 0, "a\nb\nc": 3, `["a", "b,]", {"c": [1, 2]}]`: 3, "[]": 0, `{"a": 1}`: 1,
		"\"a\nb\",c\nd,e": 2, "==> A.md <==\none\ntwo\n\n==> B.md <==\nthree\n": 4,
		"A.md\n3: - [ ] one\n4: - [ ] two\nB.md\n1: - [ ] three\n": 3}
	for form, all := range texts {
		for _, whole := range all {
			total := (countedPage{}).Rows(whole, form, len(whole))
			want, known := wants[whole]
			assert.That(t, !known || total == want, "%d %q: %d rows, want %d", form, whole, total, want)
			for rows := 1; rows < 4; rows++ {
				assert.NoError(t, sumsUp(whole, form, rows, total), "%d %q in pages of %d", form, whole, rows)
			}
		}
	}
}

// sumsUp follows the pages of a text.
func sumsUp(whole string, form pageForm, rows, total int) error {
	seen, at, known := 0, pagePosition{}, countedPage{}
	for {
		page, err := Cut(whole, form, at, pageLimit{Rows: rows})
		if err != nil {
			return err
		}
		if before := (countedPage{}).Rows(whole, form, at.At); before != seen {
			return fmt.Errorf("at %d there are %d rows before, want %d", at.At, before, seen)
		}
		for _, until := range []int{at.At, len(whole)} {
			if got, want := known.Rows(whole, form, until), (countedPage{}).Rows(whole, form, until); got != want {
				return fmt.Errorf("at %d there are %d rows before %d, want %d", at.At, got, until, want)
			}
		}
		seen += page.Rows
		if page.Last() {
			break
		}
		at = page.Next
		if later, ok := countBefore(whole, form, at, seen); ok {
			if known = later; known.Rows(whole, form, 0) != 0 {
				return fmt.Errorf("there are rows before the first one")
			}
		}
	}
	if seen != total {
		return fmt.Errorf("%d rows on all pages, %d in the whole", seen, total)
	}
	return nil
}

func Cut(whole string, form pageForm, at pagePosition, limit pageLimit) (pagePart, error) {
	return wholeAnswer{Text: whole, Form: form}.cut(at, limit)
}

const someID = "ABCDEFGHIJKLMNOPQRSTUVW234"

func TestCursor(t *testing.T) {
	for _, at := range []pagePosition{{}, {At: 7}, {At: 1, Until: 12}, {Until: 3}, {At: maxOffset, Until: maxOffset}} {
		for _, id := range []string{someID, rand.Text()} {
			cursor := cursorAt(id, at)
			gotID, got, err := parseCursor(cursor)
			require.NoError(t, err)
			require.Equal(t, gotID, id)
			require.Equal(t, got, at)
			assert.That(t, len(cursor) <= 48, "%s: %s, %+v, %v", cursor, gotID, got, err)
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	for _, cursor := range []string{
		"", ".", someID, someID + ".", "." + someID, someID + ".1.", someID + "..1", someID + ".1.0", someID + ".1.2.3",
		someID + ".01", someID + ".-1", someID + ".+1", someID + ".1 ", " " + someID + ".1", someID + ".1_0", someID + ".0x1",
		someID + ".1073741825", someID + ".4294967296", someID + ".99999999999999999999", someID + ".1.01", someID + ".１",
		someID[1:] + ".1", someID + "A.1", strings.ToLower(someID) + ".1", someID[1:] + "0.1", someID[1:] + "\x00.1",
		strings.Repeat("A", 1<<20),
	} {
		id, at, err := parseCursor(cursor)
		var invalid *failure.RequestError
		require.That(t, errors.As(err, &invalid), "%.60q: %s, %+v, %v", cursor, id, at, err)
		require.Equal(t, id, "", "%.60q", cursor)
		require.Equal(t, at, pagePosition{}, "%.60q", cursor)
		if invalid.Code() != "bad_value" || invalid.Hint() != "send the cursor of the latest answer, as it was" || len(err.Error()) > 200 {
			t.Errorf("%.60q: %v, %s", cursor, err, invalid.Hint())
		}
	}
}
