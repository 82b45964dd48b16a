package day

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"vaultwicket/allowlist/quote"
)

// layouts are ways to write a date that are understood well enough to say what would
// be right, and of which none can be taken for another day.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-1-2",
	"2006/1/2", "2006.1.2", "20060102", "2.1.2006", "January 2, 2006", "January 2 2006", "2 January 2006", "Jan 2, 2006", "Jan 2 2006", "2 Jan 2006",
}

var bareWeek = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i)([0-9]{4})-?w([0-9])$`) })

// suggest returns what a text was most likely meant to be, "" if that is not clear.
func suggest(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t.Format(time.DateOnly)
		}
	}
	if parts := bareWeek().FindStringSubmatch(text); parts != nil {
		return parts[1] + "-W0" + parts[2]
	}
	word := strings.ToLower(text)
	if meant, known := otherWords[word]; known {
		return meant
	}
	return quote.Nearest(word, dayWords)
}

// otherWords are what people also say for a day.
var otherWords = map[string]string{
	"the day before yesterday": "-2d", "day before yesterday": "-2d", "ereyesterday": "-2d", "the day after tomorrow": "+2d", "day after tomorrow": "+2d",
	"a week ago": "-1w", "one week ago": "-1w", "a month ago": "-1m", "past week": "last week", "week": "this week", "month": "this month", "year": "this year",
	"tonight": "today", "current": "today", "latest": "today", "last": "yesterday", "previous": "yesterday", "prev": "yesterday", "next": "tomorrow",
	"-1": "yesterday", "0": "today", "1": "tomorrow", "+1": "tomorrow",
}

// dayWords are the words that a mistyped one is compared with.
var dayWords = append([]string{"today", "yesterday", "tomorrow"}, weekdayNames...)
