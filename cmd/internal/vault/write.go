package vault

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/state/journal"
)

// sessionVariable names the session on whose behalf this program writes, for
// the journal.
const sessionVariable = "VAULTWICKET_SESSION"

// write carries out a command that writes: alone in the vault among all
// programs of this kind, kept in the journal before anything is touched, and
// read back afterwards.
func (v *vault) write(row command, values params, how manner) (reply, error) {
	switch {
	case row.shows != nil && row.shows(values):
		p, err := v.propose(row, values)
		return p.answer(), err
	case how.task != "" && how.task != planSwitch && how.id == "":
		return reply{}, misuse("%s needs %s.", how.task, changeSwitch)
	case how.task == beginSwitch:
		return v.begin(row, values, how)
	case how.task == endSwitch:
		return v.end(row, values, how)
	case how.task == planSwitch:
		p, err := v.propose(row, values)
		if err != nil || p.reading != nil {
			return p.answer(), err
		}
		if err := p.expects(how.expect); err != nil {
			return reply{}, err
		}
		return v.showPlan(p)
	}
	j, err := v.journal()
	if err != nil {
		return reply{}, err
	}
	unlock, err := j.Lock(v.ctx)
	if err != nil {
		return reply{}, unjournaled(err)
	}
	defer unlock()
	v.sweep(j)
	p, err := v.propose(row, values)
	if err != nil || p.reading != nil {
		return p.answer(), err
	}
	if err := errors.Join(v.fits(p, how), p.unasked(how)); err != nil {
		return reply{}, err
	}
	p.drop(step.idle)
	said := reply{text: p.said, note: p.note, change: p.change(), lineEnds: p.lineEnds}
	if len(p.steps) == 0 {
		return said, p.nothingLeft(j)
	}
	said.entry, said.overtaken, err = v.carryOut(j, p, v.entry(row, values, how, p))
	return said, err
}

// propose works out what a call would do, and refuses what the rules do not allow.
func (v *vault) propose(row command, values params) (proposal, error) {
	p, err := row.plan(v, values)
	if err == nil {
		err = v.judge(p)
	}
	if err != nil {
		return proposal{}, err
	}
	return p, nil
}

// nothingLeft notes that of what is to be undone nothing is there.
func (p proposal) nothingLeft(j *journal.Journal) error {
	if p.undoes == "" {
		return nil
	}
	for _, id := range p.takesBack() {
		if err := j.End(id, journal.Undone, nil, ""); err != nil {
			return unjournaled(err)
		}
	}
	return nil
}

// takesBack returns the entries that a proposal takes back.
func (p proposal) takesBack() []string {
	return journal.Entry{Undoes: p.undoes, Also: p.also}.TakesBack()
}

func (p proposal) answer() reply {
	if p.reading != nil {
		return *p.reading
	}
	return reply{}
}

// carryOut keeps, does, checks and closes.
func (v *vault) carryOut(j *journal.Journal, p proposal, e journal.Entry) (id string, overtaken bool, err error) {
	if err := j.Begin(e, p.content); err != nil {
		return "", false, unjournaled(err)
	}
	written := j.Writing()
	err = v.doAll(p.steps)
	written()
	if err == nil {
		overtaken = v.overtaken(p.steps)
	}
	state, remark := journal.Done, p.trashed()
	if err != nil {
		state, remark = journal.Failed, shorten(err.Error())
	}
	if err == nil {
		keepWritten(j, e.Caller, p.steps)
	}
	// Behind this the change is made and can be taken back, even if only its
	// beginning is noted.
	endErr := j.End(e.ID, state, nil, remark)
	if err == nil && endErr == nil {
		for _, id := range p.takesBack() {
			_ = j.MarkUndone(id, e.ID)
		}
	}
	return e.ID, overtaken, err
}

// maxKept is how many notes of one change are kept as they were left, too: a
// move may have changed thousands.
const maxKept = 16

// keepWritten keeps what was written, so that an undo can show what somebody
// made of it since. It costs no space, for the next change of the note has to
// keep it anyway. Nothing else needs it, so an error is none.
func keepWritten(j *journal.Journal, caller string, steps []step) {
	for _, s := range steps[:min(len(steps), maxKept)] {
		if s.after.there && !s.before.equal(s.after) {
			_ = j.Put(caller, s.path.String(), imageOf(s.after), bytes.NewReader(s.after.text))
		}
	}
}

// inTrash begins the remark of the journal that says under which name a removed
// file lies in the trash.
const inTrash = "in the trash as "

func (p proposal) trashed() string {
	for _, s := range p.steps {
		if s.trash && s.trashed != "" {
			return inTrash + s.trashed
		}
	}
	return ""
}

// overtaken reads back what was written, and reports whether somebody else has
// changed it by now. The change was made all the same: it took the place of what
// the note held before.
func (v *vault) overtaken(steps []step) bool {
	left := map[disk.Path]held{} // of files that several steps touch, the last one says it
	for _, s := range steps {
		delete(left, s.from)
		left[s.path] = s.after
	}
	for path, after := range left {
		if now, err := v.current(path); err != nil || !now.equal(after) {
			return true
		}
	}
	return false
}

// entry is what the journal keeps of a call: never a value, but the names of
// its parameters.
func (v *vault) entry(row command, values params, how manner, p proposal) journal.Entry {
	now, id := v.host.now(), how.id
	if id == "" {
		id = journal.NewID(now)
	}
	e := journal.Entry{
		ID: id, Time: now, Session: v.host.env(sessionVariable), Caller: how.caller, Command: row.name, Backend: "embedded",
		Batch: how.batch, Undoes: p.undoes, Also: p.also,
	}
	for name := range values {
		e.Params = append(e.Params, name)
	}
	slices.Sort(e.Params)
	for _, s := range p.steps {
		e.Steps = append(e.Steps, journal.Step{Path: s.path.String(), From: s.from.String(), Before: imageOf(s.before), After: imageOf(s.after)})
	}
	return e
}

func imageOf(c held) journal.Image {
	if !c.there {
		return journal.Image{}
	}
	return journal.ImageOf(c.text)
}

// drop takes out steps.
func (p *proposal) drop(which func(step) bool) { p.steps = slices.DeleteFunc(p.steps, which) }

// content gives the journal the bytes that a step is going to change.
func (p proposal) content(step journal.Step) (io.ReadCloser, error) {
	for _, s := range p.steps {
		if s.path.String() == step.Path && s.from.String() == step.From && imageOf(s.before) == step.Before {
			return io.NopCloser(bytes.NewReader(s.before.text)), nil
		}
	}
	return nil, fs.ErrNotExist
}

// change is what the answer says of the note that it is about.
func (p proposal) change() *change {
	var made *change
	for _, s := range p.steps {
		if s.path != p.note {
			continue
		}
		if made == nil {
			made = &change{lines: p.counts(), loses: p.loss() != ""}
			if s.before.there {
				made.before = digest(s.before.text)
			}
		}
		if made.after = ""; s.after.there {
			made.after = digest(s.after.text)
		}
	}
	return made
}

// fits refuses a proposal that is not the one that the caller knows.
func (v *vault) fits(p proposal, how manner) error {
	if how.approved != "" && how.approved != v.digestOf(p) {
		return conflict.failure("Conflict: the change is not the one that was approved, because notes were changed since.")
	}
	return p.expects(how.expect)
}

// expects refuses a proposal if its note is not the one that the caller knows.
func (p proposal) expects(hash string) error {
	if hash == "" {
		return nil
	}
	for _, s := range p.steps {
		if s.path != p.note && s.from != p.note {
			continue
		}
		now := "none"
		if s.before.there {
			now = digest(s.before.text)
		}
		if now != hash {
			return conflict.failure("Conflict: %q has the hash %s, not %s.", verbatim(p.note.String()), now, hash)
		}
		return nil
	}
	return conflict.failure("Conflict: the call concerns no note that has a hash.")
}

const maxRemark = 500

func shorten(text string) string {
	if len(text) > maxRemark {
		text = text[:maxRemark]
	}
	return strings.ToValidUTF8(text, "")
}
