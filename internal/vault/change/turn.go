package change

import (
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
)

// turn is the right of a call to change notes, and the mark of the change that it makes.
type turn struct {
	held *journal.Turn // nil if the caller of this process has it
	mark journal.Mark
	// isPassedOn says that others change one note each beside the change, once that is begun.
	isPassedOn bool
}

// takeTurn waits until nobody else changes notes, unless the caller has seen to that, and settles what was broken off.
func takeTurn(v *call.Vault, j *journal.Journal, how protocol.Write) (*turn, error) {
	if how.Alone { // what is marked as a batch is that of the caller
		return &turn{mark: j.Mark()}, recoverChanges(v, j)
	}
	held, err := j.Alone(v.Ctx)
	if err != nil {
		return nil, unjournaled(err)
	}
	t := &turn{held: held, mark: j.Mark(), isPassedOn: true}
	if err := Recover(v, j); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// takeTurnFor is takeTurn for a change of certain steps, nil if they are not known. A change of one note does not wait for one
// of several files that is being made, unless they are about the same files.
func takeTurnFor(v *call.Vault, j *journal.Journal, how protocol.Write, steps []Step) (*turn, error) {
	if how.Alone || len(steps) != 1 || !steps[0].isOfOneText() {
		return takeTurn(v, j, how)
	}
	held, err := j.Beside(v.Ctx)
	if err != nil {
		return nil, unjournaled(err)
	}
	t := &turn{held: held, mark: j.BesideMark()}
	isFree, err := settleBeside(v, j, t, steps[0])
	if err == nil && isFree {
		return t, nil
	}
	t.end()
	if err != nil {
		return nil, err
	}
	return takeTurn(v, j, how)
}

// settleBeside settles what was broken off, and reports whether a step can be made in a turn beside others.
func settleBeside(v *call.Vault, j *journal.Journal, t *turn, s Step) (isFree bool, err error) {
	if !j.HasUnfinished() || t.held.BecomeAlone() {
		return true, Recover(v, j)
	}
	if err := recoverChange(v, j, j.BesideMark()); err != nil {
		return false, err
	}
	claims, isMade, err := j.Claimed(v.Ctx)
	if err != nil {
		return false, unjournaled(err)
	}
	if !isMade {
		return true, nil
	}
	if claims.Cover(s.Path.String()) {
		return false, nil
	}
	// Each of two changes at once has to be found after a crash of the system.
	t.mark = t.mark.Durable()
	if err := j.Mark().Keep(); err != nil {
		return false, unjournaled(err)
	}
	return true, nil
}

// passOn lets others change one note each from now on, none of those of the change, which is begun.
func (t *turn) passOn() {
	if t.isPassedOn {
		t.held.PassOn()
	}
}

// leastLent is how many files a change has, at least, that is made ready for the journal while others change notes. That of a
// smaller one takes no longer than to take a turn twice.
const leastLent = 64

// lend lets others change one note each while a change of many files is made ready. It is false, and they wait, if the change has
// few files. The caller calls [turn.resume], and looks at what they have changed.
func (t *turn) lend(files int) bool {
	if t.held == nil || files < leastLent {
		return false
	}
	t.held.PassOn()
	return true
}

// resume waits until nobody else changes notes, and settles what was broken off meanwhile.
func (t *turn) resume(v *call.Vault, j *journal.Journal) error {
	if err := t.held.Resume(v.Ctx); err != nil {
		return unjournaled(err)
	}
	return recoverChange(v, j, j.BesideMark())
}

func (t *turn) end() {
	if t.held != nil {
		t.held.End()
	}
}

// isOfOneText reports whether a step makes a note, or changes its text where it is, and nothing else.
func (s Step) isOfOneText() bool {
	isOfFolder := s.Before.Folder || s.After.Folder
	isOfTrash := s.Trash || s.TrashName != ""
	if isOfFolder || isOfTrash || s.IsMove() {
		return false
	}
	return s.After.Exists
}
