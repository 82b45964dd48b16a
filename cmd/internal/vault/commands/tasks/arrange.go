package tasks

import (
	"cmp"
	"slices"

	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/task"
)

// The values of sort= and group=.
const (
	byDue      = "due"
	byPriority = "priority"
	byPath     = "path"
	byNote     = "note"
	byHeading  = "heading"
	byTag      = "tag"
)

// arranged returns tasks in the order and the groups that a request asks for. They come in
// the order of listings.
func arranged(items []*item, p grammar.Values) []*item {
	switch p["sort"] {
	case byDue:
		items = sorted(items, func(a, b key) int { return cmp.Or(cmp.Compare(a.due, b.due), a.rank-b.rank) })
	case byPriority:
		items = sorted(items, func(a, b key) int { return cmp.Or(a.rank-b.rank, cmp.Compare(a.due, b.due)) })
	}
	if !p.Has("group") {
		return items
	}
	var grouped []*item
	for _, one := range items {
		for _, name := range groupsOf(one, p["group"]) {
			in := *one // the task itself is remembered for other calls
			in.place = &place{one.file, name}
			grouped = append(grouped, &in)
		}
	}
	slices.SortStableFunc(grouped, func(a, b *item) int { return compareGroups(a.group, b.group) })
	return grouped
}

// key is what a task is sorted by: the earlier due date first, and tasks without one last.
type key struct {
	due         string
	rank, place int
}

// last is behind every date.
const last = "~"

// sorted returns tasks in another order; equal ones stay as they come. The keys are read
// once and are small, the tasks are neither.
func sorted(items []*item, compare func(a, b key) int) []*item {
	keys := make([]key, len(items))
	for i, one := range items {
		keys[i] = key{cmp.Or(one.line.Get(task.Due), last), task.Rank(one.line.Level()), i}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(compare(a, b), a.place-b.place) })
	in := make([]*item, len(items))
	for i, k := range keys {
		in[i] = items[k.place]
	}
	return in
}

// The names of the groups of tasks that have no value to be grouped by. They come last.
const (
	noDue     = "(no due date)"
	noHeading = "(no heading)"
	noTag     = "(no tag)"
)

// groupsOf returns the names of the groups to which a task belongs: with tags, all of them.
func groupsOf(i *item, by string) []string {
	switch by {
	case byDue:
		return []string{cmp.Or(i.line.Get(task.Due), noDue)}
	case byHeading:
		return []string{cmp.Or(i.heading, noHeading)}
	case byTag:
		if len(i.tags) == 0 {
			return []string{noTag}
		}
		return slices.Compact(slices.Sorted(slices.Values(i.tags)))
	}
	return []string{i.file}
}

func compareGroups(a, b string) int {
	isNone := func(name string) int {
		if name == noDue || name == noHeading || name == noTag {
			return 1
		}
		return 0
	}
	return cmp.Or(isNone(a)-isNone(b), order.Compare(a, b))
}
