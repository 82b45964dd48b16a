package notes

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Edit makes an edit and explains the error, which names the places in the
// text that may have been meant: whoever edits a note by a name has an old or an
// inexact picture of it.
func Edit(text []byte, change func() ([]byte, error)) ([]byte, error) {
	edited, err := change()
	if err != nil {
		return nil, explainEditError(markdown.Scan(text), err)
	}
	return edited, nil
}

// explainEditError explains why a part of a note was not found or not changed.
func explainEditError(found markdown.Note, err error) error {
	var missing *edit.NotFound
	var several *edit.Ambiguous
	var refusal *edit.Refusal
	switch {
	case errors.As(err, &missing):
		return kindOfMissing(missing.What).DidYouMean(likeMissing(found, missing),
			"%s %q not found.%s", capital(missing.What), answer.Verbatim(Excerpt(missing.Wanted)), instead(found, missing))
	case errors.As(err, &several) && several.What == "text":
		return answer.AmbiguousText.Failure("Text %q matches %d times: %s. Include more surrounding text.",
			answer.Verbatim(Excerpt(several.Wanted)), several.Count, onLines(several.Candidates, several.Count))
	case errors.As(err, &several):
		return answer.Ambiguous.Failure("%s %q is ambiguous: %s.", capital(several.What), answer.Verbatim(several.Wanted), onLines(several.Candidates, several.Count))
	case errors.As(err, &refusal):
		text := fmt.Sprintf("Line %d: %s.", refusal.Line, refusal.Reason)
		if len(refusal.Instead) > 0 {
			text += " Possible: " + onLines(refusal.Instead, len(refusal.Instead)) + "."
		}
		return answer.Failure("%s", text)
	}
	return err
}

// kindOfMissing is the kind of failure where a part of a note was not found: the
// message lists headings and blocks.
func kindOfMissing(what string) answer.Kind {
	switch what {
	case "heading":
		return answer.NotFoundHeading
	case "block":
		return answer.NotFoundNearest
	case "line":
		return answer.NotFoundLine
	case "text":
		return answer.NotFoundText
	}
	return answer.NotFound
}

// likeMissing returns the names in a note that may have been meant.
func likeMissing(found markdown.Note, missing *edit.NotFound) []string {
	switch missing.What {
	case "heading":
		var names []string
		for _, h := range found.Headings {
			names = append(names, h.Text)
		}
		wanted := missing.Wanted[strings.LastIndexByte(missing.Wanted, '#')+1:]
		return lookup.NearestNames(wanted, names)
	case "block":
		return lookup.NearestNames(strings.TrimPrefix(missing.Wanted, "^"), blockIDs(found))
	}
	return nil
}

func blockIDs(found markdown.Note) (ids []string) {
	for _, b := range found.Blocks {
		ids = append(ids, b.ID)
	}
	return ids
}

// instead says what is there in place of what was looked for.
func instead(found markdown.Note, missing *edit.NotFound) string {
	switch {
	case missing.What == "text" && len(missing.Near) > 0:
		return " Its first line is on " + onLines(missing.Near, len(missing.Near)) + "."
	case missing.What == "block":
		return listBlocks(found)
	case missing.What != "heading":
		return ""
	case len(found.Headings) == 0:
		return " The note has no headings."
	}
	var names []string
	for _, h := range found.Headings[:min(len(found.Headings), maxListed)] {
		names = append(names, fmt.Sprintf("%q (line %d)", answer.Verbatim(Excerpt(h.Text)), h.Line))
	}
	list := strings.Join(names, ", ")
	if left := len(found.Headings) - maxListed; left > 0 {
		list += fmt.Sprintf(" and %d more", left)
	}
	return " The note has " + list + "."
}

// listBlocks says which blocks a note has.
func listBlocks(found markdown.Note) string {
	ids := blockIDs(found)
	if len(ids) == 0 {
		return " The note has no blocks with an id."
	}
	list := answer.List(ids, maxListed)
	if left := len(ids) - maxListed; left > 0 {
		list += fmt.Sprintf(" and %d more", left)
	}
	return " The note has " + list + "."
}

// maxListed bounds how many headings an error lists; the command outline lists
// all.
const maxListed = 30

// onLines writes lines out: "line 4", "lines 4, 9", "lines 4, 9 and 3 more".
func onLines(all []edit.Candidate, count int) string {
	var lines []string
	for _, c := range all {
		lines = append(lines, strconv.Itoa(c.Line))
	}
	text := "lines " + strings.Join(lines, ", ")
	if len(lines) == 1 {
		text = "line " + lines[0]
	}
	if left := count - len(lines); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// maxExcerpt is how much of a text stands in a sentence about it.
const maxExcerpt = 60

// Excerpt returns the beginning of a text, of its first line with something on
// it.
func Excerpt(text string) string {
	line, rest, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	line = strings.TrimSuffix(line, "\r")
	cut := len(line)
	if cut > maxExcerpt {
		for cut = maxExcerpt; cut > 0 && !utf8.RuneStart(line[cut]); cut-- {
		}
	}
	if cut < len(line) || rest != "" {
		return line[:cut] + "…"
	}
	return line
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
