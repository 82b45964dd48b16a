// Package task reads and writes the fields of tasks: dates, a priority, a recurrence
// rule and others, in both formats of the Tasks plugin for Obsidian: signs
// ("📅 2026-01-01") and brackets ("[due:: 2026-01-01]").
//
// It works on one line at a time. It does not guess missing fields, and an edit leaves
// every other byte of the line alone. Where the tasks of a note are is found out by
// package markdown.
package task

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Line is the parsed text of a task, which follows its box. The zero value is that of
// an empty task.
type Line struct {
	text   string
	places []place // the fields, in the order of the text
	end    int     // where the fields end; only blanks or the block id follow
	tags   []piece // the tags at the end of the text, among the fields; the last one comes first
	body   int     // where the part without signs ends
}

// place is a field in a text.
type place struct {
	field Field
	piece
	from, to int // the range of the value; empty for the sign of a priority
	value    string
	bracket  bool // whether it is written in brackets
}

// piece is a range of bytes of a text.
type piece struct{ start, end int }

// Read parses the text of a task. As in the plugin, signs count only at the end of the
// text, followed by nothing but fields, tags and the block id; fields in brackets count
// everywhere.
func Read(text string) Line {
	l := Line{text: text, end: len(strings.TrimRight(text, " \t"))}
	if id := blockID(text[:l.end]); id >= 0 {
		l.end = len(strings.TrimRight(text[:id], " \t"))
	}
	l.body = l.end
	isASCII := consistsOf(text, func(c byte) bool { return c < 0x80 })
	if isASCII && !strings.Contains(text, "::") { // it has neither signs nor fields in brackets
		return l
	}
	l.readBrackets()
	l.readEnd()
	slices.SortFunc(l.places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	return l
}

// blockID returns the offset of the block id at the end of a text, including its "^"; -1
// if there is none.
func blockID(text string) int {
	at := strings.LastIndexByte(text, ' ')
	id, isMarked := strings.CutPrefix(text[at+1:], "^")
	if at < 0 || !isMarked || id == "" {
		return -1
	}
	if !consistsOf(id, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' }) {
		return -1
	}
	return at + 1
}

// closings maps the opening bracket of a field to the closing one.
var closings = map[byte]byte{'[': ']', '(': ')'}

// readBrackets finds the fields in brackets. The brackets of links contain no fields.
func (l *Line) readBrackets() {
	text := l.text[:l.end]
	for at := 0; at < len(text); at++ {
		next := strings.IndexAny(text[at:], "[(")
		if next < 0 {
			return
		}
		at += next
		size := strings.IndexByte(text[at:], closings[text[at]])
		if size < 0 || at > 0 && text[at-1] == '[' {
			continue
		}
		key, value, found := strings.Cut(text[at+1:at+size], "::")
		if !found {
			continue
		}
		from := at + 1 + len(key) + len("::") + len(value) - len(strings.TrimLeft(value, " "))
		key = strings.Trim(key, " ")
		value = strings.Trim(value, " ")
		for field := range fieldCount {
			if signs[field].key != key || !signs[field].holds(value) {
				continue
			}
			l.places = append(l.places, place{
				field:   field,
				piece:   piece{at, at + size + 1},
				from:    from,
				to:      from + len(value),
				value:   value,
				bracket: true,
			})
			at += size
			break
		}
	}
}

// readEnd finds the fields and tags at the end of the text, starting with the last one.
func (l *Line) readEnd() {
	for l.body = l.end; l.body > 0; {
		rest := l.text[:l.body]
		// A field in brackets is skipped, with the comma that may follow it.
		end := len(strings.TrimRight(strings.TrimSuffix(rest, ","), " \t"))
		bracket := slices.IndexFunc(l.places, func(p place) bool { return p.bracket && p.end == end })
		tag := strings.LastIndexAny(rest, " \t") + 1
		word := rest[tag:]
		switch at, p, ok := lastField(rest); {
		case bracket >= 0:
			l.body = l.places[bracket].start
		case ok:
			l.places = append(l.places, p)
			l.body = at
		case len(word) > 1 && word[0] == '#' && !strings.ContainsAny(word[1:], "!@#$%^&*(),.?\":{}|<>"):
			l.body = tag
			l.tags = append(l.tags, piece{tag, len(rest)})
		default:
			return
		}
		l.body = len(strings.TrimRight(l.text[:l.body], " \t"))
	}
}

// lastField reads the field at the end of a text, from its last sign on. ok is false if there is no sign, or if the text
// after it is not a valid value.
func lastField(text string) (at int, p place, ok bool) {
	var s sign
	for at = len(text); at > 0 && s.text == ""; {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		if size == 1 {
			continue // every sign has at least three bytes
		}
		if n := slices.IndexFunc(allSigns, func(each sign) bool { return strings.HasPrefix(text[at:], each.text) }); n >= 0 {
			s = allSigns[n]
		}
	}
	if s.text == "" {
		return 0, place{}, false
	}
	value := strings.TrimLeft(strings.TrimPrefix(text[at+len(s.text):], variation), " ")
	from := len(text) - len(value)
	p = place{
		field: s.field,
		piece: piece{at, len(text)},
		from:  from,
		to:    len(text),
		value: value,
	}
	if s.field == Priority {
		p.from = len(text)
		p.value = s.value
		return at, p, value == ""
	}
	return at, p, signs[s.field].holds(value)
}

// Get returns the value of a field, "" if the task does not have it. If there are several,
// the first one counts. A date need not exist in the calendar, see [Date].
func (l Line) Get(field Field) string {
	for _, p := range l.places {
		if p.field == field {
			return p.value
		}
	}
	return ""
}

// AppendDescription appends the text without the fields and the block id.
func (l Line) AppendDescription(b []byte) []byte {
	start := len(b)
	at := 0
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

// Date is a date in a field; it need not exist in the calendar. Dates are ordered as numbers.
// The zero Date is that of a task without the field, and comes before all others.
type Date uint32

// isGiven is a bit that is set in every date except the zero one. It is above the digits of the date.
const isGiven Date = 1 << 27

// DateOf parses a date of the form 2006-01-02. It returns zero for every other text.
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

// Exists reports whether the date exists in the calendar: 2026-02-30 and the zero Date do not.
func (d Date) Exists() bool {
	number := int(d &^ isGiven)
	year := number / 10000
	month := number / 100 % 100
	day := number % 100
	isMonth := 1 <= month && month <= 12
	if d == 0 || !isMonth || day < 1 {
		return false
	}
	return day <= 28 || day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// day parses a date; ok is false if it does not exist.
func day(date string) (t time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, date)
	return t, err == nil
}

// Format is a way to write fields.
type Format uint8

const (
	Signs    Format = iota // "📅 2026-01-01", the default of the plugin
	Brackets               // "[due:: 2026-01-01]"
)

// Set returns the text with a field set to value. An existing field keeps its place and format, and
// duplicates of it are removed. A new field is inserted among the others in the order of the
// plugin; it has the format of the others, or fallback if there are none.
func Set(text string, field Field, value string, fallback Format) string {
	l := Read(text)
	i := slices.IndexFunc(l.places, func(p place) bool { return p.field == field })
	if i < 0 {
		return l.withNewField(field, value, fallback)
	}
	first := l.places[i]
	kept := first.end
	edited := text[:first.from] + value + text[first.to:]
	if field == Priority && !first.bracket {
		edited = text[:first.start] + formatField(Priority, value, Signs) + text[first.end:]
	}
	for _, p := range slices.Backward(l.places) {
		if p.field == field && p.start >= kept {
			shift := len(edited) - len(text)
			return Set(removeRange(edited, p.start+shift, p.end+shift), field, value, fallback)
		}
	}
	return edited
}

// withNewField returns the text with a field inserted, see [Set].
func (l Line) withNewField(field Field, value string, fallback Format) string {
	at := l.end // or before the first field at the end that the plugin writes after this one
	if i := slices.IndexFunc(l.places, func(p place) bool { return p.start >= l.body && p.field > field }); i >= 0 {
		at = l.places[i].start
	}
	format := fallback
	if len(l.places) > 0 {
		format = Signs
		if l.places[0].bracket {
			format = Brackets
		}
	}
	// A blank separates fields, two blanks if they are in brackets.
	before := strings.TrimRight(l.text[:at], " \t")
	after := l.text[at:]
	gap := " "
	next := ""
	if at < l.end {
		next = " "
	}
	if format == Brackets {
		gap = "  "
		if at < l.end && after[0] == '[' {
			next = "  "
		}
	}
	if before == "" {
		gap = l.text[:at]
	}
	return before + gap + formatField(field, value, format) + next + after
}

// Remove returns the text without a field.
func Remove(text string, field Field) string {
	for {
		l := Read(text)
		i := slices.IndexFunc(l.places, func(p place) bool { return p.field == field })
		if i < 0 {
			return text
		}
		text = removeRange(text, l.places[i].start, l.places[i].end)
	}
}

// removeRange removes text[start:end], with the blanks before it and the comma after it.
func removeRange(text string, start, end int) string {
	before := text[:start]
	after := strings.TrimPrefix(text[end:], ",")
	if trimmed := strings.TrimRight(before, " \t"); trimmed != "" || strings.TrimLeft(after, " \t") == "" {
		before = trimmed
	} else {
		after = strings.TrimLeft(after, " \t")
	}
	return before + after
}

// formatField returns a field in a format.
func formatField(field Field, value string, format Format) string {
	switch {
	case format == Brackets:
		return "[" + signs[field].key + ":: " + value + "]"
	case field == Priority:
		return priorities[Rank(value)].sign
	}
	return signs[field].signs[0] + " " + value
}
