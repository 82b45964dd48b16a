package tasks

import (
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/session"
)

// filters are the parameters that the app does not have. With any of them each row names
// its file and line, and JSON has all fields.
var filters = []string{"folder", "due", "due-before", "due-after", "overdue", "no-due", "priority", "tag", "sort", "group", "details"}

// list prints the tasks of the vault, or of one note. Whatever stands in the box, only a
// blank means open; whether a task is overdue is decided by the statuses of the plugin.
func list(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	files, err := scope(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	wanted, err := filterOf(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	all := itemsOf(v, p, files)
	found := wanted.of(all)
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(found))), nil
	}
	if len(found) == 0 {
		return none(p, len(all)), nil
	}
	return printed(arranged(found, p), p), nil
}

// none says why no task is listed: how many there are that the request leaves out.
func none(p grammar.Values, all int) answer.Reply {
	const sentence = "No tasks found."
	where := session.Place(p["file"] + p["path"] + p["folder"])
	switch {
	case p.Has("daily"):
		where = "today's daily note"
	case p.Has("active"):
		where = "the open note"
	}
	switch {
	case all == 0:
		return answer.Nothing(sentence, "%s has no tasks", where)
	case isDetailed(p):
		return answer.Nothing(sentence, "none of the %s in %s is wanted by all filters together", session.Count(all, "task"), where)
	case p.Has("status"):
		return answer.Nothing(sentence, "no task with the status %q in %s (%s of other status)", answer.Verbatim(p["status"]), where, session.Count(all, "task"))
	case p.Has("done"):
		return answer.Nothing(sentence, "no finished task in %s (%s of another kind)", where, session.Count(all, "task"))
	}
	return answer.Nothing(sentence, "no open task in %s (%s of another kind)", where, session.Count(all, "task"))
}

// isDetailed reports whether a request asks for more than the app knows of tasks.
func isDetailed(p grammar.Values) bool {
	return slices.ContainsFunc(filters, p.Has)
}

// itemsOf returns the tasks of files, with what the request needs to know of them. Those of
// the whole vault are kept for the next call.
func itemsOf(v *session.Vault, p grammar.Values, files []*index.File) []item {
	known := &plainTasks
	if isDetailed(p) {
		known = &detailedTasks
	}
	if session.NamesOneFile(p) || p.Has("daily") || p.Has("folder") {
		return known.Compute(files)
	}
	return known.Of(&v.Host.Memo, files)
}

var (
	plainTasks    = knowledge.Derived[[]item]{Name: "tasks", Compute: plainItems}
	detailedTasks = knowledge.Derived[[]item]{Name: "tasks in detail", Compute: detailedItems}
)

// scope returns the files that a request is about: those of [session.Vault.ScopedFiles],
// today's note or those of a folder.
func scope(v *session.Vault, p grammar.Values) ([]*index.File, error) {
	if p.Has("daily") {
		return today(v)
	}
	files, err := v.ScopedFiles(p)
	if err != nil || !p.Has("folder") {
		return files, err
	}
	folder, err := v.FolderOf(strings.Trim(p["folder"], "/"))
	if err != nil {
		return nil, answer.FolderNotFound(p["folder"])
	}
	if err = v.IsThere(folder); disk.IsMissing(err) {
		err = answer.FolderNotFound(p["folder"])
	}
	return slices.DeleteFunc(slices.Clone(files), func(f *index.File) bool { return !f.Path.Below(folder) }), err
}

// today returns the daily note, nothing if it is missing.
func today(v *session.Vault) ([]*index.File, error) {
	note, err := notes.Today(v)
	if err != nil {
		return nil, err
	}
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	if place, ok := x.Place(note.Path.String()); ok {
		return x.Files[place : place+1], nil
	}
	return nil, nil
}
