package metadata

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

func taskCommands() []command.Command {
	return []command.Command{
		{
			Name: "tasks", Help: "List the tasks",
			Params: append(grammar.TargetParams(),
				grammar.Param{Name: "daily", Kind: grammar.Flag, Help: "Only today's note"},
				grammar.Param{Name: "active", Kind: grammar.Flag, Help: "Only the focused note"},
				grammar.Param{Name: "todo", Kind: grammar.Flag, Help: "Only open tasks"},
				grammar.Param{Name: "done", Kind: grammar.Flag, Help: "Only completed tasks"},
				grammar.Param{Name: "status", Hint: "mark", Help: "Only tasks with this mark"},
				grammar.Param{Name: "total", Kind: grammar.Flag, Help: "Only how many there are"},
				grammar.Param{Name: "verbose", Kind: grammar.Flag, Help: "By file, with line numbers"},
				grammar.Param{Name: "format", OneOf: []string{answer.FormatJSON, answer.FormatTSV, answer.FormatCSV}, Help: "Output format"}),
			Run: tasks,
		},
	}
}

// foundTask is a task and the note that holds it.
type foundTask struct {
	markdown.Task
	file string
}

// tasks lists the lines of tasks. Whatever stands in the box, only a blank
// means open.
func tasks(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	files, err := taskScope(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	var all, found []foundTask
	if session.NamesOneFile(p) || p.Has("daily") {
		all = tasksOf(files)
	} else {
		all = allTasks.Of(&v.Host.Memo, files)
	}
	for _, task := range all {
		if wantedTask(p, task.Mark) {
			found = append(found, task)
		}
	}
	switch {
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return answer.Text("No tasks found."), nil
	case p.Has("format"):
		return answer.Text(taskRows(found).Print(p["format"])), nil
	}
	return answer.Text(taskLines(found, p.Has("verbose"))), nil
}

var allTasks = knowledge.Derived[[]foundTask]{Name: "tasks", Compute: tasksOf}

func tasksOf(files []*index.File) (all []foundTask) {
	for i, tasks := range index.Collect(files, index.Facts.Tasks) {
		for _, task := range tasks {
			all = append(all, foundTask{task, files[i].Path.String()})
		}
	}
	return all
}

func wantedTask(p grammar.Values, mark rune) bool {
	open := mark == ' '
	switch {
	case p.Has("todo") && !open, p.Has("done") && open:
		return false
	case p.Has("status"):
		return p["status"] == string(mark)
	}
	return true
}

// taskScope is scope with the daily note besides.
func taskScope(v *session.Vault, p grammar.Values) ([]*index.File, error) {
	if !p.Has("daily") {
		return v.ScopedFiles(p)
	}
	today, err := notes.Today(v)
	if err != nil {
		return nil, err
	}
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	if place, ok := x.Place(today.Path.String()); ok {
		return x.Files[place : place+1], nil
	}
	return nil, nil
}

func taskRows(found []foundTask) answer.Table {
	table := answer.Table{Columns: []string{"status", "text", "file", "line"}}
	for _, t := range found {
		table.Rows = append(table.Rows, []string{string(t.Mark), t.Text, t.file, strconv.Itoa(t.Line)})
	}
	return table
}

// taskLines prints the lines alone, or under the name of their file with their
// numbers. The app's own layout of the second form was never recorded.
func taskLines(found []foundTask, verbose bool) string {
	var out strings.Builder
	file := ""
	for _, t := range found {
		if verbose && t.file != file {
			file = t.file
			out.WriteString(file + "\n")
		}
		if verbose {
			out.WriteString(strconv.Itoa(t.Line) + ": ")
		}
		out.WriteString(t.Text + "\n")
	}
	return out.String()
}
