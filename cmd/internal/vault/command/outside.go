package command

import (
	"bytes"
	"encoding/json"
	"errors"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/state/journal"
)

// What the app carries out is worked out and kept here beforehand, and looked at
// afterwards: so a change is in the journal and can be taken back, whoever made
// it. The caller holds the lock of the journal meanwhile.

// begin keeps what a call is going to change, and shows it as a plan does.
func begin(v *session.Vault, row Command, values grammar.Values, how grammar.WriteOptions) (answer.Reply, error) {
	p, err := propose(v, row, values)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := errors.Join(p.AppDoesLess, fits(v, p, how), p.unasked(how)); err != nil {
		return answer.Reply{}, err
	}
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	p.byApp()
	p.drop(Step.IsNoop)
	if len(p.Steps) > 0 {
		e := entry(v, row, values, how, p)
		e.Backend = "obsidian"
		if err := j.Begin(e, p.content); err != nil {
			return answer.Reply{}, unjournaled(err)
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
func end(v *session.Vault, row Command, values grammar.Values, how grammar.WriteOptions) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	e, err := j.Entry(how.ID)
	if err != nil {
		return answer.Reply{}, answer.NotFound.Failure("Change %q not found.", answer.Verbatim(how.ID))
	}
	seen, err := settled(v, j, row, values, e)
	if err != nil {
		return answer.Reply{}, err
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
		verdict.Notices = noticesOf(seen)
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
		keepSeen(j, e.Caller, seen)
		if err := j.End(e.ID, journal.Done, after, ""); err != nil {
			return answer.Reply{}, unjournaled(err)
		}
	}
	text, err := json.Marshal(verdict)
	return answer.Text(string(text)), err
}

// keepSeen keeps what the app wrote, for the same reason as [keepWritten].
func keepSeen(j *journal.Journal, caller string, seen []traced) {
	for _, s := range seen[:min(len(seen), maxKept)] {
		if image := ImageOf(s.now); s.now.Exists && image != s.step.Before {
			_ = j.Put(caller, s.step.Path, image, bytes.NewReader(s.now.Text))
		}
	}
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
		return answer.Conflict.Failure("Conflict: another program changes notes of the vault. Nothing was changed.")
	case errors.As(err, &changed):
		return answer.Conflict.Failure("Conflict: %q was changed by another program at the same time. Nothing was changed.", answer.Verbatim(changed.Path))
	}
	return answer.NoJournal.Failure("Nothing was changed, because the journal cannot keep it: %v", err)
}
