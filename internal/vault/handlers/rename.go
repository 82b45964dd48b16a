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
	"github.com/vaultwicket/vaultwicket/internal/vault/relink"
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

// renameHeading changes the text of a heading, and the links of all notes and canvases
// that lead to it. It changes nothing if one of them cannot be changed. The new text must be
// that of no other heading, for links could not tell them apart.
func renameHeading(v *call.Vault, p call.Values) (change.Proposal, error) {
	if !p.Has("file") && !p.Has("path") {
		return change.Proposal{}, answer.Misuse("Missing required parameter: path=<path> or file=<name>")
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	found := markdown.Scan(text)
	outline := edit.NewOutline(found)
	place, err := outline.Find(p["heading"])
	if err != nil {
		return change.Proposal{}, explainEditError(found, err)
	}
	for i, other := range found.Headings {
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
	x, err := v.Index()
	if err != nil {
		return change.Proposal{}, err
	}
	at, ok := x.Place(t.Path.String())
	if !ok {
		return change.Proposal{}, answer.FileNotFound(t.Typed)
	}
	paths := answer.Map(x.Files, func(f *index.File) string { return f.Path.String() })
	sources := []disk.Path{t.Path}
	for _, source := range x.Graph().In(at) {
		if path := x.Files[source.Place].Path; path != t.Path {
			sources = append(sources, path)
		}
	}
	links := relink.NewHeading(t.Path.String(), lookup.New(paths), func(subpath string) (parts []int) {
		for part, heading := range outline.Linked(subpath) {
			if heading == place {
				parts = append(parts, part)
			}
		}
		return parts
	}, p["to"])
	to := strings.TrimSpace(p["to"])
	places := 0
	all, err := editAll(v, sources, "", func(source disk.Path, text []byte) ([]byte, error) {
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
	all.Message = fmt.Sprintf(
		"Renamed heading to %q: %s updated, %s changed",
		answer.Verbatim(to),
		answer.Count(places, "link"),
		answer.Count(len(all.Steps), "note"),
	)
	all.Note = t.Path
	all.Already = fmt.Sprintf("the heading is called so already in %q", answer.Verbatim(t.Path.String()))
	return all, err
}

// badHeading explains why a text cannot be that of a heading.
func badHeading(to string, err error) error {
	if _, ok := errors.AsType[*edit.Refusal](err); ok {
		return answer.BadValue.Failure(
			"Invalid value for to: %s. It must be one line that is a heading.",
			answer.Verbatim(to),
		)
	}
	return err
}

// renameProperty changes the name of a property and leaves its values as they are
// written. A note that has the new name, too, is a reason to change nothing: one of
// the two values would be lost.
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
	all, err := editAll(
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
	// The type that the user gave stays with the old name: the app keeps it in a settings file, which
	// is the user's.
	types, err := propertyTypes(v)
	if err != nil {
		return change.Proposal{}, err
	}
	all.Already = fmt.Sprintf("the property is called %q already", answer.Verbatim(to))
	kind, given := types[strings.ToLower(name)]
	if _, already := types[strings.ToLower(to)]; given && !already {
		all.Message += "\nThe type " + kind + " of " + name + " is not carried over: the user can set it for " + to + " in the app."
	}
	return all, nil
}

// renameTag changes a tag in texts and properties, in whatever case it is written,
// and the tags below it. What only looks like a tag, in code or in a link, stays. Like the app
// it takes tags that differ in case for one.
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
	renamed := func(name string) string { // "" for another tag
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
		return slices.ContainsFunc(f.Facts().Tags(), func(tag string) bool { return renamed(tag[1:]) != "" })
	})
	if err != nil {
		return change.Proposal{}, err
	}
	if len(notes) == 0 {
		all, err := scopedTags(v, call.Values{})
		if err != nil {
			return change.Proposal{}, err
		}
		known := answer.Map(all.uses, func(use tagUse) string { return use.name })
		return change.Proposal{}, answer.NotFoundTag.DidYouMean(
			lookup.NearestNames(from, known),
			"Tag %q not found.",
			answer.Verbatim("#"+from),
		)
	}
	places := 0
	all, err := editAll(v, notes, "", func(path disk.Path, text []byte) ([]byte, error) {
		edited, inProperties, err := frontmatter.RewriteTags(text, renamed)
		if err != nil {
			return nil, propertyError(path, text, err)
		}
		found := markdown.Scan(edited)
		var out []byte
		at := 0
		for _, tag := range found.Tags {
			to := renamed(tag.Text[1:])
			if to == "" || to == tag.Text[1:] {
				continue
			}
			out = append(append(append(out, edited[at:tag.At]...), '#'), to...)
			at = tag.At + len(tag.Text)
			places++
		}
		out = append(out, edited[at:]...)
		places += inProperties
		// The text has the renamed tags in the place of the old ones, and as many links and headings.
		now := markdown.Scan(out)
		same := slices.EqualFunc(found.Tags, now.Tags, func(a, b markdown.Tag) bool {
			return b.Text[1:] == a.Text[1:] || b.Text[1:] == renamed(a.Text[1:])
		})
		if !same || len(found.Links) != len(now.Links) || len(found.Headings) != len(now.Headings) {
			return nil, answer.Failure(
				"%q cannot be changed: with the new tag other parts of the note would be read differently.",
				answer.Verbatim(path.String()),
			)
		}
		return out, nil
	})
	all.Message = "Renamed tag #" + from + " to #" + to + ": " + answer.Count(places, "place") + all.Message
	all.Already = fmt.Sprintf("the tag is called %q already", answer.Verbatim("#"+to))
	return all, err
}
