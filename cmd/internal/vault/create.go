package vault

import (
	"path"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/note"
	"vaultwicket/cmd/internal/vault/outcome"
)

func createCommands() []command {
	added := append(targetParams(),
		param{name: "content", hint: "text", kind: content, required: true, about: "Text to add"},
		param{name: "inline", kind: flag, about: "Add no line break"})
	return []command{
		{
			name: "create", about: "Make a note",
			params: []param{
				{name: "name", hint: "name", about: "Its name, in the folder for new notes"},
				{name: "path", hint: "path", about: "Its path from the vault's folder"},
				{name: "content", hint: "text", kind: content, about: "Its text"},
				{name: "template", hint: "name", about: "The template to start from"},
				{name: "overwrite", kind: flag, about: "Replace a note that is there"},
				{name: "open", kind: flag, about: "Has no effect without the app"},
				{name: "newtab", kind: flag, about: "Has no effect without the app"},
			},
			plan: create, meant: meansCreated,
		},
		{
			name: "append", about: "Add text at the end of a note, or below a heading of it",
			params: slices.Concat(added, []param{underHeading()}), plan: addTo("Appended to: ", note.Append), meant: meansAppended,
		},
		{name: "prepend", about: "Add text at the start of a note", params: added, plan: addTo("Prepended to: ", note.Prepend), meant: meansPrepended},
	}
}

// create refuses a taken path, where the app makes a numbered copy: whoever
// named a path means that note.
func create(v *vault, p params) (proposal, error) {
	made, err := v.newPath(p)
	if err != nil {
		return proposal{}, err
	}
	before, err := v.current(made)
	if err != nil {
		return proposal{}, unwritten(made.String(), err)
	}
	if before.there && !p.has("overwrite") {
		return proposal{}, alreadyExists.failure("File %q already exists.", verbatim(made.String()))
	}
	text := []byte(p["content"])
	if p.has("template") {
		if p.has("content") {
			return proposal{}, misuse("Use content=<text> or template=<name>, not both.")
		}
		if text, err = v.fromTemplate(p["template"], made.Stem()); err != nil {
			return proposal{}, err
		}
	}
	said := "Created: "
	if before.there {
		said = "Overwrote: "
	}
	return proposal{steps: []step{{path: made, before: before, after: holding(text)}}, said: said + made.String(), note: made, replaces: before.there}, nil
}

// kept are the extensions that a name for a new file may bring. To every other
// name the one of notes is added, also behind a dot: "v1.2 notes".
var kept = []string{".md", ".canvas", ".base"}

// newPath returns where a new file goes: path= as it is, name= into the folder
// for new notes.
func (v *vault) newPath(p params) (disk.Path, error) {
	text, typed := p["path"], p["path"]
	switch {
	case p.has("path") && p.has("name"):
		return disk.Path{}, misuse("Use name=<name> or path=<path>, not both.")
	case p.has("name"):
		folder, err := v.newFolder()
		if err != nil {
			return disk.Path{}, err
		}
		typed = p["name"]
		text = path.Join(folder, p["name"])
	case !p.has("path"):
		return disk.Path{}, misuse("Missing required parameter: path=<path> or name=<name>")
	}
	if !slices.Contains(kept, path.Ext(text)) {
		if at, err := v.pathOf(text); err == nil && slices.Contains(kept, path.Ext(at.String())) {
			return at, nil // a note that is there, with its extension in another case
		}
		text += ".md"
	}
	made, err := v.pathOf(text)
	if err != nil {
		return disk.Path{}, failure("File %q cannot be made: %v.", verbatim(typed), err)
	}
	return made, nil
}

// newFolder returns the folder for new notes, "" for that of the vault. The one
// of the focused note, which can be set too, takes a note that is focused.
func (v *vault) newFolder() (string, error) {
	var app struct {
		Location string `json:"newFileLocation"`
		Folder   string `json:"newFileFolderPath"`
	}
	if err := v.config("app.json", &app); err != nil {
		return "", err
	}
	switch app.Location {
	case "folder":
		return normal(app.Folder), nil
	case "current":
		if active, err := v.activeNote(); err == nil && strings.Contains(active, "/") {
			return path.Dir(active), nil
		}
	}
	return "", nil
}

// addTo returns the command that adds text to a note in one way.
func addTo(said string, add adding) func(*vault, params) (proposal, error) {
	return func(v *vault, p params) (proposal, error) {
		if p.has("heading") {
			return v.editMarkdown(p, said, add.of(p))
		}
		return v.editing(p, said, add.of(p))
	}
}

// adding is a way to add text to a note.
type adding func(text []byte, content string, inline bool) []byte

// of returns the edit that adds what a request gives: below a heading, if it
// names one. There inline means nothing, because lines of their own are added.
func (add adding) of(p params) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		switch {
		case p.has("heading") && p.has("inline"):
			return nil, misuse("Use heading=<text> or inline, not both.")
		case p.has("heading"):
			return located(text, func() ([]byte, error) { return edit.AppendUnder(text, p["heading"], p["content"]) })
		}
		return add(text, p["content"], p.has("inline")), nil
	}
}

func underHeading() param {
	return param{name: "heading", hint: "text", about: "Below this heading, before the next one; A#B is B below A"}
}

// templateStyle is what is said of a note that the app filled from a template.
const templateStyle = "the text is what the app made of the template"

// meansCreated judges a new note, or one that was replaced. What a template gives
// is for the app to say: it may hold the time, or code of a plugin.
func meansCreated(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	if p.has("template") {
		return outcome.Verdict{Done: !c.now.equal(c.before), Style: templateStyle}, nil
	}
	return outcome.Pieces(c.now.text, false, []byte(p["content"])), nil
}

// meansAppended judges text at the end of a note.
func meansAppended(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	return outcome.Pieces(c.now.text, p.has("inline"), c.before.text, []byte(p["content"])), nil
}

// meansPrepended judges text before the body of a note.
func meansPrepended(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	return prepended(c.before.text, c.now.text, p), nil
}

func prepended(before, now []byte, p params) outcome.Verdict {
	body := note.BodyStart(before)
	return outcome.Pieces(now, p.has("inline"), slices.Concat(before[:body], []byte(p["content"])), before[body:])
}
