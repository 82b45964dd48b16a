package tasks

import (
	"cmp"

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
// "" for a task without a due date, or with one that does not exist.
func Open(v *session.Vault, limit int, tests ...func(file, due string) bool) ([]Listed, error) {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return nil, err
	}
	found := make([][]*item, len(tests))
	all := detailedTasks.Of(&v.Host.Memo, files)
	for place := range all {
		i := &all[place]
		if !settings.IsOpen(i.mark) {
			continue
		}
		due := i.line.Get(task.Due)
		if due != "" && !task.Exists(due) {
			due = ""
		}
		for n, passes := range tests {
			if passes(i.file, due) {
				found[n] = append(found[n], i)
			}
		}
	}
	lists := make([]Listed, len(tests))
	for n, items := range found {
		first := sorted(items, func(a, b key) int { return cmp.Or(cmp.Compare(a.due, b.due), a.rank-b.rank) })
		first = first[:min(limit, len(first))]
		lists[n] = Listed{rowsOf(first), len(items)}
	}
	return lists, nil
}
