package vault

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/cmd/internal/vault/markdown"
)

func taskCommands() []command {
	return []command{
		{
			name: "tasks", about: "List the tasks",
			params: append(targetParams(),
				param{name: "daily", kind: flag, about: "Only today's note"},
				param{name: "active", kind: flag, about: "Only the focused note"},
				param{name: "todo", kind: flag, about: "Only open tasks"},
				param{name: "done", kind: flag, about: "Only completed tasks"},
				param{name: "status", hint: "mark", about: "Only tasks with this mark"},
				param{name: "total", kind: flag, about: "Only how many there are"},
				param{name: "verbose", kind: flag, about: "By file, with line numbers"},
				param{name: "format", oneOf: []string{formJSON, formTSV, formCSV}, about: "Form of the answer"}),
			run: tasks,
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
func tasks(v *vault, p params) (reply, error) {
	files, err := v.taskScope(p)
	if err != nil {
		return reply{}, err
	}
	var all, found []foundTask
	if isAboutOne(p) || p.has("daily") {
		all = tasksOf(files)
	} else {
		all = allTasks.of(&v.host.memo, files)
	}
	for _, task := range all {
		if wantedTask(p, task.Mark) {
			found = append(found, task)
		}
	}
	switch {
	case p.has("total"):
		return say(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return say("No tasks found."), nil
	case p.has("format"):
		return say(taskRows(found).print(p["format"])), nil
	}
	return say(taskLines(found, p.has("verbose"))), nil
}

var allTasks = derived[[]foundTask]{"tasks", tasksOf}

func tasksOf(files []*index.File) (all []foundTask) {
	for i, tasks := range index.Collect(files, index.Facts.Tasks) {
		for _, task := range tasks {
			all = append(all, foundTask{task, files[i].Path.String()})
		}
	}
	return all
}

func wantedTask(p params, mark rune) bool {
	open := mark == ' '
	switch {
	case p.has("todo") && !open, p.has("done") && open:
		return false
	case p.has("status"):
		return p["status"] == string(mark)
	}
	return true
}

// taskScope is scope with the daily note besides.
func (v *vault) taskScope(p params) ([]*index.File, error) {
	if !p.has("daily") {
		return v.scope(p)
	}
	today, err := v.today()
	if err != nil {
		return nil, err
	}
	x, err := v.index()
	if err != nil {
		return nil, err
	}
	if place, ok := x.Place(today.path.String()); ok {
		return x.Files[place : place+1], nil
	}
	return nil, nil
}

func taskRows(found []foundTask) rows {
	table := rows{keys: []string{"status", "text", "file", "line"}}
	for _, t := range found {
		table.cells = append(table.cells, []string{string(t.Mark), t.Text, t.file, strconv.Itoa(t.Line)})
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
