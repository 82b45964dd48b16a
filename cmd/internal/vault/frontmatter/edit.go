package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Refusal says why an edit was not made: it would have changed more than it
// should, or was not possible without.
type Refusal struct {
	Line   int // within the block, as that of [Malformed]; 0 if it concerns the whole
	Reason string
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Reason
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Reason)
}

// Set returns the note text with a property set to value. Only the lines of
// that property change: its key stays as it is spelled, and so does a comment
// behind it. One that is not there is added at the end of the block, or in a
// block of its own in front of the body. A property that has the value already
// is left as it is written.
//
// Nothing is returned that does not read back as the same properties with this
// change alone. The errors are *[Malformed] for a block that cannot be read, and
// *[Refusal].
func Set(text []byte, key string, value Value) ([]byte, error) {
	if reason := unusable(key); reason != "" {
		return nil, &Refusal{Reason: reason}
	}
	b, err := open(text)
	if err != nil {
		return nil, err
	}
	place, found, err := b.find(key)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return b.add(key, value)
	case b.properties[place].Value.equal(value):
		return text, nil
	}
	return b.replace(place, value)
}

// IsList reports whether a property of the note text is a list. It is none in a block that
// cannot be read.
func IsList(text []byte, key string) bool {
	found := markdown.Scan(text)
	properties, err := Parse(text[found.Frontmatter.Start:found.Frontmatter.End])
	property, ok := properties.Lookup(key)
	return err == nil && ok && property.Value.Kind() == List
}

// Remove returns the note text without a property, and whether it had it. The
// block goes with its last property, for an empty one is none, unless comments
// are left in it, or what follows would be taken for another block. The errors
// are those of [Set].
func Remove(text []byte, key string) (edited []byte, found bool, err error) {
	b, err := open(text)
	if err != nil {
		return nil, false, err
	}
	place, found, err := b.find(key)
	if err != nil || !found {
		return text, false, err
	}
	edited, err = b.remove(place)
	return edited, err == nil, err
}

// unusable says why key cannot be that of a new property.
func unusable(key string) string {
	switch {
	case strings.TrimSpace(key) == "":
		return "a property needs a name"
	case strings.ContainsAny(key, "\r\n"):
		return "the name of a property is one line"
	case !utf8.ValidString(key):
		return "the name of a property is not valid UTF-8"
	}
	return ""
}

// note is a note whose properties are about to be edited.
type note struct {
	text       []byte
	front      int           // where the block stands or would stand: behind a byte order mark
	span       markdown.Span // between the fences
	body       int
	properties Properties
	entries    []entry
}

// open reads the properties of the note text.
func open(text []byte) (*note, error) {
	found := markdown.Scan(text)
	b := &note{text: text, span: found.Frontmatter, body: found.Body}
	b.front = len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !b.hasBlock() {
		b.body = b.front
		return b, nil
	}
	var err error
	if b.properties, err = Parse(b.block()); err != nil {
		return nil, err
	}
	b.entries, err = entries(b.block(), b.properties)
	return b, err
}

func (b *note) hasBlock() bool { return b.body > b.front }

func (b *note) block() []byte { return b.text[b.span.Start:b.span.End] }

// find returns the place of a property, by the rule of [Properties.Lookup].
func (b *note) find(key string) (place int, found bool, err error) {
	property, found := b.properties.Lookup(key)
	if !found {
		return 0, false, nil
	}
	place = slices.IndexFunc(b.properties, func(p Property) bool { return p.Key == property.Key })
	if b.entries[place].twice {
		return 0, false, &Refusal{property.Line, fmt.Sprintf("key %q appears twice", property.Key)}
	}
	return place, true, nil
}

// add writes a property that is not there.
func (b *note) add(key string, value Value) ([]byte, error) {
	want := append(slices.Clone(b.properties), Property{Key: key, Value: value})
	if !b.hasBlock() {
		end := lineBreak(b.text, b.front)
		return b.first(value, func(form string) ([]byte, error) {
			lines := fence + end + withBreaks(writtenKey(key)+":"+form, end) + fence + end
			return b.checked(splice(b.text, markdown.Span{Start: b.front, End: b.front}, lines), want, 0)
		}, "")
	}
	indent, end := b.indent(), breakBefore(b.text, b.span.End)
	return b.first(value, func(form string) ([]byte, error) {
		lines := withBreaks(indent+writtenKey(key)+":"+form, end)
		return b.checked(splice(b.text, markdown.Span{Start: b.span.End, End: b.span.End}, lines), want, 0)
	}, indent)
}

const fence = "---"

// indent returns the blanks in front of every key.
func (b *note) indent() string {
	if len(b.entries) == 0 {
		return ""
	}
	line := b.block()[b.entries[0].Start:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}

// replace writes another value for the property at place.
func (b *note) replace(place int, value Value) ([]byte, error) {
	want := slices.Clone(b.properties)
	want[place].Value = value
	indent, at := b.indent(), b.trimmed(place)
	first := b.firstLine(place)
	end := breakBefore(b.text, b.span.Start+first.End)
	key, comment := b.around(place, first)
	return b.first(value, func(form string) ([]byte, error) {
		line, rest, _ := strings.Cut(form, "\n")
		lines := key + withBreaks(line+comment+"\n"+rest, end)
		span := markdown.Span{Start: b.span.Start + at.Start, End: b.span.Start + at.End}
		return b.checked(splice(b.text, span, lines), want, want[place].Line)
	}, indent)
}

// first tries the ways to write a value, each beginning behind the colon of its
// key, until one can be read back. A text of several lines has two: what
// follows might be taken for a part of it.
func (b *note) first(value Value, try func(form string) ([]byte, error), indent string) ([]byte, error) {
	if err := value.check(); err != nil {
		return nil, err
	}
	var w yamlWriter
	w.value(value, indent)
	edited, err := try(w.out.String())
	if err != nil && value.kind == String {
		if other, also := try(" " + doubleQuoted(value.text) + "\n"); also == nil {
			return other, nil
		}
	}
	return edited, err
}

// check refuses a text that no note can hold.
func (v Value) check() error {
	for _, value := range v.each() {
		if value.kind == String && !utf8.ValidString(value.text) {
			return &Refusal{Reason: "the value is not valid UTF-8"}
		}
	}
	return nil
}

// remove takes out the lines of the property at place.
func (b *note) remove(place int) ([]byte, error) {
	want := slices.Delete(slices.Clone(b.properties), place, place+1)
	left := splice(b.block(), b.trimmed(place), "")
	if len(want) == 0 && len(bytes.TrimSpace(left)) == 0 {
		bare := splice(b.text, markdown.Span{Start: b.front, End: b.body}, "")
		if markdown.Scan(bare).Body == 0 {
			return bare, nil
		}
	}
	return b.checked(splice(b.text, b.span, string(left)), want, b.properties[place].Line)
}

// checked returns edited if its properties are want and its body is that of the
// note.
func (b *note) checked(edited []byte, want Properties, line int) ([]byte, error) {
	found := markdown.Scan(edited)
	got, err := Parse(edited[found.Frontmatter.Start:found.Frontmatter.End])
	var malformed *Malformed
	switch {
	case errors.As(err, &malformed):
		// Its line is one of a note that nobody has.
		return nil, &Refusal{line, "with this change the properties could not be read: " + malformed.Reason}
	case !same(got, want):
		return nil, &Refusal{line, "this change cannot be made without changing other properties"}
	case !bytes.Equal(edited[found.Body:], b.text[b.body:]):
		return nil, &Refusal{line, "this change cannot be made without changing the body"}
	}
	return edited, nil
}

// splice returns text with other bytes in place of a span.
func splice(text []byte, at markdown.Span, bytes string) []byte {
	out := make([]byte, 0, len(text)+len(bytes)-(at.End-at.Start))
	out = append(out, text[:at.Start]...)
	out = append(out, bytes...)
	return append(out, text[at.End:]...)
}
