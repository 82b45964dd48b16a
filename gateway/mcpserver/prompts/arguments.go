package prompts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/message"
)

const (
	maxDays  = 31    // a month of daily notes fits into one answer
	maxCount = 10    // random notes
	maxAge   = 36525 // days, as in the allowlist
)

var (
	dateArgument = Argument{
		Name: "date", Description: "today, yesterday or YYYY-MM-DD; default: today",
		check: checkDay, suggest: suggestDays,
	}
	headingArgument = Argument{
		Name: "heading", Description: "heading of today's note to add the text under; default: end of the note",
		check: checkHeading, // headings are text of a note, so none is suggested
	}
)

// numberArgument returns an argument for an integer from least to most. The first of the
// suggested values is the default.
func numberArgument(name, description string, least, most int, suggested ...int) Argument {
	return Argument{
		Name: name, Description: fmt.Sprintf("%s, %d to %d; default: %d", description, least, most, suggested[0]),
		check: func(text string) string {
			n, err := strconv.Atoi(text)
			if err != nil || strconv.Itoa(n) != text || n < least || n > most {
				return fmt.Sprintf("is %q, not an integer from %d to %d", message.Clip(text), least, most)
			}
			return ""
		},
		suggest: func(time.Time) []string {
			var list []string
			for _, n := range suggested {
				list = append(list, strconv.Itoa(n))
			}
			return list
		},
	}
}

// vaultArgument returns the argument for the name of a vault. The names are also in the
// schema of obsidianCli.
func vaultArgument(vaults []string) Argument {
	return Argument{
		Name: "vault", Description: "vault name; default: " + vaults[0],
		check: func(text string) string {
			if slices.Contains(vaults, text) {
				return ""
			}
			return fmt.Sprintf("is %q, not one of %s", message.Clip(text), strings.Join(vaults, ", "))
		},
		suggest: func(time.Time) []string { return vaults },
	}
}

// The words for days. Other days are written YYYY-MM-DD.
const (
	wordToday     = "today"
	wordYesterday = "yesterday"
)

// parseDay parses a day. The empty text is today.
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
	day, err := parseDay(text, time.Unix(0, 0)) // any value of today works
	if err != nil || day.Year() < 1 {
		return fmt.Sprintf("is %q, not today, yesterday or a date such as 2026-11-21", message.Clip(text))
	}
	return ""
}

// suggestDays returns the days of the last month.
func suggestDays(today time.Time) []string {
	list := []string{wordToday, wordYesterday}
	for back := 2; back <= maxDays; back++ {
		list = append(list, isoDate(today.AddDate(0, 0, -back)))
	}
	return list
}

// checkHeading accepts what the parameter of the command accepts.
func checkHeading(text string) string {
	_, err := allowlist.Parse("daily:append", allowlist.Params{"content": allowlist.Text("x"), "heading": allowlist.Text(text)})
	if wrong, ok := err.(*allowlist.ParseError); ok {
		return wrong.Reason
	}
	return ""
}
