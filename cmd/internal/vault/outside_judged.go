package vault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/gateway/state/journal"
)

// traced is what is found of one file that the app was to change.
type traced struct {
	step    journal.Step
	now     held
	old     held // what is where the file was before a move
	state   string
	style   string
	follows bool // it was to change only because another file moved
}

// appChange is one file before and after the app has carried out a call, for a
// command to judge.
type appChange struct {
	entry       journal.Entry
	step        journal.Step
	before, now held
}

// meaning judges a file that is not byte for byte what was planned.
type meaning func(v *vault, p params, c appChange) (outcome.Verdict, error)

// The app does not write a note in one piece: for a moment the file is empty, or
// holds a part. So a note that is neither old nor what was asked for is looked at
// again, until it has stayed the same for a while.
const (
	settleEvery = 50 * time.Millisecond
	settleLooks = 5  // as many in a row have to be the same
	settleMost  = 20 // of all
)

// settled is lookBack once the files have stayed the same, or are right.
func (v *vault) settled(j *journal.Journal, row command, values params, e journal.Entry) (seen []traced, err error) {
	same := 0
	for range settleMost {
		before := seen
		if seen, err = v.lookBack(j, row, values, e); err != nil || stateOf(seen) != otherwise {
			return seen, err
		}
		if same++; !slices.EqualFunc(before, seen, func(a, b traced) bool { return a.now.equal(b.now) && a.old.equal(b.old) }) {
			same = 1
		}
		if same == settleLooks {
			break
		}
		v.host.pause(v.ctx, settleEvery)
	}
	return seen, nil
}

// lookBack looks at the files of an entry and says of each what became of it.
func (v *vault) lookBack(j *journal.Journal, row command, values params, e journal.Entry) (seen []traced, err error) {
	moves := slices.ContainsFunc(e.Steps, func(s journal.Step) bool { return s.From != "" })
	for _, s := range e.Steps {
		t := traced{step: s, follows: moves && s.From == ""}
		if t.now, err = v.heldAt(s.Path); err != nil {
			return nil, err
		}
		if s.From != "" {
			if t.old, err = v.heldAt(s.From); err != nil {
				return nil, err
			}
		}
		if err = v.weigh(j, row, values, e, &t); err != nil {
			return nil, err
		}
		seen = append(seen, t)
	}
	return seen, nil
}

// heldAt returns what the file at a path of an entry holds.
func (v *vault) heldAt(path string) (held, error) {
	at, err := v.stepPath(path)
	if err != nil {
		return held{}, nil // nothing can be there
	}
	return v.current(at)
}

// weigh sets the state of one file.
func (v *vault) weigh(j *journal.Journal, row command, values params, e journal.Entry, t *traced) error {
	s, now := t.step, imageOf(t.now)
	t.state = otherwise
	source := now
	if s.From != "" {
		source = imageOf(t.old)
	}
	switch {
	case s.From != "" && t.old.there && !strings.EqualFold(s.From, s.Path): // with the same letters it may be the file itself
		if source == s.Before && !t.now.there {
			t.state = untouched
		}
		return nil
	case now == s.After:
		t.state = applied
		return nil
	case source == s.Before:
		t.state = untouched
		return nil
	case row.meant == nil || !t.now.there:
		return nil
	}
	before := held{}
	if s.Before.Exists {
		text, err := j.Object(s.Before.Hash)
		if err != nil {
			return nil // it was not kept, because nothing of it was to change
		}
		before = holding(text)
	}
	verdict, err := row.meant(v, values, appChange{e, s, before, t.now})
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

// pathsNow are the paths of all files of the vault.
func (v *vault) pathsNow() (paths []string, err error) {
	err = v.disk.Walk(disk.Path{}, func(e disk.Entry) { paths = append(paths, e.Path.String()) })
	return paths, err
}
