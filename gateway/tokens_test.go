package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// checkSurvey compares what a survey says of a text with what encoding/json says.
func checkSurvey(t require.T, text string) {
	isJSON := json.Valid([]byte(text))
	require.Equal(t, surveyJSON(text).isJSON, isJSON, "surveyed(%q) =", text)
	rows := surveyJSON(text)
	if elements, isArray := elementsOf(text); rows.isJSON != isJSON || rows.isArray != isArray || isArray && rows.count != len(elements) {
		t.Fatalf("surveyed(%q) = %+v, want %v, %v, %d", text, rows, isJSON, isArray, len(elements))
	}
	want := text
	if isJSON {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(text)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want = b.String()
	}
	compact, again := compactRows(text)
	require.Equal(t, compact, want, "Compact(%q) = %q", text, compact)
	require.Equal(t, again, rows, "Compact(%q) = %q", text, compact)
	if !isJSON {
		return
	}
	if _, once := compactRows(compact); once != rows {
		t.Fatalf("%q has %+v, and compact %+v", text, rows, once)
	}
}

// tokens are what JSON is made of, and what is nearly JSON.
var tokens = []string{
	"[", "]", "{", "}", ",", ":", " ", "\n", "\t", "\r", "\v", "\u00a0", `"a"`, `"a":`, `"`, `"\"`, `\`, `"\u00`,
	`"\u00eF"`, `"\u00g0"`, `"\x"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\"",
	`"eight by"`, `"eight b\\y\n8"`, `"1234567` + "\x01" + `"`, `"\/\b\f\n\r\t"`, "true", "false", "null", "tru", "nul",
	"True", "0", "-0", "00", "-", "01", "1.", ".5", "1.5", "1e", "1e+", "1E-5", "1.0e5", "+1", "0x1", "1-", "NaN",
	"é", "語",
}

func TestASurveySaysWhatEncodingJSONSays(t *testing.T) {
	for _, text := range seeds {
		checkSurvey(t, text)
	}
	for _, token := range tokens {
		for _, around := range [][2]string{{}, {"[", "]"}, {`{"a":`, "}"}, {" ", "\n"}, {"[1,", ",2]"}, {"{", ":1}"}} {
			checkSurvey(t, around[0]+token+around[1])
		}
	}
	for _, depth := range []int{1, 63, 9_999, 10_000, 10_001} {
		checkSurvey(t, strings.Repeat("[", depth)+strings.Repeat("]", depth))
		checkSurvey(t, strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
		checkSurvey(t, strings.Repeat("[", depth))
	}
}

func TestASurveyOfAnyTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkSurvey(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 12).Draw(t, "tokens"), ""))
	})
}

func TestASurveyOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := values(3).Draw(t, "text")
		checkSurvey(t, text)
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		checkSurvey(t, text[:at])
		checkSurvey(t, text[:at]+rapid.SampledFrom(tokens).Draw(t, "token")+text[at:])
	})
}

// Space is taken by what became of the text up to there, and the copy is right whether there
// is less space after it or more.
func TestCompactOfLongTexts(t *testing.T) {
	tight, wide := strings.Repeat(`["a","b"],`, 3000), strings.Repeat("[\n    \"a\",\n    \"b\"\n  ],\n  ", 3000)
	for name, text := range map[string]string{
		"space at first": "[" + wide + tight + "1]", "space later": "[" + tight + wide + "1]", "space at the end": "[" + tight + tight + "1]\n",
		"one long string": "[ \"" + strings.Repeat("word ", 9000) + "\"]", "hardly space": "[" + tight + " " + tight + " 1]",
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, json.Compact(&b, []byte(text)))
			got, _ := compactRows(text)
			assert.Equal(t, got, b.String(), "%d bytes, want %d", len(got), b.Len())
		})
	}
}

func FuzzSurvey(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Add(strings.Join(tokens, ","))
	f.Fuzz(func(t *testing.T, text string) { checkSurvey(t, text) })
}
