package refactor

import (
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/metadata"
	"vaultwicket/cmd/internal/vault/commands/scope"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// renameTag changes a tag in texts and properties, in whatever case it is written,
// and the tags below it. What only looks like a tag, in code or in a link, stays.
func renameTag(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	r, err := tagRenaming(p)
	if err != nil {
		return command.Proposal{}, err
	}
	notes, err := scope.Indexed(v, p, func(f *index.File) bool {
		return slices.ContainsFunc(f.Facts().Tags(), func(tag string) bool { return r.renamed(tag[1:]) != "" })
	})
	if err != nil {
		return command.Proposal{}, err
	}
	if len(notes) == 0 {
		known, err := metadata.TagNames(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return command.Proposal{}, answer.NotFoundTag.DidYouMean(lookup.NearestNames(r.from, known), "Tag %q not found.", answer.Verbatim("#"+r.from))
	}
	changes, places := scope.For(v), 0
	for _, path := range notes {
		err := changes.Edit(path, func(text []byte) ([]byte, error) {
			edited, n, err := r.apply(path, text)
			places += n
			return edited, err
		})
		if err != nil {
			return command.Proposal{}, err
		}
	}
	return changes.Proposal("Renamed tag #" + r.from + " to #" + r.to + ": " + scope.Counted(places, "place")), nil
}

// tagRename is a tag and its new name, both without "#".
type tagRename struct{ from, to string }

func tagRenaming(p grammar.Values) (tagRename, error) {
	var r tagRename
	for param, name := range map[string]*string{"name": &r.from, "to": &r.to} {
		bare, ok := markdown.TagName(p[param])
		if !ok {
			return r, answer.Misuse("Invalid value for %s: %s. A tag is letters, digits, _, - and /, with something else than digits.", param, p[param])
		}
		*name = bare
	}
	return r, nil
}

// renamed returns the new name of a tag, "" if it is another one. Like the app it
// takes tags that differ in case for one.
func (r tagRename) renamed(name string) string {
	size := len(r.from)
	switch {
	case strings.EqualFold(name, r.from):
		return r.to
	case len(name) > size && name[size] == '/' && strings.EqualFold(name[:size], r.from):
		return r.to + name[size:]
	}
	return ""
}

// apply returns a note with the tag renamed, and in how many places.
func (r tagRename) apply(path disk.Path, text []byte) (edited []byte, places int, err error) {
	edited, inProperties, err := frontmatter.RewriteTags(text, r.renamed)
	if err != nil {
		return nil, 0, metadata.PropertyError(path, text, err)
	}
	found := markdown.Scan(edited)
	out, at := []byte(nil), 0
	for _, tag := range found.Tags {
		to := r.renamed(tag.Text[1:])
		if to == "" || to == tag.Text[1:] {
			continue
		}
		out = append(append(append(out, edited[at:tag.At]...), '#'), to...)
		at = tag.At + len(tag.Text)
		places++
	}
	out = append(out, edited[at:]...)
	if !r.isKept(found, markdown.Scan(out)) {
		return nil, 0, answer.Failure("%q cannot be changed: with the new tag other parts of the note would be read differently.", answer.Verbatim(path.String()))
	}
	return out, places + inProperties, nil
}

// isKept reports whether a text has the renamed tags in the place of the old ones,
// and as many links and headings.
func (r tagRename) isKept(old, now markdown.Note) bool {
	same := slices.EqualFunc(old.Tags, now.Tags, func(a, b markdown.Tag) bool {
		to := r.renamed(a.Text[1:])
		return b.Text[1:] == a.Text[1:] || b.Text[1:] == to
	})
	return same && len(old.Links) == len(now.Links) && len(old.Headings) == len(now.Headings)
}
