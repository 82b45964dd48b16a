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
		// These work on no note that is not named: the focused note is the user's choice
		// not the caller's.
		Command{Name: "note:replace", Plan: replaceOnce},
		Command{Name: "note:insert", Plan: insertText},
		// Content of nothing but a line break empties a section: an empty value is more often a slip.
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
		// What a template gives is for the app to say: it may hold the time, or code of a plugin.
		Command{
			Name: "create",
			Plan: create,
			Verify: func(_ *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
				if p.Has("template") {
					return change.Verdict{Done: !c.Now.Equal(c.Before), Style: templateStyle}, nil
				}
				return madeWith(c, p["content"]), nil
			},
		},
		Command{Name: "append", Plan: addTo("Appended to: ", edit.Append), Verify: verifyAdded(appended)},
		Command{Name: "prepend", Plan: addTo("Prepended to: ", edit.Prepend), Verify: verifyAdded(prepended)},
		Command{Name: "note:section", Run: readSection},
		Command{Name: "outline", Run: outline},
		Command{Name: "wordcount", Run: wordCount},
	)
}

// insertText puts content on lines of its own. After a heading means after its
// whole section; append heading= puts text right below the heading's own.
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

// partOf reads which part of a note a request means.
func partOf(p call.Values) (edit.Target, error) {
	if err := onePart(p); err != nil {
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

// editNamed returns the proposal to change the note that a request names.
func editNamed(
	v *call.Vault,
	p call.Values,
	said string,
	edit func(text []byte) ([]byte, error),
) (change.Proposal, error) {
	edit = explained(edit)
	named := p.Has("file") || p.Has("path")
	switch {
	case p.Has("daily") && named:
		return change.Proposal{}, answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	case p.Has("daily"):
		today, err := todaysNote(v)
		if err != nil {
			return change.Proposal{}, err
		}
		return dailyNote(v, today, said+today.Path.String(), edit)
	case !named:
		return change.Proposal{}, answer.Misuse("Missing required parameter: path=<path>, file=<name> or daily")
	}
	return change.ProposeEdit(v, p, said, edit)
}

// explained returns an edit whose error names the places in the text that may have been meant: a
// caller that edits a note by a name has an old or an inexact picture of it.
func explained(edit func(text []byte) ([]byte, error)) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		edited, err := edit(text)
		if err != nil {
			return nil, explainEditError(markdown.Scan(text), err)
		}
		return edited, nil
	}
}

// explainEditError explains why a part of a note was not found or not changed, with the names in
// the note that may have been meant and what it has instead.
func explainEditError(found markdown.Note, err error) error {
	var missing *edit.NotFound
	var several *edit.Ambiguous
	var refusal *edit.Refusal
	switch {
	case errors.As(err, &missing):
		kind := answer.NotFound
		instead := ""
		var near []string
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
			ids := answer.Map(found.Blocks, func(b markdown.Block) string { return b.ID })
			near = lookup.NearestNames(strings.TrimPrefix(missing.Wanted, "^"), ids)
			if len(ids) > 0 {
				instead = " The note has " + answer.AndMore(
					answer.List(ids, maxListedHeadings),
					len(ids)-maxListedHeadings,
				) + "."
			}
		case "heading":
			kind = answer.NotFoundHeading
			instead = " The note has no headings."
			names := answer.Map(found.Headings, func(h markdown.Heading) string { return h.Text })
			near = lookup.NearestNames(missing.Wanted[strings.LastIndexByte(missing.Wanted, '#')+1:], names)
			if len(names) > 0 {
				listed := answer.Map(
					found.Headings[:min(len(names), maxListedHeadings)],
					func(h markdown.Heading) string {
						return fmt.Sprintf("%q (line %d)", answer.Verbatim(beginning(h.Text)), h.Line)
					},
				)
				instead = " The note has " + answer.AndMore(
					strings.Join(listed, ", "),
					len(names)-maxListedHeadings,
				) + "."
			}
		}
		return kind.DidYouMean(
			near,
			"%s %q not found.%s",
			capital(missing.What),
			answer.Verbatim(beginning(missing.Wanted)),
			instead,
		)
	case errors.As(err, &several) && several.What == "text":
		return answer.AmbiguousText.Failure("Text %q matches %d times: %s. Include more surrounding text.",
			answer.Verbatim(beginning(several.Wanted)), several.Count, edit.OnLines(several.Lines, several.Count))
	case errors.As(err, &several):
		return answer.Ambiguous.Failure(
			"%s %q is ambiguous: %s.",
			capital(several.What),
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

// maxListedHeadings bounds how many headings an error lists; the command outline lists
// all.
const maxListedHeadings = 30

// maxExcerpt is how much of a text is quoted in a sentence about it.
const maxExcerpt = 60

// beginning returns the beginning of a text, of its first line with something on
// it.
func beginning(text string) string {
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

// kept are the extensions that a name for a new file may bring. To every other
// name the one of notes is added, also after a dot: "v1.2 notes".
var kept = []string{".md", ".canvas", ".base"}

// addTo returns the command that adds text to a note in one way.
func addTo(said string, add adding) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		return change.ProposeEdit(v, p, said, add.of(p))
	}
}

// adding is a way to add text to a note.
type adding func(text []byte, content string, joint edit.Joint) []byte

// of returns the edit that adds what a request gives: below a heading, if it
// names one. There inline means nothing, because lines of their own are added.
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

// templateStyle is what is said of a note that the app filled from a template.
const templateStyle = "the text is what the app made of the template"

// madeWith judges a note that was made, or replaced, with a text.
func madeWith(c change.AppChange, text string) change.Verdict {
	if verdict := change.IsComposedOf(c.Now.Text.ForProgram(), edit.OwnLine, []byte(text)); verdict.Done ||
		!change.AddsOnce(c.Now.Text.ForProgram(), nil, text) {
		return verdict
	}
	if c.Before.Exists && change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), text, "").Done {
		return change.Verdict{} // what was to be replaced is still there
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

// jointOf returns how a call adds its text to a note.
func jointOf(p call.Values) edit.Joint {
	if p.Has("inline") {
		return edit.Inline
	}
	return edit.OwnLine
}

// maxSeveral bounds the text of an answer with several notes: what is more
// fits no reader, and each note can be read by itself.
const maxSeveral = 4 << 20

// create refuses a taken path, where the app makes a numbered copy: a caller that
// named a path means that note. Text that is given follows that of a template.
func create(v *call.Vault, p call.Values) (change.Proposal, error) {
	made, err := newPath(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	before, err := change.ShownState(v, made)
	if err != nil {
		return change.Proposal{}, answer.WriteError(made.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return change.Proposal{}, answer.AlreadyExists.Failure(
			"File %q already exists.",
			answer.Verbatim(made.String()),
		)
	}
	text := []byte(p["content"])
	if p.Has("template") {
		if text, err = fromTemplate(v, p["template"], made.Stem()); err != nil {
			return change.Proposal{}, err
		}
		if p.Has("content") {
			text = edit.Append(text, p["content"], edit.OwnLine)
		}
	}
	said := "Created: "
	if before.Exists {
		said = "Overwrote: "
	}
	planned := change.Proposal{
		Steps: []change.Step{
			{Path: made, Before: before, After: change.Existing(text)},
		}, Message: said + made.String(), Note: made, Replaces: before.Exists,
		Already: fmt.Sprintf("%q has this text already", answer.Verbatim(made.String())),
	}
	return holdingLinks(v, p, planned)
}

// newPath returns where a new file goes: path= as it is, name= into the folder
// for new notes.
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
	case "image", "audio", "video", "pdf": // the name means a file, and not a note such as "v1.2 notes"
		return disk.Path{}, answer.BadValue.Advise(allowlist.ServesKind(kind)).
			Failure("File %q is not a note: no text is written into it.", answer.Verbatim(typed))
	}
	if !slices.Contains(kept, path.Ext(text)) {
		if at, err := v.PathOf(text); err == nil && slices.Contains(kept, path.Ext(at.String())) {
			return at, nil // a note that is there, with its extension in another case
		}
		text += ".md"
	}
	made, err := v.PathOf(text)
	if err != nil {
		return disk.Path{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
	}
	return made, nil
}

// newFolder returns the folder for new notes, "" for that of the vault. The one
// of the focused note, which can be set too, takes a note that is focused.
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
