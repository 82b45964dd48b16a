package vault

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/markdown"
)

func taskCommand() []command {
	return []command{{
		name: "task", about: "Show a task",
		params: append(targetParams(),
			param{name: "ref", hint: "path:line", about: "File and line in one"},
			param{name: "line", hint: "n", about: "Line of the task"},
			param{name: "daily", kind: flag, about: "In today's note"},
			param{name: "toggle", kind: flag, about: "Needs the app"},
			param{name: "done", kind: flag, about: "Needs the app"},
			param{name: "todo", kind: flag, about: "Needs the app"},
			param{name: "status", hint: "mark", about: "Needs the app"}),
		run: showTask,
	}}
}

// showTask prints what is known of one task. The app's own layout was never
// recorded; this is that of the command file.
func showTask(v *vault, p params) (reply, error) {
	for _, change := range []string{"toggle", "done", "todo", "status"} {
		if p.has(change) {
			return reply{}, failure("%q needs the Obsidian app.", "task")
		}
	}
	t, line, err := v.taskPlace(p)
	if err != nil {
		return reply{}, err
	}
	text, err := v.disk.Read(t.path)
	if err != nil {
		return reply{}, unreadable(t.typed, err)
	}
	for _, task := range markdown.Scan(text).Tasks {
		if task.Line == line && t.path.Ext() == "md" {
			return reply{text: fmt.Sprintf("status\t%c\ntext\t%s\nfile\t%s\nline\t%d\n", task.Mark, task.Text, t.path, line), note: t.path}, nil
		}
	}
	return reply{}, failure("Task %q not found.", verbatim(t.path.String()+":"+strconv.Itoa(line)))
}

// taskPlace finds out in which file and on which line the task is.
func (v *vault) taskPlace(p params) (t target, line int, err error) {
	number := p["line"]
	switch {
	case p.has("ref"):
		colon := strings.LastIndexByte(p["ref"], ':')
		if colon < 0 {
			return t, 0, misuse("Invalid ref: %s. Use <path>:<line>.", p["ref"])
		}
		number = p["ref"][colon+1:]
		t.typed = p["ref"][:colon]
		if t.path, err = disk.ParsePath(t.typed); err != nil {
			return t, 0, fileNotFound(t.typed)
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
