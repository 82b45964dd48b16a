package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/gateway/state/journal"
)

// What the app carries out is worked out and kept here beforehand, and looked at
// afterwards: so a change is in the journal and can be undone, whoever made
// it. The caller has the lock of the journal meanwhile.

// begin keeps what a call is going to change, and shows it as a plan does.
func begin(v *Vault, row Command, values Values, how WriteOptions) (Reply, error) {
	p, err := propose(v, row, values)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := errors.Join(p.AppDoesLess, fits(v, p, how), p.unasked(how)); err != nil {
		return Reply{}, err
	}
	j, err := v.Journal()
	if err != nil {
		return Reply{}, err
	}
	if p.lineEnds { // the app does not convert them
		p.Steps[0].After, p.lineEnds = Existing(p.asGiven), false
	}
	p.drop(Step.IsNoop)
	if len(p.Steps) > 0 {
		e := entry(v, row, values, how, p)
		e.Backend = "obsidian"
		if err := j.Begin(e, func(s journal.Step) (io.ReadCloser, error) { return p.content(v, s) }); err != nil {
			return Reply{}, unjournaled(err)
		}
	}
	return showPlan(v, p)
}

// The answers of end. They are for the gateway.
const (
	applied   = "applied"   // all files say what they were meant to say
	untouched = "untouched" // all files are as they were
	otherwise = "otherwise" // some are neither
)

// end looks at the files of an entry and notes how it ended. One that is
// untouched is not noted yet if it may still be carried out.
func end(v *Vault, row Command, values Values, how WriteOptions) (Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return Reply{}, err
	}
	e, err := j.Entry(how.ID)
	if err != nil {
		return Reply{}, NotFound.Failure("Change %q not found.", Verbatim(how.ID))
	}
	seen, err := settled(v, j, row, values, e)
	if err != nil {
		return Reply{}, err
	}
	verdict := struct {
		State   string   `json:"state"`
		Before  string   `json:"before,omitempty"`
		After   string   `json:"after,omitempty"`
		Notices []string `json:"notices,omitempty"`
		// Added and Removed count lines.
		Added   int `json:"added"`
		Removed int `json:"removed"`
	}{State: stateOf(seen)}
	if verdict.State == applied {
		for _, t := range seen {
			if t.style != "" && !slices.Contains(verdict.Notices, t.style) {
				verdict.Notices = append(verdict.Notices, t.style)
			}
		}
	}
	after := make([]journal.Image, len(seen))
	for i, s := range seen {
		after[i] = ImageOf(s.now)
		made := s.lines(j)
		verdict.Added += made.Added
		verdict.Removed += made.Removed
	}
	if len(seen) > 0 {
		verdict.Before, verdict.After = shortHash(e.Steps[0].Before), shortHash(after[0])
	}
	if e.State == journal.Begun && verdict.State != untouched {
		for _, s := range seen[:min(len(seen), maxKept)] {
			if image := ImageOf(s.now); s.now.Exists && image != s.step.Before {
				_ = j.Put(e.Caller, s.step.Path, image, bytes.NewReader(s.now.Text))
			}
		}
		if err := j.End(e.ID, journal.Done, after, ""); err != nil {
			return Reply{}, unjournaled(err)
		}
	}
	text, err := json.Marshal(verdict)
	return Text(string(text)), err
}

// lines counts what became of a file. What it was is not kept where it was moved as
// it is; then nothing is counted.
func (t traced) lines(j *journal.Journal) edit.LineCounts {
	if t.step.Before == ImageOf(t.now) {
		return edit.LineCounts{}
	}
	var was []byte
	if t.step.Before.Exists {
		var err error
		if was, err = j.Object(t.step.Before.Hash); err != nil {
			return edit.LineCounts{}
		}
	}
	return edit.CountLines(was, t.now.Text)
}

// shortHash returns the hash by which a note is known to callers.
func shortHash(i journal.Image) string {
	return i.Hash[:min(len(i.Hash), 16)]
}

// unjournaled says that nothing was done because it could not be kept.
func unjournaled(err error) error {
	var busy *journal.Busy
	var changed *journal.Changed
	switch {
	case errors.As(err, &busy):
		return Conflict.Failure("Conflict: another program changes notes of the vault. Nothing was changed.")
	case errors.As(err, &changed):
		return Conflict.Failure("Conflict: %q was changed by another program at the same time. Nothing was changed.", Verbatim(changed.Path))
	}
	return NoJournal.Failure("Nothing was changed, because the journal cannot keep it: %v", err)
}

// traced is what is found of one file that the app was to change.
type traced struct {
	step  journal.Step
	now   FileState
	old   FileState // what is where the file was before a move
	state string
	style string
}

// AppChange is one file before and after the app has carried out a call, for a
// command to judge.
type AppChange struct {
	Step        journal.Step
	Before, Now FileState
}

// Verifier judges a file that is not byte for byte what was planned.
type Verifier func(v *Vault, p Values, c AppChange) (Verdict, error)

// The app does not write a note in one piece: for a moment the file is empty, or
// holds a part. So a note that is neither old nor what was asked for is looked at
// again, until it has stayed the same for a while.
const (
	settleEvery = 50 * time.Millisecond
	settleLooks = 5  // as many in a row have to be the same
	settleMost  = 20 // of all
)

// settled is lookBack once the files have stayed the same, or are right.
func settled(v *Vault, j *journal.Journal, row Command, values Values, e journal.Entry) (seen []traced, err error) {
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
func lookBack(v *Vault, j *journal.Journal, row Command, values Values, e journal.Entry) (seen []traced, err error) {
	for _, s := range e.Steps {
		t := traced{step: s}
		if t.now, err = heldAt(v, s.Path); err != nil {
			return nil, err
		}
		if s.From != "" {
			if t.old, err = heldAt(v, s.From); err != nil {
				return nil, err
			}
		}
		if err = weigh(v, j, row, values, &t); err != nil {
			return nil, err
		}
		seen = append(seen, t)
	}
	return seen, nil
}

// heldAt returns the content of the file at a path of an entry.
func heldAt(v *Vault, path string) (FileState, error) {
	at, err := StepPath(v, path)
	if err != nil {
		return FileState{}, nil // nothing can be there
	}
	return StateAt(v, at, path)
}

// weigh sets the state of one file.
func weigh(v *Vault, j *journal.Journal, row Command, values Values, t *traced) error {
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
	verdict, err := row.Verify(v, values, AppChange{s, before, t.now})
	if err == nil && verdict.Done {
		t.state, t.style = applied, verdict.Style
	}
	return err
}

// stateOf says what became of the change as a whole.
func stateOf(seen []traced) string {
	count := map[string]int{}
	for _, t := range seen {
		count[t.state]++
	}
	switch len(seen) {
	case count[untouched]:
		return untouched
	case count[applied]:
		return applied
	}
	return otherwise
}
