package commands

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/order"
)

func init() {
	register(
		command.Command{Name: "tags", OfIndex: true, Run: tags},
		command.Command{Name: "tag", Run: tag},
	)
}

// scopedTags returns the tags of the files that a listing is about, in the order of listings, and
// the files. The tags of the whole vault are remembered for the next call, and nobody changes them.
func scopedTags(v *command.Vault, p command.Values) ([]tagUse, []*index.File, error) {
	files, err := v.ScopedFiles(p)
	switch {
	case err != nil:
		return nil, nil, err
	case command.NamesOneFile(p):
		return usesOfTags(files), files, nil
	}
	return allTags.Of(&v.Host.Memo, files), files, nil
}

var allTags = knowledge.Derived[[]tagUse]{Name: "tags", Compute: usesOfTags}

// tags lists those of the vault, or of one note if one is named.
func tags(v *command.Vault, p command.Values) (command.Reply, error) {
	uses, _, err := scopedTags(v, p)
	switch {
	case err != nil:
		return command.Reply{}, err
	case p.Has("total"):
		return command.Text(strconv.Itoa(len(uses))), nil
	case len(uses) == 0:
		place := command.Place(p["file"] + p["path"])
		if p.Has("active") {
			place = "the open note"
		}
		return command.Nothing("No tags found.", "%s has no tags", place), nil
	case p["sort"] == "count":
		uses = slices.Clone(uses)
		slices.SortStableFunc(uses, func(a, b tagUse) int { return cmp.Compare(b.count, a.count) })
	}
	rows := command.Table{Columns: []string{"tag", "count"}}
	for _, use := range uses {
		rows.Add(p.Has("counts"), use.name, strconv.Itoa(use.count))
	}
	return rows.Reply(p["format"]), nil
}

// tag takes the casing literally, as the app does: the one that tags lists.
func tag(v *command.Vault, p command.Values) (command.Reply, error) {
	uses, files, err := scopedTags(v, command.Values{})
	if err != nil {
		return command.Reply{}, err
	}
	name := "#" + strings.TrimPrefix(p["name"], "#")
	for _, use := range uses {
		if use.name != name {
			continue
		}
		if p.Has("total") {
			return command.Text(strconv.Itoa(use.count)), nil
		}
		lines := command.Map(use.files, func(place int32) string { return files[place].Path.String() })
		if p.Has("verbose") {
			lines = append([]string{use.name + "\t" + strconv.Itoa(use.count)}, lines...)
		}
		return command.Text(strings.Join(lines, "\n")), nil
	}
	names := command.Map(uses, func(use tagUse) string { return use.name })
	return command.Reply{}, command.NotFoundTag.DidYouMean(lookup.NearestNames(p["name"], names), "Tag %q not found.", command.Verbatim(name))
}

// tagUse is one tag: tags that differ in case alone are one.
type tagUse struct {
	name  string // the casing that is used most
	count int
	files []int32 // the places of those that have it
}

// usesOfTags collects the tags of some files.
func usesOfTags(files []*index.File) []tagUse {
	type spelling struct {
		of    *tagUse
		count int
	}
	spellings, uses := map[string]*spelling{}, map[string]*tagUse{}
	for place, tags := range index.Collect(files, index.Facts.Tags) {
		for _, name := range tags {
			s := spellings[name]
			if s == nil {
				key := strings.ToLower(name)
				if uses[key] == nil {
					uses[key] = &tagUse{}
				}
				s = &spelling{of: uses[key]}
				spellings[name] = s
			}
			s.count++
			s.of.count++
			if last := len(s.of.files) - 1; last < 0 || s.of.files[last] != int32(place) {
				s.of.files = append(s.of.files, int32(place))
			}
		}
	}
	for name, s := range spellings {
		if best := spellings[s.of.name]; best == nil || cmp.Or(best.count-s.count, order.Compare(name, best.of.name)) < 0 {
			s.of.name = name
		}
	}
	all := make([]tagUse, 0, len(uses))
	for _, use := range uses {
		use.name = strings.Clone(use.name) // a part of the facts would keep all of them in memory
		all = append(all, *use)
	}
	slices.SortFunc(all, func(a, b tagUse) int { return order.Compare(a.name, b.name) })
	return all
}
