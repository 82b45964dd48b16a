package task

import (
	"strings"
	"unicode/utf8"
)

// Settings are those of the Tasks plugin that decide how a task is changed. The zero value
// is that of a vault without the plugin.
type Settings struct {
	// Managed says that the plugin is enabled, so that its users expect what it does to
	// every task and not only to those that recur.
	Managed      bool
	GlobalFilter string `json:"globalFilter"`
	Format       string `json:"taskFormat"`
	SetCreated   bool   `json:"setCreatedDate"`
	SetDone      *bool  `json:"setDoneDate"`      // nil is true
	SetCancelled *bool  `json:"setCancelledDate"` // nil is true
	NextBelow    bool   `json:"recurrenceOnNextLine"`
	DropSchedule bool   `json:"removeScheduledDateOnRecurrence"`
	Statuses     struct {
		Core   []status `json:"coreStatuses"`
		Custom []status `json:"customStatuses"`
	} `json:"statusSettings"`
}

// status is one mark with its meaning.
type status struct {
	Symbol string `json:"symbol"`
	Next   string `json:"nextStatusSymbol"`
	Type   string `json:"type"`
}

// The types of a status that matter here, as the settings have them.
const (
	typeTodo      = "TODO"
	typeProgress  = "IN_PROGRESS"
	typeDone      = "DONE"
	typeCancelled = "CANCELLED"
	typeNone      = "NON_TASK"
)

// defaults are the statuses of a vault whose settings say nothing of a mark.
var defaults = []status{
	{" ", "x", typeTodo}, {"x", " ", typeDone}, {"X", " ", typeDone}, {"/", "x", typeProgress}, {"-", " ", typeCancelled},
}

// status returns what a mark means. One that no setting names is open.
func (s Settings) status(mark rune) status {
	for _, list := range [][]status{s.Statuses.Core, s.Statuses.Custom, defaults} {
		for _, one := range list {
			if one.Symbol == string(mark) {
				return one
			}
		}
	}
	return status{string(mark), "x", typeTodo}
}

// IsOpen reports whether a task with this mark is still to be done: neither finished nor
// cancelled, and no item of a list that is no task.
func (s Settings) IsOpen(mark rune) bool {
	t := s.status(mark).Type
	return t != typeDone && t != typeCancelled && t != typeNone
}

// isDone reports whether a task with this mark is finished.
func (s Settings) isDone(mark rune) bool { return s.status(mark).Type == typeDone }

// nextMark returns the mark of the next task of one that became finished with a mark: the
// first on the way from there that is to do, or else the first in progress.
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

// covers reports whether the plugin takes a text for a task.
func (s Settings) covers(text string) bool { return strings.Contains(text, s.GlobalFilter) }

func set(flag *bool) bool { return flag == nil || *flag }
