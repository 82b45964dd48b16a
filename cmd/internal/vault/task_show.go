package vault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/markdown"
)

func taskCommand() []command {
	return []command{{
		name: "task", about: "Show a task, or change its mark",
		params: append(targetParams(),
			param{name: "ref", hint: "path:line", about: "File and line in one"},
			param{name: "line", hint: "n", about: "Line of the task"},
			param{name: "daily", kind: flag, about: "In today's note"},
			param{name: "toggle", kind: flag, about: "Turn open into done, and everything else into open"},
			param{name: "done", kind: flag, about: "Mark as done"},
			param{name: "todo", kind: flag, about: "Mark as open"},
			param{name: "status", hint: "mark", about: "Set this mark"}),
		plan:  task,
		meant: meansMarked,
		shows: func(p params) bool { return !slices.ContainsFunc(taskChanges[:], p.has) },
	}}
}

// showTask prints what is known of one task. The app's own layout was never
// recorded; this is that of the command file.
func showTask(t target, task markdown.Task) string {
	return fmt.Sprintf("status\t%c\ntext\t%s\nfile\t%s\nline\t%d\n", task.Mark, task.Text, t.path, task.Line)
}

// taskAt finds the task on a line. Where none is, the nearest ones are named:
// lines go stale between a listing and a change.
func taskAt(t target, text []byte, line int) (markdown.Task, error) {
	where := verbatim(t.path.String() + ":" + strconv.Itoa(line))
	if t.path.Ext() != "md" {
		return markdown.Task{}, notFoundNearest.failure("Task %q not found. Only Markdown notes have tasks.", where)
	}
	found := markdown.Scan(text)
	for _, task := range found.Tasks {
		if task.Line == line {
			return task, nil
		}
	}
	nearest := edit.NoTask(found, line).Instead
	if len(nearest) == 0 {
		return markdown.Task{}, notFoundNearest.failure("Task %q not found. The note has none.", where)
	}
	var lines []string
	for _, task := range nearest {
		lines = append(lines, fmt.Sprintf("line %d %q", task.Line, verbatim(excerpt(task.Text))))
	}
	return markdown.Task{}, notFoundNearest.failure("Task %q not found. The nearest are %s.", where, strings.Join(lines, ", "))
}

// taskPlace finds out in which file and on which line the task is.
func (v *vault) taskPlace(p params) (t target, line int, err error) {
	number := p["line"]
	if err := oneTaskPlace(p); err != nil {
		return t, 0, err
	}
	switch {
	case p.has("ref"):
		colon := strings.LastIndexByte(p["ref"], ':')
		if colon < 0 {
			return t, 0, misuse("Invalid ref: %s. Use <path>:<line>.", p["ref"])
		}
		number = p["ref"][colon+1:]
		t.typed = p["ref"][:colon]
		if t.path, err = v.find(t.typed); err != nil {
			return t, 0, err
		}
	case p.has("daily"):
		today, err := v.today()
		if err != nil {
			return t, 0, err
		}
		t = target{today.path, today.path.String()}
	default:
		if t, err = v.target(p); err != nil {
			return t, 0, err
		}
	}
	if number == "" {
		return t, 0, misuse("Missing required parameter: line=<n>")
	}
	if line, err = strconv.Atoi(number); err != nil || line < 1 {
		return t, 0, misuse("Invalid number: %s", number)
	}
	return t, line, nil
}

// oneTaskPlace refuses a request that names two tasks.
func oneTaskPlace(p params) error {
	named := p.has("file") || p.has("path")
	switch {
	case p.has("ref") && (named || p.has("daily") || p.has("line")):
		return misuse("ref=<path:line> holds the note and the line: leave out file, path, daily and line.")
	case p.has("daily") && named:
		return misuse("Use file=<name>, path=<path> or daily, not several.")
	}
	return nil
}
