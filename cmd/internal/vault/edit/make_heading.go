package edit

import (
	"bytes"
	"errors"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// The levels of headings, and the one of a heading that is made and says none.
const (
	defaultLevel = 2
	lowestLevel  = 6
)

// AppendUnderMade is [AppendUnder] for a heading that is made if the note has none of that
// name: at the end of the note, or of "A#B" below A at the end of its section. "# A" and
// "### A" say of which level it is to be. The errors are *[Ambiguous] and *[Refusal].
func AppendUnderMade(text []byte, heading, content string) ([]byte, error) {
	edited, err := AppendUnder(text, heading, content)
	var missing *NotFound
	if !errors.As(err, &missing) {
		return edited, err
	}
	d := read(text)
	chain := strings.Split(strings.TrimLeft(heading, "#"), "#")
	level := len(heading) - len(strings.TrimLeft(heading, "#"))
	if level == 0 {
		level = defaultLevel
	}
	at := len(text)
	for n := len(chain) - 1; n > 0; n-- {
		i, err := FindHeading(d.found, strings.Join(chain[:n], "#"))
		if err == nil {
			at, level, chain = d.sectionEnd(i), d.found.Headings[i].Level+1, chain[n:]
			break
		}
		if !errors.As(err, &missing) {
			return nil, err
		}
	}
	lines, err := d.headings(chain, level)
	if err != nil {
		return nil, err
	}
	if edited, err = d.insert(at, d.apart(at)+lines+content, true); err != nil {
		return nil, err
	}
	if _, err := FindHeading(markdown.Scan(edited), heading); err != nil {
		return nil, &Refusal{Line: d.line(at), Reason: "a heading with this text would not be found again"}
	}
	return edited, nil
}

// headings are the lines of headings one below the other.
func (d *doc) headings(names []string, level int) (string, error) {
	var lines strings.Builder
	for i, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return "", &Refusal{Line: d.line(len(d.text)), Reason: "a heading has one line with text"}
		}
		lines.WriteString(strings.Repeat("#", min(level+i, lowestLevel)) + " " + name + "\n")
	}
	return lines.String(), nil
}

// sectionEnd returns where a section ends, without the blank lines at its end.
func (d *doc) sectionEnd(i int) int {
	return d.next(len(bytes.TrimRight(d.text[:d.found.Section(i).End], " \t\r\n")))
}

// apart is a blank line where the line above a place has text.
func (d *doc) apart(at int) string {
	if above, _, ok := d.lineBefore(at); ok && strings.TrimSpace(above) != "" {
		return "\n"
	}
	return ""
}
