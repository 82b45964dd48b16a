package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/markdown"
)

// onePart refuses a request that names no part of a note, or several.
func onePart(p command.Values) error {
	given := 0
	for _, way := range []string{"heading", "block", "lines"} {
		if p.Has(way) {
			given++
		}
	}
	switch given {
	case 0:
		return command.Misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	case 1:
		return nil
	}
	return command.Misuse("Use heading=<text>, block=<id> or lines=<n-m>, not several.")
}

// readSection prints the bytes of one part of a note as they are. Its facts are
// those of the whole note, so that a change of the part can be tied to them.
func readSection(v *command.Vault, p command.Values) (command.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	if err := onePart(p); err != nil {
		return command.Reply{}, err
	}
	found := markdown.Scan(text)
	var part markdown.Span
	switch {
	case p.Has("heading"):
		var i int // several of one name are told apart by those above them, or by their lines
		if i, err = edit.FindHeading(found, p["heading"]); err == nil {
			part = found.Section(i)
		}
	case p.Has("block"):
		block, ok := found.Block(strings.TrimPrefix(p["block"], "^"))
		if part = block.Span; !ok {
			err = &edit.NotFound{What: "block", Wanted: p["block"]}
		}
	default:
		part, err = lineSpan(text, p["lines"])
	}
	if err != nil {
		return command.Reply{}, explainEditError(found, err)
	}
	return command.FromNote(t.Path, text, string(text[part.Start:part.End])), nil
}

// lineSpan finds the bytes of lines. The last one may be after the end of the
// note.
func lineSpan(text []byte, wanted string) (markdown.Span, error) {
	first, last, err := parseLines(wanted)
	if err != nil {
		return markdown.Span{}, err
	}
	start, ok := lineStart(text, 0, first-1)
	if !ok {
		return markdown.Span{}, command.NotFoundLine.Failure("Line %q not found. The note has %d lines.", command.Verbatim(strconv.Itoa(first)), edit.NumberOfLines(text))
	}
	end, _ := lineStart(text, start, last-first+1)
	return markdown.Span{Start: start, End: end}, nil
}

// parseLines reads lines that are given as "12" or "12-20", counted from 1.
func parseLines(wanted string) (first, last int, err error) {
	from, to, several := strings.Cut(wanted, "-")
	if !several {
		to = from
	}
	first, err = strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 1 || last < first {
		return 0, 0, command.Misuse("Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
	}
	return first, last, nil
}

// lineStart returns where the line begins that is n lines after the one at
// from; the end of the text if there is none.
func lineStart(text []byte, from, n int) (at int, ok bool) {
	for ; n > 0; n-- {
		newline := bytes.IndexByte(text[from:], '\n')
		if newline < 0 {
			return len(text), false
		}
		from += newline + 1
	}
	return from, from < len(text)
}

// several prints notes one after the other, each under a heading with its
// path. One that is not there, cannot be read, or would make the answer too
// long keeps its heading, which says so. Of each note only the section of a heading is
// printed, if one is given.
func several(v *command.Vault, notes []disk.Path, section string) string {
	var out strings.Builder
	for _, note := range notes {
		text, remark := fitting(v, note, maxSeveral-out.Len())
		if section != "" && remark == "" {
			text, remark = sectionIn(text, section)
		}
		fmt.Fprintf(&out, "==> %s%s <==\n%s", note, remark, text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// fitting returns the text of a note if it has at most limit bytes, else what
// is in its heading.
func fitting(v *command.Vault, note disk.Path, limit int) (text []byte, remark string) {
	info, err := v.Disk.Stat(note)
	switch {
	case err == nil && info.Size() > int64(limit):
		return nil, fmt.Sprintf(" (%d bytes, not shown)", info.Size())
	case err == nil:
		text, err = v.Disk.Read(note)
	}
	switch {
	case err == nil:
		return text, ""
	case disk.IsMissing(err):
		return nil, " (missing)"
	case errors.Is(err, fs.ErrPermission):
		return nil, " (cannot be read: permission denied)"
	}
	return nil, " (cannot be read)"
}

// sectionIn returns the section of a heading, or the text in the heading
// of the note that has none, or several.
func sectionIn(text []byte, heading string) (section []byte, remark string) {
	found := markdown.Scan(text)
	i, err := edit.FindHeading(found, heading)
	var many *edit.Ambiguous
	switch {
	case errors.As(err, &many):
		return nil, fmt.Sprintf(" (has %d headings of that name)", many.Count)
	case err != nil:
		return nil, " (has no such heading)"
	}
	at := found.Section(i)
	return text[at.Start:at.End], ""
}

// outline has the same sentence for nothing in every form, the total too.
func outline(v *command.Vault, p command.Values) (command.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	return command.FromNote(t.Path, text, outlineOf(markdown.Scan(text).Headings, p)), nil
}

func outlineOf(headings []markdown.Heading, p command.Values) string {
	switch {
	case len(headings) == 0:
		return "No headings found."
	case p.Has("total"):
		return strconv.Itoa(len(headings))
	case p["format"] == command.FormatJSON:
		type row struct { // numbers for level and line, unlike most commands
			Level   int    `json:"level"`
			Heading string `json:"heading"`
			Line    int    `json:"line"`
		}
		table := command.Map(headings, func(h markdown.Heading) row { return row{h.Level, h.Text, h.Line} })
		return indented(table)
	case p["format"] != "md":
		// A heading is below the last one before it with a lower level; levels that are left out take no
		// room.
		goesOn := siblings(headings)
		var out strings.Builder
		var open []int // the headings above, outermost first
		for i, h := range headings {
			for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
				open = open[:len(open)-1]
			}
			for _, j := range open {
				out.WriteString(pick(goesOn[j], "│   ", "    "))
			}
			out.WriteString(pick(goesOn[i], "├── ", "└── ") + h.Text + "\n")
			open = append(open, i)
		}
		return out.String()
	}
	var out strings.Builder
	for _, h := range headings {
		out.WriteString(strings.Repeat("#", h.Level) + " " + h.Text + "\n")
	}
	return out.String()
}

// siblings says of each heading whether another branch follows at its place:
// whether the next heading that is not below it still is below its parent.
func siblings(headings []markdown.Heading) []bool {
	parents, next := make([]int, len(headings)), make([]int, len(headings))
	var open []int
	for i, h := range headings {
		for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
			next[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			parents[i] = headings[open[len(open)-1]].Level
		}
		open = append(open, i)
	}
	goesOn := make([]bool, len(headings))
	for i, j := range next {
		goesOn[i] = j > 0 && headings[j].Level > parents[i]
	}
	return goesOn
}

func wordCount(v *command.Vault, p command.Values) (command.Reply, error) {
	text, found, err := v.ScannedNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	words, characters := markdown.WordCount(text[found.Body:])
	switch {
	case p.Has("words") == p.Has("characters"):
		return command.Text("words: " + strconv.Itoa(words) + "\ncharacters: " + strconv.Itoa(characters)), nil
	case p.Has("words"):
		return command.Text(strconv.Itoa(words)), nil
	}
	return command.Text(strconv.Itoa(characters)), nil
}
