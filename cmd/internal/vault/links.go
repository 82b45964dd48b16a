package vault

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/cmd/internal/vault/order"
)

func linkCommands() []command {
	total := param{name: "total", kind: flag, about: "Only how many there are"}
	return []command{
		{
			name: "backlinks", about: "List the files that link to a file",
			params: append(targetParams(), param{name: "counts", kind: flag, about: "Add how often each does"}, total, tableForms()),
			run:    backlinks,
		},
		{
			name: "links", about: "List where the links of a note lead",
			params: append(targetParams(), total), run: links,
		},
		{
			name: "unresolved", about: "List the links that lead nowhere",
			params: []param{
				total, {name: "counts", kind: flag, about: "Add how often each occurs"},
				{name: "verbose", kind: flag, about: "Add the files that hold them"}, tableForms(),
			},
			run: unresolved,
		},
		{name: "orphans", about: "List the files that nothing links to", params: []param{total}, run: orphans},
		{name: "deadends", about: "List the files that link to nothing", params: []param{total}, run: deadends},
	}
}

// backlinks counts a link of a note to itself, and links in properties and
// canvases, like the app.
func backlinks(v *vault, p params) (reply, error) {
	x, place, err := v.indexed(p)
	if err != nil {
		return reply{}, err
	}
	sources := x.Graph().In[place]
	if p.has("total") {
		return say(strconv.Itoa(len(sources))), nil
	}
	if len(sources) == 0 {
		return say("No backlinks found."), nil
	}
	table := rows{keys: []string{"file", "count"}}
	for _, source := range sources {
		table.add(p.has("counts"), x.Files[source.Place].Path.String(), strconv.Itoa(int(source.Count)))
	}
	return say(table.print(p["format"])), nil
}

// links has one line for each target, in the order of listings; those that are
// not there are marked. Only notes have links here: the app says so of canvases
// too, although their links count elsewhere.
func links(v *vault, p params) (reply, error) {
	x, place, err := v.indexed(p)
	if err != nil {
		return reply{}, err
	}
	var targets []string
	if x.Files[place].IsNote() {
		for _, target := range x.Graph().Out[place] {
			targets = append(targets, x.Files[target.Place].Path.String())
		}
		for _, missing := range x.Graph().Unresolved[place] {
			targets = append(targets, missing.Key+" (unresolved)")
		}
	}
	if p.has("total") {
		return say(strconv.Itoa(len(targets))), nil
	}
	if len(targets) == 0 {
		return say("No links found."), nil
	}
	order.Sort(targets)
	return say(strings.Join(targets, "\n")), nil
}

func unresolved(v *vault, p params) (reply, error) {
	x, err := v.index()
	if err != nil {
		return reply{}, err
	}
	counts, sources := map[string]int{}, map[string][]string{}
	for source, targets := range x.Graph().Unresolved {
		for _, missing := range targets {
			counts[missing.Key] += missing.Count
			sources[missing.Key] = append(sources[missing.Key], x.Files[source].Path.String())
		}
	}
	if p.has("total") {
		return say(strconv.Itoa(len(counts))), nil
	}
	if len(counts) == 0 {
		return say("No unresolved links found."), nil
	}
	keys := slices.Collect(maps.Keys(counts))
	order.Sort(keys)
	table := rows{keys: []string{"link"}}
	if p.has("counts") {
		table.keys = append(table.keys, "count")
	}
	if p.has("verbose") {
		table.keys = append(table.keys, "sources")
	}
	for _, key := range keys {
		cells := []string{key}
		if p.has("counts") {
			cells = append(cells, strconv.Itoa(counts[key]))
		}
		if p.has("verbose") {
			cells = append(cells, strings.Join(sources[key], ", "))
		}
		table.cells = append(table.cells, cells)
	}
	return say(table.print(p["format"])), nil
}

// orphans and deadends look at files of every kind, and take the index
// literally: a link of a note to itself counts, one that leads nowhere does not.
func orphans(v *vault, p params) (reply, error) {
	return v.without(p, "No orphan files found.", func(g *index.Graph) [][]index.Edge { return g.In })
}

func deadends(v *vault, p params) (reply, error) {
	return v.without(p, "No dead-end files found.", func(g *index.Graph) [][]index.Edge { return g.Out })
}

// without lists the files that have no edge of one direction.
func (v *vault) without(p params, none string, edges func(*index.Graph) [][]index.Edge) (reply, error) {
	x, err := v.index()
	if err != nil {
		return reply{}, err
	}
	var alone []string
	for place, others := range edges(x.Graph()) {
		if len(others) == 0 {
			alone = append(alone, x.Files[place].Path.String())
		}
	}
	switch {
	case p.has("total"):
		return say(strconv.Itoa(len(alone))), nil
	case len(alone) == 0:
		return say(none), nil
	}
	return say(strings.Join(alone, "\n")), nil
}
