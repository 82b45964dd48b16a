package jsonc

import (
	"bytes"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/clients/edit"
)

// Options says what a client tolerates in its file. What it does not is malformed:
// the client could not read the file either.
type Options struct{ Comments, TrailingCommas bool }

// Decode returns the text as a parser would, nil for an empty one; numbers are
// json.Number. The error is an [*edit.Malformed] or an [*edit.Unsupported].
func (o Options) Decode(text []byte) (any, error) {
	root, err := parse(text, o)
	if err != nil {
		return nil, err
	}
	return root.plain(text), nil
}

// Set returns the text with the entry at a place, added or replaced. Mappings that
// are missing on the way to it are made.
func (o Options) Set(text []byte, at edit.Place, entry edit.Object) ([]byte, error) {
	root, err := parse(text, o)
	if err != nil {
		return nil, err
	}
	s := styleOf(text, root)
	keys := append(append([]string{}, at.Path...), at.Name)
	var changed []byte
	if root == nil {
		changed = s.whole(text, nested(keys, entry))
	} else {
		holder, inline := root, s.inline
		for len(keys) > 1 {
			if err := holder.mustBeObject(text, at); err != nil {
				return nil, err
			}
			i := holder.find(keys[0])
			if i < 0 {
				break
			}
			inline = s.inline || len(holder.members) > 1 && s.oneLine(holder)
			holder, keys = holder.members[i].value, keys[1:]
		}
		if len(holder.members) > 0 {
			inline = s.inline || s.oneLine(holder)
		}
		if err := holder.mustBeObject(text, at); err != nil {
			return nil, err
		}
		if i := holder.find(keys[0]); i >= 0 {
			old := holder.members[i]
			changed = edit.Apply(text, edit.Splice{Start: old.value.start, End: old.value.end,
				Text: s.render(entry, s.lineIndent(old.keyStart), !inline)})
		} else {
			changed = s.insert(holder, !inline, keys[0], nested(keys[1:], entry))
		}
	}
	return changed, o.verify(text, changed, at)
}

// Remove returns the text without the entry at a place, the text itself if there is
// none. A mapping that becomes empty stays.
func (o Options) Remove(text []byte, at edit.Place) ([]byte, error) {
	root, err := parse(text, o)
	if err != nil || root == nil {
		return text, err
	}
	holder, parent := root, (*node)(nil)
	for _, key := range at.Path {
		i := holder.find(key)
		if i < 0 {
			return text, nil
		}
		holder, parent = holder.members[i].value, holder
	}
	i := holder.find(at.Name)
	if i < 0 {
		return text, nil
	}
	changed := remove(text, parent, holder, i)
	return changed, o.verify(text, changed, at)
}

func (o Options) verify(text, changed []byte, at edit.Place) error {
	before, err := o.Decode(text)
	if err != nil {
		return err
	}
	after, err := o.Decode(changed)
	if err != nil {
		return &edit.Unsupported{Reason: "the edited file would be malformed: " + err.Error()}
	}
	return edit.Verify(before, after, at)
}

func (n *node) mustBeObject(text []byte, at edit.Place) error {
	if n.kind == '{' {
		return nil
	}
	return edit.MalformedAt(text, n.start, fmt.Sprintf("an object is needed here, for %s", at))
}

// nested returns the value of the first of keys[1:] that is missing: the entry, or
// objects around it.
func nested(keys []string, entry edit.Object) edit.Object {
	for i := len(keys) - 1; i >= 0; i-- {
		entry = edit.Object{{Key: keys[i], Value: entry}}
	}
	return entry
}

// insert puts a member at the end of an object, behind a comment on the line of the
// last one. With lines it gets a line of its own.
func (s style) insert(holder *node, lines bool, key string, value edit.Object) []byte {
	closing := s.lineIndent(holder.start)
	indent := s.memberIndent(holder)
	body := s.quote(key) + s.colon + s.render(value, indent, lines)
	if lines {
		body = s.newline + indent + body
	}
	if len(holder.members) == 0 {
		at := sameLineComments(s.text, holder.start+1)
		rest := s.text[at : holder.end-1]
		end := at
		if len(bytes.TrimSpace(rest)) == 0 {
			end = holder.end - 1
			if lines {
				body += s.newline + closing
			}
		}
		return edit.Apply(s.text, edit.Splice{Start: at, End: end, Text: body})
	}
	last := holder.members[len(holder.members)-1]
	if last.comma >= 0 {
		at := sameLineComments(s.text, last.comma+1)
		return edit.Apply(s.text, edit.Splice{Start: at, End: at, Text: body + ","})
	}
	comma := edit.Splice{Start: last.value.end, End: last.value.end, Text: ","}
	at := sameLineComments(s.text, last.value.end)
	if !lines {
		body = s.space + body
	}
	return edit.Apply(s.text, comma, edit.Splice{Start: at, End: at, Text: body})
}

// remove takes a member out, with the white space before it and one comma. An object
// that becomes empty is written as {}, unless that would put all of its parent on one
// line: then one more entry would be written in another way.
func remove(text []byte, parent, holder *node, i int) []byte {
	m := holder.members[i]
	cut := []edit.Splice{{Start: m.gap, End: m.value.end}}
	switch {
	case m.comma >= 0:
		cut = append(cut, edit.Splice{Start: m.comma, End: m.comma + 1})
	case i > 0:
		comma := holder.members[i-1].comma
		cut = append(cut, edit.Splice{Start: comma, End: comma + 1})
	}
	if len(holder.members) == 1 {
		before, after := text[holder.start+1:m.gap], text[m.value.end:holder.end-1]
		rest := bytes.TrimSpace(append(bytes.Clone(before), after...))
		collapses := parent == nil || bytes.IndexByte(text[parent.start:holder.start], '\n') >= 0 || bytes.IndexByte(text[holder.end:parent.end], '\n') >= 0
		if (len(rest) == 0 || string(rest) == ",") && collapses {
			return edit.Apply(text, edit.Splice{Start: holder.start + 1, End: holder.end - 1})
		}
	}
	return edit.Apply(text, cut...)
}

// sameLineComments returns the end of the comments that follow an offset on its line,
// the offset itself if there are none.
func sameLineComments(text []byte, at int) int {
	for next := at; next < len(text); {
		switch text[next] {
		case ' ', '\t':
			next++
			continue
		case '/':
		default:
			return at
		}
		end := commentEnd(text, next)
		if end <= 0 || bytes.IndexByte(text[next:end], '\n') >= 0 {
			return at
		}
		at, next = end, end
	}
	return at
}

// lineIndent returns the white space with which the line of an offset begins.
func (s style) lineIndent(offset int) string {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	line := strings.TrimPrefix(string(s.text[start:offset]), edit.BOM)
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
