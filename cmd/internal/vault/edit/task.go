package edit

import (
	"slices"

	"vaultwicket/cmd/internal/vault/markdown"
)

// SetTask returns the note with another mark in the box of the task on a line: one
// character, a blank for an open task. The errors are *[NotFound] and *[Refusal].
func SetTask(text []byte, line int, mark rune) ([]byte, error) {
	d := read(text)
	onLine := func(task markdown.Task) bool { return task.Line == line }
	n := slices.IndexFunc(d.found.Tasks, onLine)
	if n < 0 {
		return nil, NoTask(d.found, line)
	}
	at, size := d.found.Tasks[n].MarkAt, len(string(mark))
	if d.found.Tasks[n].Mark == mark && at.End-at.Start == size {
		return text, nil
	}
	if mark >= ' ' && mark != 0x7f && mark != 0xfffd {
		edited := read(d.splice(at, string(mark)))
		now := slices.IndexFunc(edited.found.Tasks, onLine)
		if now >= 0 && edited.found.Tasks[now].Mark == mark && d.keeps(edited, at, size) {
			return edited.text, nil
		}
	}
	return nil, &Refusal{Line: line, Reason: "this character cannot be the mark of a task"}
}

// NoTask says that there is no task on a line, and where the nearest are: the note may
// have grown or shrunk since the line was read.
func NoTask(found markdown.Note, line int) *Refusal {
	refusal := &Refusal{Line: line, Reason: "there is no task"}
	near := slices.Clone(found.Tasks)
	distance := func(task markdown.Task) int { return max(task.Line-line, line-task.Line) }
	slices.SortStableFunc(near, func(a, b markdown.Task) int { return distance(a) - distance(b) })
	near = near[:min(len(near), maxNearest)]
	slices.SortFunc(near, func(a, b markdown.Task) int { return a.Line - b.Line })
	for _, task := range near {
		refusal.Instead = append(refusal.Instead, Candidate{task.Line, task.Text})
	}
	return refusal
}
