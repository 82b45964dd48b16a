package tasks

import (
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/cmd/internal/vault/session"
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

// mark shows a task, or changes its mark and nothing else of the note. What the
// app prints after a change was never recorded: the answer is the task as it is
// then, in the form in which it is shown, so that a caller sees which one it
// was. A task that has the mark already is shown all the same.
func mark(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return command.Proposal{}, answer.ReadError(t.Typed, err)
	}
	found, err := taskAt(t, text, line)
	if err != nil {
		return command.Proposal{}, err
	}
	mark, changes, err := newMark(p, found.Mark)
	if err != nil {
		return command.Proposal{}, err
	}
	if !changes {
		return command.Proposal{ReadAnswer: &answer.Reply{Text: showTask(t, found), Note: t.Path}}, nil
	}
	edited, err := notes.Edit(text, func() ([]byte, error) { return edit.SetTask(text, line, mark) })
	if err != nil {
		return command.Proposal{}, err
	}
	after, err := taskAt(t, edited, line)
	if err != nil {
		return command.Proposal{}, err
	}
	return command.ProposeChange(t.Path, text, edited, showTask(t, after)), nil
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
