package task

import (
	"fmt"
	"strings"
	"time"
)

// Refusal says why a task cannot be changed as asked.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Change is what becomes of a task whose mark is changed.
type Change struct {
	// Text is that of the task behind its box; Removed says that its line goes instead.
	Text    string
	Removed bool
	// Next is the text of the next task of one that recurs, and NextMark its mark. It is on a
	// line of its own, below the other one if Below is set and above it otherwise.
	HasNext        bool
	Next, NextMark string
	Below          bool
	// Extra says that more than the mark changes.
	Extra bool
}

// Mark returns what becomes of a task with this text when its mark changes on a day, which
// is written into the dates of the plugin. A task that recurs gets its next one when it is
// finished. The other dates are kept as the plugin does where it is enabled, and for every
// task that recurs. The error is a [*Refusal].
func Mark(text string, from, to rune, today time.Time, s Settings) (Change, error) {
	l := Read(text)
	rule := l.Get(Recurs)
	finishes := s.isDone(to) && !s.isDone(from)
	if !s.covers(text) || s.status(to).Type == typeNone || !s.Managed && rule == "" {
		return Change{Text: text}, nil
	}
	c := Change{Text: dated(text, from, to, today, s)}
	if finishes && rule != "" {
		next, err := nextText(text, rule, today, s)
		if err != nil {
			return Change{}, err
		}
		c.HasNext, c.Next, c.NextMark, c.Below = true, next, s.nextMark(to), s.NextBelow
	}
	c.Removed = finishes && strings.EqualFold(l.Get(OnCompletion), "delete")
	c.Extra = c.HasNext || c.Removed || c.Text != text
	return c, nil
}

// dated returns a text with the dates on which the task was finished and cancelled: set where
// it becomes that, kept where it was, and removed where it is that no more.
func dated(text string, from, to rune, today time.Time, s Settings) string {
	for _, date := range []struct {
		field Field
		kind  string
		set   bool
	}{{Cancelled, typeCancelled, set(s.SetCancelled)}, {Done, typeDone, set(s.SetDone)}} {
		was, is := s.status(from).Type == date.kind, s.status(to).Type == date.kind
		switch {
		case is && !was && date.set:
			text = Set(text, date.field, today.Format(time.DateOnly), s.NewFormat())
		case !is:
			text = Remove(text, date.field)
		}
	}
	return text
}

// nextText returns the text of the next task of one that recurs.
func nextText(text, written string, today time.Time, s Settings) (string, error) {
	rule, err := Parse(written)
	if err != nil {
		return "", &Refusal{fmt.Sprintf("the recurrence %q is not understood: %v", written, err)}
	}
	l := Read(text)
	for _, field := range []Field{ID, DependsOn, Created, Cancelled, Done} {
		text = Remove(text, field)
	}
	text = removeBlockID(text)
	if s.DropSchedule && l.Get(Scheduled) != "" && (l.Get(Start) != "" || l.Get(Due) != "") {
		text = Remove(text, Scheduled)
	}
	if text, err = moved(text, l, rule, today); err != nil {
		return "", err
	}
	if s.SetCreated {
		text = Set(text, Created, today.Format(time.DateOnly), s.NewFormat())
	}
	return text, nil
}

// moved returns a text whose dates are those of the next task. The due date counts, or else
// the scheduled one, or else the start; the others keep their distance from it.
func moved(text string, l Line, rule Rule, today time.Time) (string, error) {
	var reference time.Time
	for _, field := range []Field{Start, Scheduled, Due} {
		date := l.Get(field)
		if date == "" {
			continue
		}
		day, ok := day(date)
		if !ok {
			return "", &Refusal{fmt.Sprintf("the date %s does not exist, so the next one cannot be computed", date)}
		}
		reference = day
	}
	if reference.IsZero() {
		return text, nil // nothing says when it is to be done, and nothing will
	}
	from := reference
	if rule.WhenDone {
		from = time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
	}
	next, ok := rule.Next(from)
	if !ok {
		return "", &Refusal{fmt.Sprintf("the recurrence %q has no next day", l.Get(Recurs))}
	}
	for _, field := range []Field{Start, Scheduled, Due} {
		if day, ok := day(Read(text).Get(field)); ok {
			text = Set(text, field, next.Add(day.Sub(reference)).Format(time.DateOnly), Signs)
		}
	}
	return text, nil
}

// New returns the line of a new task behind its box: the text, the date on which it was
// created where the settings ask for it, and the given fields.
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
