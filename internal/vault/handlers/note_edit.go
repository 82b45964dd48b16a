package handlers

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

func init() {
	register(
		// These require that the note is named: the focused note is the user's choice,
		// not the caller's.
		Command{Name: "note:replace", Plan: replaceOnce},
		Command{Name: "note:insert", Plan: insertText},
		// To empty a section, content must be a line break: an empty value is usually a mistake.
		Command{Name: "note:set-section", Plan: func(v *call.Vault, p call.Values) (change.Proposal, error) {
			part, err := partOf(p)
			if err != nil {
				return change.Proposal{}, err
			}
			proposal, err := editNamed(
				v,
				p,
				"Section set in: ",
				func(text []byte) ([]byte, error) { return edit.SetSection(text, part, p["content"]) },
			)
			proposal.Already = "the part has this text already"
			return proposal, err
		}},
		// Any text that the app made from a template is accepted: it may contain the time or the output of a plugin.
		Command{
			Name: "create",
			Plan: create,
			Verify: func(_ *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
				if p.Has("template") {
					return change.Verdict{Done: !c.Now.Equal(c.Before), Style: templateStyle}, nil
				}
				return judgeCreated(c, p["content"]), nil
			},
		},
		Command{Name: "append", Plan: addTo("Appended to: ", edit.Append), Verify: verifyAdded(appended)},
		Command{Name: "prepend", Plan: addTo("Prepended to: ", edit.Prepend), Verify: verifyAdded(prepended)},
		Command{Name: "note:section", Run: readSection},
		Command{Name: "outline", Run: outline},
		Command{Name: "wordcount", Run: wordCount},
	)
}

// insertText inserts content on lines of its own. After a heading means after its whole section; append heading=
// inserts at the end of the heading's own text, before its subsections.
func insertText(v *call.Vault, p call.Values) (change.Proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return change.Proposal{}, err
	}
	where := edit.Before
	if p["position"] == "after" {
		where = edit.After
	}
	return editNamed(
		v,
		p,
		"Inserted into: ",
		func(text []byte) ([]byte, error) { return edit.Insert(text, where, part, p["content"]) },
	)
}

// partOf returns the part of a note that a request means.
func partOf(p call.Values) (edit.Target, error) {
	if err := checkPart(p); err != nil {
		return edit.Target{}, err
	}
	switch {
	case p.Has("heading"):
		return edit.Heading(p["heading"]), nil
	case p.Has("block"):
		return edit.Block(p["block"]), nil
	}
	first, last, err := parseLines(p["lines"])
	return edit.Lines(first, last), err
}

// editNamed proposes to change the note that a request names, or today's daily note.
func editNamed(
	v *call.Vault,
	p call.Values,
	message string,
	edit func(text []byte) ([]byte, error),
) (change.Proposal, error) {
	edit = explained(edit)
	isNamed := p.Has("file") || p.Has("path")
	switch {
	case p.Has("daily") && isNamed:
		return change.Proposal{}, answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	case p.Has("daily"):
		today, err := todaysNote(v)
		if err != nil {
			return change.Proposal{}, err
		}
		return dailyNote(v, today, message+today.Path.String(), edit)
	case !isNamed:
		return change.Proposal{}, answer.Misuse("Missing required parameter: path=<path>, file=<name> or daily")
	}
	return change.ProposeEdit(v, p, message, edit)
}

// explained wraps an edit so that its errors list what may have been meant: a caller whose heading or block is not
// found has an outdated or inexact view of the note.
func explained(edit func(text []byte) ([]byte, error)) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		edited, err := edit(text)
		if err != nil {
			return nil, explainEditError(markdown.Scan(text), err)
		}
		return edited, nil
	}
}

// explainEditError returns the error for a part of a note that was not found or cannot be changed, with similar names
// and a list of what the note contains.
func explainEditError(note markdown.Note, err error) error {
	var missing *edit.NotFound
	var several *edit.Ambiguous
	var refusal *edit.Refusal
	switch {
	case errors.As(err, &missing):
		return explainMissing(note, missing)
	case errors.As(err, &several) && several.What == "text":
		return answer.AmbiguousText.Failure("Text %q matches %d times: %s. Include more surrounding text.",
			answer.Verbatim(beginning(several.Wanted)), several.Count, edit.OnLines(several.Lines, several.Count))
	case errors.As(err, &several):
		return answer.Ambiguous.Failure(
			"%s %q is ambiguous: %s.",
			capitalize(several.What),
			answer.Verbatim(several.Wanted),
			edit.OnLines(several.Lines, several.Count),
		)
	case errors.As(err, &refusal):
		text := fmt.Sprintf("Line %d: %s.", refusal.Line, refusal.Reason)
		if len(refusal.Instead) > 0 {
			text += " Possible: " + edit.OnLines(refusal.Instead, len(refusal.Instead)) + "."
		}
		return answer.Failure("%s", text)
	}
	return err
}

// explainMissing returns the error for a part of a note that was not found.
func explainMissing(note markdown.Note, missing *edit.NotFound) error {
	kind := answer.NotFound
	instead := ""
	var similar []string
	switch missing.What {
	case "line":
		kind = answer.NotFoundLine
	case "text":
		kind = answer.NotFoundText
		if len(missing.Near) > 0 {
			instead = " Its first line is on " + edit.OnLines(missing.Near, len(missing.Near)) + "."
		}
	case "block":
		kind = answer.NotFoundNearest
		instead = " The note has no blocks with an id."
		ids := answer.Map(note.Blocks, func(b markdown.Block) string { return b.ID })
		similar = lookup.NearestNames(strings.TrimPrefix(missing.Wanted, "^"), ids)
		if len(ids) > 0 {
			list := answer.List(ids, maxListedHeadings)
			instead = " The note has " + answer.AndMore(list, len(ids)-maxListedHeadings) + "."
		}
	case "heading":
		kind = answer.NotFoundHeading
		instead = " The note has no headings."
		names := answer.Map(note.Headings, func(h markdown.Heading) string { return h.Text })
		similar = lookup.NearestNames(missing.Wanted[strings.LastIndexByte(missing.Wanted, '#')+1:], names)
		if len(names) > 0 {
			withLine := func(h markdown.Heading) string {
				return fmt.Sprintf("%q (line %d)", answer.Verbatim(beginning(h.Text)), h.Line)
			}
			list := strings.Join(answer.Map(note.Headings[:min(len(names), maxListedHeadings)], withLine), ", ")
			instead = " The note has " + answer.AndMore(list, len(names)-maxListedHeadings) + "."
		}
	}
	return kind.DidYouMean(
		similar,
		"%s %q not found.%s",
		capitalize(missing.What),
		answer.Verbatim(beginning(missing.Wanted)),
		instead,
	)
}

// maxListedHeadings is how many headings or blocks an error lists; the command outline lists all headings.
const maxListedHeadings = 30

// maxExcerpt is how many bytes of a text an error quotes.
const maxExcerpt = 60

// beginning returns the first non-empty line of a text, or its beginning, with "…" if something follows.
func beginning(text string) string {
	line, rest, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	line = strings.TrimSuffix(line, "\r")
	cut := len(line)
	if cut > maxExcerpt {
		cut = maxExcerpt
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
	}
	if cut < len(line) || rest != "" {
		return line[:cut] + "…"
	}
	return line
}

func capitalize(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// keptExtensions are the extensions that a name for a new file may have. Any other name gets .md, even if it contains a
// dot, as in "v1.2 notes".
var keptExtensions = []string{".md", ".canvas", ".base"}

// addTo returns the command that adds text to a note with add.
func addTo(message string, add adding) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		return change.ProposeEdit(v, p, message, add.of(p))
	}
}

// adding is a way to add text to a note.
type adding func(text []byte, content string, joint edit.Joint) []byte

// of returns the edit that adds the content of a request, below a heading if it names one. There inline is an error,
// because text below a heading gets its own lines.
func (add adding) of(p call.Values) func(text []byte) ([]byte, error) {
	return explained(func(text []byte) ([]byte, error) {
		switch {
		case p.Has("heading") && p.Has("inline"):
			return nil, answer.Misuse("Use heading=<text> or inline, not both.")
		case p.Has("create-heading") && !p.Has("heading"):
			return nil, answer.Misuse("create-heading makes the heading that heading=<text> names: give it too.")
		case p.Has("create-heading"):
			return edit.AppendUnderMade(text, p["heading"], p["content"])
		case p.Has("heading"):
			return edit.AppendUnder(text, p["heading"], p["content"])
		}
		return add(text, p["content"], jointOf(p)), nil
	})
}

// templateStyle is the remark about a note that the app filled from a template.
const templateStyle = "the text is what the app made of the template"

// judgeCreated judges a note that the app created with a text, or replaced by it.
func judgeCreated(c change.AppChange, text string) change.Verdict {
	verdict := change.IsComposedOf(c.Now.Text.ForProgram(), edit.OwnLine, []byte(text))
	if verdict.Done || !change.AddsOnce(c.Now.Text.ForProgram(), nil, text) {
		return verdict
	}
	if c.Before.Exists && change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), text, "").Done {
		return change.Verdict{} // the text to be replaced is still there
	}
	return change.Beyond(nil, c.Now.Text.ForProgram(), text, "")
}

func appended(before, now []byte, p call.Values) change.Verdict {
	if verdict := change.IsComposedOf(now, jointOf(p), before, []byte(p["content"])); verdict.Done {
		return verdict
	}
	return change.AddedAt(before, now, p["content"], change.AtEnd, jointOf(p))
}

func prepended(before, now []byte, p call.Values) change.Verdict {
	body := markdown.BodyStart(before)
	verdict := change.IsComposedOf(
		now,
		jointOf(p),
		slices.Concat(before[:body], []byte(p["content"])),
		before[body:],
	)
	if verdict.Done {
		return verdict
	}
	return change.AddedAt(before, now, p["content"], change.AtStart, jointOf(p))
}

// jointOf returns how the text of a request is joined to that of a note.
func jointOf(p call.Values) edit.Joint {
	if p.Has("inline") {
		return edit.Inline
	}
	return edit.OwnLine
}

// maxSeveral limits the text of an answer with several notes, in bytes. Longer answers are of no use to a reader, and
// each note can be read individually.
const maxSeveral = 4 << 20

// create plans a new note. If the path is in use it fails, unlike the app, which appends a number: a caller that
// named a path means that note. The given content follows that of the template.
func create(v *call.Vault, p call.Values) (change.Proposal, error) {
	target, err := newPath(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	before, err := change.ShownState(v, target)
	if err != nil {
		return change.Proposal{}, answer.WriteError(target.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return change.Proposal{}, answer.AlreadyExists.Failure(
			"File %q already exists.",
			answer.Verbatim(target.String()),
		)
	}
	text := []byte(p["content"])
	if p.Has("template") {
		if text, err = fromTemplate(v, p["template"], target.Stem()); err != nil {
			return change.Proposal{}, err
		}
		if p.Has("content") {
			text = edit.Append(text, p["content"], edit.OwnLine)
		}
	}
	verb := "Created: "
	if before.Exists {
		verb = "Overwrote: "
	}
	proposal := change.Proposal{
		Steps: []change.Step{
			{Path: target, Before: before, After: change.Existing(text)},
		}, Message: verb + target.String(), Note: target, Replaces: before.Exists,
		Already: fmt.Sprintf("%q has this text already", answer.Verbatim(target.String())),
	}
	return holdingLinks(v, p, proposal)
}

// newPath returns the path of a new file: that of path=, or name= in the folder for new notes.
func newPath(v *call.Vault, p call.Values) (disk.Path, error) {
	text := p["path"]
	typed := p["path"]
	switch {
	case p.Has("path") && p.Has("name"):
		return disk.Path{}, answer.Misuse("Use name=<name> or path=<path>, not both.")
	case p.Has("name"):
		folder, err := newFolder(v)
		if err != nil {
			return disk.Path{}, err
		}
		typed = p["name"]
		text = path.Join(folder, p["name"])
	case !p.Has("path"):
		return disk.Path{}, answer.Misuse("Missing required parameter: path=<path> or name=<name>")
	}
	switch kind := allowlist.FileKind(strings.TrimPrefix(path.Ext(text), ".")); kind {
	case "image", "audio", "video", "pdf": // the name of an attachment, not of a note such as "v1.2 notes"
		return disk.Path{}, answer.BadValue.Advise(allowlist.ServesKind(kind)).
			Failure("File %q is not a note: no text is written into it.", answer.Verbatim(typed))
	}
	if !slices.Contains(keptExtensions, path.Ext(text)) {
		if at, err := v.PathOf(text); err == nil && slices.Contains(keptExtensions, path.Ext(at.String())) {
			return at, nil // an existing note whose extension is written in another case
		}
		text += ".md"
	}
	target, err := v.PathOf(text)
	if err != nil {
		return disk.Path{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
	}
	return target, nil
}

// newFolder returns the folder for new notes, "" for the vault's root. If the user chose the folder of the focused note
// and no note is focused, it is the root too.
func newFolder(v *call.Vault) (string, error) {
	var app struct {
		Location string `json:"newFileLocation"`
		Folder   string `json:"newFileFolderPath"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return "", err
	}
	switch app.Location {
	case "folder":
		return call.NormalPath(app.Folder), nil
	case "current":
		if active, err := v.ActiveNote(); err == nil && strings.Contains(active, "/") {
			return path.Dir(active), nil
		}
	}
	return "", nil
}
