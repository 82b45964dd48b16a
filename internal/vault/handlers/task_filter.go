package handlers

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/task"
)

// filter says which tasks a request is about: those that pass every test.
type filter []func(*taskItem) bool

// of returns the tasks that a request is about, in their order.
func (f filter) of(all []taskItem) []*taskItem {
	found := make([]*taskItem, 0, len(all))
	for i := range all {
		one := &all[i]
		if !slices.ContainsFunc(f, func(test func(*taskItem) bool) bool { return !test(one) }) {
			found = append(found, one)
		}
	}
	return found
}

// filterOf reads the filters of a request.
func filterOf(v *call.Vault, p call.Values) (filter, error) {
	// No task can fit these together.
	for _, group := range [][]string{{"done", "overdue"}, {"no-due", "overdue", "due"}, {"no-due", "due-before"}, {"no-due", "due-after"}, {"folder", "file", "path", "daily", "active"}} {
		if given := p.Given(group...); len(given) > 1 {
			return nil, answer.Misuse("Use %s, not several.", strings.Join(given, " or "))
		}
	}

	var f filter
	add := func(name string, test func(*taskItem) bool) {
		if p.Has(name) {
			f = append(f, test)
		}
	}
	add("todo", func(i *taskItem) bool { return i.mark == ' ' })
	add("done", func(i *taskItem) bool { return i.mark != ' ' })
	add("status", func(i *taskItem) bool { return p["status"] == string(i.mark) })
	add("no-due", func(i *taskItem) bool { return i.line.Get(task.Due) == "" })
	wanted := task.Rank(p["priority"])
	add("priority", func(i *taskItem) bool { return i.rank == wanted })
	tag := strings.ToLower(strings.TrimPrefix(p["tag"], "#"))
	add("tag", func(i *taskItem) bool { // or one below it, whatever the case
		return slices.ContainsFunc(i.tags, func(other string) bool {
			rest, found := strings.CutPrefix(strings.ToLower(strings.TrimPrefix(other, "#")), tag)
			return found && (rest == "" || rest[0] == '/')
		})
	})
	add("text", hasWords(p["text"]))
	for _, by := range []struct {
		param string
		fits  func(due, first, last task.Date) bool
	}{
		{"due", func(due, first, last task.Date) bool { return due >= first && due <= last }},
		{"due-before", func(due, first, _ task.Date) bool { return due < first }},
		{"due-after", func(due, _, last task.Date) bool { return due > last }},
	} {
		if !p.Has(by.param) {
			continue
		}
		days, err := call.DaysAhead(p[by.param], v.Today())
		if err != nil {
			return nil, err
		}
		first := dateOf(days.First)
		last := dateOf(days.Last)
		f = append(
			f,
			func(i *taskItem) bool { return isDue(i, func(due task.Date) bool { return by.fits(due, first, last) }) },
		)
	}

	if p.Has("overdue") {
		settings, err := pluginSettings(v)
		if err != nil {
			return nil, err
		}
		now := dateOf(v.Today())
		isOpen := remembered(settings.IsOpen)
		f = append(f, func(i *taskItem) bool {
			return isOpen(i.mark) && isDue(i, func(due task.Date) bool { return due < now })
		})
	}
	return f, nil
}

// remembered returns ask, which is only called once for each of the usual marks.
func remembered(ask func(mark rune) bool) func(mark rune) bool {
	var known, said [utf8.RuneSelf]bool
	return func(mark rune) bool {
		if mark < 0 || mark >= utf8.RuneSelf {
			return ask(mark)
		}
		if !known[mark] {
			known[mark], said[mark] = true, ask(mark)
		}
		return said[mark]
	}
}

func dateOf(day time.Time) task.Date { return task.DateOf(day.Format(time.DateOnly)) }

// isDue reports whether a task has a due date that fits. One that does not exist never does.
func isDue(i *taskItem, fits func(due task.Date) bool) bool {
	return i.due != 0 && fits(i.due) && i.due.Exists()
}

// hasWords takes tasks with all words of a text, whatever the case.
func hasWords(text string) func(*taskItem) bool {
	words := strings.Fields(strings.ToLower(text))
	return func(i *taskItem) bool {
		line := strings.ToLower(i.text)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	}
}

// pluginSettings reads the settings of the Tasks plugin, the defaults if there are none.
func pluginSettings(v *call.Vault) (task.Settings, error) {
	var settings task.Settings
	if err := v.ReadConfig("plugins/"+pluginID+"/data.json", &settings); err != nil {
		return settings, err
	}
	var enabled []string
	if err := v.ReadConfig("community-plugins.json", &enabled); err != nil {
		return settings, err
	}
	settings.Managed = slices.Contains(enabled, pluginID)
	return settings, nil
}

// pluginID is the name of the folder of the Tasks plugin.
const pluginID = "obsidian-tasks-plugin"

// The values of sort= and group=.
const (
	byDue      = "due"
	byPriority = "priority"
	byPath     = "path"
	byNote     = "note"
	byHeading  = "heading"
	byTag      = "tag"
	byFolder   = "folder"
	byProperty = "property:" // and a name
)

// arranged returns tasks in the order and the groups that a request asks for. They come in
// the order of listings.
func arranged(items []*taskItem, p call.Values, values map[string][]string) []*taskItem {
	switch p["sort"] {
	case byDue:
		items = sorted(items, keyByDue)
	case byPriority:
		// The higher priority is first, and then the earlier due date.
		items = sorted(items, func(i *taskItem, place int) key {
			return key(i.rank)<<(dueBits+placeBits) | key(dueOrLast(i))<<placeBits | key(place)
		})
	}
	if !p.Has("group") {
		return items
	}
	// The tasks of a group keep their order.
	by := p["group"]
	members := map[string][]*taskItem{}
	count := 0
	for _, one := range items {
		// With tags, a task is in all of their groups.
		visit := func(name string) {
			members[name] = append(members[name], one)
			count++
		}
		switch {
		case by == byDue:
			visit(cmp.Or(one.line.Get(task.Due), noDue))
		case by == byHeading:
			visit(cmp.Or(one.heading, noHeading))
		case by == byTag && len(one.tags) == 0:
			visit(noTag)
		case by == byTag:
			for _, tag := range slices.Compact(slices.Sorted(slices.Values(one.tags))) {
				visit(tag)
			}
		case by == byFolder:
			visit(cmp.Or(strings.TrimSuffix(path.Dir(one.file), "."), "/"))
		case strings.HasPrefix(by, byProperty) && len(values[one.file]) == 0:
			visit(noValue)
		case strings.HasPrefix(by, byProperty):
			for _, name := range slices.Compact(slices.Sorted(slices.Values(values[one.file]))) {
				visit(name)
			}
		default:
			visit(one.file)
		}
	}
	all := make([]taskItem, 0, count)
	in := make([]*taskItem, 0, count)
	names := slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		isNone := func(name string) int {
			if slices.Contains([]string{noDue, noHeading, noTag, noValue}, name) {
				return 1
			}
			return 0
		}
		return cmp.Or(isNone(a)-isNone(b), filenames.Compare(a, b))
	})
	for _, name := range names {
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
func keyByDue(i *taskItem, place int) key {
	return key(dueOrLast(i))<<(rankBits+placeBits) | key(i.rank)<<placeBits | key(place)
}

func (k key) place() int { return int(uint32(k)) }

func dueOrLast(i *taskItem) task.Date {
	if i.due == 0 {
		return 1<<dueBits - 1
	}
	return i.due
}

// sorted returns tasks in the order of their keys. The keys are made once and are small, the
// tasks are neither.
func sorted(items []*taskItem, keyOf func(i *taskItem, place int) key) []*taskItem {
	keys := make([]key, len(items))
	for i, one := range items {
		keys[i] = keyOf(one, i)
	}
	slices.Sort(keys)
	in := make([]*taskItem, len(items))
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
	noValue   = "(no value)"
)
