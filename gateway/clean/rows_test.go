package clean

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestRows(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       []string
	}{
		{"nothing", "", []string{""}},
		{"a long line", strings.Repeat("x", 100), []string{strings.Repeat("x", 76), strings.Repeat("x", 24)}},
		{"a wide line", strings.Repeat("人", 40), []string{strings.Repeat("人", 38), "人人"}},
		{"tabs", strings.Repeat("\t", 10), []string{strings.Repeat("\t", 9), "\t"}},
		{"marks stay with their letter", strings.Repeat("e\u0301", 77), []string{strings.Repeat("e\u0301", 76), "e\u0301"}},
		{"joined emoji stay together", strings.Repeat("x", 75) + "👩🏽\u200d🚀", []string{strings.Repeat("x", 75), "👩🏽\u200d🚀"}},
		{"skin tones stay with their emoji", strings.Repeat("x", 74) + "👍🏻👍🏿", []string{strings.Repeat("x", 74), "👍🏻👍🏿"}},
		{"more joined emoji than a row", strings.Repeat("👩\u200d", 39) + "👩", []string{strings.Repeat("👩\u200d", 38), "👩\u200d👩"}},
	} {
		if got := Rows(test.line, 76); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Rows make up the line, and none is too long.
func TestRowsMakeUpTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, width := strings.ReplaceAll(String(drawText(t)), "\n", ""), rapid.IntRange(1, 90).Draw(t, "width")
		rows := Rows(line, width)
		if strings.Join(rows, "") != line {
			t.Fatalf("%+q in %d columns: %+q", line, width, rows)
		}
		for _, row := range rows {
			columns := 0
			for _, r := range row {
				takes, _ := extent(r)
				columns += takes
			}
			if columns > width && utf8.RuneCountInString(row) > 1 || !utf8.ValidString(row) || row == "" && line != "" {
				t.Fatalf("%+q in %d columns: %+q", line, width, row)
			}
		}
	})
}
