package date

// [Format] formats a time with a moment.js format string, as the Obsidian app does for daily notes and templates. It
// implements version 2.30 of that library with the locale en.
//
// It never fails: text that is not a token is literal. There are two kinds of week numbers: the tokens with W, G and E
// are ISO 8601; those with w, g and e follow the locale (weeks start on Sunday, week 1 contains 1 January).

import (
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// iso is the format that the library uses by default.
const iso = "YYYY-MM-DDTHH:mm:ssZ"

// Format returns t, in its own time zone, in the given format. An empty format means ISO 8601 with the
// offset.
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

// next returns the text for the first token of a non-empty s, and the length of that token in bytes.
func next(t time.Time, s string) (text string, size int) {
	if size := bracketed(s); size > 0 {
		return s[1 : size-1], size
	}
	if s[0] == '\\' {
		// The library removes backslashes from the token after a backslash, so nothing remains of a
		// backslash before another one, before a line end or at the end.
		rest := s[1:]
		if rest == "" || isLineEnd(rest[:tokenSize(rest)]) {
			return "", 1
		}
		n := tokenSize(rest)
		return strings.TrimPrefix(rest[:n], `\`), 1 + n
	}
	size = tokenSize(s)
	token := s[:size]
	if token[0] == 'S' {
		millis := pad(t.Nanosecond()/int(time.Millisecond), 3) // the library has no smaller unit
		return (millis + "000000")[:size], size
	}
	format := tokens()[token]
	if format != nil {
		return format(t), size
	}
	if isLineEnd(token) {
		return "", size
	}
	return token, size
}

// bracketed returns the length of a literal in square brackets at the start of s, or 0. The literal
// ends at the last closing bracket before the next opening one, so "[x] YYYY]" is one literal.
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

// isLineEnd reports whether token is a line end. The library's pattern does not match line ends, so
// outside brackets they disappear.
func isLineEnd(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return strings.ContainsRune("\n\r\u2028\u2029", r)
}

// lengthsOfYears and lengthsOfISOYears map the length of a run of letters to the length of the first
// year token in it.
var (
	lengthsOfYears    = [...]int{0, 1, 2, 2, 4, 5, 6}
	lengthsOfISOYears = [...]int{0, 1, 2, 2, 4, 5}
)

// tokenSize returns the length in bytes of the token at the start of a non-empty s. A character that
// does not begin a token counts as a token of its own. The rules include the library's oddities: YYY
// is YY and Y, ggg is gg and g, and a bar after w or W belongs to that letter.
func tokenSize(s string) int {
	c := s[0]
	rest := s[1:]
	switch c {
	case 'H', 'h':
		switch {
		case strings.HasPrefix(rest, "mmss"):
			return len("Hmmss")
		case strings.HasPrefix(rest, "mm"):
			return len("Hmm")
		}
		return run(s, 2)
	case 'M', 'Q', 'D', 'd', 'w', 'W', 'y':
		isWeek := c == 'w' || c == 'W'
		switch {
		case strings.HasPrefix(rest, "o"), isWeek && strings.HasPrefix(rest, "|"):
			return 2
		case strings.HasPrefix(s, "DDDo"):
			return 4
		case c == 'Q':
			return 1
		case isWeek:
			return run(s, 2)
		}
		return run(s, 4)
	case 'Y':
		return lengthsOfYears[run(s, 6)]
	case 'g', 'G':
		return lengthsOfISOYears[run(s, 5)]
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

// run returns the length of the run of equal bytes at the start of s, at most limit.
func run(s string, limit int) int {
	n := 1
	for n < limit && n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// expandLong replaces the locale's long formats (L, LT, ll …) by their definitions, except in
// brackets or after a backslash. One pass is enough: no definition contains another long format.
func expandLong(format string) string {
	if !strings.ContainsAny(format, "Ll") {
		return format
	}
	var out strings.Builder
	for rest := format; rest != ""; {
		// The next piece is a literal, a long format with or without a backslash, or a single byte.
		size := bracketed(rest)
		isEscaped := strings.HasPrefix(rest, `\L`) || strings.HasPrefix(rest, `\l`)
		if size == 0 && isEscaped {
			size = 1 + longSize(rest[1:])
		}
		if size == 0 {
			size = longSize(rest)
		}
		if long, ok := longFormats[rest[:size]]; ok {
			out.WriteString(long)
		} else {
			out.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return out.String()
}

// longSize returns the length of a long format at the start of s; 1 if there is none.
func longSize(s string) int {
	switch {
	case strings.HasPrefix(s, "LTS"):
		return 3
	case strings.HasPrefix(s, "LT"):
		return 2
	case s[0] == 'L', s[0] == 'l':
		return run(s, 4)
	}
	return 1
}

// longFormats maps long formats to their definitions in the locale en.
var longFormats = map[string]string{
	"LT":   "h:mm A",
	"LTS":  "h:mm:ss A",
	"L":    "MM/DD/YYYY",
	"LL":   "MMMM D, YYYY",
	"LLL":  "MMMM D, YYYY h:mm A",
	"LLLL": "dddd, MMMM D, YYYY h:mm A",
	"l":    "M/D/YYYY",
	"ll":   "MMM D, YYYY",
	"lll":  "MMM D, YYYY h:mm A",
	"llll": "ddd, MMM D, YYYY h:mm A",
}

// tokens returns the formatting functions of all tokens except S.
var tokens = sync.OnceValue(func() map[string]func(time.Time) string {
	formats := map[string]func(time.Time) string{
		"Y": func(t time.Time) string {
			if t.Year() > 9999 {
				return "+" + strconv.Itoa(t.Year())
			}
			return pad(t.Year(), 4)
		},
		"YY": func(t time.Time) string { return pad(t.Year()%100, 2) },
		"YYYYYY": func(t time.Time) string {
			if t.Year() >= 0 {
				return "+" + pad(t.Year(), 6)
			}
			return pad(t.Year(), 6)
		},
		"N":     era("AD", "BC"),
		"NN":    era("AD", "BC"),
		"NNN":   era("AD", "BC"),
		"NNNN":  era("Anno Domini", "Before Christ"),
		"NNNNN": era("AD", "BC"),
		"gg":    func(t time.Time) string { return pad(weekEnd(t).Year()%100, 2) },
		"GG":    func(t time.Time) string { return pad(isoYear(t)%100, 2) },
		"DDD":   func(t time.Time) string { return strconv.Itoa(t.YearDay()) },
		"DDDo":  func(t time.Time) string { return ordinal(t.YearDay()) },
		"dd":    func(t time.Time) string { return t.Weekday().String()[:2] },
		"X":     func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
		"x":     func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) },
		"z":     func(time.Time) string { return "" }, // the library has no zone names for local times
		"zz":    func(time.Time) string { return "" },
		"Hmm":   func(t time.Time) string { return strconv.Itoa(t.Hour()) + t.Format("04") },
		"Hmmss": func(t time.Time) string { return strconv.Itoa(t.Hour()) + t.Format("0405") },
	}
	for name, layout := range map[string]string{
		"MMM":   "Jan",
		"MMMM":  "January",
		"DDDD":  "002",
		"ddd":   "Mon",
		"dddd":  "Monday",
		"A":     "PM",
		"a":     "pm",
		"Z":     "-07:00",
		"ZZ":    "-0700",
		"hmm":   "304",
		"hmmss": "30405",
	} {
		formats[name] = func(t time.Time) string { return t.Format(layout) }
	}
	// A number is padded to the length of its token, or written as an ordinal if that ends with o.
	for names, numberOf := range map[string]func(time.Time) int{
		"YYYY YYYYY": time.Time.Year,
		"y yy yyy yyyy yo": func(t time.Time) int { // within its era: the year 0 is 1 BC
			if t.Year() < 1 {
				return 1 - t.Year()
			}
			return t.Year()
		},
		"gggg ggggg": func(t time.Time) int { return weekEnd(t).Year() },
		"w ww wo":    func(t time.Time) int { return (weekEnd(t).YearDay()-1)/7 + 1 },
		"GGGG GGGGG": isoYear,
		"W WW Wo": func(t time.Time) int {
			_, week := t.ISOWeek()
			return week
		},
		"Q Qo":    func(t time.Time) int { return (int(t.Month())-1)/3 + 1 },
		"M MM Mo": func(t time.Time) int { return int(t.Month()) },
		"D DD Do": time.Time.Day,
		"d do e":  func(t time.Time) int { return int(t.Weekday()) },
		"E":       func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 },
		"H HH":    time.Time.Hour,
		"m mm":    time.Time.Minute,
		"s ss":    time.Time.Second,
		"h hh":    func(t time.Time) int { return (t.Hour()+11)%12 + 1 },
		"k kk":    func(t time.Time) int { return (t.Hour()+23)%24 + 1 }, // midnight is 24
	} {
		for _, name := range strings.Fields(names) {
			formats[name] = func(t time.Time) string {
				if strings.HasSuffix(name, "o") {
					return ordinal(numberOf(t))
				}
				return pad(numberOf(t), len(name))
			}
		}
	}
	return formats
})

func era(after, before string) func(time.Time) string {
	return func(t time.Time) string {
		if t.Year() < 1 {
			return before
		}
		return after
	}
}

// weekEnd returns the last day of the week of t, which begins on Sunday.
func weekEnd(t time.Time) time.Time { return t.AddDate(0, 0, int(time.Saturday-t.Weekday())) }

func isoYear(t time.Time) int {
	year, _ := t.ISOWeek()
	return year
}

// pad formats n with at least width digits, not counting the sign.
func pad(n, width int) string {
	sign := ""
	if n < 0 {
		sign = "-"
		n = -n
	}
	digits := strconv.Itoa(n)
	return sign + strings.Repeat("0", max(0, width-len(digits))) + digits
}

// ordinal formats n as 1st, 2nd, 3rd, 4th … 11th.
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
