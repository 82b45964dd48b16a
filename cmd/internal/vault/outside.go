package vault

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/journal"
)

// What the app carries out is worked out and kept here beforehand, and looked at
// afterwards: so a change is in the journal and can be taken back, whoever made
// it. The caller holds the lock of the journal meanwhile.

// begin keeps what a call is going to change, and shows it as a plan does.
func (v *vault) begin(row command, values params, how manner) (reply, error) {
	p, err := v.propose(row, values)
	if err != nil || p.reading != nil {
		return p.answer(), err
	}
	if err := p.expects(how.expect); err != nil {
		return reply{}, err
	}
	j, err := v.journal()
	if err != nil {
		return reply{}, err
	}
	p.drop(step.idle)
	if len(p.steps) > 0 {
		e := v.entry(row, values, how.id, p)
		e.Backend = "obsidian"
		if err := j.Begin(e, p.content); err != nil {
			return reply{}, unjournaled(err)
		}
	}
	return v.showPlan(p)
}

// The answers of end. They are for the gateway.
const (
	applied   = "applied"   // all files are as they were meant to be
	untouched = "untouched" // all files are as they were
	otherwise = "otherwise" // some are neither
)

// end looks at the files of an entry and notes how it ended. One that is
// untouched is not noted yet if it may still be carried out.
func (v *vault) end(how manner) (reply, error) {
	j, err := v.journal()
	if err != nil {
		return reply{}, err
	}
	e, err := j.Entry(how.id)
	if err != nil {
		return reply{}, failure("Change %q not found.", verbatim(how.id))
	}
	verdict := struct {
		State  string `json:"state"`
		Before string `json:"before,omitempty"`
		After  string `json:"after,omitempty"`
	}{}
	done, left := 0, 0
	after := make([]journal.Image, len(e.Steps))
	for i, s := range e.Steps {
		now, err := v.imageAt(s.Path)
		if err != nil {
			return reply{}, err
		}
		after[i] = now
		untouched := now == s.Before
		if s.From != "" {
			was, err := v.imageAt(s.From)
			if err != nil {
				return reply{}, err
			}
			untouched = was == s.Before
		}
		switch {
		case now == s.After:
			done++
		case untouched:
			left++
		}
	}
	switch len(e.Steps) {
	case done:
		verdict.State = applied
	case left:
		verdict.State = untouched
	default:
		verdict.State = otherwise
	}
	if len(e.Steps) > 0 {
		verdict.Before, verdict.After = shortHash(e.Steps[0].Before), shortHash(after[0])
	}
	if e.State == journal.Begun && verdict.State != untouched {
		if err := j.End(e.ID, journal.Done, after, ""); err != nil {
			return reply{}, unjournaled(err)
		}
	}
	text, err := json.Marshal(verdict)
	return say(string(text)), err
}

func (v *vault) imageAt(path string) (journal.Image, error) {
	at, err := disk.ParsePath(path)
	if err != nil {
		return journal.Image{}, nil // nothing can be there
	}
	now, err := v.current(at)
	return imageOf(now), err
}

// shortHash returns the hash by which a note is known to callers.
func shortHash(i journal.Image) string {
	return i.Hash[:min(len(i.Hash), 16)]
}
