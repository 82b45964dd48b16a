package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Refusal says why an edit was not made: it would have changed more than it should.
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

// Set returns the note text with a property set to value. Only the lines of that property
// change, and of a list that gets or loses items those of the items: its key stays as it is spelled, and so does a comment after it. A new property
// is added at the end of the block, or in a new block before the body. A property that has
// the value already stays as it is written.
//
// The result is checked to read back as the same properties with this change alone. The
// errors are *[Malformed] for a block that cannot be read, and *[Refusal].
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
		want := append(slices.Clone(b.properties), Property{Key: key, Value: value})
		return b.first(value, func(form string) ([]byte, error) {
			at, lines := b.addition(b.newLines(key, form))
			return b.checked(splice(b.text, at, lines), want, 0)
		})
	case b.properties[place].Value.Equal(value):
		return text, nil
	}
	want := slices.Clone(b.properties)
	want[place].Value = value
	if patches, ok := b.itemPatches(place, value); ok {
		if edited, err := b.checked(patched(b.text, patches), want, want[place].Line); err == nil {
			return edited, nil
		}
	}
	r := b.replacement(place)
	return b.first(value, func(form string) ([]byte, error) {
		return b.checked(splice(b.text, r.span, r.lines(form)), want, want[place].Line)
	})
}

// SetAll is [Set] for several properties, in their order. They are checked together, unless that fails.
func SetAll(text []byte, values Properties) ([]byte, error) {
	if len(values) > 1 {
		if edited, ok := setTogether(text, values); ok {
			return edited, nil
		}
	}
	for _, property := range values {
		edited, err := Set(text, property.Key, property.Value)
		if err != nil {
			return nil, err
		}
		text = edited
	}
	return text, nil
}

// setTogether sets properties whose names differ, each in the first form of its value. It reports false if the
// result does not read back so.
func setTogether(text []byte, values Properties) (edited []byte, ok bool) {
	b, err := open(text)
	if err != nil {
		return nil, false
	}
	want := b.properties.Named()
	var replaced []Patch
	added := ""
	for _, property := range values {
		if unusable(property.Key) != "" {
			return nil, false
		}
		place, found := want.place(property.Key)
		switch {
		case found && (place >= len(b.properties) || b.entries[place].twice):
			return nil, false
		case !found:
			want.add(Property{Key: property.Key, Value: property.Value})
			added += b.newLines(property.Key, b.form(property.Value))
			continue
		case want.all[place].Value.Equal(property.Value):
			continue
		}
		want.all[place].Value = property.Value
		if patches, ok := b.itemPatches(place, property.Value); ok {
			replaced = append(replaced, patches...)
			continue
		}
		r := b.replacement(place)
		replaced = append(replaced, Patch{r.span, r.lines(b.form(property.Value))})
	}
	if added != "" {
		at, lines := b.addition(added)
		replaced = append(replaced, Patch{at, lines})
	}
	slices.SortStableFunc(replaced, func(a, b Patch) int { return a.Start - b.Start })
	for i := 1; i < len(replaced); i++ {
		if replaced[i].Start < replaced[i-1].End { // one is set twice
			return nil, false
		}
	}
	edited, err = b.checked(patched(text, replaced), want.all, 0)
	return edited, err == nil
}

// newLines returns the lines of a property that is added, with \n at their ends.
func (b *note) newLines(key, form string) string { return b.indent() + writtenKey(key) + ":" + form }

// addition returns where properties are added, and what is written there.
func (b *note) addition(lines string) (markdown.Span, string) {
	at := b.span.End
	end := breakBefore(b.text, b.span.End)
	if b.body <= b.front { // there is no block
		at = b.front
		end = breakBefore(b.text, b.front+1+bytes.IndexByte(b.text[b.front:], '\n'))
		lines = fence + "\n" + lines + fence + "\n"
	}
	return markdown.Span{Start: at, End: at}, withBreaks(lines, end)
}

// replacement is where the value of a property is replaced.
type replacement struct {
	span markdown.Span // in the note
	// The key stays as it is written, and the comment at the end of its line.
	key, comment, end string
}

func (b *note) replacement(place int) replacement {
	at := b.trimmed(place)
	first := b.firstLine(place)
	line := b.block()[first.Start:first.End]
	r := replacement{
		span: markdown.Span{Start: b.span.Start + at.Start, End: b.span.Start + at.End},
		key:  b.indent() + writtenKey(b.properties[place].Key) + ":", end: breakBefore(b.text, b.span.Start+first.End),
	}
	if colon, ok := behindKey(line); ok {
		r.key, r.comment = string(line[:colon]), b.comment(first, colon)
	}
	return r
}

// lines returns what is written in place of the property.
func (r replacement) lines(form string) string {
	line, rest, _ := strings.Cut(form, "\n")
	return r.key + withBreaks(line+r.comment+"\n"+rest, r.end)
}

// form returns a value as it is written after the colon of its key.
func (b *note) form(value Value) string {
	var w yamlWriter
	w.value(value, b.indent())
	return w.out.String()
}

// Get returns the value of a property of the note text. It is null in a block that cannot be read.
func Get(text []byte, key string) Value {
	_, properties, _ := scan(text)
	property, _ := properties.Lookup(key)
	return property.Value
}

// scan returns the parts and the properties of the note text.
func scan(text []byte) (markdown.Note, Properties, error) {
	found := markdown.Scan(text)
	properties, err := Parse(text[found.Frontmatter.Start:found.Frontmatter.End])
	return found, properties, err
}

// Remove returns the note text without a property, the text itself if it does not have it. The
// block is removed with its last property, unless comments are left in it, or the text after
// it would be taken for another block. The errors are those of [Set].
func Remove(text []byte, key string) ([]byte, error) {
	b, err := open(text)
	if err != nil {
		return nil, err
	}
	place, found, err := b.find(key)
	if err != nil || !found {
		return text, err
	}
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

// note is a note whose properties are edited.
type note struct {
	text       []byte
	front      int           // where the block is or would be: after a byte order mark
	span       markdown.Span // between the fences
	body       int
	properties Properties
	entries    []entry
}

// open reads the properties of the note text.
func open(text []byte) (*note, error) {
	found, properties, err := scan(text)
	if err != nil {
		return nil, err
	}
	b := &note{text: text, span: found.Frontmatter, body: found.Body, properties: properties}
	b.front = len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	if b.body <= b.front {
		b.body = b.front
		return b, nil
	}
	b.entries, err = entries(b.block(), b.properties)
	return b, err
}

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

const fence = "---"

// indent returns the blanks in front of every key.
func (b *note) indent() string {
	if len(b.entries) == 0 {
		return ""
	}
	line := b.block()[b.entries[0].Start:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}

// first tries the forms of a value, each beginning after the colon of its key, until one
// reads back. A text of several lines has two: the lines after it might be taken for a
// part of it.
func (b *note) first(value Value, try func(form string) ([]byte, error)) ([]byte, error) {
	for _, v := range value.Elements() {
		if v.kind == String && !utf8.ValidString(v.text) { // no note can have it
			return nil, &Refusal{Reason: "the value is not valid UTF-8"}
		}
	}
	edited, err := try(b.form(value))
	if err != nil && value.kind == String {
		if other, also := try(" " + doubleQuoted(value.text) + "\n"); also == nil {
			return other, nil
		}
	}
	return edited, err
}

// checked returns edited if its properties are want and its body is that of the
// note.
func (b *note) checked(edited []byte, want Properties, line int) ([]byte, error) {
	found, got, err := scan(edited)
	var malformed *Malformed
	switch {
	case errors.As(err, &malformed):
		// Its line is one of a note that is not kept.
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

// Rename returns the note text with another name for a property, the text itself if it does not
// have it. The value stays as it is written, and so does its place. If another property has the
// new name, in any case, the error is a *[Refusal]; the others are those of [Set].
func Rename(text []byte, key, to string) ([]byte, error) {
	if reason := unusable(to); reason != "" {
		return nil, &Refusal{Reason: reason}
	}
	b, err := open(text)
	if err != nil {
		return nil, err
	}
	place, found, err := b.find(key)
	if err != nil || !found || b.properties[place].Key == to {
		return text, err
	}
	old := b.properties[place]
	for i, other := range b.properties {
		if i != place && strings.EqualFold(other.Key, to) {
			return nil, &Refusal{other.Line, fmt.Sprintf("there is a property %q already", other.Key)}
		}
	}
	first := b.firstLine(place)
	line := b.block()[first.Start:first.End]
	colon, ok := behindKey(line)
	if !ok {
		return nil, &Refusal{old.Line, "the name of this property is not a plain text"}
	}
	want := slices.Clone(b.properties)
	want[place].Key = to
	start := len(line) - len(bytes.TrimLeft(line, " "))
	at := b.span.Start + first.Start
	return b.checked(
		splice(b.text, markdown.Span{Start: at + start, End: at + colon}, writtenKey(to)+":"),
		want,
		old.Line,
	)
}

// entry is the place of a property in its block, whole lines, and its value there.
type entry struct {
	markdown.Span
	value *yaml.Node
	twice bool // two keys are one as text, such as 1 and "1"
}

// entries finds the lines of every property of a block, with the comments and blank lines
// after it.
func entries(block []byte, properties Properties) ([]entry, error) {
	if len(properties) == 0 {
		return nil, nil
	}
	document, err := load(shield(block))
	if err != nil {
		return nil, malformed(err)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, &Refusal{root.Line, "the properties are in braces, not on lines of their own"}
	}
	lines := lineStarts(block)
	all := make([]entry, 0, len(properties))
	names := builder{nodes: maxNodes}
	at := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, err := names.key(root.Content[i], map[scalarKey]bool{})
		if err != nil {
			return nil, err
		}
		span := markdown.Span{Start: lines[root.Content[i].Line-1], End: len(block)}
		if i+2 < len(root.Content) {
			span.End = lines[root.Content[i+2].Line-1]
		}
		if place, ok := at[name]; ok {
			all[place].twice = true
			continue
		}
		at[name] = len(all)
		all = append(all, entry{Span: span, value: root.Content[i+1]})
	}
	return all, nil
}

// lineStarts returns where each line of a block begins. A carriage return alone ends a line
// of YAML, too. After the last break one more begins.
func lineStarts(block []byte) []int {
	starts := []int{0}
	for n, b := range block {
		isOfPair := b == '\r' && bytes.HasPrefix(block[n+1:], []byte("\n")) // which ends the line
		if (b == '\n' || b == '\r') && !isOfPair {
			starts = append(starts, n+1)
		}
	}
	return starts
}

// trimmed returns the span of the entry at place without the comments and blank lines after
// it: those that can be removed and change nothing.
func (b *note) trimmed(place int) markdown.Span {
	block := b.block()
	at := b.entries[place].Span
	ends := []int{at.End} // of the entry, if idle lines are removed from its end
	starts := lineStarts(block[at.Start:at.End])
	for n := len(starts) - 1; n > 0; n-- {
		start := at.Start + starts[n]
		if start == at.End {
			continue
		}
		// A blank line, a comment or the end of the document may be no part of the value above it.
		line := bytes.TrimRight(bytes.TrimPrefix(block[start:ends[len(ends)-1]], []byte(b.indent())), " \t\r\n")
		if len(line) > 0 && line[0] != '#' && string(line) != "..." {
			break
		}
		ends = append(ends, start)
	}
	kept := sort.Search(len(ends), func(n int) bool {
		return n > 0 && !b.reads(splice(block, markdown.Span{Start: ends[n], End: at.End}, ""))
	})
	return markdown.Span{Start: at.Start, End: ends[kept-1]}
}

// reads reports whether another block has the same properties.
func (b *note) reads(block []byte) bool {
	got, err := Parse(block)
	return err == nil && same(got, b.properties)
}

// firstLine returns the first line of the entry at place, its break included.
func (b *note) firstLine(place int) markdown.Span {
	at := b.entries[place].Span
	starts := lineStarts(b.block()[at.Start:at.End])
	return markdown.Span{Start: at.Start, End: at.Start + starts[min(1, len(starts)-1)]}
}

// behindKey returns where on its line a key ends, colon included. Keys other than a plain
// or quoted text are not read.
func behindKey(line []byte) (at int, ok bool) {
	at = len(line) - len(bytes.TrimLeft(line, " "))
	if at == len(line) || bytes.IndexByte([]byte("?&*!{["), line[at]) >= 0 {
		return 0, false
	}
	if mark := line[at]; mark == '"' || mark == '\'' {
		size := quotedSize(line[at:])
		if size == 0 {
			return 0, false
		}
		at += size
	}
	for ; at+1 < len(line); at++ {
		if line[at] == ':' && bytes.IndexByte([]byte(" \t\r\n"), line[at+1]) >= 0 {
			return at + 1, true
		}
	}
	return 0, false
}

// quotedSize returns the length of the quoted text at the start of text, 0 if it does not
// end.
func quotedSize(text []byte) int {
	mark := text[0]
	for n := 1; n < len(text); n++ {
		switch {
		case text[n] == '\\' && mark == '"':
			n++
		case mark == '\'' && bytes.HasPrefix(text[n:], []byte("''")):
			n++
		case text[n] == mark:
			return n + 1
		}
	}
	return 0
}

// maxMarks bounds how many marks on one line are tried for a comment: each parses the whole
// block.
const maxMarks = 16

// comment returns the comment on a line of the block after from, with the blanks before it.
// It is one if the block reads the same without it.
func (b *note) comment(line markdown.Span, from int) string {
	block := b.block()
	text := bytes.TrimRight(block[line.Start:line.End], "\r\n")
	tried := 0
	for n := from; n < len(text) && tried < maxMarks; n++ {
		if text[n] != '#' || !isBlank(text[n-1]) {
			continue
		}
		tried++
		start := from + len(bytes.TrimRight(text[from:n], " \t"))
		span := markdown.Span{Start: line.Start + start, End: line.Start + len(text)}
		if b.reads(splice(block, span, "")) {
			return string(text[start:])
		}
	}
	return ""
}

// breakBefore returns the line break that ends at at, "\n" where none does.
func breakBefore(text []byte, at int) string {
	if bytes.HasSuffix(text[:at], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func withBreaks(lines, end string) string { return strings.ReplaceAll(lines, "\n", end) }
