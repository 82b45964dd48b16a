package edit

import (
	"slices"

	"vaultwicket/cmd/internal/vault/markdown"
)

// SetTask returns the note with another mark in the box of the task on a line:
// one character, a blank for a task that is open. The errors are *[NotFound]
// and *[Refusal].
func SetTask(text []byte, line int, mark rune) ([]byte, error) {
	d := read(text)
	for _, task := range d.found.Tasks {
		if task.Line != line {
			continue
		}
		if task.Mark == mark && task.MarkAt.End-task.MarkAt.Start == len(string(mark)) {
			return text, nil
		}
		edited := d.splice(task.MarkAt, string(mark))
		if holds(edited, line, mark) && d.keeps(edited, task.MarkAt, len(string(mark))) {
			return edited, nil
		}
		return nil, &Refusal{Line: line, Reason: "this character cannot be the mark of a task"}
	}
	return nil, NoTask(d.found, line)
}

// holds reports whether a task with a mark stands on a line.
func holds(text []byte, line int, mark rune) bool {
	if mark < ' ' || mark == 0x7f || mark == 0xfffd {
		return false
	}
	for _, task := range markdown.Scan(text).Tasks {
		if task.Line == line {
			return task.Mark == mark
		}
	}
	return false
}

// NoTask says that no task stands on a line, and where the nearest stand: the
// note may have grown or shrunk since the line was read.
func NoTask(found markdown.Note, line int) *Refusal {
	refusal := &Refusal{Line: line, Reason: "there is no task"}
	near := slices.Clone(found.Tasks)
	slices.SortStableFunc(near, func(a, b markdown.Task) int { return distance(a.Line, line) - distance(b.Line, line) })
	near = near[:min(len(near), maxNearest)]
	slices.SortFunc(near, func(a, b markdown.Task) int { return a.Line - b.Line })
	for _, task := range near {
		refusal.Instead = append(refusal.Instead, Candidate{task.Line, task.Text})
	}
	return refusal
}

// maxNearest is how many tasks beside a line are named: whoever counted wrongly
// missed by little.
const maxNearest = 4

func distance(a, b int) int { return max(a-b, b-a) }

// Toggled returns the mark that a task has after it was clicked on: an open one
// is done, every other is open.
func Toggled(mark rune) rune {
	if mark == ' ' {
		return 'x'
	}
	return ' '
}
