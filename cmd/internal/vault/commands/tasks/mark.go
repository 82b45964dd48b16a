package tasks

import (
	"errors"
	"slices"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
)

// The parameters of task that change it, of which one is given at most.
var taskChanges = [...]string{"toggle", "done", "todo", "status"}

// newMark returns the mark that a task shall have, ok is false if the request
// asks to see it only.
func newMark(p grammar.Values, now rune) (mark rune, ok bool, err error) {
	given := 0
	for _, change := range taskChanges {
		if p.Has(change) {
			given++
		}
	}
	switch {
	case given == 0 && p.Has("date"):
		return 0, false, answer.Misuse("date=<date> is the day on which a task is done: give done, toggle or status=<mark> too.")
	case given == 0:
		return now, false, nil
	case given > 1:
		return 0, false, answer.Misuse("Use toggle, done, todo or status=<mark>, not several.")
	case p.Has("toggle"):
		return edit.Toggled(now), true, nil
	case p.Has("done"):
		return 'x', true, nil
	case p.Has("todo"):
		return ' ', true, nil
	}
	mark, size := utf8.DecodeRuneInString(p["status"])
	if size != len(p["status"]) || mark == utf8.RuneError {
		return 0, false, answer.Misuse("Invalid status: %s. Use one character.", p["status"])
	}
	return mark, true, nil
}

// mark shows a task, or changes its mark. What the
// app prints after a change was never recorded: the answer is the task as it is
// then, in the form in which it is shown, so that a caller sees which one it
// was. A task that has the mark already is shown all the same.
func mark(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	one, err := namedTask(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	mark, changes, err := newMark(p, one.Mark)
	if err != nil {
		return command.Proposal{}, err
	}
	if !changes {
		return command.Proposal{ReadAnswer: &answer.Reply{Text: showTask(one.Target, one.Task), Note: one.Path}}, nil
	}
	change, err := besides(v, p, one, mark)
	if err != nil {
		return command.Proposal{}, err
	}
	edited, err := one.edit(func(text []byte) ([]byte, error) { return edit.SetTask(text, one.Line, mark) })
	if err != nil {
		return command.Proposal{}, err
	}
	if !change.Extra {
		after, err := taskAt(one.Target, edited, one.Line)
		return command.ProposeChange(one.Path, one.note, edited, showTask(one.Target, after)), err
	}
	return completed(one, mark, change)
}

// besides returns what the Tasks plugin does to a task besides giving it a mark.
func besides(v *session.Vault, p grammar.Values, one namedOne, mark rune) (task.Change, error) {
	settings, err := pluginSettings(v)
	if err != nil {
		return task.Change{}, err
	}
	day := v.Today()
	if p.Has("date") {
		days, err := session.Days(p["date"], day)
		if err != nil {
			return task.Change{}, err
		}
		day, settings.Managed, settings.GlobalFilter = days.First, true, "" // who names the day wants to have it written
	}
	change, err := task.Mark(one.text, one.Mark, mark, day, settings)
	var refusal *task.Refusal
	if errors.As(err, &refusal) {
		return change, answer.Failure("Task %q cannot be completed: %v. Its mark alone can be changed once the text is mended.", one.name(), err)
	}
	return change, err
}

// completed returns the proposal for a task of which more than the mark changes: its line
// gets the dates of the plugin, and the next task a line of its own.
func completed(one namedOne, mark rune, change task.Change) (command.Proposal, error) {
	if change.Removed && one.hasChildren() {
		return command.Proposal{}, answer.Failure("Task %q cannot be completed: it says that it is to be deleted then, and there are items below it.", one.name())
	}
	var lines []string
	if !change.Removed {
		lines = append(lines, one.lineWith(string(mark), change.Text))
	}
	if change.HasNext {
		at := len(lines)
		if !change.Below {
			at = 0
		}
		lines = slices.Insert(lines, at, one.lineWith(change.NextMark, change.Next))
	}
	edited := one.with(lines...)
	said, err := reported(one, edited, change)
	if err != nil {
		return command.Proposal{}, err
	}
	proposal := command.ProposeChange(one.Path, one.note, edited, said)
	proposal.AppDoesLess = answer.AppDoesLess.Failure("The app would change the mark of the task %q alone, and not what the Tasks plugin changes with it.", one.name())
	return proposal, nil
}

// reported returns what is said of a task that was completed: as it is then, and the next one
// with its place.
func reported(one namedOne, edited []byte, change task.Change) (string, error) {
	place, next := one.Line, one.Line
	switch {
	case change.HasNext && change.Below && !change.Removed:
		next++
	case change.HasNext:
		place++
	}
	said := "removed\t" + one.Text + "\n"
	if !change.Removed {
		after, err := taskAt(one.Target, edited, place)
		if err != nil {
			return "", err
		}
		said = showTask(one.Target, after)
	}
	if !change.HasNext {
		return said, nil
	}
	after, err := taskAt(one.Target, edited, next)
	return said + "next\t" + after.Text + "\nnext-line\t" + number(next) + "\n", err
}

// meansMarked judges a task whose mark was changed.
func meansMarked(v *session.Vault, p grammar.Values, c command.AppChange) (outcome.Verdict, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	was, err := taskAt(t, c.Before.Text, line)
	if err != nil {
		return outcome.Verdict{}, err
	}
	mark, _, err := newMark(p, was.Mark)
	if err != nil {
		return outcome.Verdict{}, err
	}
	wanted, err := edit.SetTask(c.Before.Text, line, mark)
	if err != nil {
		return outcome.Verdict{}, nil
	}
	return outcome.Ending(wanted, c.Now.Text), nil
}
