package moment

import (
	"strconv"
	"strings"
	"time"
)

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
