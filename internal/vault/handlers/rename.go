package handlers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

func init() {
	register(
		Command{Name: "heading:rename", Plan: renameHeading},
		Command{Name: "property:rename", Plan: renameProperty},
		Command{Name: "tag:rename", Plan: renameTag},
		Command{Name: "note:merge", Plan: mergeNotes},
		Command{Name: "note:extract", Plan: extractSection},
		Command{Name: "note:split", Plan: splitNote},
	)
}

// renameHeading plans to change the text of a heading and all links to it in notes and canvases. Nothing is changed
// if one link cannot be. No other heading may have the new text, because links could not distinguish them.
func renameHeading(v *call.Vault, p call.Values) (change.Proposal, error) {
	if !p.Has("file") && !p.Has("path") {
		return change.Proposal{}, answer.Misuse("Missing required parameter: path=<path> or file=<name>")
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	note := markdown.Scan(text)
	outline := edit.NewOutline(note)
	place, err := outline.Find(p["heading"])
	if err != nil {
		return change.Proposal{}, explainEditError(note, err)
	}
	for i, other := range note.Headings {
		if i != place && edit.SameHeading(other.Text, p["to"]) {
			return change.Proposal{}, answer.AlreadyExists.Failure(
				"The note has a heading %q already (line %d).",
				answer.Verbatim(other.Text),
				other.Line,
			)
		}
	}
	if _, err := edit.RenameHeading(text, place, p["to"]); err != nil {
		return change.Proposal{}, badHeading(p["to"], err)
	}
	idx, err := v.Index()
	if err != nil {
		return change.Proposal{}, err
	}
	target, ok := idx.Place(t.Path.String())
	if !ok {
		return change.Proposal{}, answer.FileNotFound(t.Typed)
	}
	paths := answer.Map(idx.Files, func(f *index.File) string { return f.Path.String() })
	sources := []disk.Path{t.Path}
	for _, source := range idx.Graph().In(target) {
		if path := idx.Files[source.Place].Path; path != t.Path {
			sources = append(sources, path)
		}
	}
	links := edit.NewHeadingRename(t.Path.String(), lookup.New(paths), func(subpath string) (parts []int) {
		for part, heading := range outline.Linked(subpath) {
			if heading == place {
				parts = append(parts, part)
			}
		}
		return parts
	}, p["to"])
	to := strings.TrimSpace(p["to"])
	places := 0
	proposal, err := editAll(v, sources, "", func(source disk.Path, text []byte) ([]byte, error) {
		edited, changed, left := links.Rewrite(text, source.String())
		if len(left) > 0 {
			return nil, answer.Failure(
				"Link %q in %q, line %d, cannot be changed: %s. Nothing was changed.",
				answer.Verbatim(left[0].Target),
				answer.Verbatim(source.String()),
				left[0].Line,
				left[0].Reason,
			)
		}
		places += changed
		if source != t.Path {
			return edited, nil
		}
		edited, err := edit.RenameHeading(edited, place, to)
		return edited, badHeading(to, err)
	})
	proposal.Message = fmt.Sprintf(
		"Renamed heading to %q: %s updated, %s changed",
		answer.Verbatim(to),
		answer.Count(places, "link"),
		answer.Count(len(proposal.Steps), "note"),
	)
	proposal.Note = t.Path
	proposal.Already = fmt.Sprintf("the heading is called so already in %q", answer.Verbatim(t.Path.String()))
	return proposal, err
}

// badHeading replaces the refusal of a heading text by the error for the parameter to.
func badHeading(to string, err error) error {
	if _, ok := errors.AsType[*edit.Refusal](err); ok {
		return answer.BadValue.Failure(
			"Invalid value for to: %s. It must be one line that is a heading.",
			answer.Verbatim(to),
		)
	}
	return err
}

// renameProperty plans to change the name of a property, and leaves its values as they are written. If a note already
// has the new name too, nothing is changed: one of the two values would be lost.
func renameProperty(v *call.Vault, p call.Values) (change.Proposal, error) {
	name := p["name"]
	to := strings.TrimSpace(p["to"])
	notes, err := indexedNotes(v, p, func(f *index.File) bool {
		_, ok := f.Facts().Properties().Lookup(name)
		return ok
	})
	if err != nil {
		return change.Proposal{}, err
	}
	if len(notes) == 0 {
		known, err := propertyNames(v)
		if err != nil {
			return change.Proposal{}, err
		}
		return change.Proposal{}, answer.NotFound.DidYouMean(
			lookup.NearestNames(name, known),
			"Property %q not found.",
			answer.Verbatim(name),
		)
	}
	proposal, err := editAll(
		v,
		notes,
		"Renamed property "+name+" to "+to,
		func(path disk.Path, text []byte) ([]byte, error) {
			edited, err := frontmatter.Rename(text, name, to)
			return edited, propertyError(path, text, err)
		},
	)
	if err != nil {
		return change.Proposal{}, err
	}
	// The type that the user assigned stays with the old name: it is in a settings file of the app, which only the user
	// changes.
	types, err := propertyTypes(v)
	if err != nil {
		return change.Proposal{}, err
	}
	proposal.Already = fmt.Sprintf("the property is called %q already", answer.Verbatim(to))
	kind, hasType := types[strings.ToLower(name)]
	if _, already := types[strings.ToLower(to)]; hasType && !already {
		proposal.Message += "\nThe type " + kind + " of " + name + " is not carried over: the user can set it for " + to + " in the app."
	}
	return proposal, nil
}

// renameTag plans to rename a tag and the tags below it, in texts and properties. Like the app it ignores case. Text in
// code or in a link that only looks like a tag is unchanged.
func renameTag(v *call.Vault, p call.Values) (change.Proposal, error) {
	names := map[string]string{} // without "#"
	for _, param := range []string{"name", "to"} {
		bare, ok := markdown.TagName(p[param])
		if !ok {
			return change.Proposal{}, answer.Misuse(
				"Invalid value for %s: %s. A tag is letters, digits, _, - and /, with something else than digits.",
				param,
				answer.Verbatim(p[param]),
			)
		}
		names[param] = bare
	}
	from := names["name"]
	to := names["to"]
	newName := func(name string) string { // "" for another tag
		size := len(from)
		switch {
		case strings.EqualFold(name, from):
			return to
		case len(name) > size && name[size] == '/' && strings.EqualFold(name[:size], from):
			return to + name[size:]
		}
		return ""
	}
	notes, err := indexedNotes(v, p, func(f *index.File) bool {
		return slices.ContainsFunc(f.Facts().Tags(), func(tag string) bool { return newName(tag[1:]) != "" })
	})
	if err != nil {
		return change.Proposal{}, err
	}
	if len(notes) == 0 {
		proposal, err := scopedTags(v, call.Values{})
		if err != nil {
			return change.Proposal{}, err
		}
		known := answer.Map(proposal.uses, func(use tagUse) string { return use.name })
		return change.Proposal{}, answer.NotFoundTag.DidYouMean(
			lookup.NearestNames(from, known),
			"Tag %q not found.",
			answer.Verbatim("#"+from),
		)
	}
	places := 0
	proposal, err := editAll(v, notes, "", func(path disk.Path, text []byte) ([]byte, error) {
		edited, inProperties, err := frontmatter.RewriteTags(text, newName)
		if err != nil {
			return nil, propertyError(path, text, err)
		}
		before := markdown.Scan(edited)
		var out []byte
		at := 0
		for _, tag := range before.Tags {
			to := newName(tag.Text[1:])
			if to == "" || to == tag.Text[1:] {
				continue
			}
			out = append(append(append(out, edited[at:tag.At]...), '#'), to...)
			at = tag.At + len(tag.Text)
			places++
		}
		out = append(out, edited[at:]...)
		places += inProperties
		// Check that only the tags changed: the text must have the renamed tags and as many links and headings as
		// before.
		after := markdown.Scan(out)
		isSame := slices.EqualFunc(before.Tags, after.Tags, func(a, b markdown.Tag) bool {
			return b.Text[1:] == a.Text[1:] || b.Text[1:] == newName(a.Text[1:])
		})
		if !isSame || len(before.Links) != len(after.Links) || len(before.Headings) != len(after.Headings) {
			return nil, answer.Failure(
				"%q cannot be changed: with the new tag other parts of the note would be read differently.",
				answer.Verbatim(path.String()),
			)
		}
		return out, nil
	})
	proposal.Message = "Renamed tag #" + from + " to #" + to + ": " + answer.Count(places, "place") + proposal.Message
	proposal.Already = fmt.Sprintf("the tag is called %q already", answer.Verbatim("#"+to))
	return proposal, err
}
