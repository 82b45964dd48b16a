package change

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Plugins of the app change a note when it is made or saved: they fill it from a template, sort its properties, note when
// it was changed. A change that is made is made all the same: told as not made, it would be made twice.

// Beyond judges a note in which the text that was asked for is there, once, at its place, and more was changed than that.
// text is "" where none was asked for, property is the name of a property that was. Where half of the lines or of the
// properties of the old text are gone nothing has a place any more, and the verdict is the zero one.
func Beyond(before, now []byte, text, property string) Verdict {
	if len(before) > maxRepeated || len(now) > maxRepeated {
		return Verdict{}
	}
	old := linesOfBody(before)
	left := linesOfBody(now)
	asked := linesIn([]byte(text))
	all := 0
	removed := 0
	added := 0
	for line, n := range old {
		all += n
		removed += max(0, n-left[line])
	}
	for line, n := range left {
		added += max(0, n-old[line]-asked[line])
	}
	if removed > 0 && 2*removed >= all {
		return Verdict{}
	}
	var parts []string
	if added > 0 {
		parts = append(parts, answer.Count(added, "line")+" added")
	}
	if removed > 0 {
		parts = append(parts, answer.Count(removed, "line")+" removed")
	}
	names, keepsMost := changedProperties(before, now, property)
	if !keepsMost {
		return Verdict{}
	}
	if len(names) > 0 {
		listed := answer.AndMore(answer.List(names, maxBrokenNamed), len(names)-maxBrokenNamed)
		parts = append(parts, fmt.Sprintf("properties changed (%s)", listed))
	}
	if len(parts) == 0 {
		parts = []string{"blank lines, or the order of lines"}
	}
	return Verdict{
		Done:  true,
		More:  true,
		Style: "more was changed at the same time, as plugins of the app do: " + strings.Join(parts, ", "),
	}
}

// linesOfBody counts the lines of a note behind its properties.
func linesOfBody(text []byte) map[string]int { return linesIn(edit.Body(text)) }

// linesIn counts the lines of a text that are not blank, without the blanks at their ends.
func linesIn(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			counts[string(line)]++
		}
	}
	return counts
}

// changedProperties names the properties of which a note has got another value, but for one. keepsMost is false if half of
// the properties are gone, or cannot be read.
func changedProperties(before, now []byte, except string) (names []string, keepsMost bool) {
	old, err := PropertiesIn(before)
	if err != nil {
		return nil, false
	}
	left, err := PropertiesIn(now)
	if err != nil {
		return nil, false
	}
	for _, p := range left {
		if was, ok := old.Lookup(p.Key); !ok || !p.Value.Equal(was.Value) {
			names = append(names, p.Key)
		}
	}
	changed := len(names)
	for _, p := range old {
		if _, ok := left.Lookup(p.Key); !ok && !strings.EqualFold(p.Key, except) {
			names = append(names, p.Key)
		}
	}
	gone := len(names) - changed
	names = slices.DeleteFunc(names, func(name string) bool { return strings.EqualFold(name, except) })
	return names, gone == 0 || 2*gone < len(old)
}

// Edge is where text is added to a note.
type Edge uint8

const (
	AtEnd Edge = iota + 1
	AtStart
)

// AddedAt judges a note to which text was added at one of its ends: it is there once more than before, and what is left of
// the old text is on the other side of it. With [edit.OwnLine] it is a line of its own. It may be followed by what a
// plugin has added.
func AddedAt(before, now []byte, text string, edge Edge, joint edit.Joint) Verdict {
	text = strings.Trim(text, "\r\n")
	if text == "" || !AddsOnce(now, before, text) {
		return Verdict{}
	}
	body := now[markdown.BodyStart(now):]
	at := bytes.LastIndex(body, []byte(text))
	if edge == AtStart {
		at = bytes.Index(body, []byte(text))
	}
	if at < 0 {
		return Verdict{}
	}
	end := at + len(text)
	beginsLine := at == 0 || body[at-1] == '\n'
	endsLine := end == len(body) || body[end] == '\n' || body[end] == '\r'
	old := edit.Body(before)
	inline := joint == edit.Inline
	isJoined := !beginsLine // to the line before
	joins := inline && len(old) > 0 && !bytes.HasSuffix(old, []byte("\n"))
	if edge == AtStart {
		isJoined = !endsLine
		joins = inline && len(old) > 0 && !bytes.HasPrefix(old, []byte("\n"))
	}
	isWhole := beginsLine && endsLine // a line of its own
	if isJoined != joins || !inline && !isWhole {
		return Verdict{}
	}
	outside := body[end:] // the side on which nothing of the old text may be
	if edge == AtStart {
		outside = body[:at]
	}
	lines := linesIn(old)
	for line := range linesIn(outside) {
		if lines[line] > 0 {
			return Verdict{}
		}
	}
	return Beyond(before, now, text, "")
}
