// Package formula parses the expressions of bases (filters, formulas, summaries) and evaluates them for files.
// It has the grammar, the kinds of values with their operators and text forms, the functions and methods, and
// the regular expressions.
//
// It reads no files: an [Environment] provides them. An operation that the app rejects returns a [Value] of
// kind [Error] with the message of the app, and so does every operation on that value. Only the limits of a
// [Session] end an evaluation as a whole. A Value is immutable.
package formula

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds. A missing property is Null.
const (
	Null Kind = iota
	String
	Number
	Boolean
	Date
	Duration
	List
	Object
	Link
	File
	RegExp
	HTML
	Icon
	Image
	URL
	Tag
	Error // an operation failed; the value has the message of the app
)

// kindNames are the names of the kinds.
var kindNames = [...]string{
	Null: "Null", String: "String", Number: "Number", Boolean: "Boolean", Date: "Date", Duration: "Duration",
	List: "List", Object: "Object",
	Link: "Link", File: "File", RegExp: "RegExp", HTML: "HTML", Icon: "Icon", Image: "Image", URL: "URL",
	Tag: "Tag", Error: "Error",
}

// String returns the name of the kind in isType() and in error messages.
func (k Kind) String() string { return kindNames[k] }

// isText reports whether the kind has the methods of a text. In the app, links, URLs and tags are derived from
// String.
func (k Kind) isText() bool {
	switch k {
	case String, Link, HTML, Icon, Image, URL, Tag:
		return true
	}
	return false
}

// Value is an immutable value of an expression. The zero Value is null. Compare values with
// [World.Equal].
type Value struct {
	kind   Kind
	number float64 // a number; 0 or 1 for a boolean; the encoded extent of a list or object
	text   string  // the text, for kinds that are texts; the message of an error
	ref    any     // content that does not fit number and text
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// IsError reports whether v is an error.
func (v Value) IsError() bool { return v.kind == Error }

// OfText returns a text.
func OfText(text string) Value { return Value{kind: String, text: text} }

// OfNumber returns a number.
func OfNumber(number float64) Value { return Value{kind: Number, number: number} }

// OfBool returns true or false.
func OfBool(truth bool) Value {
	if truth {
		return Value{kind: Boolean, number: 1}
	}
	return Value{kind: Boolean}
}

// OfURL returns a URL.
func OfURL(address string) Value { return Value{kind: URL, text: address} }

// OfTag returns a tag. The text includes the "#".
func OfTag(tag string) Value { return Value{kind: Tag, text: tag} }

// failure returns an error with a message.
func failure(message string) Value { return Value{kind: Error, text: message} }

// Message returns the message of an error, otherwise "".
func (v Value) Message() string {
	if v.kind != Error {
		return ""
	}
	return v.text
}

// Num returns a number, or 1 for true, otherwise 0.
func (v Value) Num() float64 {
	if v.kind != Number && v.kind != Boolean {
		return 0
	}
	return v.number
}

// Moment is a date: a local time, and whether its clock part is known.
type Moment struct {
	Time    time.Time
	HasTime bool
}

// OfMoment returns a date. If m has no clock part, its time is midnight.
func OfMoment(m Moment) Value { return Value{kind: Date, ref: m} }

// Moment returns the date; ok is false for other kinds.
func (v Value) Moment() (Moment, bool) {
	m, ok := v.ref.(Moment)
	return m, ok
}

// OfSpan returns a duration.
func OfSpan(s Span) Value { return Value{kind: Duration, ref: s} }

// Span returns the duration; ok is false for other kinds.
func (v Value) Span() (Span, bool) {
	s, ok := v.ref.(Span)
	return s, ok
}

// Bounds of lists and objects, larger than in any useful query.
const (
	maxElements = 1_000_000
	maxNesting  = 100
)

// extent is the nesting depth and the total number of elements of a list or object. A shared
// element counts each time.
type extent struct{ depth, elements int }

const extentShift = 1 << 24 // more than maxElements

// number encodes the extent for the field number of a value.
func (e extent) number() float64 { return float64(e.depth*extentShift + e.elements) }

// extent returns the extent of a list or object.
func (v Value) extent() extent {
	if v.kind != List && v.kind != Object {
		return extent{}
	}
	n := int(v.number)
	return extent{n / extentShift, n % extentShift}
}

// OfList returns a list, which refers to items. It returns an error if the total number of elements is above
// maxElements, or if they are nested too deeply.
func OfList(items []Value) Value {
	total := extent{elements: len(items)}
	for _, item := range items {
		e := item.extent()
		total.depth = max(total.depth, e.depth)
		total.elements += e.elements
		if total.elements > maxElements {
			break
		}
	}
	total.depth++
	switch {
	case total.elements > maxElements:
		return tooMany
	case total.depth > maxNesting:
		return failure("Lists are nested at most " + strconv.Itoa(maxNesting) + " levels deep.")
	}
	return Value{kind: List, number: total.number(), ref: items}
}

var tooMany = failure("A list has at most " + strconv.Itoa(maxElements) + " elements.")

// lazyList is a list whose elements are made on demand.
type lazyList struct {
	count int
	items func() []Value
}

// OfUnmade returns a list of count elements. items is called once, on demand, to make them. The elements must not
// be lists or objects. OfUnmade returns an error if there are too many.
func OfUnmade(count int, items func() []Value) Value {
	if count > maxElements {
		return tooMany
	}
	return Value{kind: List, number: extent{1, count}.number(), ref: &lazyList{count, sync.OnceValue(items)}}
}

// Items returns the elements of a list, or nil for other kinds. The caller must not change them.
func (v Value) Items() []Value {
	switch ref := v.ref.(type) {
	case []Value:
		return ref
	case *lazyList:
		return ref.items()
	}
	return nil
}

// Len returns the number of elements of a list, or 0 for other kinds.
func (v Value) Len() int {
	if ref, ok := v.ref.(*lazyList); ok {
		return ref.count
	}
	return len(v.Items())
}

// Fields are the contents of an object, in the order of the file.
type Fields struct {
	Keys   []string
	Values []Value
	// AnyCase makes Lookup ignore case if no key matches exactly, as for the properties of a note.
	AnyCase bool
}

// Lookup returns the value of a key, or null if there is no such key.
func (f *Fields) Lookup(key string) Value {
	v, _ := f.find(key)
	return v
}

// find returns the value of a key.
func (f *Fields) find(key string) (v Value, found bool) {
	if i := slices.Index(f.Keys, key); i >= 0 {
		return f.Values[i], true
	}
	if !f.AnyCase {
		return Value{}, false
	}
	if i := slices.IndexFunc(f.Keys, func(k string) bool { return strings.EqualFold(k, key) }); i >= 0 {
		return f.Values[i], true
	}
	return Value{}, false
}

// OfFields returns an object, which refers to f. It returns an error in the same cases as [OfList].
func OfFields(f *Fields) Value {
	nested := OfList(f.Values)
	if nested.IsError() {
		return nested
	}
	return Value{kind: Object, number: nested.number, ref: f}
}

// Fields returns the contents of an object. They are empty for other kinds.
func (v Value) Fields() *Fields {
	if f, ok := v.ref.(*Fields); ok {
		return f
	}
	return &Fields{}
}

// Target is the target and the display text of a link.
type Target struct {
	Text    string // the target as written, with heading or block
	Display string // display text, or ""
	From    string // path of the file that contains the link
}

// OfTarget returns a link.
func OfTarget(t Target) Value { return Value{kind: Link, ref: t} }

// OfLinkTo returns a link to a file with a display text.
func OfLinkTo(e Entry, display string) Value { return Value{kind: Link, text: display, ref: e} }

// Target returns the link; ok is false for other kinds.
func (v Value) Target() (Target, bool) {
	switch ref := v.ref.(type) {
	case Target:
		return ref, true
	case Entry:
		if v.kind == Link {
			return Target{Text: ref.Path(), Display: v.text}, true
		}
	}
	return Target{}, false
}

// Entry is a file of the vault. Entries with the same path are the same file.
type Entry interface {
	// Path returns the path relative to the vault, with slashes.
	Path() string
	// Size returns the size in bytes. Created and Modified return the times of the file.
	Size() int64
	Created() time.Time
	Modified() time.Time
	// Property returns a property of a note by name. If no name matches exactly, case is ignored.
	Property(name string) (v Value, found bool)
	// Properties returns all properties as an object.
	Properties() Value
	// Tags, Links and Embeds return lists. Embeds are also at the end of Links.
	Tags() Value
	Links() Value
	Embeds() Value
}

// ofEntry returns a file, or null if e is nil.
func ofEntry(e Entry) Value {
	if e == nil {
		return Value{}
	}
	return Value{kind: File, ref: e}
}

// Entry returns the file, or nil for other kinds.
func (v Value) Entry() Entry {
	if v.kind != File {
		return nil
	}
	return v.ref.(Entry)
}

// World is the context of operations on values.
type World struct {
	// Now is the current time, in the local time zone.
	Now time.Time
	// Resolve returns the file to which a link in the file from leads, or nil. A heading or block in
	// target is ignored.
	Resolve func(target, from string) Entry
}

// Date returns v as a date if it is a date, or the text of one.
func (w *World) Date(v Value) (Moment, bool) {
	if v.kind == String {
		return parseDate(v.text, w.Now.Location())
	}
	return v.Moment()
}

// Duration returns v as a duration if it is a duration, or the text of one.
func (w *World) Duration(v Value) (Span, bool) {
	if v.kind == String {
		return ParseSpan(v.text)
	}
	return v.Span()
}
