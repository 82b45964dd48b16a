package task

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Field is a kind of field of a task.
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

// signs says how each field is written: its signs, all of which are read and the first of
// which is written, its key in brackets, and which values are valid. The sign of a priority
// is its value, see priorities.
var signs = [fieldCount]struct {
	signs []string
	key   string
	holds func(value string) bool
}{
	ID: {[]string{"🆔"}, "id", isID},
	// Ids are separated by commas.
	DependsOn: {[]string{"⛔"}, "dependsOn", func(value string) bool {
		return !slices.ContainsFunc(
			strings.Split(value, ","),
			func(id string) bool { return !isID(strings.Trim(id, " ")) },
		)
	}},
	Priority: {nil, "priority", func(value string) bool {
		return value != Normal &&
			slices.ContainsFunc(priorities, func(p struct{ name, sign string }) bool { return p.name == value })
	}},
	Recurs: {[]string{"🔁"}, "repeat", func(value string) bool {
		return value != "" &&
			consistsOf(value, func(c byte) bool { return isLetter(c) || isDigit(c) || strings.IndexByte(", !", c) >= 0 })
	}},
	OnCompletion: {
		[]string{"🏁"},
		"onCompletion",
		func(value string) bool { return value != "" && consistsOf(value, isLetter) },
	},
	Created:   {[]string{"➕"}, "created", isDate},
	Start:     {[]string{"🛫"}, "start", isDate},
	Scheduled: {[]string{"⏳", "⌛"}, "scheduled", isDate},
	Due:       {[]string{"📅", "📆", "🗓"}, "due", isDate},
	Cancelled: {[]string{"❌"}, "cancelled", isDate},
	Done:      {[]string{"✅"}, "completion", isDate},
}

// priorities lists the priorities from the highest to the lowest, with their signs.
var priorities = []struct{ name, sign string }{
	{"highest", "🔺"}, {"high", "⏫"}, {"medium", "🔼"}, {Normal, ""}, {"low", "🔽"}, {"lowest", "⏬"},
}

// Normal is the priority of a task without a sign.
const Normal = "normal"

// Rank returns the rank of a priority, 0 for the highest. "" and unknown priorities rank
// as [Normal].
func Rank(priority string) int {
	if i := slices.IndexFunc(priorities, func(p struct{ name, sign string }) bool { return p.name == priority }); i >= 0 {
		return i
	}
	return Rank(Normal)
}

// variation is the selector that may follow a sign to request its colored form.
const variation = "\ufe0f"

// sign is a sign that was found in a text.
type sign struct {
	field Field
	text  string // without a variation selector
	value string // the name of a priority
}

// allSigns lists all signs.
var allSigns = func() (all []sign) {
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

func isDate(value string) bool { return DateOf(value) != 0 }

func isID(value string) bool {
	return value != "" && consistsOf(value, func(c byte) bool {
		isMark := c == '-' || c == '_'
		return isMark || isLetter(c) || isDigit(c)
	})
}

func consistsOf(text string, ok func(byte) bool) bool {
	for i := range len(text) {
		if !ok(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Settings are the settings of the Tasks plugin that decide how a task is changed. The zero value
// is for a vault without the plugin.
type Settings struct {
	// Managed says that the plugin is enabled, so that users expect its changes in every
	// task, and not only in recurring ones.
	Managed      bool
	GlobalFilter string `json:"globalFilter"`
	Asked        bool   `json:"-"` // dates that the caller asks for are written even if the plugin would not
	Format       string `json:"taskFormat"`
	SetCreated   bool   `json:"setCreatedDate"`
	SetDone      *bool  `json:"setDoneDate"`      // nil means true
	SetCancelled *bool  `json:"setCancelledDate"` // nil means true
	NextBelow    bool   `json:"recurrenceOnNextLine"`
	DropSchedule bool   `json:"removeScheduledDateOnRecurrence"`
	Statuses     struct {
		Core   []status `json:"coreStatuses"`
		Custom []status `json:"customStatuses"`
	} `json:"statusSettings"`
}

// status is the meaning of a mark.
type status struct {
	Symbol string `json:"symbol"`
	Next   string `json:"nextStatusSymbol"`
	Type   string `json:"type"`
}

// The types of a status, with their names in the settings.
const (
	typeTodo      = "TODO"
	typeProgress  = "IN_PROGRESS"
	typeDone      = "DONE"
	typeCancelled = "CANCELLED"
	typeNone      = "NON_TASK"
)

// defaults are the statuses of marks that the settings do not contain.
var defaults = []status{
	{" ", "x", typeTodo},
	{"x", " ", typeDone},
	{"X", " ", typeDone},
	{"/", "x", typeProgress},
	{"-", " ", typeCancelled},
}

// status returns the status of a mark. An unknown mark is a task to do.
func (s Settings) status(mark rune) status {
	for _, list := range [][]status{s.Statuses.Core, s.Statuses.Custom, defaults} {
		for _, known := range list {
			if known.Symbol == string(mark) {
				return known
			}
		}
	}
	return status{string(mark), "x", typeTodo}
}

// IsOpen reports whether a task with this mark is open: neither done nor cancelled, and not
// a list item that the settings do not count as a task.
func (s Settings) IsOpen(mark rune) bool {
	t := s.status(mark).Type
	return t != typeDone && t != typeCancelled && t != typeNone
}

// isDone reports whether a task with this mark is done.
func (s Settings) isDone(mark rune) bool { return s.status(mark).Type == typeDone }

// nextMark returns the mark of the task that follows one finished with the mark done. It
// follows the chain of next statuses: the first one to do counts, otherwise the first one in
// progress, otherwise it is a blank.
func (s Settings) nextMark(done rune) string {
	for _, wanted := range []string{typeTodo, typeProgress} {
		at := s.status(done)
		for range len(defaults) + len(s.Statuses.Core) + len(s.Statuses.Custom) {
			mark, size := utf8.DecodeRuneInString(at.Next)
			if size == 0 {
				break
			}
			if at = s.status(mark); at.Type == wanted {
				return at.Symbol
			}
		}
	}
	return " "
}

// NewFormat returns the format in which new fields are written.
func (s Settings) NewFormat() Format {
	if s.Format == "dataview" {
		return Brackets
	}
	return Signs
}

// covers reports whether the plugin treats a text as a task: it contains the global filter.
func (s Settings) covers(text string) bool { return strings.Contains(text, s.GlobalFilter) }

func isSet(flag *bool) bool { return flag == nil || *flag }
