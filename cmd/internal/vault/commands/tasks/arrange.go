package tasks

import (
	"cmp"
	"maps"
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
		items = sorted(items, keyByDue)
	case byPriority:
		items = sorted(items, keyByPriority)
	}
	if !p.Has("group") {
		return items
	}
	return grouped(items, p["group"])
}

// grouped returns tasks by their groups, those of one in the order in which they come.
func grouped(items []*item, by string) []*item {
	members, count := map[string][]*item{}, 0
	for _, one := range items {
		eachGroup(one, by, func(name string) {
			members[name] = append(members[name], one)
			count++
		})
	}
	all, in := make([]item, 0, count), make([]*item, 0, count)
	for _, name := range slices.SortedFunc(maps.Keys(members), compareGroups) {
		var at *place
		for _, one := range members[name] {
			if at == nil || at.file != one.file {
				at = &place{one.file, name}
			}
			all = append(all, *one) // the task itself is remembered for other calls
			last := &all[len(all)-1]
			last.place = at
			in = append(in, last)
		}
	}
	return in
}

// key is what a task is sorted by, and where the task was: as numbers, keys compare as the
// tasks do, and those that are alike stay as they come.
type key uint64

const (
	placeBits = 32
	rankBits  = 3
	dueBits   = 28
)

// keyByDue has the earlier due date first, tasks without one last, and the higher priority
// first among those of one day.
func keyByDue(i *item, place int) key {
	return key(dueOrLast(i))<<(rankBits+placeBits) | key(i.rank)<<placeBits | key(place)
}

// keyByPriority has the higher priority first, and then the earlier due date.
func keyByPriority(i *item, place int) key {
	return key(i.rank)<<(dueBits+placeBits) | key(dueOrLast(i))<<placeBits | key(place)
}

func (k key) place() int { return int(uint32(k)) }

func dueOrLast(i *item) task.Date {
	if i.due == 0 {
		return 1<<dueBits - 1
	}
	return i.due
}

// sorted returns tasks in the order of their keys. The keys are made once and are small, the
// tasks are neither.
func sorted(items []*item, keyOf func(i *item, place int) key) []*item {
	keys := make([]key, len(items))
	for i, one := range items {
		keys[i] = keyOf(one, i)
	}
	slices.Sort(keys)
	in := make([]*item, len(items))
	for i, k := range keys {
		in[i] = items[k.place()]
	}
	return in
}

// The names of the groups of tasks that have no value to be grouped by. They come last.
const (
	noDue     = "(no due date)"
	noHeading = "(no heading)"
	noTag     = "(no tag)"
)

// eachGroup visits the names of the groups to which a task belongs: with tags, all of them.
func eachGroup(i *item, by string, visit func(name string)) {
	switch {
	case by == byDue:
		visit(cmp.Or(i.line.Get(task.Due), noDue))
	case by == byHeading:
		visit(cmp.Or(i.heading, noHeading))
	case by == byTag && len(i.tags) == 0:
		visit(noTag)
	case by == byTag:
		for _, tag := range slices.Compact(slices.Sorted(slices.Values(i.tags))) {
			visit(tag)
		}
	default:
		visit(i.file)
	}
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
