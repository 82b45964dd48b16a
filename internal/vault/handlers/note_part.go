package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// checkPart rejects a request that names no part of a note, or several.
func checkPart(p call.Values) error {
	switch len(p.Given("heading", "block", "lines")) {
	case 0:
		return answer.Misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	case 1:
		return nil
	}
	return answer.Misuse("Use heading=<text>, block=<id> or lines=<n-m>, not several.")
}

// readSection prints the bytes of one part of a note. The reply has the facts of the whole note, so that a later change
// of the part can require them.
func readSection(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return answer.Reply{}, err
	}
	if err := checkPart(p); err != nil {
		return answer.Reply{}, err
	}
	note := markdown.Scan(text)
	var part markdown.Span
	switch {
	case p.Has("heading"):
		var i int // FindHeading also accepts the headings above, or a line, to distinguish equal headings
		if i, err = edit.FindHeading(note, p["heading"]); err == nil {
			part = note.Section(i)
		}
	case p.Has("block"):
		block, ok := note.Block(strings.TrimPrefix(p["block"], "^"))
		if part = block.Span; !ok {
			err = &edit.NotFound{What: "block", Wanted: p["block"]}
		}
	default:
		first, last, malformed := parseLines(p["lines"])
		start, ok := lineStart(text, 0, first-1)
		end, _ := lineStart(text, start, last-first+1) // last may be beyond the end of the note
		part = markdown.Span{Start: start, End: end}
		if err = malformed; err == nil && !ok {
			err = answer.NotFoundLine.Failure(
				"Line %q not found. The note has %s.",
				answer.Verbatim(strconv.Itoa(first)),
				answer.Count(edit.NumberOfLines(text), "line"),
			)
		}
	}
	if err != nil {
		return answer.Reply{}, explainEditError(note, err)
	}
	section := text[part.Start:part.End]
	if p.Has("lines") && edit.NumberOfLines(section) > 1 {
		// Only a section, a block or a single line can be required by a later change.
		return answer.FromNote(v.Disk, t.Path, text, string(section)), nil
	}
	return answer.FromPart(v.Disk, t.Path, text, section), nil
}

// parseRange parses a number or a range such as "12" or "12-20", counted from 1.
func parseRange(text string) (first, last int, ok bool) {
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	first, errFirst := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	isRange := 1 <= first && first <= last
	return first, last, errFirst == nil && errLast == nil && isRange
}

func parseLines(wanted string) (first, last int, err error) {
	first, last, ok := parseRange(wanted)
	if !ok {
		numbers := strings.FieldsFunc(wanted, func(r rune) bool { return r < '0' || r > '9' })
		if _, _, isRange := parseRange(strings.Join(numbers, "-")); isRange {
			hint := fmt.Sprintf("did you mean lines=\"%s\"?", strings.Join(numbers, "-"))
			return 0, 0, answer.MisuseWithHint(hint, "Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
		}
		return 0, 0, answer.Misuse("Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
	}
	return first, last, nil
}

// lineStart returns the offset of the line that is n lines after the line at offset from; the end of the text, and
// false, if there is none.
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

// joinNotes returns the texts of notes, each below a heading with its path. If section is not "", only the section
// with this heading is included. For a note that is missing, cannot be read, or would make the answer longer than
// maxSeveral, the heading has a remark instead.
func joinNotes(v *call.Vault, notes []disk.Path, section string) string {
	var out strings.Builder
	for _, note := range notes {
		var text []byte
		remark := ""
		info, err := v.Disk.Stat(note)
		fits := err != nil || info.Size() <= int64(maxSeveral-out.Len())
		if err == nil && fits {
			text, err = v.Disk.Read(note)
		}
		_ = v.Disk.Told(note, err)
		switch {
		case !fits:
			remark = fmt.Sprintf(" (%s, not shown)", answer.Count(int(info.Size()), "byte"))
		case disk.IsMissing(err):
			remark = " (missing)"
		case errors.Is(err, fs.ErrPermission):
			remark = " (cannot be read: permission denied)"
		case err != nil:
			remark = " (cannot be read)"
		case section != "":
			scanned := markdown.Scan(text)
			i, err := edit.FindHeading(scanned, section)
			if err != nil {
				remark = " (has no such heading)"
				if ambiguous, ok := errors.AsType[*edit.Ambiguous](err); ok {
					remark = fmt.Sprintf(" (has %d headings of that name)", ambiguous.Count)
				}
				break
			}
			span := scanned.Section(i)
			text = text[span.Start:span.End]
		}
		if remark != "" {
			text = nil
		}
		fmt.Fprintf(&out, "==> %s%s <==\n%s", note, remark, text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// outline prints the headings of a note. If there are none, the sentence is the same in every format, and for total.
func outline(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return answer.Reply{}, err
	}
	note := markdown.Scan(text)
	headings := note.Headings
	var out strings.Builder
	switch {
	case len(headings) == 0:
		out.WriteString("No headings found.")
	case p.Has("total"):
		out.WriteString(strconv.Itoa(len(headings)))
	case p["format"] == answer.FormatJSON:
		type row struct { // numbers for level and line, unlike most commands
			Level   int    `json:"level"`
			Heading string `json:"heading"`
			Line    int    `json:"line"`
			Hash    string `json:"hash"` // digest of the section, which a change of it can require
		}
		var rows []row
		for i, h := range headings {
			part := note.Section(i)
			rows = append(rows, row{h.Level, h.Text, h.Line, answer.Digest(text[part.Start:part.End])})
		}
		out.WriteString(indentedJSON(rows))
	case p["format"] == "md":
		for _, h := range headings {
			out.WriteString(strings.Repeat("#", h.Level) + " " + h.Text + "\n")
		}
	default:
		out.WriteString(headingTree(headings))
	}
	return answer.FromNote(v.Disk, t.Path, text, out.String()), nil
}

// headingTree draws headings as a tree. The parent of a heading is the last heading before it with a lower level;
// skipped levels are not indented.
func headingTree(headings []markdown.Heading) string {
	const root = -1
	parents := make([]int, len(headings))
	last := map[int]int{} // the last child of each heading
	for i, h := range headings {
		above := i - 1
		for above != root && headings[above].Level >= h.Level {
			above = parents[above]
		}
		parents[i] = above
		last[above] = i
	}
	var out strings.Builder
	below := map[int]string{} // the prefix of the children of each heading
	for i, h := range headings {
		branch := "├── "
		trunk := "│   "
		if last[parents[i]] == i {
			branch = "└── "
			trunk = "    "
		}
		out.WriteString(below[parents[i]] + branch + h.Text + "\n")
		below[i] = below[parents[i]] + trunk
	}
	return out.String()
}

func wordCount(v *call.Vault, p call.Values) (answer.Reply, error) {
	_, text, err := v.MarkdownNote(p)
	if err != nil {
		return answer.Reply{}, err
	}
	words, characters := markdown.WordCount(text[markdown.Scan(text).Body:])
	switch {
	case p.Has("words") == p.Has("characters"):
		return answer.From(v.Disk, "words: "+strconv.Itoa(words)+"\ncharacters: "+strconv.Itoa(characters)), nil
	case p.Has("words"):
		return answer.Number(words), nil
	}
	return answer.Number(characters), nil
}
