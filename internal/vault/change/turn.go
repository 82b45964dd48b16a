package change

import (
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
)

// turn is a call's right to change notes, and the mark of the change that it makes.
type turn struct {
	journalTurn *journal.Turn // nil if the caller of this process has the turn
	mark        journal.Mark
	// sharesTurn is set if others may change single notes once the change has begun.
	sharesTurn bool
}

// takeTurn waits until nobody else changes notes, unless the caller has ensured that, and settles interrupted
// changes.
func takeTurn(v *call.Vault, j *journal.Journal, how protocol.Write) (*turn, error) {
	if how.Alone { // a marked batch is the caller's own
		return &turn{mark: j.Mark()}, recoverChanges(v, j)
	}
	journalTurn, err := j.Alone(v.Ctx)
	if err != nil {
		return nil, unjournaled(err)
	}
	t := &turn{journalTurn: journalTurn, mark: j.Mark(), sharesTurn: true}
	if err := Recover(v, j); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// takeTurnFor is takeTurn for known steps; nil if they are unknown. A change of a single note does not wait for
// a change of several files, unless that includes the same note.
func takeTurnFor(v *call.Vault, j *journal.Journal, how protocol.Write, steps []Step) (*turn, error) {
	if how.Alone || len(steps) != 1 || !steps[0].changesOneText() {
		return takeTurn(v, j, how)
	}
	journalTurn, err := j.Beside(v.Ctx)
	if err != nil {
		return nil, unjournaled(err)
	}
	t := &turn{journalTurn: journalTurn, mark: j.BesideMark()}
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

// settleBeside settles interrupted changes, and reports whether a step can be carried out beside another
// change.
func settleBeside(v *call.Vault, j *journal.Journal, t *turn, s Step) (isFree bool, err error) {
	if !j.HasUnfinished() || t.journalTurn.BecomeAlone() {
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
	// After a system crash, both of two simultaneous changes must be found.
	t.mark = t.mark.Durable()
	if err := j.Mark().Keep(); err != nil {
		return false, unjournaled(err)
	}
	return true, nil
}

// passOn lets others change single notes from now on, except those of the change, which has begun.
func (t *turn) passOn() {
	if t.sharesTurn {
		t.journalTurn.PassOn()
	}
}

// minLentFiles is the number of files from which on others may change notes while a change is prepared.
// Preparing a smaller one takes no longer than taking the turn a second time.
const minLentFiles = 64

// lend lets others change single notes while a change of many files is prepared, and reports whether it does.
// If it does, the caller must call [turn.resume] and then check what the others have changed.
func (t *turn) lend(files int) bool {
	if t.journalTurn == nil || files < minLentFiles {
		return false
	}
	t.journalTurn.PassOn()
	return true
}

// resume waits until nobody else changes notes, and settles what was interrupted meanwhile.
func (t *turn) resume(v *call.Vault, j *journal.Journal) error {
	if err := t.journalTurn.Resume(v.Ctx); err != nil {
		return unjournaled(err)
	}
	return recoverChange(v, j, j.BesideMark())
}

func (t *turn) end() {
	if t.journalTurn != nil {
		t.journalTurn.End()
	}
}

// changesOneText reports whether a step only creates a note, or changes the text of one in place.
func (s Step) changesOneText() bool {
	isOfFolder := s.Before.Folder || s.After.Folder
	isOfTrash := s.Trash || s.TrashName != ""
	if isOfFolder || isOfTrash || s.IsMove() {
		return false
	}
	return s.After.Exists
}
