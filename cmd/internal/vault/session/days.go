package session

import (
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist/day"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/answer"
)

// Days returns the days that a parameter for notes names, as of now and in its time
// zone. A word without a direction means the past. The error is a misuse that says
// what would be right.
func Days(text string, now time.Time) (day.Span, error) { return read(text, now, day.Past) }

// DaysAhead is [Days] for a parameter of a plan, such as a due date: a word without a
// direction means the future.
func DaysAhead(text string, now time.Time) (day.Span, error) { return read(text, now, day.Ahead) }

func read(text string, now time.Time, toward day.Direction) (day.Span, error) {
	span, err := day.Read(text, now, toward)
	if err != nil {
		return span, answer.Misuse("Invalid date %q: %v", answer.Verbatim(quote.Short(text)), err)
	}
	return span, nil
}

// Age returns the number of days that a parameter names: as digits, or by the day
// since which they count.
func Age(text string, now time.Time) (days int, err error) {
	if strings.Trim(text, "0123456789") == "" {
		days, err = strconv.Atoi(text)
		if err != nil || days > day.MaxDays {
			return 0, answer.Misuse("Invalid number: %s. Use a number of days up to %d.", quote.Short(text), day.MaxDays)
		}
		return days, nil
	}
	span, err := Days(text, now)
	if err != nil {
		return 0, err
	}
	if days = span.Ago(now); days < 0 {
		return 0, answer.Misuse("Invalid age %q: %s is in the future.", answer.Verbatim(text), span.First.Format(time.DateOnly))
	}
	return days, nil
}
