package tasks

import (
	"cmp"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
)

// Open returns a row for each task of the vault that is still to be done and that fits, the
// earliest due first. due is "" for a task without a due date, or with one that does not
// exist.
func Open(v *session.Vault, fits func(file, due string) bool) ([]string, error) {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return nil, err
	}
	var found []item
	for _, i := range detailedTasks.Of(&v.Host.Memo, files) {
		due := i.line.Get(task.Due)
		if !task.Exists(due) {
			due = ""
		}
		if settings.IsOpen(i.Mark) && fits(i.file, due) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b item) int { return cmp.Or(compareDue(a, b), comparePriority(a, b)) })
	return strings.SplitAfter(strings.TrimSuffix(rows(found, false), "\n"), "\n"), nil
}
