// Package toml edits an entry of a TOML file. See package edit for what it promises.
//
// An entry is a table with a header of its own, put at the end of the text.
package toml

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"vaultwicket/cmd/internal/clients/edit"
)

// Editor edits TOML files.
type Editor struct{}

// Decode returns the text as a parser would. The error is an [*edit.Malformed] or an
// [*edit.Unsupported].
func (Editor) Decode(text []byte) (any, error) {
	if err := edit.CheckText(text); err != nil {
		return nil, err
	}
	var value map[string]any
	body := bytes.TrimPrefix(text, []byte(edit.BOM))
	err := toml.Unmarshal(body, &value)
	if err == nil {
		return any(value), nil
	}
	var decoding *toml.DecodeError
	if !errors.As(err, &decoding) {
		return nil, &edit.Malformed{Line: 1, Column: 1, Reason: err.Error()}
	}
	line, column := decoding.Position()
	return nil, &edit.Malformed{Line: line, Column: characters(body, line, column), Reason: strings.TrimPrefix(decoding.Error(), "toml: ")}
}

// characters returns a column in bytes as one in characters.
func characters(text []byte, line, column int) int {
	lines := bytes.SplitAfterN(text, []byte("\n"), line+1)
	if line < 1 || line > len(lines) || column < 1 || column-1 > len(lines[line-1]) {
		return max(column, 1)
	}
	return 1 + utf8.RuneCount(lines[line-1][:column-1])
}

// Set returns the text with the entry at a place, added or replaced.
func (e Editor) Set(text []byte, at edit.Place, entry edit.Object) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	newline := edit.Newline(text)
	block := render(at, entry, newline)
	runs := runsOf(text, at)
	var changed []byte
	if len(runs) == 1 && runs[0].table {
		r := runs[0]
		if !bytes.HasSuffix(text[r.start:r.end], []byte("\n")) {
			block = strings.TrimSuffix(block, newline)
		}
		changed = edit.Apply(text, edit.Splice{Start: r.start, End: r.end, Text: block})
	} else {
		changed = add(cut(text, runs), block, newline)
	}
	return changed, e.verify(before, changed, at, &entry)
}

// Remove returns the text without the entry at a place, the text itself if there is
// none.
func (e Editor) Remove(text []byte, at edit.Place) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	if _, found := edit.Lookup(before, at); !found {
		return text, nil
	}
	changed := cut(text, runsOf(text, at))
	return changed, e.verify(before, changed, at, nil)
}

// verify makes sure that nothing but the entry differs, and that it is there or not.
func (e Editor) verify(before any, changed []byte, at edit.Place, entry *edit.Object) error {
	after, err := e.Decode(changed)
	if err != nil {
		return &edit.Unsupported{Reason: at.Path[0] + " is written in a form that cannot be edited, such as an inline table"}
	}
	found, ok := edit.Lookup(after, at)
	if ok != (entry != nil) || ok && !edit.Equal(found, entry.Plain()) {
		return &edit.Unsupported{Reason: at.String() + " is written in a form that cannot be edited, such as an inline table"}
	}
	return edit.Verify(before, after, at)
}

// add appends a block behind a blank line. A text without a line end at its end gets
// a block without one.
func add(text []byte, block, newline string) []byte {
	out := bytes.Clone(text)
	switch body := bytes.TrimPrefix(text, []byte(edit.BOM)); {
	case len(body) == 0:
	case bytes.HasSuffix(body, []byte("\n")):
		block = newline + block
	default:
		block = newline + newline + strings.TrimSuffix(block, newline)
	}
	return append(out, block...)
}

// run is a part of the text, in whole lines, that belongs to an entry.
type run struct {
	start, end int
	table      bool // it begins with a header
}

// cut takes runs out, with the blank line before a header.
func cut(text []byte, runs []run) []byte {
	var cuts []edit.Splice
	for _, r := range runs {
		start := r.start
		before := bytes.TrimPrefix(text[:start], []byte(edit.BOM))
		if r.table && !bytes.HasSuffix(text[r.start:r.end], []byte("\n")) {
			start -= lineEnd(before)
			before = before[:len(before)-lineEnd(before)]
		}
		if rest := before[:len(before)-lineEnd(before)]; r.table && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n")) || start < r.start) {
			start -= lineEnd(before)
		}
		cuts = append(cuts, edit.Splice{Start: start, End: r.end})
	}
	return edit.Apply(text, cuts...)
}

// lineEnd returns how many bytes the line end at the end of a text has.
func lineEnd(text []byte) int {
	switch {
	case bytes.HasSuffix(text, []byte("\r\n")):
		return 2
	case bytes.HasSuffix(text, []byte("\n")):
		return 1
	}
	return 0
}

// expression is a header or a key with its value: whole lines.
type expression struct {
	start, end int
	path       []string
	table      bool
}

// runsOf returns what belongs to an entry, with the comments between its lines.
func runsOf(text []byte, at edit.Place) []run {
	want := append(slices.Clone(at.Path), at.Name)
	var runs []run
	joined := false
	for _, x := range expressions(text) {
		if len(x.path) < len(want) || !slices.Equal(x.path[:len(want)], want) {
			joined = false
			continue
		}
		if joined {
			runs[len(runs)-1].end = x.end
		} else {
			runs = append(runs, run{x.start, x.end, x.table})
		}
		joined = true
	}
	return runs
}

// expressions lists the expressions of a well-formed text.
func expressions(text []byte) []expression {
	offset := len(text) - len(bytes.TrimPrefix(text, []byte(edit.BOM)))
	body := text[offset:]
	var list []expression
	var header []string
	p := unstable.Parser{}
	p.Reset(body)
	for p.NextExpression() {
		node := p.Expression()
		var path []string
		first := -1
		for keys := node.Key(); keys.Next(); {
			if first < 0 {
				first = int(keys.Node().Raw.Offset)
			}
			path = append(path, string(keys.Node().Data))
		}
		table := node.Kind == unstable.Table || node.Kind == unstable.ArrayTable
		if table {
			header = path
		} else {
			path = append(slices.Clone(header), path...)
		}
		list = append(list, expression{start: bytes.LastIndexByte(body[:first], '\n') + 1 + offset, path: path, table: table})
	}
	for i := range list {
		end := len(text)
		if i+1 < len(list) {
			end = list[i+1].start
		}
		list[i].end = list[i].start + lastLine(text[list[i].start:end])
	}
	return list
}

// lastLine returns the end of the last line that is neither blank nor a comment.
func lastLine(text []byte) int {
	end := 0
	for at := 0; at < len(text); {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if line := bytes.TrimSpace(text[at:next]); len(line) > 0 && line[0] != '#' {
			end = next
		}
		at = next
	}
	return end
}
