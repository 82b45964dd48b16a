package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// lint looks for what encoding/json lets pass in silence in a document that
// [json.Valid] accepts: a key that stands twice in one object, and a key that
// only resembles one of exact, which lists names by depth. It bounds depth and
// size too. It returns the fields of the document as slices of it, nil when it
// is no object.
func lint(document []byte, exact map[int][]string) (map[string]json.RawMessage, error) {
	l := linter{rest: document, exact: exact}
	if err := l.value(1); err != nil {
		return nil, err
	}
	return l.fields, nil
}

// linter goes through a valid document. What it relies on is only that: it looks
// at nothing but where values begin and end.
type linter struct {
	rest   []byte
	exact  map[int][]string
	values int
	fields map[string]json.RawMessage // of the outermost object
}

// value checks one value; an object or a list found here has the given depth.
func (l *linter) value(depth int) error {
	if l.values++; l.values > maxValues {
		return fmt.Errorf("has more than %d values", maxValues)
	}
	switch l.peek() {
	case '{', '[':
		if depth > maxDepth {
			return fmt.Errorf("is nested deeper than %d", maxDepth)
		}
	case '"':
		l.text()
		return nil
	default:
		l.word()
		return nil
	}
	if l.peek() == '[' {
		return l.list(depth)
	}
	fields, err := l.object(depth)
	if depth == 1 {
		l.fields = fields
	}
	return err
}

func (l *linter) list(depth int) error {
	for l.skip(); l.peek() != ']'; {
		if err := l.value(depth + 1); err != nil {
			return err
		}
		if l.peek() == ',' {
			l.skip()
		}
	}
	l.skip()
	return nil
}

func (l *linter) object(depth int) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for l.skip(); l.peek() != '}'; {
		key := l.key()
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %q stands twice in one object", clip(key))
		}
		if right := resembles(key, l.exact[depth]); right != "" {
			return nil, fmt.Errorf("key %q must be written %q", clip(key), right)
		}
		l.peek()
		before := l.rest
		if err := l.value(depth + 1); err != nil {
			return nil, err
		}
		fields[key] = json.RawMessage(before[:len(before)-len(l.rest)])
		if l.peek() == ',' {
			l.skip()
		}
	}
	l.skip()
	return fields, nil
}

// key takes a key and its colon.
func (l *linter) key() string {
	raw := l.text()
	l.peek()
	l.skip()
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var key string
	_ = json.Unmarshal(raw, &key) // the document is valid
	return key
}

// peek returns the first byte that is not space and stays before it.
func (l *linter) peek() byte {
	l.rest = bytes.TrimLeft(l.rest, jsonSpace)
	return l.rest[0]
}

func (l *linter) skip() { l.rest = l.rest[1:] }

// text takes a string with its quotes.
func (l *linter) text() []byte {
	end := 1
	for l.rest[end] != '"' {
		if l.rest[end] == '\\' {
			end++
		}
		end++
	}
	text := l.rest[:end+1]
	l.rest = l.rest[end+1:]
	return text
}

// word takes a number, true, false or null.
func (l *linter) word() {
	end := bytes.IndexAny(l.rest, ",]}"+jsonSpace)
	if end < 0 {
		end = len(l.rest)
	}
	l.rest = l.rest[end:]
}
