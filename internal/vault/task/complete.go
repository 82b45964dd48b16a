package task

import (
	"fmt"
	"strings"
	"time"
)

// Change is what a new mark changes in a task.
type Change struct {
	Text           string // the new text after its box
	Removed        bool   // the line of the task is removed instead
	HasNext        bool   // the task recurs: the next task is inserted on a line of its own
	Next, NextMark string // the text and the mark of the next task
	Below          bool   // the next task is inserted below this one, not above it
	Extra          bool   // more than the mark changes
}

// Mark returns the change of a task when its mark changes. A finished task that recurs gets a next
// task. The dates of completion and cancellation are set to today or removed, as by the plugin, if
// the plugin is enabled or the task recurs. The error says why the next task cannot be created.
func Mark(text string, from, to rune, today time.Time, s Settings) (Change, error) {
	l := Read(text)
	rule := l.Get(Recurs)
	// The plugin ignores lines without its global filter, so a task on such a line does not recur. Its
	// dates are only written if the caller asks for them.
	covered := s.covers(text)
	finishes := covered && s.isDone(to) && !s.isDone(from)
	isOfPlugin := covered || s.Asked
	hasDates := s.Managed || rule != ""
	if !isOfPlugin || !hasDates || s.status(to).Type == typeNone {
		return Change{Text: text}, nil
	}
	c := Change{Text: text}
	for _, date := range []struct {
		field Field
		kind  string
		set   bool
	}{{Cancelled, typeCancelled, isSet(s.SetCancelled)}, {Done, typeDone, isSet(s.SetDone)}} {
		was := s.status(from).Type == date.kind
		is := s.status(to).Type == date.kind
		switch {
		case is && !was && date.set:
			c.Text = Set(c.Text, date.field, today.Format(time.DateOnly), s.NewFormat())
		case !is:
			c.Text = Remove(c.Text, date.field)
		}
	}
	if finishes && rule != "" {
		next, err := nextText(text, rule, today, s)
		if err != nil {
			return Change{}, err
		}
		c.HasNext = true
		c.Next = next
		c.NextMark = s.nextMark(to)
		c.Below = s.NextBelow
	}
	c.Removed = finishes && strings.EqualFold(l.Get(OnCompletion), "delete")
	c.Extra = c.HasNext || c.Removed || c.Text != text
	return c, nil
}

// nextText returns the text of the task that follows a finished one. The recurrence counts from the due
// date, otherwise the scheduled date, otherwise the start date; the other dates keep their distance
// from it.
func nextText(text, written string, today time.Time, s Settings) (string, error) {
	rule, err := Parse(written)
	if err != nil {
		return "", fmt.Errorf("the recurrence %q is not understood: %v", written, err)
	}
	l := Read(text)
	for _, field := range []Field{ID, DependsOn, Created, Cancelled, Done} {
		text = Remove(text, field)
	}
	trimmed := strings.TrimRight(text, " \t")
	if id := blockID(trimmed); id >= 0 {
		text = strings.TrimRight(trimmed[:id], " \t")
	}
	hasOtherDate := l.Get(Start) != "" || l.Get(Due) != ""
	if s.DropSchedule && hasOtherDate && l.Get(Scheduled) != "" {
		text = Remove(text, Scheduled)
	}
	var reference time.Time
	for _, field := range []Field{Start, Scheduled, Due} {
		date := l.Get(field)
		if date == "" {
			continue
		}
		day, ok := day(date)
		if !ok {
			return "", fmt.Errorf("the date %s does not exist, so the next one cannot be computed", date)
		}
		reference = day
	}
	if !reference.IsZero() { // without a date, the next task has none, either
		from := reference
		if rule.WhenDone {
			from = time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
		}
		next, ok := rule.Next(from)
		if !ok {
			return "", fmt.Errorf("the recurrence %q has no next day", written)
		}
		for _, field := range []Field{Start, Scheduled, Due} {
			if day, ok := day(Read(text).Get(field)); ok {
				text = Set(text, field, next.Add(day.Sub(reference)).Format(time.DateOnly), Signs)
			}
		}
	}
	if s.SetCreated {
		text = Set(text, Created, today.Format(time.DateOnly), s.NewFormat())
	}
	return text, nil
}

// New returns the text of a new task after its box, with the given fields. If the plugin is
// enabled, it adds the global filter, and the date of creation if the settings ask for it.
func New(text string, fields map[Field]string, today time.Time, s Settings) string {
	if s.Managed && !s.covers(text) {
		text = s.GlobalFilter + " " + text
	}
	if s.Managed && s.SetCreated {
		text = Set(text, Created, today.Format(time.DateOnly), s.NewFormat())
	}
	for field := range fieldCount {
		if value := fields[field]; value != "" {
			text = Set(text, field, value, s.NewFormat())
		}
	}
	return text
}
