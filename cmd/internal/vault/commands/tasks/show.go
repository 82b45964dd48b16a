package tasks

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// showTask prints what is known of one task. The app's own layout was never
// recorded; this is that of the command file.
func showTask(t session.Target, task markdown.Task) string {
	return fmt.Sprintf("status\t%c\ntext\t%s\nfile\t%s\nline\t%d\n", task.Mark, task.Text, t.Path, task.Line)
}

// taskAt finds the task on a line. Where none is, the nearest ones are named:
// lines go stale between a listing and a change.
func taskAt(t session.Target, text []byte, line int) (markdown.Task, error) {
	where := answer.Verbatim(t.Path.String() + ":" + strconv.Itoa(line))
	if t.Path.Ext() != "md" {
		return markdown.Task{}, answer.NotFoundNearest.Failure("Task %q not found. Only Markdown notes have tasks.", where)
	}
	found := markdown.Scan(text)
	for _, task := range found.Tasks {
		if task.Line == line {
			return task, nil
		}
	}
	around := edit.NoTask(found, line).Instead
	if len(around) == 0 {
		return markdown.Task{}, answer.NotFoundNearest.Failure("Task %q not found. The note has none.", where)
	}
	var lines, refs []string
	for _, task := range around {
		refs = append(refs, t.Path.String()+":"+strconv.Itoa(task.Line))
		lines = append(lines, fmt.Sprintf("line %d %q", task.Line, answer.Verbatim(notes.Excerpt(task.Text))))
	}
	return markdown.Task{}, answer.NotFoundNearest.DidYouMean(refs[:min(len(refs), 3)], "Task %q not found. The nearest are %s.", where, strings.Join(lines, ", "))
}

// taskPlace finds out in which file and on which line the task is.
func taskPlace(v *session.Vault, p grammar.Values) (t session.Target, line int, err error) {
	number := p["line"]
	if err := oneTaskPlace(p); err != nil {
		return t, 0, err
	}
	switch {
	case p.Has("ref"):
		colon := strings.LastIndexByte(p["ref"], ':')
		if colon < 0 {
			return t, 0, answer.Misuse("Invalid ref: %s. Use <path>:<line>.", p["ref"])
		}
		number = p["ref"][colon+1:]
		t.Typed = p["ref"][:colon]
		if t.Path, err = v.FindPath(t.Typed); err != nil {
			return t, 0, err
		}
	case p.Has("daily"):
		today, err := notes.Today(v)
		if err != nil {
			return t, 0, err
		}
		t = session.Target{Path: today.Path, Typed: today.Path.String()}
	default:
		if t, err = v.Target(p); err != nil {
			return t, 0, err
		}
	}
	if number == "" {
		return t, 0, answer.Misuse("Missing required parameter: line=<n>")
	}
	if line, err = strconv.Atoi(number); err != nil || line < 1 {
		return t, 0, answer.Misuse("Invalid number: %s", number)
	}
	return t, line, nil
}

// oneTaskPlace refuses a request that names two tasks.
func oneTaskPlace(p grammar.Values) error {
	named := p.Has("file") || p.Has("path")
	switch {
	case p.Has("ref") && (named || p.Has("daily") || p.Has("line")):
		return answer.Misuse("ref=<path:line> names the note and the line: leave out file, path, daily and line.")
	case p.Has("daily") && named:
		return answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	}
	return nil
}
