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
	Line   int // within the block, counted from 1; 0 if it concerns the whole block
	Reason string
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Reason
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Reason)
}

// Set returns the note text with a property set to value. Only the lines of that property
// change; if items are added to a list or removed from it, only the lines of these items. The
// key keeps its spelling and the comment after it. A new property is added at the end of the
// block, or in a new block before the body. A property that already has the value is not
// changed.
//
// The result is checked: it must have the same properties, except for this change. The error
// is a *[Malformed] if the block cannot be read, otherwise a *[Refusal].
func Set(text []byte, key string, value Value) ([]byte, error) {
	if reason := unusable(key); reason != "" {
		return nil, &Refusal{Reason: reason}
	}
	b, err := openNote(text)
	if err != nil {
		return nil, err
	}
	place, found, err := b.find(key)
	switch {
	case err != nil:
		return nil, err
	case !found:
		want := append(slices.Clone(b.properties), Property{Key: key, Value: value})
		return b.tryForms(value, func(form string) ([]byte, error) {
			at, lines := b.addition(b.newLines(key, form))
			return b.verify(splice(b.text, at, lines), want, 0)
		})
	case b.properties[place].Value.Equal(value):
		return text, nil
	}
	want := slices.Clone(b.properties)
	want[place].Value = value
	if patches, ok := b.itemPatches(place, value); ok {
		if edited, err := b.verify(patched(b.text, patches), want, want[place].Line); err == nil {
			return edited, nil
		}
	}
	r := b.replacement(place)
	return b.tryForms(value, func(form string) ([]byte, error) {
		return b.verify(splice(b.text, r.span, r.lines(form)), want, want[place].Line)
	})
}

// SetAll sets several properties in order, as [Set] does. They are set and checked together if possible, otherwise one
// by one.
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

// setTogether sets properties with different names, each in the first form of its value. It reports false if that
// is not possible, or if the result does not have these properties.
func setTogether(text []byte, values Properties) (edited []byte, ok bool) {
	b, err := openNote(text)
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
		case found && (place >= len(b.properties) || b.entries[place].isDuplicate):
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
		if replaced[i].Start < replaced[i-1].End { // a property is set twice
			return nil, false
		}
	}
	edited, err = b.verify(patched(text, replaced), want.all, 0)
	return edited, err == nil
}

// newLines returns the lines of a new property. They end with \n.
func (b *note) newLines(key, form string) string { return b.indent() + formatKey(key) + ":" + form }

// addition returns where new properties are inserted, and the text to insert: lines with the line ends of the note, and
// with fences if the note has no block.
func (b *note) addition(lines string) (markdown.Span, string) {
	at := b.span.End
	end := breakBefore(b.text, b.span.End)
	if b.body <= b.front { // the note has no block
		at = b.front
		end = breakBefore(b.text, b.front+1+bytes.IndexByte(b.text[b.front:], '\n'))
		lines = fence + "\n" + lines + fence + "\n"
	}
	return markdown.Span{Start: at, End: at}, withBreaks(lines, end)
}

// replacement says where and how a property is replaced.
type replacement struct {
	span         markdown.Span // the lines of the property in the note
	key, comment string        // the key with its colon, and the comment at the end of its line, as they are written
	end          string        // the line break of the note
}

func (b *note) replacement(place int) replacement {
	at := b.trimmed(place)
	first := b.firstLine(place)
	line := b.block()[first.Start:first.End]
	r := replacement{
		span: markdown.Span{Start: b.span.Start + at.Start, End: b.span.Start + at.End},
		key:  b.indent() + formatKey(b.properties[place].Key) + ":",
		end:  breakBefore(b.text, b.span.Start+first.End),
	}
	if colon, ok := keyEnd(line); ok {
		r.key = string(line[:colon])
		r.comment = b.comment(first, colon)
	}
	return r
}

// lines returns the new lines of the property; form is its value as written after the colon.
func (r replacement) lines(form string) string {
	line, rest, _ := strings.Cut(form, "\n")
	return r.key + withBreaks(line+r.comment+"\n"+rest, r.end)
}

// form returns a value as it is written after the colon of its key, with \n at the ends of lines.
func (b *note) form(value Value) string {
	var w yamlWriter
	w.value(value, b.indent())
	return w.out.String()
}

// Get returns the value of a property of the note text. It is null if the property does not exist or the block cannot
// be read.
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

// Remove returns the note text without a property; the text itself if the property does not
// exist. The block is removed with its last property, unless comments are left in it or the
// text after it would be read as another block. The errors are those of [Set].
func Remove(text []byte, key string) ([]byte, error) {
	b, err := openNote(text)
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
	return b.verify(splice(b.text, b.span, string(left)), want, b.properties[place].Line)
}

// unusable returns why key cannot be the key of a property, "" if it can.
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
	front      int           // offset of the block, or where it would be: after a byte order mark
	span       markdown.Span // the text between the fences
	body       int           // offset of the body
	properties Properties
	entries    []entry
}

// openNote reads the properties of the note text.
func openNote(text []byte) (*note, error) {
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

// find returns the index of a property, which it looks up as [Properties.Lookup] does.
func (b *note) find(key string) (place int, found bool, err error) {
	property, found := b.properties.Lookup(key)
	if !found {
		return 0, false, nil
	}
	place = slices.IndexFunc(b.properties, func(p Property) bool { return p.Key == property.Key })
	if b.entries[place].isDuplicate {
		return 0, false, &Refusal{property.Line, fmt.Sprintf("key %q appears twice", property.Key)}
	}
	return place, true, nil
}

const fence = "---"

// indent returns the blanks before every key of the block.
func (b *note) indent() string {
	if len(b.entries) == 0 {
		return ""
	}
	line := b.block()[b.entries[0].Start:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}

// tryForms calls try with the forms in which a value can be written after the colon of its key,
// until one succeeds. A string has two forms, because the lines after a block of text might
// be read as a part of it; the second is in double quotes.
func (b *note) tryForms(value Value, try func(form string) ([]byte, error)) ([]byte, error) {
	for _, v := range value.Elements() {
		if v.kind == String && !utf8.ValidString(v.text) {
			return nil, &Refusal{Reason: "the value is not valid UTF-8"}
		}
	}
	edited, err := try(b.form(value))
	if err == nil || value.kind != String {
		return edited, err
	}
	if quoted, quotedErr := try(" " + doubleQuote(value.text) + "\n"); quotedErr == nil {
		return quoted, nil
	}
	return edited, err
}

// verify returns edited if its properties are want and its body is unchanged. Otherwise the
// error is a *[Refusal] with the given line.
func (b *note) verify(edited []byte, want Properties, line int) ([]byte, error) {
	found, got, err := scan(edited)
	var malformed *Malformed
	switch {
	case errors.As(err, &malformed):
		// Its line is not used: it refers to the edited text, which the caller does not see.
		return nil, &Refusal{line, "with this change the properties could not be read: " + malformed.Reason}
	case !sameProperties(got, want):
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

// Rename returns the note text with another name for a property; the text itself if the property
// does not exist. Its value and its place do not change. If another property has the new name,
// ignoring case, the error is a *[Refusal]; the other errors are those of [Set].
func Rename(text []byte, key, to string) ([]byte, error) {
	if reason := unusable(to); reason != "" {
		return nil, &Refusal{Reason: reason}
	}
	b, err := openNote(text)
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
	colon, ok := keyEnd(line)
	if !ok {
		return nil, &Refusal{old.Line, "the name of this property is not a plain text"}
	}
	want := slices.Clone(b.properties)
	want[place].Key = to
	start := len(line) - len(bytes.TrimLeft(line, " "))
	at := b.span.Start + first.Start
	return b.verify(
		splice(b.text, markdown.Span{Start: at + start, End: at + colon}, formatKey(to)+":"),
		want,
		old.Line,
	)
}

// entry is a property in its block.
type entry struct {
	markdown.Span // its whole lines
	value         *yaml.Node
	isDuplicate   bool // another key has the same text, such as 1 and "1"
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
			all[place].isDuplicate = true
			continue
		}
		at[name] = len(all)
		all = append(all, entry{Span: span, value: root.Content[i+1]})
	}
	return all, nil
}

// lineStarts returns the offset of each line of a block. In YAML, a single carriage return also
// ends a line. The last line begins after the last line break, even if it is empty.
func lineStarts(block []byte) []int {
	starts := []int{0}
	for n, b := range block {
		isOfPair := b == '\r' && bytes.HasPrefix(block[n+1:], []byte("\n")) // the line ends after \n
		if (b == '\n' || b == '\r') && !isOfPair {
			starts = append(starts, n+1)
		}
	}
	return starts
}

// trimmed returns the span of the entry at place without the comments and blank lines after
// it that are not part of its value.
func (b *note) trimmed(place int) markdown.Span {
	block := b.block()
	at := b.entries[place].Span
	ends := []int{at.End} // possible ends of the entry, the shortest entry last
	starts := lineStarts(block[at.Start:at.End])
	for n := len(starts) - 1; n > 0; n-- {
		start := at.Start + starts[n]
		if start == at.End {
			continue
		}
		// A blank line, a comment or the end of the document need not be a part of the value.
		line := bytes.TrimRight(bytes.TrimPrefix(block[start:ends[len(ends)-1]], []byte(b.indent())), " \t\r\n")
		if len(line) > 0 && line[0] != '#' && string(line) != "..." {
			break
		}
		ends = append(ends, start)
	}
	kept := sort.Search(len(ends), func(n int) bool {
		return n > 0 && !b.hasSameProperties(splice(block, markdown.Span{Start: ends[n], End: at.End}, ""))
	})
	return markdown.Span{Start: at.Start, End: ends[kept-1]}
}

// hasSameProperties reports whether block has the same properties as the note.
func (b *note) hasSameProperties(block []byte) bool {
	got, err := Parse(block)
	return err == nil && sameProperties(got, b.properties)
}

// firstLine returns the first line of the entry at place, including its line break.
func (b *note) firstLine(place int) markdown.Span {
	at := b.entries[place].Span
	starts := lineStarts(b.block()[at.Start:at.End])
	return markdown.Span{Start: at.Start, End: at.Start + starts[min(1, len(starts)-1)]}
}

// keyEnd returns the offset in line after the colon of the key. ok is false if the key is not
// a plain or a quoted text.
func keyEnd(line []byte) (at int, ok bool) {
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

// quotedSize returns the length of the quoted string at the start of text, including its
// quotes; 0 if it is not closed.
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

// maxMarks limits how many "#" on a line are tried as the start of a comment: each try parses
// the whole block.
const maxMarks = 16

// comment returns the comment on a line of the block with the blanks before it, "" if there is
// none. It searches from an offset in the line; text is a comment if the block has the same
// properties without it.
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
		if b.hasSameProperties(splice(block, span, "")) {
			return string(text[start:])
		}
	}
	return ""
}

// breakBefore returns the line break that ends at at; "\n" if there is none.
func breakBefore(text []byte, at int) string {
	if bytes.HasSuffix(text[:at], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func withBreaks(lines, end string) string { return strings.ReplaceAll(lines, "\n", end) }
