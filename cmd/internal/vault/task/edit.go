package task

import (
	"slices"
	"strings"
)

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
