package tasks

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
)

// filter says which tasks a request is about. Each test that is nil takes all.
type filter struct {
	tests []func(*item) bool
}

// of returns the tasks that a request is about, in their order.
func (f filter) of(all []item) []*item {
	found := make([]*item, 0, len(all))
	for i := range all {
		if one := &all[i]; f.takes(one) {
			found = append(found, one)
		}
	}
	return found
}

func (f filter) takes(one *item) bool {
	for _, test := range f.tests {
		if !test(one) {
			return false
		}
	}
	return true
}

// filterOf reads the filters of a request.
func filterOf(v *session.Vault, p grammar.Values) (filter, error) {
	if err := contradiction(p); err != nil {
		return filter{}, err
	}
	var f filter
	add := func(name string, test func(*item) bool) {
		if p.Has(name) {
			f.tests = append(f.tests, test)
		}
	}
	add("todo", func(i *item) bool { return i.mark == ' ' })
	add("done", func(i *item) bool { return i.mark != ' ' })
	add("status", func(i *item) bool { return p["status"] == string(i.mark) })
	add("no-due", func(i *item) bool { return i.line.Get(task.Due) == "" })
	wanted := task.Rank(p["priority"])
	add("priority", func(i *item) bool { return i.rank == wanted })
	add("tag", tagged(p["tag"]))
	if err := f.addDates(v, p); err != nil {
		return filter{}, err
	}
	if p.Has("overdue") {
		settings, err := pluginSettings(v)
		if err != nil {
			return filter{}, err
		}
		now := dateOf(v.Today())
		isOpen := remembered(settings.IsOpen)
		f.tests = append(f.tests, func(i *item) bool {
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

// addDates adds the filters by the due date.
func (f *filter) addDates(v *session.Vault, p grammar.Values) error {
	for name, fits := range map[string]func(due, first, last task.Date) bool{
		"due":        func(due, first, last task.Date) bool { return due >= first && due <= last },
		"due-before": func(due, first, _ task.Date) bool { return due < first },
		"due-after":  func(due, _, last task.Date) bool { return due > last },
	} {
		if !p.Has(name) {
			continue
		}
		days, err := session.DaysAhead(p[name], v.Today())
		if err != nil {
			return err
		}
		first, last := dateOf(days.First), dateOf(days.Last)
		f.tests = append(f.tests, func(i *item) bool { return isDue(i, func(due task.Date) bool { return fits(due, first, last) }) })
	}
	return nil
}

// isDue reports whether a task has a due date that fits. One that does not exist never does.
func isDue(i *item, fits func(due task.Date) bool) bool {
	return i.due != 0 && fits(i.due) && i.due.Exists()
}

// tagged takes tasks with a tag, or with one below it, whatever the case.
func tagged(name string) func(*item) bool {
	wanted := strings.ToLower(strings.TrimPrefix(name, "#"))
	return func(i *item) bool {
		return slices.ContainsFunc(i.tags, func(tag string) bool {
			rest, found := strings.CutPrefix(strings.ToLower(strings.TrimPrefix(tag, "#")), wanted)
			return found && (rest == "" || rest[0] == '/')
		})
	}
}

// contradiction refuses filters that no task can fit.
func contradiction(p grammar.Values) error {
	for _, group := range [][]string{{"done", "overdue"}, {"no-due", "overdue", "due"}, {"no-due", "due-before"}, {"no-due", "due-after"}, {"folder", "file", "path", "daily", "active"}} {
		given := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !p.Has(name) })
		if len(given) > 1 {
			return answer.Misuse("Use %s, not several.", strings.Join(given, " or "))
		}
	}
	return nil
}

// pluginSettings reads the settings of the Tasks plugin, the defaults if there are none.
func pluginSettings(v *session.Vault) (task.Settings, error) {
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
