package frontmatter

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
)

// The names of types in parameters, where they are not those of [Type].
const (
	typeList     Type = "list"
	typeDatetime Type = "datetime"
)

// Mistyped says that a text is no value of the requested type. Its sentences are those of
// the app where they are known.
type Mistyped struct {
	Type   Type
	Text   string
	Reason string
}

func (m *Mistyped) Error() string { return m.Reason }

// ParseValue reads the value of a property as it is typed: as one of a type, or as the type
// it looks like if that is "". The types are text, list, number, checkbox, date and
// datetime, and "multitext", which is a list. The error is a *[Mistyped].
//
// A list is split at commas outside of links and of elements in quotation marks, and blanks around its elements are dropped;
// "[]" is one without elements, and no text at all is one empty element. It can also be a
// JSON array of strings. An
// empty date is null.
func ParseValue(typed string, as Type) (Value, error) {
	switch as {
	case "":
		return guess(typed), nil
	case TypeText:
		return text(typed), nil
	case typeList, TypeMultitext:
		return list(typed), nil
	case TypeNumber:
		digits := strings.TrimSpace(typed)
		f, ok := parseNumber(digits)
		switch {
		case !ok || !isFinite(f):
			return Value{}, &Mistyped{TypeNumber, typed, "Invalid number: " + typed}
		case !isExact(f, digits):
			return Value{}, &Mistyped{TypeNumber, typed, "Invalid number: " + typed + ". It has more digits than the app can keep; use type=text"}
		}
		return Value{kind: Number, number: f, text: digits}, nil
	case TypeCheckbox:
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "true":
			return Value{kind: Bool, truth: true}, nil
		case "false":
			return Value{kind: Bool}, nil
		}
		return Value{}, &Mistyped{TypeCheckbox, typed, "Invalid checkbox: " + typed + ". Use true or false"}
	case TypeDate:
		return moment(typed, as, "Invalid date format. Use YYYY-MM-DD", time.DateOnly)
	case typeDatetime:
		return moment(typed, as, "Invalid datetime format. Use YYYY-MM-DDTHH:mm:ss", "2006-01-02T15:04:05", "2006-01-02T15:04")
	}
	return Value{}, &Mistyped{as, typed, "Invalid type: " + string(as) + ". Use text, list, number, checkbox, date or datetime"}
}

func text(typed string) Value { return Value{kind: String, text: typed} }

// guess infers the type of a text. Numbers with leading zeros, or of more digits than the
// app can keep, are more often codes: they stay text, and so do lists, except "[]".
func guess(typed string) Value {
	switch {
	case typed == "true" || typed == "false":
		return Value{kind: Bool, truth: typed == "true"}
	case typed == "[]":
		return Value{kind: List}
	case json.Valid([]byte(typed)) && strings.Trim(typed, "-0123456789.eE+") == "":
		if f, ok := parseNumber(typed); ok && isExact(f, typed) {
			return Value{kind: Number, number: f, text: typed}
		}
	}
	return text(typed)
}

// list splits a text into elements.
func list(typed string) Value {
	var elements []string
	if json.Unmarshal([]byte(typed), &elements) != nil || elements == nil {
		elements = nil
		begun := 0
		for at := 0; at <= len(typed); at++ {
			switch {
			case at == len(typed) || typed[at] == ',':
				elements = append(elements, unquoted(strings.TrimSpace(typed[begun:at])))
				begun = at + 1
			case typed[at] == '"' && strings.TrimSpace(typed[begun:at]) == "":
				if end := strings.IndexByte(typed[at+1:], '"'); end >= 0 {
					at += 1 + end
				}
			case strings.HasPrefix(typed[at:], "[["):
				at += max(strings.Index(typed[at:], "]]"), 0)
			}
		}
	}
	v := Value{kind: List}
	for _, element := range elements {
		v.more = append(v.List(), text(element))
	}
	return v
}

// unquoted returns an element without the quotation marks around it.
func unquoted(element string) string {
	if inner, ok := strings.CutPrefix(element, `"`); ok && strings.IndexByte(inner, '"') == len(inner)-1 && inner != "" {
		return inner[:len(inner)-1]
	}
	return element
}

// ListOf returns the list of some values.
func ListOf(items []Value) Value { return Value{kind: List, more: items} }

// isExact reports whether a number, of which the app keeps 53 bits, is the typed one:
// whether a whole number is small enough.
func isExact(f float64, typed string) bool {
	return strings.ContainsAny(typed, ".eE") || math.Abs(f) < 1<<53
}

// moment reads a date, or a date and a time, in one of its forms. It must exist in the
// calendar.
func moment(typed string, as Type, reason string, forms ...string) (Value, error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return Value{}, nil
	}
	fits := func(form string) bool {
		_, err := time.Parse(form, typed)
		return err == nil && len(typed) == len(form)
	}
	if !slices.ContainsFunc(forms, fits) {
		return Value{}, &Mistyped{as, typed, reason}
	}
	return text(typed), nil
}
