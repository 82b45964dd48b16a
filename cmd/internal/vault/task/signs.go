// Package task reads and writes what the lines of tasks say beside their text:
// dates, a priority, a recurrence rule and the like, in both formats of the Tasks
// plugin for Obsidian: signs ("📅 2026-01-01") and fields ("[due:: 2026-01-01]").
//
// It works on one line at a time. What a line does not say is not guessed, and an
// edit leaves every other byte of the line alone. Where a task is in a note, and
// whether it is one at all, is a matter of the package markdown.
package task

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Field is one kind of data in the line of a task.
type Field uint8

// The fields, in the order in which the plugin writes them.
const (
	ID Field = iota
	DependsOn
	Priority
	Recurs
	OnCompletion
	Created
	Start
	Scheduled
	Due
	Cancelled
	Done
	fieldCount
)

// signs says how the fields are written: the signs, of which the first one is written
// and all are read, and the key between brackets. The signs of priorities are their
// values.
var signs = [fieldCount]struct {
	signs []string
	key   string
	holds func(value string) bool
}{
	ID:           {[]string{"🆔"}, "id", isID},
	DependsOn:    {[]string{"⛔"}, "dependsOn", isIDs},
	Priority:     {nil, "priority", isPriority},
	Recurs:       {[]string{"🔁"}, "repeat", isRule},
	OnCompletion: {[]string{"🏁"}, "onCompletion", isWord},
	Created:      {[]string{"➕"}, "created", isDate},
	Start:        {[]string{"🛫"}, "start", isDate},
	Scheduled:    {[]string{"⏳", "⌛"}, "scheduled", isDate},
	Due:          {[]string{"📅", "📆", "🗓"}, "due", isDate},
	Cancelled:    {[]string{"❌"}, "cancelled", isDate},
	Done:         {[]string{"✅"}, "completion", isDate},
}

// priorities are the levels from the highest to the lowest, with their signs. A task
// without one has the priority [Normal].
var priorities = []struct{ name, sign string }{
	{"highest", "🔺"}, {"high", "⏫"}, {"medium", "🔼"}, {Normal, ""}, {"low", "🔽"}, {"lowest", "⏬"},
}

// Normal is the priority of a task that says none.
const Normal = "normal"

// Priorities returns the names of the priorities, the highest first.
func Priorities() []string {
	var names []string
	for _, p := range priorities {
		names = append(names, p.name)
	}
	return names
}

// Rank returns the place of a priority among [Priorities]: 0 for the highest. One
// that does not exist ranks as the normal one, as does "".
func Rank(priority string) int {
	if i := slices.IndexFunc(priorities, func(p struct{ name, sign string }) bool { return p.name == priority }); i >= 0 {
		return i
	}
	return Rank(Normal)
}

// variation may follow a sign: it asks for the coloured form of it.
const variation = "\ufe0f"

// sign is a sign that was found in a text.
type sign struct {
	field Field
	text  string // without a variation selector
	value string // of a priority
}

// everySign lists what can begin a field.
var everySign = func() (all []sign) {
	for field := range fieldCount {
		for _, text := range signs[field].signs {
			all = append(all, sign{field: field, text: text})
		}
	}
	for _, p := range priorities {
		if p.sign != "" {
			all = append(all, sign{field: Priority, text: p.sign, value: p.name})
		}
	}
	return all
}()

// lastSign returns the last sign of a text, and where it begins; at is -1 without one.
func lastSign(text string) (found sign, at int) {
	for at = len(text); at > 0; {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		if size == 1 {
			continue // every sign has three bytes or more
		}
		for _, s := range everySign {
			if strings.HasPrefix(text[at:], s.text) {
				return s, at
			}
		}
	}
	return sign{}, -1
}

func isDate(value string) bool { return DateOf(value) != 0 }

func isPriority(value string) bool {
	return value != Normal && slices.ContainsFunc(priorities, func(p struct{ name, sign string }) bool { return p.name == value })
}

func isRule(value string) bool {
	return value != "" && only(value, func(c byte) bool { return isLetter(c) || isDigit(c) || strings.IndexByte(", !", c) >= 0 })
}

func isWord(value string) bool { return value != "" && only(value, isLetter) }

func isID(value string) bool {
	return value != "" && only(value, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' || c == '_' })
}

func isIDs(value string) bool {
	for id := range strings.SplitSeq(value, ",") {
		if !isID(strings.Trim(id, " ")) {
			return false
		}
	}
	return true
}

func only(text string, ok func(byte) bool) bool {
	for i := range len(text) {
		if !ok(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
