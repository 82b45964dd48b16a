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

// filter is a list of tests. A task must pass all of them.
type filter []func(*taskItem) bool

// of returns the tasks that pass the filter, in order.
func (f filter) of(items []taskItem) []*taskItem {
	passing := make([]*taskItem, 0, len(items))
	for i := range items {
		item := &items[i]
		if !slices.ContainsFunc(f, func(test func(*taskItem) bool) bool { return !test(item) }) {
			passing = append(passing, item)
		}
	}
	return passing
}

// filterOf returns the filter for the parameters of a request.
func filterOf(v *call.Vault, p call.Values) (filter, error) {
	// The parameters of each group exclude each other.
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
	add("tag", func(i *taskItem) bool { // the tag or a nested one, ignoring case
		return slices.ContainsFunc(i.tags, func(other string) bool {
			rest, found := strings.CutPrefix(strings.ToLower(strings.TrimPrefix(other, "#")), tag)
			return found && (rest == "" || rest[0] == '/')
		})
	})
	add("text", hasWords(p["text"]))
	for _, bound := range []struct {
		param string
		fits  func(due, first, last task.Date) bool
	}{
		{"due", func(due, first, last task.Date) bool { return due >= first && due <= last }},
		{"due-before", func(due, first, _ task.Date) bool { return due < first }},
		{"due-after", func(due, _, last task.Date) bool { return due > last }},
	} {
		if !p.Has(bound.param) {
			continue
		}
		days, err := call.DaysAhead(p[bound.param], v.Today())
		if err != nil {
			return nil, err
		}
		first := dateOf(days.First)
		last := dateOf(days.Last)
		f = append(
			f,
			func(i *taskItem) bool {
				return isDue(i, func(due task.Date) bool { return bound.fits(due, first, last) })
			},
		)
	}

	if p.Has("overdue") {
		settings, err := pluginSettings(v)
		if err != nil {
			return nil, err
		}
		today := dateOf(v.Today())
		isOpen := memoize(settings.IsOpen)
		f = append(f, func(i *taskItem) bool {
			return isOpen(i.mark) && isDue(i, func(due task.Date) bool { return due < today })
		})
	}
	return f, nil
}

// memoize caches the results of ask for ASCII marks.
func memoize(ask func(mark rune) bool) func(mark rune) bool {
	var isKnown, cached [utf8.RuneSelf]bool
	return func(mark rune) bool {
		if mark < 0 || mark >= utf8.RuneSelf {
			return ask(mark)
		}
		if !isKnown[mark] {
			isKnown[mark] = true
			cached[mark] = ask(mark)
		}
		return cached[mark]
	}
}

func dateOf(day time.Time) task.Date { return task.DateOf(day.Format(time.DateOnly)) }

// isDue reports whether a task has a due date that fits. A date that does not exist, such as February 30, never fits.
func isDue(i *taskItem, fits func(due task.Date) bool) bool {
	return i.due != 0 && fits(i.due) && i.due.Exists()
}

// hasWords returns the test for tasks that contain all words of a text, ignoring case.
func hasWords(text string) func(*taskItem) bool {
	words := strings.Fields(strings.ToLower(text))
	return func(i *taskItem) bool {
		line := strings.ToLower(i.text)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	}
}

// pluginSettings returns the settings of the Tasks plugin, or the defaults.
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

// pluginID is the id of the Tasks plugin, and the name of its folder.
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
	byProperty = "property:" // followed by a name
)

// arrange sorts and groups tasks, which are in the order of listings, as a request asks. values are the values of the
// property to group by, by file.
func arrange(items []*taskItem, p call.Values, values map[string][]string) []*taskItem {
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
	group := p["group"]
	members := map[string][]*taskItem{}
	count := 0
	for _, item := range items {
		// A task with several tags or values is in several groups.
		visit := func(name string) {
			members[name] = append(members[name], item)
			count++
		}
		switch {
		case group == byDue:
			visit(cmp.Or(item.line.Get(task.Due), noDue))
		case group == byHeading:
			visit(cmp.Or(item.heading, noHeading))
		case group == byTag && len(item.tags) == 0:
			visit(noTag)
		case group == byTag:
			for _, tag := range slices.Compact(slices.Sorted(slices.Values(item.tags))) {
				visit(tag)
			}
		case group == byFolder:
			visit(cmp.Or(strings.TrimSuffix(path.Dir(item.file), "."), "/"))
		case strings.HasPrefix(group, byProperty) && len(values[item.file]) == 0:
			visit(noValue)
		case strings.HasPrefix(group, byProperty):
			for _, name := range slices.Compact(slices.Sorted(slices.Values(values[item.file]))) {
				visit(name)
			}
		default:
			visit(item.file)
		}
	}
	copies := make([]taskItem, 0, count)
	grouped := make([]*taskItem, 0, count)
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
		for _, item := range members[name] {
			if at == nil || at.file != item.file {
				at = &place{item.file, name}
			}
			copies = append(copies, *item) // a copy: the task itself is cached for other calls
			last := &copies[len(copies)-1]
			last.place = at
			grouped = append(grouped, last)
		}
	}
	return grouped
}

// key is a sort key of a task in its high bits, and the place of the task in its low bits. Sorting keys as numbers
// therefore is a stable sort of the tasks.
type key uint64

const (
	placeBits = 32
	rankBits  = 3
	dueBits   = 28
)

// keyByDue sorts by due date, earliest first and tasks without one last, then by priority, highest first.
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

// sorted returns tasks in the order of their keys. Keys are small and computed once per task, so that sorting them is
// fast.
func sorted(items []*taskItem, keyOf func(i *taskItem, place int) key) []*taskItem {
	keys := make([]key, len(items))
	for i, item := range items {
		keys[i] = keyOf(item, i)
	}
	slices.Sort(keys)
	ordered := make([]*taskItem, len(items))
	for i, k := range keys {
		ordered[i] = items[k.place()]
	}
	return ordered
}

// The names of the groups for tasks without a value to group by. These groups are last.
const (
	noDue     = "(no due date)"
	noHeading = "(no heading)"
	noTag     = "(no tag)"
	noValue   = "(no value)"
)
