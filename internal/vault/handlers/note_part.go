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

// onePart refuses a request that names no part of a note, or several.
func onePart(p call.Values) error {
	switch len(p.Given("heading", "block", "lines")) {
	case 0:
		return answer.Misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	case 1:
		return nil
	}
	return answer.Misuse("Use heading=<text>, block=<id> or lines=<n-m>, not several.")
}

// readSection prints the bytes of one part of a note as they are. Its facts are
// those of the whole note, so that a change of the part can be tied to them.
func readSection(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return answer.Reply{}, err
	}
	if err := onePart(p); err != nil {
		return answer.Reply{}, err
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
		first, last, malformed := parseLines(p["lines"])
		start, ok := lineStart(text, 0, first-1)
		end, _ := lineStart(text, start, last-first+1) // the last line may be after the end of the note
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
		return answer.Reply{}, explainEditError(found, err)
	}
	read := text[part.Start:part.End]
	if p.Has("lines") && edit.NumberOfLines(read) > 1 {
		return answer.FromNote(v.Disk, t.Path, text, string(read)), nil // a change is tied to a section, a block or one line
	}
	return answer.FromPart(v.Disk, t.Path, text, read), nil
}

// parseRange reads numbers that are given as "12" or "12-20", counted from 1.
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
func several(v *call.Vault, notes []disk.Path, section string) string {
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
			found := markdown.Scan(text)
			i, err := edit.FindHeading(found, section)
			if err != nil {
				remark = " (has no such heading)"
				if many, ok := errors.AsType[*edit.Ambiguous](err); ok {
					remark = fmt.Sprintf(" (has %d headings of that name)", many.Count)
				}
				break
			}
			at := found.Section(i)
			text = text[at.Start:at.End]
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

// outline has the same sentence for nothing in every form, the total too.
func outline(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return answer.Reply{}, err
	}
	found := markdown.Scan(text)
	headings := found.Headings
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
			Hash    string `json:"hash"` // of the section, for a change of it
		}
		var rows []row
		for i, h := range headings {
			part := found.Section(i)
			rows = append(rows, row{h.Level, h.Text, h.Line, answer.Digest(text[part.Start:part.End])})
		}
		out.WriteString(indented(rows))
	case p["format"] == "md":
		for _, h := range headings {
			out.WriteString(strings.Repeat("#", h.Level) + " " + h.Text + "\n")
		}
	default:
		out.WriteString(tree(headings))
	}
	return answer.FromNote(v.Disk, t.Path, text, out.String()), nil
}

// tree draws headings as the branches of a tree. A heading is below the last one before it with a
// lower level; levels that are left out take no room.
func tree(headings []markdown.Heading) string {
	const root = -1
	parents := make([]int, len(headings))
	last := map[int]int{} // the last branch below each
	for i, h := range headings {
		above := i - 1
		for above != root && headings[above].Level >= h.Level {
			above = parents[above]
		}
		parents[i] = above
		last[above] = i
	}
	var out strings.Builder
	below := map[int]string{} // what is in front of the branches below each
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
