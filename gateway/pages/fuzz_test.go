package pages

import (
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

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
		limit := Limit{MinBytes + int(bytes%64), int(rows % 8)}
		valid := strings.ToValidUTF8(whole, "\ufffd")
		for form := range formCount {
			checkPages(t, valid, form, limit)
			checkMadeUp(t, whole, form, Position{at, until}, limit)
		}
	})
}

// checkMadeUp: from wherever it is, cutting comes to an end, keeps to its limit,
// and says JSON only of JSON. The text may be any bytes.
func checkMadeUp(t require.T, whole string, form Form, at Position, limit Limit) {
	for steps := 0; ; steps++ {
		page, err := Cut(whole, form, at, limit)
		if err != nil && steps == 0 {
			return
		}
		if err != nil || len(page.Text) > limit.Bytes || steps > len(whole) || !page.Last() && page.Next.At <= at.At {
			t.Fatalf("Cut(%q, %d, %+v, %+v) = %+v, %v", whole, form, at, limit, page, err)
		}
		if form == JSON && !page.Partial && !json.Valid([]byte(page.Text)) {
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
		id, at, err := ParseCursor(cursor)
		switch {
		case err == nil && (Cursor(id, at) != cursor || len(id) != idLength || strings.Trim(id, idLetters) != "" || at.At < 0 || at.Until < 0 || at.At > maxOffset || at.Until > maxOffset):
			t.Fatalf("%q: %s, %+v", cursor, id, at)
		case err != nil && (id != "" || at != Position{}):
			t.Fatalf("%q: %s, %+v, %v", cursor, id, at, err)
		}
		if _, err := Cut("[1,2,3]", JSON, at, Limit{}); err != nil && at.At < 7 && at.Until == 0 {
			t.Fatalf("%q: %v", cursor, err)
		}
	})
}
