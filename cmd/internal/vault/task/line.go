// Package task reads and writes what the lines of tasks say in addition to their text:
// dates, a priority, a recurrence rule and the like, in both formats of the Tasks
// plugin for Obsidian: signs ("📅 2026-01-01") and fields ("[due:: 2026-01-01]").
//
// It works on one line at a time. What a line does not say is not guessed, and an
// edit leaves every other byte of the line alone. Where a task is in a note, and
// whether it is one at all, is a matter of the package markdown.
package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Line is what the text of a task says: what follows its box. The zero value is that
// of an empty task.
type Line struct {
	text   string
	places []place // of the fields, in the order of the text
	end    int     // of the fields; after it are blanks, or the id of the block
	tags   []piece // at the end of the text, between the fields
	body   int     // where the part ends in which no sign counts
}

// place is where a field is in a text.
type place struct {
	field Field
	piece
	from, to int // of the value; the same for the sign of a priority
	value    string
	bracket  bool
}

// piece is a range of bytes of a text.
type piece struct{ start, end int }

// Read returns what the text of a task says. Signs count at the end of the text, where
// only fields, tags and the id of the block come after them, as in the plugin; fields
// in brackets count everywhere.
func Read(text string) Line {
	l := Line{text: text, end: len(strings.TrimRight(text, " \t"))}
	if id := blockID(text[:l.end]); id >= 0 {
		l.end = len(strings.TrimRight(text[:id], " \t"))
	}
	if l.body = l.end; !strings.Contains(text, "::") && only(text, func(c byte) bool { return c < 0x80 }) {
		return l
	}
	l.readBrackets()
	l.readEnd()
	slices.SortFunc(l.places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	return l
}

// blockID returns where the id of the block begins at the end of a text, with its "^";
// -1 without one.
func blockID(text string) int {
	at := strings.LastIndexByte(text, ' ')
	word := text[at+1:]
	if at < 0 || len(word) < 2 || word[0] != '^' || !only(word[1:], func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' }) {
		return -1
	}
	return at + 1
}

// readBrackets finds the fields in brackets.
func (l *Line) readBrackets() {
	for at := 0; at < l.end; {
		next := strings.IndexAny(l.text[at:l.end], "[(")
		if next < 0 {
			return
		}
		at += next
		if p, ok := bracketed(l.text[:l.end], at); ok {
			l.places = append(l.places, p)
			at = p.end
			continue
		}
		at++
	}
}

// bracketed reads the field in brackets that begins at at. In those of a link is none.
func bracketed(text string, at int) (p place, ok bool) {
	size := strings.IndexByte(text[at:], map[byte]byte{'[': ']', '(': ')'}[text[at]])
	if size < 0 {
		return place{}, false
	}
	inner := text[at+1 : at+size]
	key, value, found := strings.Cut(inner, "::")
	if !found || at > 0 && text[at-1] == '[' {
		return place{}, false
	}
	from := at + 1 + len(key) + len("::") + len(value) - len(strings.TrimLeft(value, " "))
	key, value = strings.Trim(key, " "), strings.Trim(value, " ")
	for field := range fieldCount {
		if signs[field].key == key && signs[field].holds(value) {
			return place{field: field, piece: piece{at, at + size + 1}, from: from, to: from + len(value), value: value, bracket: true}, true
		}
	}
	return place{}, false
}

// readEnd finds the fields and tags at the end of the text, from the last one on.
func (l *Line) readEnd() {
	for l.body = l.end; l.body > 0; {
		rest := l.text[:l.body]
		switch at, p, ok := endOf(rest); {
		case l.endsBracket():
		case ok:
			l.places = append(l.places, p)
			l.body = at
		case tagAtEnd(rest) >= 0:
			l.body = tagAtEnd(rest)
			l.tags = append(l.tags, piece{l.body, len(rest)})
		default:
			return
		}
		l.body = len(strings.TrimRight(l.text[:l.body], " \t"))
	}
}

// endsBracket steps over a field in brackets at the end of what is left, with the comma
// that may follow it.
func (l *Line) endsBracket() bool {
	end := len(strings.TrimRight(strings.TrimSuffix(l.text[:l.body], ","), " \t"))
	i := slices.IndexFunc(l.places, func(p place) bool { return p.bracket && p.end == end })
	if i < 0 {
		return false
	}
	l.body = l.places[i].start
	return true
}

// endOf reads the field with a sign at the end of a text.
func endOf(text string) (at int, p place, ok bool) {
	s, at := lastSign(text)
	if at < 0 {
		return 0, place{}, false
	}
	behind := strings.TrimPrefix(text[at+len(s.text):], variation)
	value := strings.TrimLeft(behind, " ")
	from := len(text) - len(value)
	if s.field == Priority {
		return at, place{field: Priority, piece: piece{at, len(text)}, from: len(text), to: len(text), value: s.value}, value == ""
	}
	return at, place{field: s.field, piece: piece{at, len(text)}, from: from, to: len(text), value: value}, signs[s.field].holds(value)
}

// tagAtEnd returns where the tag at the end of a text begins, -1 without one.
func tagAtEnd(text string) int {
	at := strings.LastIndexAny(text, " \t") + 1
	if word := text[at:]; len(word) > 1 && word[0] == '#' && !strings.ContainsAny(word[1:], "!@#$%^&*(),.?\":{}|<>") {
		return at
	}
	return -1
}

// Get returns the value of a field, "" where the task has none. Of several the first one
// counts. A date may be one that does not exist, see [Date].
func (l Line) Get(field Field) string {
	for _, p := range l.places {
		if p.field == field {
			return p.value
		}
	}
	return ""
}

// Level returns the priority of the task, [Normal] where it says none.
func (l Line) Level() string { return cmp.Or(l.Get(Priority), Normal) }

// Description returns the text without the fields and the id of the block.
func (l Line) Description() string { return string(l.AppendDescription(nil)) }

// AppendDescription appends [Line.Description].
func (l Line) AppendDescription(b []byte) []byte {
	start, at := len(b), 0
	add := func(word string) {
		if word == "" {
			return
		}
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(b, word...)
	}
	for _, p := range l.places {
		if p.start >= l.body {
			break
		}
		add(strings.Trim(l.text[at:p.start], " \t"))
		at = p.end
	}
	add(strings.Trim(l.text[at:max(at, l.body)], " \t"))
	for _, tag := range slices.Backward(l.tags) {
		add(l.text[tag.start:tag.end])
	}
	return b
}

// Date is a day as a field has it, which may not exist. Dates compare as their days do. The
// zero Date is that of a task without the field, and comes before all others.
type Date uint32

// isGiven is set in every date but the zero one. No day has so large a number.
const isGiven Date = 1 << 27

// DateOf returns the date of a text of the form 2006-01-02. It is zero for every other text.
func DateOf(text string) Date {
	if len(text) != len(time.DateOnly) {
		return 0
	}
	var number Date
	for i, c := range []byte(text) {
		switch {
		case i == 4 || i == 7:
			if c != '-' {
				return 0
			}
		case c < '0' || c > '9':
			return 0
		default:
			number = number*10 + Date(c-'0')
		}
	}
	return isGiven | number
}

// Exists reports whether there is such a day: 2026-02-30 is none, and neither is the zero Date.
func (d Date) Exists() bool {
	number := int(d &^ isGiven)
	year, month, day := number/10000, number/100%100, number%100
	if d == 0 || month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= 28 || day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// day returns the day that a date names; ok is false for one that does not exist.
func day(date string) (t time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, date)
	return t, err == nil
}

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

// Format is a way to write fields.
type Format uint8

const (
	Signs    Format = iota // "📅 2026-01-01", which is the default of the plugin
	Brackets               // "[due:: 2026-01-01]"
)

// Set returns the text with a value for a field. An existing one is replaced in its place and
// format, and further ones of the same field are removed; a new one is inserted among the others
// in the order of the plugin, in their format, or in fallback if there are none.
func Set(text string, field Field, value string, fallback Format) string {
	l := Read(text)
	i := slices.IndexFunc(l.places, func(p place) bool { return p.field == field })
	if i < 0 {
		at := l.end // or before the first of the fields at the end that the plugin writes after it
		if i := slices.IndexFunc(l.places, func(p place) bool { return p.start >= l.body && p.field > field }); i >= 0 {
			at = l.places[i].start
		}
		if len(l.places) > 0 { // the format of the others
			if fallback = Signs; l.places[0].bracket {
				fallback = Brackets
			}
		}
		// The text with a field at a place, parted by blanks.
		field := written(field, value, fallback)
		before, after := strings.TrimRight(l.text[:at], " \t"), l.text[at:]
		gap := " "
		if strings.HasPrefix(field, "[") {
			gap = "  "
		}
		if before == "" {
			gap = l.text[:at]
		}
		if at < l.end {
			if !strings.HasPrefix(field, "[") || !strings.HasPrefix(after, "[") {
				return before + gap + field + " " + after
			}
			return before + gap + field + "  " + after
		}
		return before + gap + field + after
	}
	first := l.places[i]
	kept := first.end
	edited := text[:first.from] + value + text[first.to:]
	if field == Priority && !first.bracket {
		edited = text[:first.start] + written(Priority, value, Signs) + text[first.end:]
	}
	for _, p := range slices.Backward(l.places) {
		if p.field == field && p.start >= kept {
			shift := len(edited) - len(text)
			edited = cut(edited, p.start+shift, p.end+shift)
			text = edited
			return Set(edited, field, value, fallback)
		}
	}
	return edited
}

// Remove returns the text without a field.
func Remove(text string, field Field) string {
	for {
		l := Read(text)
		i := slices.IndexFunc(l.places, func(p place) bool { return p.field == field })
		if i < 0 {
			return text
		}
		text = cut(text, l.places[i].start, l.places[i].end)
	}
}

// cut takes a field out of a text, with the blanks before it and the comma after it.
func cut(text string, start, end int) string {
	before, after := text[:start], strings.TrimPrefix(text[end:], ",")
	if trimmed := strings.TrimRight(before, " \t"); trimmed != "" || strings.TrimLeft(after, " \t") == "" {
		before = trimmed
	} else {
		after = strings.TrimLeft(after, " \t")
	}
	return before + after
}

// written returns a field as it is written in a format.
func written(field Field, value string, format Format) string {
	switch {
	case format == Brackets:
		return "[" + signs[field].key + ":: " + value + "]"
	case field == Priority:
		return priorities[Rank(value)].sign
	}
	return signs[field].signs[0] + " " + value
}

// Refusal says why a task cannot be changed as asked.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Change is the result of a changed mark.
type Change struct {
	Text           string // of the task after its box
	Removed        bool   // the line of the task is removed instead
	HasNext        bool   // the next task of a recurring one gets a line of its own
	Next, NextMark string // its text and its mark
	Below          bool   // it is below the other one and not above it
	Extra          bool   // more than the mark changes
}

// Mark returns the change of a task with this text whose mark changes on a day, which is written
// into the dates of the plugin. A recurring task gets its next one when it is finished. The
// other dates are written as the plugin does if it is enabled, and for every recurring task.
// The error is a [*Refusal].
func Mark(text string, from, to rune, today time.Time, s Settings) (Change, error) {
	l := Read(text)
	rule := l.Get(Recurs)
	finishes := s.isDone(to) && !s.isDone(from)
	if !s.covers(text) || s.status(to).Type == typeNone || !s.Managed && rule == "" {
		return Change{Text: text}, nil
	}
	c := Change{Text: text}
	for _, date := range []struct {
		field Field
		kind  string
		set   bool
	}{{Cancelled, typeCancelled, set(s.SetCancelled)}, {Done, typeDone, set(s.SetDone)}} {
		was, is := s.status(from).Type == date.kind, s.status(to).Type == date.kind
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
		c.HasNext, c.Next, c.NextMark, c.Below = true, next, s.nextMark(to), s.NextBelow
	}
	c.Removed = finishes && strings.EqualFold(l.Get(OnCompletion), "delete")
	c.Extra = c.HasNext || c.Removed || c.Text != text
	return c, nil
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
	trimmed := strings.TrimRight(text, " \t")
	if id := blockID(trimmed); id >= 0 {
		text = strings.TrimRight(trimmed[:id], " \t")
	}
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

// moved returns a text with the dates of the next task. The recurrence counts from the due date,
// else the scheduled one, else the start; the others keep their distance from it.
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

// New returns the line of a new task after its box: the text, the date on which it was
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
