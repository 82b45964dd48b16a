package gateway

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The parts of a text that end with rows are the whole together, and no row is divided.
func TestPartsEndWithRows(t *testing.T) {
	for name, test := range map[string]struct {
		form  pageForm
		whole string
		rows  []string
	}{
		"lines":                 {formText, "one\ntwo\n\nthree and four\nfive\n", []string{"one\n", "two\n", "\n", "three and four\n", "five\n"}},
		"lines without an end":  {formText, "one\ntwo", []string{"one\n", "two"}},
		"an array":              {formJSON, "[{\"a\":1},\n {\"b\":\"],\"}, 3,[4,5]]\n", []string{"[{\"a\":1}", ",\n {\"b\":\"],\"}", ", 3", ",[4,5]]\n"}},
		"an array of one":       {formJSON, "[1]\n", []string{"[1]\n"}},
		"an empty array":        {formJSON, "[]\n", []string{"[]\n"}},
		"no array":              {formJSON, "{\"a\":[1,2]}\n", []string{"{\"a\":[1,2]}\n"}},
		"records with a break":  {formCSV, "a,b\n\"c\nd\",e\nf,g\n", []string{"a,b\n", "\"c\nd\",e\n", "f,g\n"}},
		"nothing":               {formText, "", nil},
		"one long line":         {formText, strings.Repeat("x", 100), []string{strings.Repeat("x", 100)}},
		"what is broken is one": {formJSON, "[1,2 3]\n", []string{"[1", ",2 3]\n"}},
	} {
		var rows []string
		for at := 0; at < len(test.whole); {
			end := test.form.RowEnd(test.whole, at, 1)
			require.That(t, end > at, "%s: from %d to %d", name, at, end)
			require.That(t, end <= len(test.whole), "%s: from %d to %d", name, at, end)
			rows, at = append(rows, test.whole[at:end]), end
		}
		assert.That(t, strings.Join(rows, "|") == strings.Join(test.rows, "|"), "%s: %q, want %q", name, rows, test.rows)
		for from, begin := 0, 0; from < len(test.rows); begin, from = begin+len(test.rows[from]), from+1 {
			for atLeast := 1; atLeast <= len(test.whole)-begin+1; atLeast++ {
				end := test.form.RowEnd(test.whole, begin, atLeast)
				want, n := begin, from
				for ; n < len(test.rows) && want-begin < atLeast; n++ {
					want += len(test.rows[n])
				}
				assert.Equal(t, end, want, "%s: %d bytes from %d", name, atLeast, begin)
				if begin == 0 && end < len(test.whole) && test.form == formJSON && json.Valid([]byte(test.whole)) {
					assert.That(t, json.Valid([]byte(test.whole[:end]+"]")), "%s: %q is no beginning of an array", name, test.whole[:end])
				}
			}
		}
	}
}

// What a caller keeps with a text counts like the text.
func TestDataAboutATextIsCounted(t *testing.T) {
	s := newPageStore(pageStoreLimits{9, 9, 100, 1 << 40}, nowAlways, func(about string) int { return len(about) })
	_, ok := s.Put("s", strings.Repeat("x", 50), strings.Repeat("y", 50))
	assert.That(t, !ok, "101 bytes are kept")
	first, ok := s.Put("s", strings.Repeat("x", 40), strings.Repeat("y", 30))
	require.That(t, ok, "71 bytes are not kept")
	_, ok = s.Put("s", "x", strings.Repeat("y", 40))
	require.That(t, ok, "42 bytes are not kept")
	_, _, err := s.Get("s", first)
	assert.That(t, err != nil, "both are kept")
}

func nowAlways() time.Time { return time.Time{} }
