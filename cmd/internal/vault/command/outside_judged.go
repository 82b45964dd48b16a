package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/state/journal"
)

// traced is what is found of one file that the app was to change.
type traced struct {
	step    journal.Step
	now     FileState
	old     FileState // what is where the file was before a move
	state   string
	style   string
	follows bool // it was to change only because another file moved
}

// AppChange is one file before and after the app has carried out a call, for a
// command to judge.
type AppChange struct {
	Entry       journal.Entry
	Step        journal.Step
	Before, Now FileState
}

// Verifier judges a file that is not byte for byte what was planned.
type Verifier func(v *session.Vault, p grammar.Values, c AppChange) (outcome.Verdict, error)

// The app does not write a note in one piece: for a moment the file is empty, or
// holds a part. So a note that is neither old nor what was asked for is looked at
// again, until it has stayed the same for a while.
const (
	settleEvery = 50 * time.Millisecond
	settleLooks = 5  // as many in a row have to be the same
	settleMost  = 20 // of all
)

// settled is lookBack once the files have stayed the same, or are right.
func settled(v *session.Vault, j *journal.Journal, row Command, values grammar.Values, e journal.Entry) (seen []traced, err error) {
	same := 0
	for range settleMost {
		before := seen
		if seen, err = lookBack(v, j, row, values, e); err != nil || stateOf(seen) != otherwise {
			return seen, err
		}
		if same++; !slices.EqualFunc(before, seen, func(a, b traced) bool { return a.now.Equal(b.now) && a.old.Equal(b.old) }) {
			same = 1
		}
		if same == settleLooks {
			break
		}
		v.Host.Pause(v.Ctx, settleEvery)
	}
	return seen, nil
}

// lookBack looks at the files of an entry and says of each what became of it.
func lookBack(v *session.Vault, j *journal.Journal, row Command, values grammar.Values, e journal.Entry) (seen []traced, err error) {
	moves := slices.ContainsFunc(e.Steps, func(s journal.Step) bool { return s.From != "" })
	for _, s := range e.Steps {
		t := traced{step: s, follows: moves && s.From == ""}
		if t.now, err = heldAt(v, s.Path); err != nil {
			return nil, err
		}
		if s.From != "" {
			if t.old, err = heldAt(v, s.From); err != nil {
				return nil, err
			}
		}
		if err = weigh(v, j, row, values, e, &t); err != nil {
			return nil, err
		}
		seen = append(seen, t)
	}
	return seen, nil
}

// heldAt returns what the file at a path of an entry holds.
func heldAt(v *session.Vault, path string) (FileState, error) {
	at, err := StepPath(v, path)
	if err != nil {
		return FileState{}, nil // nothing can be there
	}
	return CurrentState(v, at)
}

// weigh sets the state of one file.
func weigh(v *session.Vault, j *journal.Journal, row Command, values grammar.Values, e journal.Entry, t *traced) error {
	s, now := t.step, ImageOf(t.now)
	t.state = otherwise
	source := now
	if s.From != "" {
		source = ImageOf(t.old)
	}
	switch {
	case s.From != "" && t.old.Exists && !strings.EqualFold(s.From, s.Path): // with the same letters it may be the file itself
		if source == s.Before && !t.now.Exists {
			t.state = untouched
		}
		return nil
	case now == s.After:
		t.state = applied
		return nil
	case source == s.Before:
		t.state = untouched
		return nil
	case row.Verify == nil || !t.now.Exists:
		return nil
	}
	before := FileState{}
	if s.Before.Exists {
		text, err := j.Object(s.Before.Hash)
		if err != nil {
			return nil // it was not kept, because nothing of it was to change
		}
		before = Existing(text)
	}
	verdict, err := row.Verify(v, values, AppChange{e, s, before, t.now})
	if err == nil && verdict.Done {
		t.state, t.style = applied, verdict.Style
	}
	return err
}

// stateOf says what became of the change as a whole. Links of other files that the
// app did not write anew do not undo a move.
func stateOf(seen []traced) string {
	count := map[string]int{}
	for _, t := range seen {
		if t.follows && t.state == untouched {
			count["left"]++
			continue
		}
		count[t.state]++
	}
	switch {
	case count[untouched]+count["left"] == len(seen):
		return untouched
	case count[applied]+count["left"] == len(seen):
		return applied
	}
	return otherwise
}

// noticesOf says in what the files differ from what was planned.
func noticesOf(seen []traced) (notices []string) {
	left := 0
	for _, t := range seen {
		if t.style != "" && !slices.Contains(notices, t.style) {
			notices = append(notices, t.style)
		}
		if t.follows && t.state == untouched {
			left++
		}
	}
	if left > 0 && left < len(seen) {
		notices = append(notices, fmt.Sprintf("the app has not changed the links in %d of the files that link to the moved one", left))
	}
	return notices
}

// AllPaths are the paths of all files of the vault.
func AllPaths(v *session.Vault) (paths []string, err error) {
	err = v.Disk.Walk(disk.Path{}, func(e disk.Entry) { paths = append(paths, e.Path.String()) })
	return paths, err
}
