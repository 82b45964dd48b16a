package frontmatter

import (
	"math"
	"strings"
)

// Properties are the properties of a note in the order they are written.
type Properties []Property

// Property is one of them. No two of a note have the same key, though keys may
// differ in case alone.
type Property struct {
	Key   string
	Value Value
	Line  int // of the key, counted from 1 within the block
}

// Lookup returns the property with a name. Names are compared without regard
// to case, yet one that fits exactly goes first.
func (p Properties) Lookup(name string) (Property, bool) {
	for _, property := range p {
		if property.Key == name {
			return property, true
		}
	}
	for _, property := range p {
		if strings.EqualFold(property.Key, name) {
			return property, true
		}
	}
	return Property{}, false
}

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// Value is the value of a property. The zero Value is null.
type Value struct {
	kind   Kind
	truth  bool
	line   int32 // on which it begins, 0 where nobody asked
	number float64
	text   string // of a string, or of a number as it was written
	more   any    // of a list its []Value, of a map its Properties
}

// Parts are the parts of a value, for one that was stored elsewhere.
type Parts struct {
	Kind   Kind
	Truth  bool
	Number float64
	Text   string
	List   []Value
	Fields Properties // nil if List is not
}

// Value returns the value with these parts. Its line is not known.
func (p Parts) Value() Value {
	v := Value{kind: p.Kind, truth: p.Truth, number: p.Number, text: p.Text}
	if p.List != nil {
		v.more = p.List
	} else if p.Fields != nil {
		v.more = p.Fields
	}
	return v
}

// Kind returns what v is.
func (v Value) Kind() Kind { return v.kind }

// IsTrue reports whether v is the boolean true.
func (v Value) IsTrue() bool { return v.truth }

// Float returns the number that v is, or 0.
func (v Value) Float() float64 { return v.number }

// Text returns the string that v is, or the number as it is written in the
// note, or "".
func (v Value) Text() string { return v.text }

// Line returns the line on which v begins, counted from 1, if it was read by
// [ParseDocument]; else 0.
func (v Value) Line() int { return int(v.line) }

// List returns the elements of a list. The caller must not change them.
func (v Value) List() []Value {
	list, _ := v.more.([]Value)
	return list
}

// Fields returns what a map holds. The caller must not change it.
func (v Value) Fields() Properties {
	fields, _ := v.more.(Properties)
	return fields
}

// Type is the app's word for the type of a property.
type Type string

// The types that can be told from a value. The app has others, such as
// datetime, which a user assigns.
const (
	TypeText      Type = "text"
	TypeMultitext Type = "multitext"
	TypeNumber    Type = "number"
	TypeCheckbox  Type = "checkbox"
	TypeDate      Type = "date"
	TypeUnknown   Type = "unknown"
)

// Type infers the type of a property from its value, for one to which none was
// assigned.
func (v Value) Type() Type {
	switch v.kind {
	case Bool:
		return TypeCheckbox
	case Number:
		return TypeNumber
	case List:
		return listType(v.List())
	case Map:
		return TypeUnknown
	}
	if isDate(v.text) {
		return TypeDate
	}
	return TypeText
}

func listType(list []Value) Type {
	for _, element := range list {
		if element.kind != String {
			return TypeUnknown
		}
	}
	return TypeMultitext
}

// isDate reports whether text has the form YYYY-MM-DD.
func isDate(text string) bool {
	const form = "0000-00-00"
	if len(text) != len(form) {
		return false
	}
	for n := range len(form) {
		if form[n] == '-' && text[n] != '-' || form[n] == '0' && !isDigit(text[n]) {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// String returns v as the app shows it in a line of text: nothing for null, a
// number as JavaScript prints it, lists and maps as JSON.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return ""
	case Bool:
		return word(v.truth)
	case Number:
		return FormatNumber(v.number)
	case String:
		return v.text
	}
	return string(v.appendJSON(nil, "", false))
}

func word(truth bool) string {
	if truth {
		return "true"
	}
	return "false"
}

// isFinite reports whether f can be written in JSON.
func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
