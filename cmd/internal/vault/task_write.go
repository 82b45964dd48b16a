package vault

import (
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/outcome"
)

// The parameters of task that change it, of which one is given at most.
var taskChanges = [...]string{"toggle", "done", "todo", "status"}

// newMark returns the mark that a task shall have, ok is false if the request
// asks to see it only.
func newMark(p params, now rune) (mark rune, ok bool, err error) {
	given := 0
	for _, change := range taskChanges {
		if p.has(change) {
			given++
		}
	}
	switch {
	case given == 0:
		return now, false, nil
	case given > 1:
		return 0, false, misuse("Use toggle, done, todo or status=<mark>, not several.")
	case p.has("toggle"):
		return edit.Toggled(now), true, nil
	case p.has("done"):
		return 'x', true, nil
	case p.has("todo"):
		return ' ', true, nil
	}
	mark, size := utf8.DecodeRuneInString(p["status"])
	if size != len(p["status"]) || mark == utf8.RuneError {
		return 0, false, misuse("Invalid status: %s. Use one character.", p["status"])
	}
	return mark, true, nil
}

// task shows a task, or changes its mark and nothing else of the note. What the
// app prints after a change was never recorded: the answer is the task as it is
// then, in the form in which it is shown, so that a caller sees which one it
// was. A task that has the mark already is shown all the same.
func task(v *vault, p params) (proposal, error) {
	t, line, err := v.taskPlace(p)
	if err != nil {
		return proposal{}, err
	}
	text, err := v.disk.Read(t.path)
	if err != nil {
		return proposal{}, unreadable(t.typed, err)
	}
	found, err := taskAt(t, text, line)
	if err != nil {
		return proposal{}, err
	}
	mark, changes, err := newMark(p, found.Mark)
	if err != nil {
		return proposal{}, err
	}
	if !changes {
		return proposal{reading: &reply{text: showTask(t, found), note: t.path}}, nil
	}
	edited, err := located(text, func() ([]byte, error) { return edit.SetTask(text, line, mark) })
	if err != nil {
		return proposal{}, err
	}
	after, err := taskAt(t, edited, line)
	if err != nil {
		return proposal{}, err
	}
	return changing(t.path, text, edited, showTask(t, after)), nil
}

// meansMarked judges a task whose mark was changed.
func meansMarked(v *vault, p params, c appChange) (outcome.Verdict, error) {
	t, line, err := v.taskPlace(p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	was, err := taskAt(t, c.before.text, line)
	if err != nil {
		return outcome.Verdict{}, err
	}
	mark, _, err := newMark(p, was.Mark)
	if err != nil {
		return outcome.Verdict{}, err
	}
	wanted, err := edit.SetTask(c.before.text, line, mark)
	if err != nil {
		return outcome.Verdict{}, nil
	}
	return outcome.Ending(wanted, c.now.text), nil
}
