package frontmatter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Rename returns the note text with a property of another name, and whether it had
// it. Its value stays as it is written, and so does its place. A property of the new
// name that is there already is a *[Refusal], unless it is the same one in another
// case; the other errors are those of [Set].
func Rename(text []byte, key, to string) (edited []byte, found bool, err error) {
	if reason := unusable(to); reason != "" {
		return nil, false, &Refusal{Reason: reason}
	}
	b, err := open(text)
	if err != nil {
		return nil, false, err
	}
	place, found, err := b.find(key)
	if err != nil || !found {
		return text, false, err
	}
	old := b.properties[place]
	if old.Key == to {
		return text, true, nil
	}
	for i, other := range b.properties {
		if i != place && strings.EqualFold(other.Key, to) {
			return nil, false, &Refusal{other.Line, fmt.Sprintf("there is a property %q already", other.Key)}
		}
	}
	edited, err = b.rename(place, to)
	return edited, err == nil, err
}

// rename writes another key for the property at place.
func (b *note) rename(place int, to string) ([]byte, error) {
	first := b.firstLine(place)
	line := b.block()[first.Start:first.End]
	colon, ok := behindKey(line)
	if !ok {
		return nil, &Refusal{b.properties[place].Line, "the name of this property is not a plain text"}
	}
	want := slices.Clone(b.properties)
	want[place].Key = to
	start := len(line) - len(bytes.TrimLeft(line, " "))
	at := b.span.Start + first.Start
	return b.checked(splice(b.text, markdown.Span{Start: at + start, End: at + colon}, writtenKey(to)+":"), want, want[place].Line)
}
