package metadata

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/session"
)

// scopedTags returns the tags of the files that a listing is about. Those of the
// whole vault are remembered for the next call; nobody changes what is returned.
func scopedTags(v *session.Vault, p grammar.Values) (*tagTable, error) {
	files, err := v.ScopedFiles(p)
	if err != nil {
		return nil, err
	}
	if session.NamesOneFile(p) {
		return newTagTable(files), nil
	}
	return allTags.Of(&v.Host.Memo, files), nil
}

var allTags = knowledge.Derived[*tagTable]{Name: "tags", Compute: newTagTable, Follow: (*tagTable).follow}

// tags lists those of the vault, or of one note if one is named.
func tags(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	table, err := scopedTags(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	uses := table.uses
	switch {
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(uses))), nil
	case len(uses) == 0:
		return answer.Nothing("No tags found.", "%s has no tags", scopeOf(p)), nil
	case p["sort"] == "count":
		uses = slices.Clone(uses)
		slices.SortStableFunc(uses, func(a, b tagUse) int { return cmp.Compare(b.count, a.count) })
	}
	rows := answer.Table{Columns: []string{"tag", "count"}}
	for _, use := range uses {
		rows.Add(p.Has("counts"), use.name, strconv.Itoa(use.count))
	}
	return rows.Reply(p["format"]), nil
}

// scopeOf says what a listing is about, for notices.
func scopeOf(p grammar.Values) string {
	if p.Has("active") {
		return "the open note"
	}
	return session.Place(p["file"] + p["path"])
}

// tag takes the casing literally, as the app does: the one that tags lists.
func tag(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	all, err := scopedTags(v, grammar.Values{})
	if err != nil {
		return answer.Reply{}, err
	}
	name := "#" + strings.TrimPrefix(p["name"], "#")
	for _, use := range all.uses {
		if use.name != name {
			continue
		}
		if p.Has("total") {
			return answer.Text(strconv.Itoa(use.count)), nil
		}
		lines := all.filesWith(use)
		if p.Has("verbose") {
			lines = append([]string{use.name + "\t" + strconv.Itoa(use.count)}, lines...)
		}
		return answer.Text(strings.Join(lines, "\n")), nil
	}
	names, err := TagNames(v)
	if err != nil {
		return answer.Reply{}, err
	}
	return answer.Reply{}, answer.NotFoundTag.DidYouMean(lookup.NearestNames(p["name"], names), "Tag %q not found.", answer.Verbatim(name))
}

// TagNames returns the tags of the notes that the caller may see, with "#".
func TagNames(v *session.Vault) ([]string, error) {
	all, err := scopedTags(v, grammar.Values{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all.uses))
	for i, use := range all.uses {
		names[i] = use.name
	}
	return names, nil
}
