package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/day"
	"vaultwicket/gateway/mcpserver/wire"
)

const (
	maxDays     = 31    // a month of daily notes fits into one answer
	maxCount    = 10    // random notes
	maxAge      = 36525 // days, as in the allowlist
	maxTriaged  = 30    // notes that a user decides about in one sitting
	maxLookBack = 366   // days
)

var (
	dateArgument = promptArgument{
		Name: "date", Description: "YYYY-MM-DD, yesterday, -3d or monday; default: today",
		check: checkDay,
		suggest: func(today time.Time) []string { // the days of a month
			list := []string{"today", "yesterday"}
			for back := 2; back <= maxDays; back++ {
				list = append(list, isoDate(today.AddDate(0, 0, -back)))
			}
			return list
		},
	}
	headingArgument = promptArgument{
		Name: "heading", Description: "heading of today's note to add the text under; default: end of the note",
		check: valueCheck("daily:append", "heading", allowlist.Params{"content": allowlist.Text("x")}), // headings are text of a note, so none is suggested
	}
	folderArgument = promptArgument{
		Name: "folder", Description: "folder of the notes to sort; default: " + defaultInbox,
		check: valueCheck("files", "folder", nil), // folders may be hidden, so none is suggested
	}
	topicArgument = promptArgument{
		Name: "topic", Description: "words that the notes are searched for; default: a briefing on the day",
		check: valueCheck("search:context", "query", nil),
	}
)

// defaultInbox is the folder that is sorted where no other is given.
const defaultInbox = "Inbox"

// numberArgument returns an argument for an integer from least to most. The first of the
// suggested values is the default.
func numberArgument(name, description string, least, most int, suggested ...int) promptArgument {
	return promptArgument{
		Name: name, Description: fmt.Sprintf("%s, %d to %d; default: %d", description, least, most, suggested[0]),
		check: func(text string) string {
			n, err := strconv.Atoi(text)
			if err != nil || strconv.Itoa(n) != text || n < least || n > most {
				return fmt.Sprintf("is %q, not an integer from %d to %d", wire.Clip(text), least, most)
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
func vaultArgument(vaults []string) promptArgument {
	return promptArgument{
		Name: "vault", Description: "vault name; default: " + vaults[0],
		check: func(text string) string {
			if slices.Contains(vaults, text) {
				return ""
			}
			return fmt.Sprintf("is %q, not one of %s", wire.Clip(text), strings.Join(vaults, ", "))
		},
		suggest: func(time.Time) []string { return vaults },
	}
}

// parseDay parses a day. The empty text is today, and a week its first day.
func parseDay(text string, today time.Time) (time.Time, error) {
	if text == "" {
		return today, nil
	}
	span, err := day.Read(text, today, day.Past)
	return noon(span.First), err
}

func checkDay(text string) string {
	switch found, err := parseDay(text, time.Unix(0, 0)); { // any value of today works
	case err != nil:
		return fmt.Sprintf("is %q: %v", wire.Clip(text), err)
	case found.Year() < 1:
		return fmt.Sprintf("is %q: want a day from 0001-01-01 on", wire.Clip(text))
	}
	return ""
}

// valueCheck returns the check of an argument that becomes a parameter of a command: it
// accepts what the parameter accepts. others are the other parameters that are required.
func valueCheck(command, param string, others allowlist.Params) func(text string) string {
	return func(text string) string {
		params := allowlist.Params{param: allowlist.Text(text)}
		maps.Copy(params, others)
		_, err := allowlist.Parse(command, params)
		if wrong, ok := err.(*allowlist.ParseError); ok {
			return wrong.Reason
		}
		return ""
	}
}
