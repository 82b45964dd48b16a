// Package moment writes a time by a moment.js format string, as the notes app
// does for daily notes and templates: version 2.30 of that library, locale en.
//
// It only formats; it parses no dates, knows no other locale, and never fails:
// other text is literal. Week numbers come in two kinds: the
// tokens with W, G and E are ISO 8601, those with w, g and e are the locale's
// (weeks start on Sunday, week 1 contains 1 January).
package moment

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// iso is what the library uses when no format is given.
const iso = "YYYY-MM-DDTHH:mm:ssZ"

// Format returns t, in its own zone, written by format. An empty format means
// ISO 8601 with the offset.
func Format(t time.Time, format string) string {
	if format == "" {
		format = iso
	}
	var out strings.Builder
	for rest := expandLong(format); rest != ""; {
		text, size := next(t, rest)
		out.WriteString(text)
		rest = rest[size:]
	}
	return out.String()
}

// next returns the text for the first token of a non-empty s, and how many
// bytes of s that token takes.
func next(t time.Time, s string) (text string, size int) {
	if size := bracketed(s); size > 0 {
		return s[1 : size-1], size
	}
	if s[0] == '\\' {
		// The library strips every backslash of the token after it, so a backslash before a backslash,
		// a line end or nothing leaves nothing.
		rest := s[1:]
		if rest == "" || isLineEnd(rest[:tokenSize(rest)]) {
			return "", 1
		}
		n := tokenSize(rest)
		return strings.TrimPrefix(rest[:n], `\`), 1 + n
	}
	size = tokenSize(s)
	if text, ok := render(t, s[:size]); ok {
		return text, size
	}
	if isLineEnd(s[:size]) {
		return "", size
	}
	return s[:size], size
}

// bracketed returns the size of a literal in square brackets at the start of
// s, or 0. It reaches to the last closing bracket before the next opening one,
// which is why "[x] YYYY]" is one literal.
func bracketed(s string) int {
	if s[0] != '[' {
		return 0
	}
	inner := s[1:]
	if open := strings.IndexByte(inner, '['); open >= 0 {
		inner = inner[:open]
	}
	last := strings.LastIndexByte(inner, ']')
	if last < 0 {
		return 0
	}
	return len("[") + last + len("]")
}

// isLineEnd reports whether token is a character that the library's pattern
// does not match at all, and therefore drops outside brackets.
func isLineEnd(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'
}

// tokenSize returns how many bytes the token at the start of a non-empty s
// takes. A character that begins no token counts as a token of its own. The
// rules are the library's, with its oddities: YYY is YY and Y, ggg is gg and
// g, and a bar after w or W belongs to that letter.
func tokenSize(s string) int {
	switch c := s[0]; c {
	case 'H', 'h':
		switch {
		case hasAt(s, 1, "mmss"):
			return len("Hmmss")
		case hasAt(s, 1, "mm"):
			return len("Hmm")
		}
		return run(s, 2)
	case 'M', 'Q', 'D', 'd', 'w', 'W', 'y':
		single := run(s, 2) == 1
		switch c := s[0]; {
		case single && hasAt(s, 1, "o"):
			return 2
		case hasAt(s, 0, "DDDo"):
			return 4
		case c == 'Q':
			return 1
		case c == 'w' || c == 'W':
			if hasAt(s, 1, "|") {
				return 2
			}
			return run(s, 2)
		}
		return run(s, 4)
	case 'Y':
		return pick(run(s, 6), [7]int{0, 1, 2, 2, 4, 5, 6})
	case 'g', 'G':
		return pick(run(s, 5), [7]int{0, 1, 2, 2, 4, 5})
	case 'N':
		return run(s, 5)
	case 'S':
		return run(s, 9)
	case 'k', 'm', 's', 'z', 'Z':
		return run(s, 2)
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// pick returns sizes[n]: the token that a run of n equal letters begins with.
func pick(n int, sizes [7]int) int { return sizes[n] }

// run counts how often the first byte of s is repeated, up to limit.
func run(s string, limit int) int {
	n := 1
	for n < limit && n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// hasAt reports whether s contains part at index i.
func hasAt(s string, i int, part string) bool {
	return len(s) >= i+len(part) && s[i:i+len(part)] == part
}

// expandLong replaces the locale's long formats (L, LT, ll …) by what they
// stand for. Brackets and a backslash protect them. One pass is enough: no
// expansion contains another one.
func expandLong(format string) string {
	if !strings.ContainsAny(format, "Ll") {
		return format
	}
	var out strings.Builder
	for rest := format; rest != ""; {
		size := longPiece(rest)
		if long, ok := longFormat(rest[:size]); ok {
			out.WriteString(long)
		} else {
			out.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return out.String()
}

// longPiece returns the size of the first piece of s that is to be looked at
// as a whole: a literal, a long token with or without its backslash, or a byte.
func longPiece(s string) int {
	if size := bracketed(s); size > 0 {
		return size
	}
	if s[0] == '\\' && len(s) > 1 && (s[1] == 'L' || s[1] == 'l') {
		return 1 + longSize(s[1:])
	}
	return longSize(s)
}

// longSize measures a long token at the start of s; 1 if there is none.
func longSize(s string) int {
	switch {
	case hasAt(s, 0, "LTS"):
		return 3
	case hasAt(s, 0, "LT"):
		return 2
	case s[0] == 'L', s[0] == 'l':
		return run(s, 4)
	}
	return 1
}

// longFormat returns the English format of a long token.
func longFormat(token string) (string, bool) {
	switch token {
	case "LT":
		return "h:mm A", true
	case "LTS":
		return "h:mm:ss A", true
	case "L":
		return "MM/DD/YYYY", true
	case "LL":
		return "MMMM D, YYYY", true
	case "LLL":
		return "MMMM D, YYYY h:mm A", true
	case "LLLL":
		return "dddd, MMMM D, YYYY h:mm A", true
	case "l":
		return "M/D/YYYY", true
	case "ll":
		return "MMM D, YYYY", true
	case "lll":
		return "MMM D, YYYY h:mm A", true
	case "llll":
		return "ddd, MMM D, YYYY h:mm A", true
	}
	return "", false
}

// render returns the text of one token, and whether it is a token at all.
func render(t time.Time, token string) (string, bool) {
	switch token[0] {
	case 'Y', 'y', 'N':
		return renderYear(t, token)
	case 'g', 'G', 'w', 'W':
		return renderWeek(t, token)
	case 'Q', 'M', 'D', 'd', 'e', 'E':
		return renderDay(t, token)
	case 'z', 'Z', 'x', 'X':
		return renderZone(t, token)
	}
	return renderClock(t, token)
}

func renderYear(t time.Time, token string) (string, bool) {
	year := t.Year()
	switch token {
	case "Y":
		if year > 9999 {
			return "+" + strconv.Itoa(year), true
		}
		return pad(year, 4), true
	case "YY":
		return pad(year%100, 2), true
	case "YYYY", "YYYYY":
		return pad(year, len(token)), true
	case "YYYYYY":
		if year >= 0 {
			return "+" + pad(year, 6), true
		}
		return pad(year, 6), true
	case "y", "yy", "yyy", "yyyy":
		return pad(eraYear(year), len(token)), true
	case "yo":
		return ordinal(eraYear(year)), true
	case "N", "NN", "NNN", "NNNNN":
		return era(year, "AD", "BC"), true
	case "NNNN":
		return era(year, "Anno Domini", "Before Christ"), true
	}
	return "", false
}

// eraYear counts the year within its era: the year 0 is 1 BC.
func eraYear(year int) int {
	if year < 1 {
		return 1 - year
	}
	return year
}

func era(year int, after, before string) string {
	if year < 1 {
		return before
	}
	return after
}

func renderWeek(t time.Time, token string) (string, bool) {
	saturday := t.AddDate(0, 0, int(time.Saturday-t.Weekday()))
	year, week := saturday.Year(), (saturday.YearDay()-1)/7+1
	if token[0] == 'G' || token[0] == 'W' {
		year, week = t.ISOWeek()
	}
	switch token {
	case "gg", "GG":
		return pad(year%100, 2), true
	case "gggg", "GGGG", "ggggg", "GGGGG":
		return pad(year, len(token)), true
	case "w", "W", "ww", "WW":
		return pad(week, len(token)), true
	case "wo", "Wo":
		return ordinal(week), true
	}
	return "", false
}

func renderDay(t time.Time, token string) (string, bool) {
	quarter, weekday := (int(t.Month())-1)/3+1, int(t.Weekday())
	switch token {
	case "Q":
		return strconv.Itoa(quarter), true
	case "Qo":
		return ordinal(quarter), true
	case "M", "MM":
		return pad(int(t.Month()), len(token)), true
	case "Mo":
		return ordinal(int(t.Month())), true
	case "MMM":
		return t.Month().String()[:3], true
	case "MMMM":
		return t.Month().String(), true
	case "D", "DD":
		return pad(t.Day(), len(token)), true
	case "Do":
		return ordinal(t.Day()), true
	case "DDD":
		return strconv.Itoa(t.YearDay()), true
	case "DDDo":
		return ordinal(t.YearDay()), true
	case "DDDD":
		return pad(t.YearDay(), 3), true
	case "d", "e":
		return strconv.Itoa(weekday), true
	case "do":
		return ordinal(weekday), true
	case "dd", "ddd":
		return t.Weekday().String()[:len(token)], true
	case "dddd":
		return t.Weekday().String(), true
	case "E":
		return strconv.Itoa((weekday+6)%7 + 1), true
	}
	return "", false
}

func renderClock(t time.Time, token string) (string, bool) {
	hour, twelve := t.Hour(), (t.Hour()+11)%12+1
	switch token {
	case "A":
		return strings.ToUpper(halfDay(hour)), true
	case "a":
		return halfDay(hour), true
	case "H", "HH":
		return pad(hour, len(token)), true
	case "h", "hh":
		return pad(twelve, len(token)), true
	case "k", "kk": // midnight is 24
		return pad((hour+23)%24+1, len(token)), true
	case "m", "mm":
		return pad(t.Minute(), len(token)), true
	case "s", "ss":
		return pad(t.Second(), len(token)), true
	case "Hmm":
		return strconv.Itoa(hour) + pad(t.Minute(), 2), true
	case "hmm":
		return strconv.Itoa(twelve) + pad(t.Minute(), 2), true
	case "Hmmss":
		return strconv.Itoa(hour) + pad(t.Minute(), 2) + pad(t.Second(), 2), true
	case "hmmss":
		return strconv.Itoa(twelve) + pad(t.Minute(), 2) + pad(t.Second(), 2), true
	}
	if token[0] == 'S' {
		millis := pad(t.Nanosecond()/int(time.Millisecond), 3) // the library knows no smaller unit
		return (millis + "000000")[:len(token)], true
	}
	return "", false
}

func halfDay(hour int) string {
	if hour < 12 {
		return "am"
	}
	return "pm"
}

func renderZone(t time.Time, token string) (string, bool) {
	switch token {
	case "X":
		return strconv.FormatInt(t.Unix(), 10), true
	case "x":
		return strconv.FormatInt(t.UnixMilli(), 10), true
	case "Z":
		return offset(t, ":"), true
	case "ZZ":
		return offset(t, ""), true
	case "z", "zz": // the library has no zone names for local times
		return "", true
	}
	return "", false
}

func offset(t time.Time, separator string) string {
	_, seconds := t.Zone()
	sign, minutes := "+", seconds/60
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	return sign + pad(minutes/60, 2) + separator + pad(minutes%60, 2)
}

// pad writes n with at least width digits; the sign does not count.
func pad(n, width int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	digits := strconv.Itoa(n)
	return sign + strings.Repeat("0", max(0, width-len(digits))) + digits
}

// ordinal writes n as 1st, 2nd, 3rd, 4th … 11th.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
