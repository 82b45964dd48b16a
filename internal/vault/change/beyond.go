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

// Plugins of the app may change a note when it is created or saved: they insert a template, sort its
// properties, or record the time of the change. Such a change still counts as made: if it were reported as not
// made, the agent would repeat it.

// Beyond judges a note that has the requested text exactly once, at its place, and was changed in other ways,
// too. text is "" if no text was requested; property is the name of the requested property. If half of the
// lines or of the properties of the old text are gone, no place can be identified any more, and the verdict is
// the zero one.
func Beyond(before, now []byte, text, property string) Verdict {
	if len(before) > maxRepeated || len(now) > maxRepeated {
		return Verdict{}
	}
	old := linesOfBody(before)
	remaining := linesOfBody(now)
	requested := linesIn([]byte(text))
	total := 0
	removed := 0
	added := 0
	for line, n := range old {
		total += n
		removed += max(0, n-remaining[line])
	}
	for line, n := range remaining {
		added += max(0, n-old[line]-requested[line])
	}
	if removed > 0 && 2*removed >= total {
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

// linesOfBody counts the lines of a note after its properties.
func linesOfBody(text []byte) map[string]int { return linesIn(edit.Body(text)) }

// linesIn counts the occurrences of each line of a text, without blank lines and without blanks at the end of a
// line.
func linesIn(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			counts[string(line)]++
		}
	}
	return counts
}

// changedProperties returns the names of the properties whose value was changed or which were removed, except
// one. keepsMost is false if half of the properties are gone or cannot be parsed.
func changedProperties(before, now []byte, except string) (names []string, keepsMost bool) {
	old, err := PropertiesIn(before)
	if err != nil {
		return nil, false
	}
	remaining, err := PropertiesIn(now)
	if err != nil {
		return nil, false
	}
	for _, p := range remaining {
		if previous, ok := old.Lookup(p.Key); !ok || !p.Value.Equal(previous.Value) {
			names = append(names, p.Key)
		}
	}
	changed := len(names)
	for _, p := range old {
		if _, ok := remaining.Lookup(p.Key); !ok && !strings.EqualFold(p.Key, except) {
			names = append(names, p.Key)
		}
	}
	gone := len(names) - changed
	names = slices.DeleteFunc(names, func(name string) bool { return strings.EqualFold(name, except) })
	return names, gone == 0 || 2*gone < len(old)
}

// Edge is the end of a note at which text is added.
type Edge uint8

const (
	AtEnd Edge = iota + 1
	AtStart
)

// AddedAt judges a note to which text was added at one of its ends: the text must occur once more than before,
// with what remains of the old text on its other side. With [edit.OwnLine], it must have lines of its own. Text
// that a plugin added may follow it.
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
	isJoined := !beginsLine // with the line before
	mayJoin := inline && len(old) > 0 && !bytes.HasSuffix(old, []byte("\n"))
	if edge == AtStart {
		isJoined = !endsLine
		mayJoin = inline && len(old) > 0 && !bytes.HasPrefix(old, []byte("\n"))
	}
	isWhole := beginsLine && endsLine // a line of its own
	if isJoined != mayJoin || !inline && !isWhole {
		return Verdict{}
	}
	outside := body[end:] // the side that must not have any of the old text
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
