package refactor

import (
	"errors"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/commands/scope"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/relink"
	"vaultwicket/cmd/internal/vault/session"
)

// renameHeading changes the text of a heading, and the links of all notes and canvases
// that lead to it. It changes nothing if one of them cannot be changed.
func renameHeading(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	if !p.Has("file") && !p.Has("path") {
		return command.Proposal{}, answer.Misuse("Missing required parameter: path=<path> or file=<name>")
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Proposal{}, err
	}
	place, err := headingOf(text, p["heading"], p["to"])
	if err != nil {
		return command.Proposal{}, err
	}
	x, err := v.Index()
	if err != nil {
		return command.Proposal{}, err
	}
	at, ok := x.Place(t.Path.String())
	if !ok {
		return command.Proposal{}, answer.FileNotFound(t.Typed)
	}
	r := headingRename{note: t.Path, place: place, to: strings.TrimSpace(p["to"]), links: renamingIn(x, t.Path, text, place, p["to"])}
	changes := scope.For(v)
	for _, source := range r.sources(x, at) {
		if err := changes.Edit(source, func(text []byte) ([]byte, error) { return r.apply(source, text) }); err != nil {
			return command.Proposal{}, err
		}
	}
	said := changes.Proposal(fmt.Sprintf("Renamed heading to %q: %s", answer.Verbatim(r.to), scope.Counted(r.places, "link")))
	said.Note = t.Path
	return said, nil
}

// headingOf returns the place of the heading that is to be renamed. The new text must
// be that of no other heading, for links could not tell them apart.
func headingOf(text []byte, heading, to string) (place int, err error) {
	found := markdown.Scan(text)
	if _, err := notes.Edit(text, func() (_ []byte, err error) {
		place, err = edit.FindHeading(found, heading)
		return nil, err
	}); err != nil {
		return 0, err
	}
	for i, other := range found.Headings {
		if i != place && edit.SameHeading(other.Text, to) {
			return 0, answer.AlreadyExists.Failure("The note has a heading %q already (line %d).", answer.Verbatim(other.Text), other.Line)
		}
	}
	_, err = edit.RenameHeading(text, place, to)
	return place, badHeading(to, err)
}

// badHeading explains why a text cannot be that of a heading.
func badHeading(to string, err error) error {
	var refusal *edit.Refusal
	if errors.As(err, &refusal) {
		return answer.BadValue.Failure("Invalid value for to: %s. It must be one line that is a heading.", to)
	}
	return err
}

// headingRename is a heading of a note and its new text.
type headingRename struct {
	note   disk.Path
	place  int
	to     string
	links  *relink.Heading
	places int // how many links were changed
}

func renamingIn(x *index.Index, note disk.Path, text []byte, place int, to string) *relink.Heading {
	paths := make([]string, len(x.Files))
	for i, f := range x.Files {
		paths[i] = f.Path.String()
	}
	found := markdown.Scan(text)
	names := func(subpath string) (parts []int) {
		for part, heading := range edit.LinkedHeadings(found, subpath) {
			if heading == place {
				parts = append(parts, part)
			}
		}
		return parts
	}
	return relink.NewHeading(note.String(), lookup.New(paths), names, to)
}

// sources are the note and all files with links to it.
func (r *headingRename) sources(x *index.Index, at int) []disk.Path {
	sources := []disk.Path{r.note}
	for _, source := range x.Graph().In(at) {
		if path := x.Files[source.Place].Path; path != r.note {
			sources = append(sources, path)
		}
	}
	return sources
}

// apply returns a file with its links changed and, if it is the note, the heading.
func (r *headingRename) apply(source disk.Path, text []byte) ([]byte, error) {
	edited, changed, left := r.links.Rewrite(text, source.String())
	if len(left) > 0 {
		return nil, answer.Failure("Link %q in %q, line %d, cannot be changed: %s. Nothing was changed.", answer.Verbatim(left[0].Target), answer.Verbatim(source.String()), left[0].Line, left[0].Reason)
	}
	r.places += changed
	if source != r.note {
		return edited, nil
	}
	edited, err := edit.RenameHeading(edited, r.place, r.to)
	return edited, badHeading(r.to, err)
}
