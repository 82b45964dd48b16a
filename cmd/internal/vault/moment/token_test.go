package moment

import (
	"strings"
	"testing"

	"vaultwicket/tests/assert"
)

func TestTokenSize(t *testing.T) {
	tests := map[string][]string{ // a run and the tokens it falls into
		"MMMMMM":     {"MMMM", "MM"},
		"MoM":        {"Mo", "M"},
		"QoQQ":       {"Qo", "Q", "Q"},
		"DDDDDo":     {"DDDD", "Do"},
		"DDDoDDo":    {"DDDo", "DD", "o"},
		"dddddo":     {"dddd", "do"},
		"ddo":        {"dd", "o"},
		"wwwoWoWW":   {"ww", "wo", "Wo", "WW"},
		"w|W|w":      {"w|", "W|", "w"},
		"YYYYYYY":    {"YYYYYY", "Y"},
		"YYYYY":      {"YYYYY"},
		"YYY":        {"YY", "Y"},
		"yyyyyyoyo":  {"yyyy", "yy", "o", "yo"},
		"gggggg":     {"ggggg", "g"},
		"gggg":       {"gggg"},
		"GGG":        {"GG", "G"},
		"NNNNNN":     {"NNNNN", "N"},
		"HHHmmss":    {"HH", "Hmmss"},
		"HHmm":       {"HH", "mm"},
		"hmmsss":     {"hmmss", "s"},
		"hmms":       {"hmm", "s"},
		"kkkmmmsss":  {"kk", "k", "mm", "m", "ss", "s"},
		"SSSSSSSSSS": {"SSSSSSSSS", "S"},
		"zzzZZZ":     {"zz", "z", "ZZ", "Z"},
		"aAeExX":     {"a", "A", "e", "E", "x", "X"},
		"日é\xff":     {"日", "é", "\xff"},
	}
	for text, want := range tests {
		var got []string
		for rest := text; rest != ""; {
			size := tokenSize(rest)
			got = append(got, rest[:size])
			rest = rest[size:]
		}
		assert.That(t, strings.Join(got, " ") == strings.Join(want, " "), "%q fell into %q, want %q", text, got, want)
	}
}

func TestBracketed(t *testing.T) {
	for text, want := range map[string]int{
		"[a]": 3, "[]": 2, "[a": 0, "a]": 0, "[a] b] c": 6, "[a [b]": 0, "[a] [b]": 3, "[\n]": 3, "[": 0,
	} {
		assert.Equal(t, bracketed(text), want, "bracketed(%q) =", text)
	}
}

func TestExpandLong(t *testing.T) {
	for text, want := range map[string]string{
		"YYYY": "YYYY", "L": "MM/DD/YYYY", "LTSL": "h:mm:ss AMM/DD/YYYY", "LTLT": "h:mm Ah:mm A", "[L]": "[L]", `\L L`: `\L MM/DD/YYYY`,
		`\LTS`: `\LTS`, `\\l`: `\\l`, "[L": "[MM/DD/YYYY", "lllll": "ddd, MMM D, YYYY h:mm AM/D/YYYY",
	} {
		assert.Equal(t, expandLong(text), want, "expandLong(%q) =", text)
	}
}

func TestPad(t *testing.T) {
	for _, test := range []struct {
		n, width int
		want     string
	}{
		{0, 1, "0"}, {0, 2, "00"}, {7, 2, "07"}, {123, 2, "123"}, {-7, 2, "-07"}, {-123, 6, "-000123"},
	} {
		assert.Equal(t, pad(test.n, test.width), test.want, "pad(%d, %d) =", test.n, test.width)
	}
}
