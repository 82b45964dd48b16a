package frontmatter

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Properties are the properties of a note in their order in the note.
type Properties []Property

// Property is one property of a note. All properties of a note have different keys,
// but two keys may differ only in case.
type Property struct {
	Key   string
	Value Value
	Line  int // line of the key within the block, counted from 1
}

// Lookup returns the property with a name. The case of names does not matter, but
// an exact match takes precedence.
func (p Properties) Lookup(name string) (Property, bool) {
	i := slices.IndexFunc(p, func(property Property) bool { return property.Key == name })
	if i < 0 {
		i = slices.IndexFunc(p, func(property Property) bool { return strings.EqualFold(property.Key, name) })
	}
	if i < 0 {
		return Property{}, false
	}
	return p[i], true
}

// Named is an index of properties for many lookups.
type Named struct {
	all    Properties
	exact  map[string]int
	folded map[string]int // the first property of a name, ignoring case
}

// Named returns an index of the properties by name.
func (p Properties) Named() *Named {
	n := &Named{exact: make(map[string]int, len(p)), folded: make(map[string]int, len(p))}
	for _, property := range p {
		n.add(property)
	}
	return n
}

func (n *Named) add(property Property) {
	place := len(n.all)
	n.all = append(n.all, property)
	if _, taken := n.exact[property.Key]; !taken {
		n.exact[property.Key] = place
	}
	name := markdown.FoldCase(property.Key)
	if _, taken := n.folded[name]; !taken {
		n.folded[name] = place
	}
}

// Lookup is like [Properties.Lookup].
func (n *Named) Lookup(name string) (Property, bool) {
	place, ok := n.place(name)
	if !ok {
		return Property{}, false
	}
	return n.all[place], true
}

func (n *Named) place(name string) (place int, ok bool) {
	place, ok = n.exact[name]
	if ok {
		return place, true
	}
	place, ok = n.folded[markdown.FoldCase(name)]
	return place, ok
}

// Values is a set of values, compared as by [Value.Equal].
type Values map[string]bool

// Add adds a value.
func (s Values) Add(v Value) { s[string(v.appendKey(nil))] = true }

// Has reports whether a value is in the set.
func (s Values) Has(v Value) bool { return s[string(v.appendKey(nil))] }

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
	line   int32 // first line, 0 if not recorded
	number float64
	text   string // a string, or a number as it was written
	more   any    // []Value for a list, Properties for a map
}

// Parts are the parts from which a stored value is restored.
type Parts struct {
	Kind   Kind
	Truth  bool
	Number float64
	Text   string
	List   []Value
	Fields Properties // ignored if List is not nil
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

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsTrue reports whether v is the boolean true.
func (v Value) IsTrue() bool { return v.truth }

// Float returns the number v, or 0 if v is not a number.
func (v Value) Float() float64 { return v.number }

// Text returns the string v, or the number v as it is written in the note; "" for other kinds.
func (v Value) Text() string { return v.text }

// Line returns the first line of v, counted from 1, if it was read by
// [ParseDocument]; otherwise 0.
func (v Value) Line() int { return int(v.line) }

// List returns the elements of a list. The caller must not change them.
func (v Value) List() []Value {
	list, _ := v.more.([]Value)
	return list
}

// Fields returns the fields of a map. The caller must not change them.
func (v Value) Fields() Properties {
	fields, _ := v.more.(Properties)
	return fields
}

// Type is the name of the type of a property in the app.
type Type string

// The types that can be inferred from a value. The app has more types, such as
// datetime, which users assign.
const (
	TypeText      Type = "text"
	TypeMultitext Type = "multitext"
	TypeNumber    Type = "number"
	TypeCheckbox  Type = "checkbox"
	TypeDate      Type = "date"
	TypeUnknown   Type = "unknown"
)

// Type infers the type of a property from its value, for a property that has no
// assigned type.
func (v Value) Type() Type {
	switch v.kind {
	case Bool:
		return TypeCheckbox
	case Number:
		return TypeNumber
	case List:
		if slices.ContainsFunc(v.List(), func(element Value) bool { return element.kind != String }) {
			return TypeUnknown
		}
		return TypeMultitext
	case Map:
		return TypeUnknown
	}
	if isDate(v.text) {
		return TypeDate
	}
	return TypeText
}

// isDate reports whether text has the form 2024-12-31. Its numbers are not checked.
func isDate(text string) bool {
	const form = "0000-00-00"
	if len(text) != len(form) {
		return false
	}
	for n := range len(form) {
		fits := text[n] == '-'
		if form[n] == '0' {
			fits = isDigit(text[n])
		}
		if !fits {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// String returns v as the app shows it in a line of text: "" for null, a
// number as JavaScript prints it, lists and maps as JSON.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return ""
	case Bool:
		return strconv.FormatBool(v.truth)
	case Number:
		return FormatNumber(v.number)
	case String:
		return v.text
	}
	return string(v.appendJSON(nil))
}

// Equal reports whether v and w have the same kind and value. How a number is written
// does not matter, and NaN equals NaN.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Bool:
		return v.truth == w.truth
	case Number:
		return v.number == w.number || math.IsNaN(v.number) && math.IsNaN(w.number)
	case List:
		return slices.EqualFunc(v.List(), w.List(), Value.Equal)
	case Map:
		return sameProperties(v.Fields(), w.Fields())
	}
	return v.text == w.text
}

// sameProperties reports whether a and b have the same keys and values in the same order. Lines do not matter.
func sameProperties(a, b Properties) bool {
	return slices.EqualFunc(a, b, func(x, y Property) bool { return x.Key == y.Key && x.Value.Equal(y.Value) })
}

// Union returns a list of the elements of v, followed by the elements of w that v lacks.
// It reports false if one of the two is not a list.
func (v Value) Union(w Value) (Value, bool) {
	if v.kind != List || w.kind != List {
		return v, false
	}
	all := slices.Clone(v.List())
	has := Values{}
	for _, element := range all {
		has.Add(element)
	}
	for _, element := range w.List() {
		if !has.Has(element) {
			all = append(all, element)
			has.Add(element)
		}
	}
	return Value{kind: List, more: all}, true
}

// appendKey appends a text that is the same for two values exactly if they are equal, see [Value.Equal].
func (v Value) appendKey(out []byte) []byte {
	out = append(out, byte('0'+v.kind))
	switch v.kind {
	case Bool:
		return strconv.AppendBool(out, v.truth)
	case Number:
		return strconv.AppendFloat(out, v.number+0, 'g', -1, 64) // +0 removes the sign of zero
	case List:
		out = strconv.AppendInt(out, int64(len(v.List())), 10)
		for _, element := range v.List() {
			out = element.appendKey(append(out, ','))
		}
		return out
	case Map:
		out = strconv.AppendInt(out, int64(len(v.Fields())), 10)
		for _, field := range v.Fields() {
			out = appendSized(out, field.Key)
			out = field.Value.appendKey(out)
		}
		return out
	}
	return appendSized(out, v.text)
}

// appendSized appends the length of text and the text, so that it is clear where it ends.
func appendSized(out []byte, text string) []byte {
	out = strconv.AppendInt(append(out, ','), int64(len(text)), 10)
	return append(append(out, ':'), text...)
}

// Tags returns the tags in the properties in their order, each with its "#": the strings in the property "tags" (in any
// case) that would be valid tags in the body. Commas do not separate tags: "a, b" is not a tag.
func Tags(p Properties) []string {
	var tags []string
	for _, text := range stringsOf(p, "tags") {
		if name, ok := markdown.TagName(strings.TrimSpace(text)); ok {
			tags = append(tags, "#"+name)
		}
	}
	return tags
}

// Aliases returns the other names of the note: the strings in the property "aliases" (in any case) that are not blank.
func Aliases(p Properties) []string {
	var aliases []string
	for _, text := range stringsOf(p, "aliases") {
		if alias := strings.TrimSpace(text); alias != "" {
			aliases = append(aliases, alias)
		}
	}
	return aliases
}

// stringsOf returns the strings that are values of the properties with a name, or elements of such a value. Several
// properties can have it, because the case of name does not matter.
func stringsOf(p Properties, name string) []string {
	var out []string
	for _, property := range p {
		if !strings.EqualFold(property.Key, name) {
			continue
		}
		for _, value := range property.Value.Elements() {
			if value.kind == String {
				out = append(out, value.text)
			}
		}
	}
	return out
}

// Elements returns the elements of v if it is a list, otherwise v alone.
func (v Value) Elements() []Value {
	if v.kind == List {
		return v.List()
	}
	return []Value{v}
}

// Link is a link in a property.
type Link struct {
	// Key is the name of the property, followed by a dot and the index for an element of a list.
	Key  string
	Link markdown.Link
}

// Links returns the links in the properties: the values and elements of lists that are
// strings and consist of one link. A wikilink without quotes is a nested list in YAML, and
// not a link.
func Links(p Properties) []Link {
	var links []Link
	for _, property := range p {
		for i, value := range property.Value.Elements() {
			if value.kind != String {
				continue
			}
			link, ok := markdown.ParseLink(value.text)
			if !ok {
				continue
			}
			key := property.Key
			if property.Value.kind == List {
				key += "." + strconv.Itoa(i)
			}
			links = append(links, Link{key, link})
		}
	}
	return links
}

// JSON returns the properties as the app prints them: indented by two blanks, numbers and booleans without quotes, and
// numbers as JavaScript writes them. Infinity and NaN, which JSON lacks, are null.
func (p Properties) JSON() string { return Value{kind: Map, more: p}.indented() }

func (v Value) indented() string {
	var out bytes.Buffer
	_ = json.Indent(&out, v.appendJSON(nil), "", "  ") // cannot fail: the input is valid JSON
	return out.String()
}

// appendJSON appends v as JSON without white space.
func (v Value) appendJSON(out []byte) []byte {
	switch v.kind {
	case Bool:
		return append(out, strconv.FormatBool(v.truth)...)
	case Number:
		if math.IsNaN(v.number) || math.IsInf(v.number, 0) {
			return append(out, "null"...)
		}
		return append(out, FormatNumber(v.number)...)
	case String:
		return AppendQuoted(out, v.text)
	case List:
		out = append(out, '[')
		for i, element := range v.List() {
			if i > 0 {
				out = append(out, ',')
			}
			out = element.appendJSON(out)
		}
		return append(out, ']')
	case Map:
		out = append(out, '{')
		for i, field := range v.Fields() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(AppendQuoted(out, field.Key), ':')
			out = field.Value.appendJSON(out)
		}
		return append(out, '}')
	}
	return append(out, "null"...)
}

// AppendQuoted appends text as a JSON string with as few escapes as possible: encoding/json
// would also escape characters that have a meaning in HTML.
func AppendQuoted(out []byte, text string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch n := strings.IndexByte("\"\\\b\f\n\r\t", text[0]); {
		case n >= 0:
			out = append(out, '\\', "\"\\bfnrt"[n])
		case r < ' ':
			out = append(out, `\u00`...)
			out = append(out, digits[r>>4], digits[r&0xf])
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	return append(out, '"')
}
