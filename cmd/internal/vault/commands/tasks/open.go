package tasks

import (
	"cmp"

	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
)

// Listed are the first rows of a list of tasks, and how many tasks it has.
type Listed struct {
	Rows  []string
	Total int
}

// Open lists the tasks of the vault that are still to be done, once for each test, of which
// it takes those that pass: the earliest due first, a row each, at most limit rows. due is
// 0 for a task without a due date, or with one that does not exist.
func Open(v *session.Vault, limit int, tests ...func(file string, due task.Date) bool) ([]Listed, error) {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return nil, err
	}
	lists := make([]Listed, len(tests))
	first := make([]*order.First[key], len(tests))
	for n := range first {
		first[n] = order.NewFirst(limit, cmp.Compare[key])
	}
	isOpen := remembered(settings.IsOpen)
	all := detailedTasks.Of(&v.Host.Memo, files)
	for place := range all {
		i := &all[place]
		if !isOpen(i.mark) {
			continue
		}
		due := i.due
		if !due.Exists() {
			due = 0
		}
		for n, passes := range tests {
			if passes(i.file, due) {
				first[n].Add(keyByDue(i, place))
				lists[n].Total++
			}
		}
	}
	for n := range lists {
		for _, k := range first[n].Sorted() {
			lists[n].Rows = append(lists[n].Rows, string(all[k.place()].appendRow(nil)))
		}
	}
	return lists, nil
}
