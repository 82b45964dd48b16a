package date

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func at(t testing.TB, rfc3339 string) time.Time {
	t.Helper()
	return require.Value(time.Parse(time.RFC3339Nano, rfc3339))(t)
}

// aSaturday is a day in week 47 with single digits in month-free places.
const aSaturday = "2026-11-21T09:05:07.042+02:00"

func TestFormat(t *testing.T) {
	tests := []struct{ name, at, format, want string }{
		{"the default of daily notes", aSaturday, "YYYY-MM-DD", "2026-11-21"},
		{"no format means ISO 8601", aSaturday, "", "2026-11-21T09:05:07+02:00"},
		{"months in all widths", aSaturday, "M|Mo|MM|MMM|MMMM", "11|11th|11|Nov|November"},
		{"quarters", aSaturday, "Q Qo", "4 4th"},
		{"days of the month", "2026-03-02T00:00:00Z", "D Do DD", "2 2nd 02"},
		{"days of the year", "2026-02-03T00:00:00Z", "DDD DDDo DDDD", "34 34th 034"},
		{"weekdays by name", aSaturday, "d do dd ddd dddd", "6 6th Sa Sat Saturday"},
		{"weekdays count from Sunday in e and from Monday in E", "2026-11-22T12:00:00Z", "e E", "0 7"},
		{"Saturday in e and E", aSaturday, "e E", "6 6"},
		{"years", aSaturday, "Y YY YYYY YYYYY YYYYYY", "2026 26 2026 02026 +002026"},
		{"era years", aSaturday, "y yy yyy yyyy yo", "2026 2026 2026 2026 2026th"},
		{"eras", aSaturday, "N NN NNN NNNN NNNNN", "AD AD AD Anno Domini AD"},
		{"a year before the era", "0000-05-01T00:00:00Z", "y yyyy N NNNN YYYY", "1 0001 BC Before Christ 0000"},
		{"hours", aSaturday, "H HH h hh k kk", "9 09 9 09 9 09"},
		{"midnight is 24 in k", "2026-11-21T00:30:00Z", "H h k kk A", "0 12 24 24 AM"},
		{"noon", "2026-11-21T12:00:00Z", "H h k a A", "12 12 12 pm PM"},
		{"run-together clock tokens", aSaturday, "hmm hmmss Hmm Hmmss", "905 90507 905 90507"},
		{"afternoon run together", "2026-11-21T15:04:05Z", "hmm Hmmss", "304 150405"},
		{"HHmm is two tokens", aSaturday, "YYYYMMDDHHmm", "202611210905"},
		{"minutes and seconds", aSaturday, "m mm s ss", "5 05 7 07"},
		{"fractions stop at milliseconds", aSaturday, "S SS SSS SSSS SSSSSSSSS", "0 04 042 0420 042000000"},
		{"ten S are nine and one", aSaturday, "SSSSSSSSSS", "0420000000"},
		{"seconds and milliseconds since 1970", aSaturday, "X x", "1795244707 1795244707042"},
		{"before 1970 the second is rounded down", "1969-12-31T23:59:59.5Z", "X x", "-1 -500"},
		{"offsets", aSaturday, "Z ZZ", "+02:00 +0200"},
		{"western offset with minutes", "2026-11-21T09:00:00-03:30", "Z ZZ", "-03:30 -0330"},
		{"zone names of local times are empty", aSaturday, "<z zz>", "< >"},
		{"long formats", aSaturday, "LT|LTS|L|LL|LLL|LLLL",
			"9:05 AM|9:05:07 AM|11/21/2026|November 21, 2026|November 21, 2026 9:05 AM|Saturday, November 21, 2026 9:05 AM"},
		{"short long formats", "2026-03-02T09:05:07Z", "l|ll|lll|llll", "3/2/2026|Mar 2, 2026|Mar 2, 2026 9:05 AM|Mon, Mar 2, 2026 9:05 AM"},
		{"five L are four and one", aSaturday, "LLLLL", "Saturday, November 21, 2026 9:05 AM11/21/2026"},
		{"runs of letters fall into the longest tokens", aSaturday,
			"QoQQ|MMMMMM|MoM|DDDDDo|DDDoDDo|dddddo|ddo|[]wwwoWoWW|w|W|w",
			"4th44|November11|11th11|32521st|325th21o|Saturday6th|Sao|4747th47th47|w|W|47"},
		{"of years and times too", aSaturday,
			"YYYYYYY|yyyyyyoyo|gggggg|GGG|NNNNNN|HHHmmss|hmmsss|hmms|kkkmmmsss|zzzZZZ|aAeE",
			"+0020262026|20262026o2026th|02026g|26G|ADAD|0990507|905077|9057|099055077|+0200+02:00|amAM66"},
		{"and long formats", aSaturday, `LTSL|LTLT|[L]|\L L|\LTS|\\l|lllll|[L`,
			"9:05:07 AM11/21/2026|9:05 AM9:05 AM|L|L 11/21/2026|LT0|l|Sat, Nov 21, 2026 9:05 AM11/21/2026|[11/21/2026"},
		{"slashes are literal", aSaturday, "YYYY/MM/YYYY-MM-DD", "2026/11/2026-11-21"},
		{"letters in words are tokens too", aSaturday, "month", "5ont9"},
		{"unknown letters are literal", aSaturday, "f j o T", "f j o T"},
		{"text that is not ASCII is literal", aSaturday, "YYYY年MM月DD日 🎉", "2026年11月21日 🎉"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, Format(at(t, test.at), test.format), test.want, "Format(%s, %q) =", test.at, test.format)
		})
	}
}

func TestLiterals(t *testing.T) {
	tests := []struct{ name, format, want string }{
		{"brackets protect", "[Week] ww [of] YYYY", "Week 47 of 2026"},
		{"a literal reaches to the last closing bracket", "[x] YYYY]", "x] YYYY"},
		{"the next opening bracket ends it", "[a] [b]", "a b"},
		{"empty brackets are nothing", "[]YYYY", "2026"},
		{"an unclosed bracket is literal", "[YYYY", "[2026"},
		{"a closing bracket alone is literal", "YYYY]", "2026]"},
		{"an unclosed one before a closed one", "[D[D]", "[21D"},
		{"brackets keep line ends", "[a\nb]", "a\nb"},
		{"brackets keep backslashes", `[a\D]`, `a\D`},
		{"brackets protect long formats", "[LT] D", "LT 21"},
		{"a backslash makes a token literal", `\YYYY-MM`, "YYYY-11"},
		{"a backslash takes the whole token", `\DDDo D`, "DDDo 21"},
		{"a backslash protects a long format", `\LT`, "LT"},
		{"a backslash before a bracket", `\[D]`, "[21]"},
		{"two backslashes vanish", `\\D`, "21"},
		{"a backslash at the end vanishes", `D\`, "21"},
		{"a backslash before a line end vanishes with it", "D\\\nM", "2111"},
		{"line ends outside brackets vanish", "D\nM\r\u2028D", "211121"},
		{"a bar behind w belongs to it", "w|W|", "w|W|"},
		{"three Y are YY and Y", "YYY", "262026"},
		{"three g are gg and a letter", "ggg", "26g"},
		{"one g is a letter", "g G", "g G"},
		{"five y are yyyy and y", "yyyyy", "20262026"},
		{"DDo is DD and a letter", "DDo", "21o"},
		{"broken UTF-8 passes", "D\xff", "21\xff"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, Format(at(t, aSaturday), test.format), test.want, "Format(%q) =", test.format)
		})
	}
}

func TestWeeksAroundNewYear(t *testing.T) {
	// locale: gggg-[w]ww, ISO: GGGG-[W]WW
	tests := []struct{ day, locale, iso string }{
		{"2024-12-28", "2024 52", "2024 52"}, // Saturday
		{"2024-12-29", "2025 01", "2024 52"}, // Sunday opens the locale's week 1
		{"2024-12-30", "2025 01", "2025 01"}, // Monday opens the ISO week 1
		{"2025-01-04", "2025 01", "2025 01"},
		{"2025-01-05", "2025 02", "2025 01"}, // Sunday
		{"2026-01-01", "2026 01", "2026 01"},
		{"2026-12-26", "2026 52", "2026 52"},
		{"2026-12-27", "2027 01", "2026 52"},
		{"2026-12-28", "2027 01", "2026 53"},
		{"2027-01-01", "2027 01", "2026 53"},
		{"2027-01-03", "2027 02", "2026 53"},
		{"2027-01-04", "2027 02", "2027 01"},
		{"2022-01-01", "2022 01", "2021 52"},
		{"2016-12-31", "2016 53", "2016 52"}, // a Saturday ends the locale's year
		{"2017-01-01", "2017 01", "2016 52"},
	}
	for _, test := range tests {
		t.Run(test.day, func(t *testing.T) {
			day := at(t, test.day+"T23:30:00-05:00")
			assert.Equal(t, Format(day, "gggg ww"), test.locale, "locale week")
			assert.Equal(t, Format(day, "GGGG WW"), test.iso, "ISO week")
		})
	}
	got := Format(at(t, "2027-01-03T00:00:00Z"), "gg w wo ggggg GG W Wo GGGGG")
	assert.That(t, got == "27 2 2nd 02027 26 53 53rd 02026", "narrow and wide week tokens: %q", got)
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{0: "0th", 1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th",
		13: "13th", 21: "21st", 101: "101st", 111: "111th", 365: "365th"} {
		assert.Equal(t, ordinal(n), want, "ordinal(%d) =", n)
	}
}

func TestYearsBeyondFourDigits(t *testing.T) {
	far := time.Date(12026, 1, 2, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, Format(far, "Y YYYY YYYYY YYYYYY"), "+12026 12026 12026 +012026", "year 12026")
	assert.Equal(t, Format(time.Date(-12, 1, 2, 0, 0, 0, 0, time.UTC), "Y YYYY YYYYYY y"), "-0012 -0012 -000012 13", "year -12")
}

func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"", "YYYY-MM-DD", "[x] YYYY]", `\[\\L`, "LLLLLllll", "wW|wo|", "\xff[",
		"dddd, MMMM Do YYYY, h:mm:ss a", "SSSSSSSSSSSS", "[a[b]c]"} {
		f.Add(seed, int64(1795244707042))
	}
	f.Fuzz(func(t *testing.T, format string, millis int64) {
		const farthest = 8.64e15 // the range of a JavaScript date
		when := time.UnixMilli(millis % farthest).UTC()
		first := Format(when, format)
		second := Format(when, format)
		assert.That(t, first == second, "two answers for %q: %q and %q", format, first, second)
		assert.That(t, !utf8.ValidString(format) || utf8.ValidString(first), "%q became broken UTF-8: %q", format, first)
	})
}
