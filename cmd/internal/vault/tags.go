package vault

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/cmd/internal/vault/order"
)

func tagCommands() []command {
	return []command{
		{
			name: "tags", about: "List the tags",
			params: append(targetParams(),
				param{name: "total", kind: flag, about: "Only how many there are"},
				param{name: "counts", kind: flag, about: "Add how often each occurs"},
				param{name: "sort", oneOf: []string{"count"}, about: "Most frequent first"},
				param{name: "active", kind: flag, about: "Only the focused note"}, tableForms()),
			run: tags,
		},
		{
			name: "tag", about: "List the notes with a tag",
			params: []param{
				{name: "name", hint: "tag", required: true, about: "The tag, with or without #"},
				{name: "total", kind: flag, about: "Only how often it occurs"},
				{name: "verbose", kind: flag, about: "Add the tag and how often it occurs"},
			},
			run: tag,
		},
	}
}

// tagUse is one tag: tags that differ in case alone are one.
type tagUse struct {
	name  string // the casing that is used most
	count int
	files []string // in the order of listings
}

// tagUses returns the tags of the files that a listing is about. Those of the
// whole vault are remembered for the next call; nobody changes what is returned.
func (v *vault) tagUses(p params) ([]*tagUse, error) {
	files, err := v.scope(p)
	if err != nil {
		return nil, err
	}
	if isAboutOne(p) {
		return tagUses(files), nil
	}
	return allTags.of(&v.host.memo, files), nil
}

var allTags = derived[[]*tagUse]{"tags", tagUses}

// tagUses collects the tags of some files, in the order of listings.
func tagUses(files []*index.File) []*tagUse {
	type casing struct {
		*tagUse
		names map[string]int
	}
	uses := map[string]*casing{}
	for i, names := range index.Collect(files, index.Facts.Tags) {
		f := files[i]
		for _, name := range names {
			key := strings.ToLower(name)
			use := uses[key]
			if use == nil {
				use = &casing{&tagUse{}, map[string]int{}}
				uses[key] = use
			}
			use.names[name]++
			use.count++
			if path := f.Path.String(); len(use.files) == 0 || use.files[len(use.files)-1] != path {
				use.files = append(use.files, path)
			}
		}
	}
	var all []*tagUse
	for _, use := range uses {
		for name, n := range use.names {
			if best := use.names[use.name]; n > best || n == best && order.Compare(name, use.name) < 0 {
				use.name = name
			}
		}
		all = append(all, use.tagUse)
	}
	slices.SortFunc(all, func(a, b *tagUse) int { return order.Compare(a.name, b.name) })
	return all
}

// tags lists those of the vault, or of one note if one is named.
func tags(v *vault, p params) (reply, error) {
	uses, err := v.tagUses(p)
	if err != nil {
		return reply{}, err
	}
	switch {
	case p.has("total"):
		return say(strconv.Itoa(len(uses))), nil
	case len(uses) == 0:
		return say("No tags found."), nil
	case p["sort"] == "count":
		uses = slices.Clone(uses)
		slices.SortStableFunc(uses, func(a, b *tagUse) int { return cmp.Compare(b.count, a.count) })
	}
	table := rows{keys: []string{"tag", "count"}}
	for _, use := range uses {
		table.add(p.has("counts"), use.name, strconv.Itoa(use.count))
	}
	return say(table.print(p["format"])), nil
}

// tag takes the casing literally, as the app does: the one that tags lists.
func tag(v *vault, p params) (reply, error) {
	all, err := v.tagUses(params{})
	if err != nil {
		return reply{}, err
	}
	name := "#" + strings.TrimPrefix(p["name"], "#")
	for _, use := range all {
		if use.name != name {
			continue
		}
		if p.has("total") {
			return say(strconv.Itoa(use.count)), nil
		}
		lines := use.files
		if p.has("verbose") {
			lines = append([]string{use.name + "\t" + strconv.Itoa(use.count)}, lines...)
		}
		return say(strings.Join(lines, "\n")), nil
	}
	return reply{}, notFound.failure("Tag %q not found.", verbatim(name))
}
