package textedit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML edits TOML files. An entry is written as a table with its own header; a new one is added at the end of the text.
type TOML struct{}

// Decode returns the parsed text. The error is a [*Malformed] or an [*Unsupported].
func (TOML) Decode(text []byte) (any, error) {
	body, err := TOMLBody(text)
	if err != nil {
		return nil, err
	}
	var value map[string]any
	err = toml.Unmarshal(body, &value)
	if err == nil {
		return any(value), nil
	}
	var decoding *toml.DecodeError
	if !errors.As(err, &decoding) {
		return nil, &Malformed{Line: 1, Column: 1, Reason: err.Error()}
	}
	line, column := decoding.Position()
	lines := bytes.SplitAfterN(body, []byte("\n"), line+1)
	column = max(column, 1)
	hasLine := line >= 1 && line <= len(lines)
	if hasLine && column-1 <= len(lines[line-1]) { // convert bytes to characters
		column = 1 + utf8.RuneCount(lines[line-1][:column-1])
	}
	return nil, &Malformed{Line: line, Column: column, Reason: strings.TrimPrefix(decoding.Error(), "toml: ")}
}

func (e TOML) set(text []byte, at Place, entry Object) ([]byte, error) {
	newline := Newline(text)
	block := strings.ReplaceAll(e.Render(at, entry), "\n", newline)
	runs := tomlRunsOf(text, at)
	if len(runs) == 1 && runs[0].table {
		r := runs[0]
		if !bytes.HasSuffix(text[r.start:r.end], []byte("\n")) {
			block = strings.TrimSuffix(block, newline)
		}
		return Apply(text, Splice{Start: r.start, End: r.end, Text: block}), nil
	}
	// The block is separated by a blank line. It has no final line end if the text has none.
	rest := bytes.Clone(withoutRuns(text, runs))
	switch body := bytes.TrimPrefix(rest, []byte(BOM)); {
	case len(body) == 0:
	case bytes.HasSuffix(body, []byte("\n")):
		block = newline + block
	default:
		block = newline + newline + strings.TrimSuffix(block, newline)
	}
	return append(rest, block...), nil
}

func (TOML) remove(text []byte, at Place) ([]byte, error) {
	return withoutRuns(text, tomlRunsOf(text, at)), nil
}

func (TOML) unsupported(at Place, part extent) error {
	name := at.String()
	if part == theContainer {
		name = at.Path[0]
	}
	return &Unsupported{Reason: name + " is written in a form that cannot be edited, such as an inline table"}
}

// tomlRun is a sequence of whole lines that belong to an entry.
type tomlRun struct {
	start, end int
	table      bool // whether it begins with a header
}

// withoutRuns returns the text without the runs, and without the blank line before a header.
func withoutRuns(text []byte, runs []tomlRun) []byte {
	var cuts []Splice
	for _, r := range runs {
		start := r.start
		before := bytes.TrimPrefix(text[:start], []byte(BOM))
		if r.table && !bytes.HasSuffix(text[r.start:r.end], []byte("\n")) {
			start -= lineEnd(before)
			before = before[:len(before)-lineEnd(before)]
		}
		rest := before[:len(before)-lineEnd(before)]
		followsBlankLine := len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))
		if r.table && (followsBlankLine || start < r.start) {
			start -= lineEnd(before)
		}
		cuts = append(cuts, Splice{Start: start, End: r.end})
	}
	return Apply(text, cuts...)
}

// tomlRunsOf returns the runs of an entry in the order of the text.
func tomlRunsOf(text []byte, at Place) []tomlRun {
	type expression struct {
		tomlRun
		path []string
	}
	offset := len(text) - len(bytes.TrimPrefix(text, []byte(BOM)))
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
		list = append(
			list,
			expression{tomlRun{start: bytes.LastIndexByte(body[:first], '\n') + 1 + offset, table: table}, path},
		)
	}
	want := append(slices.Clone(at.Path), at.Name)
	var runs []tomlRun
	joined := false
	for i, expr := range list {
		if len(expr.path) < len(want) || !slices.Equal(expr.path[:len(want)], want) {
			joined = false
			continue
		}
		next := len(text)
		if i+1 < len(list) {
			next = list[i+1].start
		}
		at := expr.start
		expr.end = at // the end of the last line that is neither blank nor a comment
		for line := range bytes.Lines(text[expr.start:next]) {
			at += len(line)
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				expr.end = at
			}
		}
		if joined {
			runs[len(runs)-1].end = expr.end
		} else {
			runs = append(runs, expr.tomlRun)
		}
		joined = true
	}
	return runs
}

// Render returns an entry as a table with its header.
func (TOML) Render(at Place, entry Object) string {
	var header []string
	for _, key := range at.Path {
		header = append(header, tomlKey(key))
	}
	lines := "[" + strings.Join(append(header, tomlKey(at.Name)), ".") + "]\n"
	for _, m := range entry {
		lines += tomlKey(m.Key) + " = " + tomlValue(m.Value) + "\n"
	}
	return lines
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case bool, int:
		return fmt.Sprint(v)
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, tomlString(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case Object:
		if len(v) == 0 {
			return "{}"
		}
		var members []string
		for _, m := range v {
			members = append(members, tomlKey(m.Key)+" = "+tomlValue(m.Value))
		}
		return "{ " + strings.Join(members, ", ") + " }"
	}
	return `""`
}

// bareKey has the characters of keys that need no quotes (TOML 1.0, Keys).
const bareKey = "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func tomlKey(key string) string {
	if key == "" || strings.Trim(key, bareKey) != "" {
		return tomlString(key)
	}
	return key
}

func tomlString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
