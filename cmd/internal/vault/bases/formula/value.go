// Package formula evaluates the expressions of bases (filters, formulas, summaries) on
// files: the types of values, how these are compared, calculated with and written, and
// the functions and methods.
//
// It reads no file; these come from an [Environment]. An operation that the app refuses
// returns a [Value] of kind [Error] with the app's sentence, which every further operation
// passes on. Only the limits of a [Session] end an evaluation as a whole. A Value is
// immutable.
package formula

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values. The zero Kind is that of a missing property.
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
	Error // the failure of an operation, with the app's sentence
)

var kindNames = [...]string{
	Null: "Null", String: "String", Number: "Number", Boolean: "Boolean", Date: "Date", Duration: "Duration", List: "List", Object: "Object",
	Link: "Link", File: "File", RegExp: "RegExp", HTML: "HTML", Icon: "Icon", Image: "Image", URL: "URL", Tag: "Tag", Error: "Error",
}

// String returns the name of the kind, as isType() and error messages have it.
func (k Kind) String() string { return kindNames[k] }

// isText reports whether values of this kind answer the members of a text: the
// app derives links, addresses and tags from String.
func (k Kind) isText() bool {
	switch k {
	case String, Link, HTML, Icon, Image, URL, Tag:
		return true
	}
	return false
}

// Value is a value of an expression. The zero Value is null. Values are to be
// compared with [World.Equal].
type Value struct {
	kind   Kind
	number float64 // of a number, 0 or 1 of a boolean; of a list and an object see extent
	text   string  // of those that are a text; of an error its sentence
	ref    any     // what is more than that
}

// Kind returns what v is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// IsError reports whether v is the failure of an operation.
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

// ofHTML returns text that is markup.
func ofHTML(text string) Value { return Value{kind: HTML, text: text} }

// ofIcon returns the icon of a name.
func ofIcon(name string) Value { return Value{kind: Icon, text: name} }

// ofImage returns the image of a source, which is a path or an address.
func ofImage(source string) Value { return Value{kind: Image, text: source} }

// OfURL returns an address.
func OfURL(address string) Value { return Value{kind: URL, text: address} }

// OfTag returns a tag, given with its "#".
func OfTag(tag string) Value { return Value{kind: Tag, text: tag} }

// failure returns an error with a sentence.
func failure(sentence string) Value { return Value{kind: Error, text: sentence} }

// Message returns the sentence of an error, "" for every other value.
func (v Value) Message() string {
	if v.kind != Error {
		return ""
	}
	return v.text
}

// Num returns the number that v is, and 1 for true; 0 for every other value.
func (v Value) Num() float64 {
	if v.kind != Number && v.kind != Boolean {
		return 0
	}
	return v.number
}

// Moment is what a date is: a time in the local zone, and whether the clock part
// of it is known.
type Moment struct {
	Time    time.Time
	HasTime bool
}

// OfMoment returns a date. One without a clock part is at midnight.
func OfMoment(m Moment) Value { return Value{kind: Date, ref: m} }

// Moment returns the date that v is, and false for every other value.
func (v Value) Moment() (Moment, bool) {
	m, ok := v.ref.(Moment)
	return m, ok
}

// OfSpan returns a duration.
func OfSpan(s Span) Value { return Value{kind: Duration, ref: s} }

// Span returns the duration that v is, and false for every other value.
func (v Value) Span() (Span, bool) {
	s, ok := v.ref.(Span)
	return s, ok
}

// Bounds of lists and objects. A query that reaches them would be of no use to
// anybody.
const (
	maxElements = 1_000_000
	maxNesting  = 100
)

// extent is how deep a list or an object is nested, and how many elements it has
// with all that is in these: an element that is there twice counts twice.
type extent struct{ depth, elements int }

const extentShift = 1 << 24 // more than maxElements

// number is the extent as it is kept in a value.
func (e extent) number() float64 { return float64(e.depth*extentShift + e.elements) }

func (v Value) extent() extent {
	if v.kind != List && v.kind != Object {
		return extent{}
	}
	n := int(v.number)
	return extent{n / extentShift, n % extentShift}
}

// OfList returns a list, which keeps items. It is an error if they are too many,
// all that is in them counted, or nested too deeply.
func OfList(items []Value) Value {
	all := extent{elements: len(items)}
	for _, item := range items {
		e := item.extent()
		all.depth = max(all.depth, e.depth)
		if all.elements += e.elements; all.elements > maxElements {
			break
		}
	}
	all.depth++
	switch {
	case all.elements > maxElements:
		return tooMany
	case all.depth > maxNesting:
		return failure("Lists are nested at most " + strconv.Itoa(maxNesting) + " levels deep.")
	}
	return Value{kind: List, number: all.number(), ref: items}
}

var tooMany = failure("A list has at most " + strconv.Itoa(maxElements) + " elements.")

// unmade is a list whose elements are made when they are asked for.
type unmade struct {
	count int
	items func() []Value
}

// OfUnmade returns a list of so many elements, none of which is a list or an object.
// They are what items returns, which is called once, when they are asked for. Too many
// are an error.
func OfUnmade(count int, items func() []Value) Value {
	if count > maxElements {
		return tooMany
	}
	return Value{kind: List, number: extent{1, count}.number(), ref: &unmade{count, sync.OnceValue(items)}}
}

// Items returns the elements of a list, nil for every other value. The caller
// must not change them.
func (v Value) Items() []Value {
	switch ref := v.ref.(type) {
	case []Value:
		return ref
	case *unmade:
		return ref.items()
	}
	return nil
}

// Len returns the number of elements of a list, 0 for every other value.
func (v Value) Len() int {
	if ref, ok := v.ref.(*unmade); ok {
		return ref.count
	}
	return len(v.Items())
}

// Fields are the contents of an object, in the order of the file.
type Fields struct {
	Keys   []string
	Values []Value
	// AnyCase says that a key is also found by another spelling of its case, as the
	// properties of a note are.
	AnyCase bool
}

// Lookup returns the value of a key, null if it does not exist.
func (f *Fields) Lookup(key string) Value {
	v, _ := f.find(key)
	return v
}

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

// OfFields returns an object, which keeps f. It is an error if f is nested too
// deeply.
func OfFields(f *Fields) Value {
	nested := OfList(f.Values)
	if nested.IsError() {
		return nested
	}
	return Value{kind: Object, number: nested.number, ref: f}
}

// Fields returns the contents of an object, and those of an empty one for every
// other value.
func (v Value) Fields() *Fields {
	if f, ok := v.ref.(*Fields); ok {
		return f
	}
	return &Fields{}
}

// Target is where a link leads and how it is shown.
type Target struct {
	Text    string // as written, with heading or block
	Display string // "" if none was written
	From    string // path of the file from which it counts
}

// OfTarget returns a link.
func OfTarget(t Target) Value { return Value{kind: Link, ref: t} }

// OfLinkTo returns a link to a file, with the text by which it is shown.
func OfLinkTo(e Entry, display string) Value { return Value{kind: Link, text: display, ref: e} }

// Target returns the link that v is, and false for every other value.
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

// Entry is a file of the vault. Two entries with the same path are the same file.
type Entry interface {
	// Path counts from the vault's folder, with slashes.
	Path() string
	// Size is in bytes. Created and Modified are when the file was made and last
	// changed.
	Size() int64
	Created() time.Time
	Modified() time.Time
	// Property returns a property by its name, first as it is spelled, then without
	// regard to case. It is null where the key has no value. Only notes have any.
	Property(name string) (v Value, found bool)
	// Properties returns all of them as an object.
	Properties() Value
	// Tags, Links and Embeds return lists; of links, embeds are the last.
	Tags() Value
	Links() Value
	Embeds() Value
}

// ofEntry returns a file, null for a nil one.
func ofEntry(e Entry) Value {
	if e == nil {
		return Value{}
	}
	return Value{kind: File, ref: e}
}

// Entry returns the file that v is, nil for every other value.
func (v Value) Entry() Entry {
	if v.kind != File {
		return nil
	}
	return v.ref.(Entry)
}

// World is what operations on values need to know besides the values.
type World struct {
	// Now is the present moment; its location is the local zone.
	Now time.Time
	// Resolve returns the file to which a link in the file from leads, nil if there
	// is none. A heading or a block in target does not count.
	Resolve func(target, from string) Entry
}

// zone is the local one.
func (w *World) zone() *time.Location { return w.Now.Location() }

// Follow returns the file to which a link leads, nil if there is none.
func (w *World) Follow(t Target) Entry {
	if w.Resolve == nil {
		return nil
	}
	return w.Resolve(t.Text, t.From)
}

// Date returns v as a date if it is one, or a text that is one.
func (w *World) Date(v Value) (Moment, bool) {
	if v.kind == String {
		return parseDate(v.text, w.zone())
	}
	return v.Moment()
}

// Duration returns v as a duration if it is one, or a text that is one.
func (w *World) Duration(v Value) (Span, bool) {
	if v.kind == String {
		return ParseSpan(v.text)
	}
	return v.Span()
}
