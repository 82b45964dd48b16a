package mcpserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist"
)

const (
	maxDays  = 31 // a month of daily notes is what one answer can show
	maxCount = 10 // random notes; more is no surprise
	maxRest  = 36525
)

var (
	dateArgument = promptArgument{
		name: "date", description: "the day: today, yesterday or YYYY-MM-DD; else today",
		check: checkDay, offers: offerDays,
	}
	headingArgument = promptArgument{
		name: "heading", description: "the heading of today's note below which text goes; else the end of the note",
		check: checkHeading, // the headings of a note are its text, so none is offered
	}
)

// numberArgument is a whole number between two bounds.
func numberArgument(name, description string, least, most int, offered ...int) promptArgument {
	return promptArgument{
		name: name, description: fmt.Sprintf("%s, %d to %d; else %d", description, least, most, offered[0]),
		check: func(text string) string {
			n, err := strconv.Atoi(text)
			if err != nil || strconv.Itoa(n) != text || n < least || n > most {
				return fmt.Sprintf("is %q, want a whole number from %d to %d", clip(text), least, most)
			}
			return ""
		},
		offers: func(time.Time) []string {
			var list []string
			for _, n := range offered {
				list = append(list, strconv.Itoa(n))
			}
			return list
		},
	}
}

// vaultArgument is there where several vaults are served. Their names stand in
// the schema of the tool as well.
func vaultArgument(vaults []string) promptArgument {
	return promptArgument{
		name: "vault", description: "which vault; else " + vaults[0],
		check: func(text string) string {
			if slices.Contains(vaults, text) {
				return ""
			}
			return fmt.Sprintf("there is no vault %q, want one of %s", clip(text), strings.Join(vaults, ", "))
		},
		offers: func(time.Time) []string { return vaults },
	}
}

// The words for days, besides YYYY-MM-DD.
const (
	wordToday     = "today"
	wordYesterday = "yesterday"
)

// parseDay reads a day. The empty text is today.
func parseDay(text string, today time.Time) (time.Time, error) {
	switch text {
	case "", wordToday:
		return today, nil
	case wordYesterday:
		return today.AddDate(0, 0, -1), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	return day.Add(12 * time.Hour), err
}

func checkDay(text string) string {
	day, err := parseDay(text, time.Unix(0, 0)) // any today will do
	if err != nil || day.Year() < 1 {
		return fmt.Sprintf("is %q, want today, yesterday or a day such as 2026-11-21", clip(text))
	}
	return ""
}

// offerDays offers the days of the last month.
func offerDays(today time.Time) []string {
	list := []string{wordToday, wordYesterday}
	for back := 2; back <= maxDays; back++ {
		list = append(list, written(today.AddDate(0, 0, -back)))
	}
	return list
}

// checkHeading takes what the command takes.
func checkHeading(text string) string {
	_, err := allowlist.Parse("daily:append", allowlist.Params{"content": allowlist.Text("x"), "heading": allowlist.Text(text)})
	if wrong, ok := err.(*allowlist.ParseError); ok {
		return wrong.Reason
	}
	return ""
}
