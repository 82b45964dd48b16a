package tasks

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// namedOne is the task that a request names, in the text of its note.
type namedOne struct {
	session.Target
	markdown.Task
	note []byte
	at   markdown.Span // of its line, without the break
	head string        // of its line up to the box: the indent, quote marks and the mark of the list
	gap  string        // between the box and the text
	text string        // behind them
}

// namedTask finds the task that a request names.
func namedTask(v *session.Vault, p grammar.Values) (namedOne, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return namedOne{}, err
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return namedOne{}, answer.ReadError(t.Typed, err)
	}
	found, err := taskAt(t, text, line)
	if err != nil {
		return namedOne{}, err
	}
	one := namedOne{Target: t, Task: found, note: text}
	start := bytes.LastIndexByte(text[:found.MarkAt.Start], '\n') + 1
	one.head = strings.TrimPrefix(string(text[start:found.MarkAt.Start-len("[")]), "\ufeff")
	rest, _, _ := strings.Cut(string(text[found.MarkAt.End+len("]"):]), "\n")
	rest = strings.TrimSuffix(rest, "\r")
	one.at = markdown.Span{Start: found.MarkAt.Start - len("[") - len(one.head), End: found.MarkAt.End + len("]") + len(rest)}
	one.text = strings.TrimLeft(rest, " \t")
	one.gap = rest[:len(rest)-len(one.text)]
	return one, nil
}

// name is the place of the task, for messages.
func (n namedOne) name() answer.Verbatim {
	return answer.Verbatim(n.Path.String() + ":" + number(n.Line))
}

// lineWith returns the line of the task with another mark and text.
func (n namedOne) lineWith(mark, text string) string {
	return n.head + "[" + mark + "]" + n.gap + text
}

// with returns the note with other lines in place of that of the task, or without it.
func (n namedOne) with(lines ...string) []byte {
	before, after := n.note[:n.at.Start], n.note[n.at.End:]
	if len(lines) == 0 {
		_, after, _ = bytes.Cut(after, []byte("\n"))
	}
	end := "\n"
	if bytes.HasPrefix(after, []byte("\r\n")) || len(after) == 0 && bytes.HasSuffix(before, []byte("\r\n")) {
		end = "\r\n"
	}
	return slices.Concat(before, []byte(strings.Join(lines, end)), after)
}

// edit makes an edit of the note and explains the error.
func (n namedOne) edit(change func(text []byte) ([]byte, error)) ([]byte, error) {
	return notes.Edit(n.note, func() ([]byte, error) { return change(n.note) })
}

// hasChildren reports whether the line behind the task is indented more than it: then it
// belongs to it.
func (n namedOne) hasChildren() bool {
	_, rest, _ := bytes.Cut(n.note[n.MarkAt.Start:], []byte("\n"))
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	return len(bytes.TrimSpace(next)) > 0 && indentOf(string(next)) > indentOf(n.head)
}

// indentOf measures the blanks at the start of a line, behind the marks of quotes. A tab
// counts as four.
func indentOf(line string) int {
	rest := strings.TrimLeft(line, "> ")
	width := len(line) - len(rest)
	blanks := len(rest) - len(strings.TrimLeft(rest, "\t"))
	return width + 4*blanks
}

func number(n int) string { return strconv.Itoa(n) }
