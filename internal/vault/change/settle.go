package change

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// A change that was begun is settled in one way, whatever ended it: an error, another program, the end of its process or of
// the machine. Its entry in the journal says what it was to do, the disk how far it has come. It is completed or taken back
// as a whole; where files that other programs have changed meanwhile let neither be, it stays in part, and the answer
// says which files are on which side.

// ending is what became of a change.
type ending struct {
	state outcome
	// made and unmade are the files of a change that is made in part.
	made, unmade []string
	// unsettled says that the disk let the change neither be completed nor be taken back: that is tried again when the vault is
	// opened the next time.
	unsettled bool
	// unseen says that the disk does not let it be told of all files on which side they are, or that it cannot be told which
	// way the change is settled the next time.
	unseen bool
	// overtaken says that another program has changed a file since.
	overtaken bool
	// beside says where texts of other programs are that could not stay in their notes.
	beside []string
}

// outcome is whether a change is made.
type outcome uint8

const (
	unmade outcome = iota // nothing of it is left
	made                  // all of it is made
	partly                // some files are changed
)

// direction is what is tried first with a change that was broken off.
type direction int

const (
	takingBack direction = iota
	completing           // if its commit had begun and all new texts are there
)

// settle completes or takes back a change that was broken off. If one is not possible, the other one is tried. The caller
// has the turn in which the change was begun, or is alone. After an error of the disk the change is not settled: that is tried again when the vault is opened
// the next time.
func (s *settler) settle(first direction) (ending, error) {
	defer s.vault.Disk.CloseGathered()
	if first == completing {
		hasBegun, isWhole, err := s.survey()
		switch {
		case err != nil:
		case !hasBegun:
			return ending{state: unmade}, s.finish(unmade, nil)
		case !isWhole:
			first = takingBack
			_ = s.mark.SetTakingBack(s.entry.ID) // so that whoever goes on with it, if this ends, goes the same way
		}
	}
	ways := []struct {
		end  outcome
		walk func() error
	}{{unmade, s.takeBack}, {made, s.complete}}
	if first == completing {
		slices.Reverse(ways)
	}
	for _, way := range ways {
		err := way.walk()
		for n := 1; err != nil && n < maxWalks; n++ { // a fault may be over, and what another program did is seen now
			err = way.walk()
		}
		if err == nil {
			return ending{state: way.end}, s.finish(way.end, nil)
		}
		if !isForeign(err) {
			end, _ := s.sides()
			end.unsettled = true
			return end, err
		}
	}
	end, left := s.sides()
	if len(end.made) == 0 {
		return ending{state: unmade}, s.finish(unmade, nil)
	}
	return end, s.finish(partly, left)
}

// sides returns which files of a change are changed and which are not. left are the images after the steps; of those that are not made
// it is that before them, so that an undo has nothing to do for them.
func (s *settler) sides() (end ending, left []journal.Image) {
	end.state = partly
	left = make([]journal.Image, len(s.entry.Steps))
	for i, kept := range s.entry.Steps {
		seen, err := s.look(i)
		left[i] = kept.After
		if err != nil {
			end.unseen = true
		}
		switch {
		case isFolderStep(kept):
		case err == nil && (seen.position == after || seen.position == moved || seen.position == overtaken):
			end.made = append(end.made, kept.Path)
		default:
			end.unmade = append(end.unmade, kept.Source())
			left[i] = kept.Before
		}
	}
	return end, left
}

// maxWalks is how often a change is tried to be completed, or taken back, before the other one is tried.
const maxWalks = 3

// isForeign reports whether it is another program that lets a step neither be made nor be taken back.
func isForeign(err error) bool {
	var refusal *disk.Refusal
	return errors.Is(err, errForeign) || errors.Is(err, disk.ErrChanged) || errors.Is(err, fs.ErrExist) ||
		errors.As(err, &refusal)
}

// finish removes what is left of a change beside its files, and keeps its outcome.
func (s *settler) finish(end outcome, found []journal.Image) error {
	folder := s.vault.Disk
	defer folder.CloseGathered()
	failed := make([]error, len(s.entry.Steps))
	_, _ = budget.WaitForEach(len(failed), func(i int) error {
		draft, err := disk.ParseDraft(s.entry.Steps[i].Draft)
		if err != nil {
			return nil
		}
		if end == made {
			failed[i] = s.saveLate(i)
		}
		if failed[i] == nil {
			failed[i] = folder.Discard(draft)
		}
		return nil // each is tried
	})
	empty := s.entry.Emptied
	if end == unmade {
		empty = slices.Clone(s.entry.Folders)
		slices.Reverse(empty)
		if slices.ContainsFunc(
			s.entry.Steps,
			func(kept journal.Step) bool { return kept.Trash != "" && kept.Before.Exists },
		) {
			failed = append(failed, folder.RemoveEmptyTrash())
		}
	}
	for _, text := range empty {
		if path, err := disk.ParseFolder(text); err == nil && path != (disk.Path{}) {
			failed = append(failed, folder.RemoveFolder(path))
		}
	}
	if end == made {
		s.restoreTimes()
	}
	failed = append(failed, s.sync())
	if err := errors.Join(failed...); err != nil {
		return err
	}
	record := journal.Outcome{State: journal.Done, After: found, Was: s.was}
	switch {
	case end == unmade:
		record = journal.Outcome{State: journal.Undone, Note: "it was not completed, and is taken back"}
	case end == partly:
		record.State = journal.Failed
		record.Note = "it is made in part"
	case len(s.was) > 0: // what the files hold is not what was planned
		record.After = s.found()
	}
	if s.entry.State == journal.Done && end != unmade { // its outcome is kept
		return nil
	}
	ends := []journal.Ended{{ID: s.entry.ID, Outcome: record}}
	parts := s.parts()
	for _, part := range parts {
		ends = append(ends, journal.Ended{ID: part.ID, Outcome: s.endOf(part, end)})
	}
	if err := s.journal.EndTogether(ends); err != nil {
		return unjournaled(err)
	}
	s.mark.Clear()
	if end == made {
		for _, e := range append(parts, s.entry) {
			for _, id := range e.TakesBack() {
				_ = s.journal.MarkUndone(id, e.ID)
			}
		}
	}
	return nil
}

// parts returns the entries of the operations of a batch that are not ended. One that is not in the journal was never begun.
func (s *settler) parts() (parts []journal.Entry) {
	for _, id := range s.entry.Parts {
		e, err := s.journal.Entry(context.WithoutCancel(s.vault.Ctx), id)
		if err == nil && e.State == journal.Begun {
			parts = append(parts, e)
		}
	}
	return parts
}

// endOf returns how the operation of a batch ends. One of a batch that is made in part is no change of its own any more: the
// entry of the batch stands for it.
func (s *settler) endOf(part journal.Entry, end outcome) journal.Outcome {
	switch end {
	case unmade:
		return journal.Outcome{State: journal.Undone, Note: "its batch was not completed, and is taken back"}
	case partly:
		return journal.Outcome{State: journal.Undone, Note: "its batch is made in part, see " + s.entry.ID}
	}
	return journal.Outcome{State: journal.Done, After: s.foundOf(part)}
}

// foundOf returns the images after the steps of a part, nil if they are as planned. Where another program appended to a file
// meanwhile, the last step of that file has it.
func (s *settler) foundOf(part journal.Entry) (all []journal.Image) {
	for i := range s.was {
		whole := s.entry.Steps[i]
		for n, step := range part.Steps {
			if step.Path != whole.Path || step.After != whole.After {
				continue
			}
			if path, err := ParseStepPath(whole.Path); err == nil {
				now, err := CurrentState(s.vault, path)
				if err != nil {
					continue
				}
				if all == nil {
					all = answer.Map(part.Steps, func(step journal.Step) journal.Image { return step.After })
				}
				all[n] = ImageOf(now)
			}
		}
	}
	return all
}

// found returns the images of the files of the steps as they are now.
func (s *settler) found() []journal.Image {
	all := make([]journal.Image, len(s.entry.Steps))
	for i, kept := range s.entry.Steps {
		all[i] = kept.After
		if path, err := ParseStepPath(kept.Path); err == nil && s.was[i].Exists {
			if now, err := CurrentState(s.vault, path); err == nil {
				all[i] = ImageOf(now)
			}
		}
	}
	return all
}

// restoreTimes gives folders the times that they are to have, now that nothing is made in them any more.
func (s *settler) restoreTimes() {
	for _, kept := range s.entry.Steps {
		if !isFolderStep(kept) || !kept.After.Exists {
			continue
		}
		if path, err := ParseStepPath(kept.Path); err == nil {
			s.setTime(path, kept.Sets)
		}
	}
}

// setTime gives a file or folder a time of modification, in Unix nanoseconds; 0 leaves it as it is.
func (s *settler) setTime(path disk.Path, at int64) {
	if at != 0 {
		_ = s.vault.Disk.SetModified(path, time.Unix(0, at)) // not every file system lets it
	}
}

// Recover settles the changes and the batch that were broken off, if there are any. The caller is alone, see [journal.Turn].
func Recover(v *call.Vault, j *journal.Journal) error {
	if !j.HasUnfinished() { // but the first time the journal itself is asked
		return recoverChange(v, j, j.Mark())
	}
	if err := recoverChanges(v, j); err != nil {
		return err
	}
	return recoverBatch(v, j)
}

// recoverChanges completes the changes that were broken off, or takes them back.
func recoverChanges(v *call.Vault, j *journal.Journal) error {
	if err := recoverChange(v, j, j.BesideMark()); err != nil {
		return err
	}
	return recoverChange(v, j, j.Mark())
}

// recoverChange completes the change that a mark names, or takes it back.
func recoverChange(v *call.Vault, j *journal.Journal, mark journal.Mark) error {
	broken, err := mark.BrokenOff(v.Ctx)
	if err != nil {
		return unjournaled(err)
	}
	if broken == nil || broken.Backend != embedded {
		if mark.IsSet() {
			mark.Clear()
		}
		return nil
	}
	first := completing
	if broken.TakingBack {
		first = takingBack
	}
	return recoverEntry(v, j, mark, broken.Entry, first)
}

// recoverBatch takes back the changes of a batch whose gateway has ended: it is made as a whole or not at all.
func recoverBatch(v *call.Vault, j *journal.Journal) error {
	entries, found, err := j.UnfinishedBatch(v.Ctx)
	if err != nil {
		return unjournaled(err)
	}
	if !found {
		return nil
	}
	for _, e := range entries {
		if e.State != journal.Done || e.Undoes != "" {
			continue
		}
		if err := recoverEntry(v, j, j.Mark(), e, takingBack); err != nil {
			return err
		}
	}
	j.MarkBatchFinished()
	return nil
}

func recoverEntry(v *call.Vault, j *journal.Journal, mark journal.Mark, e journal.Entry, first direction) error {
	if ready, err := beginChanges(v, len(e.Steps)); !ready {
		return err
	}
	defer v.Host.Commits.End()
	if _, err := newSettler(v, j, mark, e).settle(first); err != nil {
		return answer.Unfinished.Failure("A change that was broken off cannot be completed or taken back: %v", err)
	}
	return nil
}

const brokenOff = "a change was broken off and is completed or taken back by the next call that can write: notes may be as they were before it, or as after it"

// NoticeUnfinished returns what to tell of a change that was broken off, "" mostly, in a process that cannot write notes.
func NoticeUnfinished(v *call.Vault) (notice string) {
	if j, err := v.Journal(); err != nil || !j.HasUnfinished() {
		return ""
	}
	return brokenOff
}

// RecoverBefore settles a change that was broken off before a call reads what it left, in a process that can write notes.
// It returns what to tell of a change that is still unfinished, "" mostly.
func RecoverBefore(v *call.Vault) (notice string) {
	j, err := v.Journal()
	if err != nil || !j.HasUnfinished() {
		return ""
	}
	unlock, free := j.TryLock()
	if !free {
		return "" // another process makes the change
	}
	defer unlock()
	if Recover(v, j) != nil {
		return brokenOff
	}
	return ""
}

// embedded is the backend of the entries of this program.
const embedded = "embedded"

// settler settles one change.
type settler struct {
	vault   *call.Vault // as its owner sees it
	journal *journal.Journal
	mark    journal.Mark // of the change; the zero Mark if nothing is settled
	entry   journal.Entry
	sync    func() error
	mu      sync.Mutex            // for was and beside
	was     map[int]journal.Image // see [journal.Outcome]
	beside  []string              // see [ending]
	// busy has a lock for each step, which whoever looks at it or makes it has. One that has that of a step only waits for
	// those of the steps before it.
	busy []sync.Mutex
}

// text returns a text of the journal. What is begun is settled even after the call was cancelled.
func (s *settler) text(image journal.Image) ([]byte, error) {
	text, err := s.journal.Object(context.WithoutCancel(s.vault.Ctx), image.Hash)
	return text.ForProgram(), err
}

func newSettler(v *call.Vault, j *journal.Journal, mark journal.Mark, e journal.Entry) *settler {
	whole := *v
	folder, syncAll := v.Disk.Whole().Gathering()
	whole.Disk = folder
	return &settler{
		vault:   &whole,
		journal: j,
		mark:    mark,
		entry:   e,
		sync:    syncAll,
		was:     map[int]journal.Image{},
		busy:    make([]sync.Mutex, len(e.Steps)),
	}
}

// position is how far a step has come.
type position uint8

const (
	before    position = iota // nothing of it is done
	moved                     // the file has its new path and its old text
	doubled                   // the file has both its paths
	reserved                  // the file has its old path, and an empty one its new path
	after                     // it is done
	foreign                   // another program has changed the file before: nothing of the step is done, or can be
	overtaken                 // it is done, and another program has changed the file since
	gone                      // another program has removed the file: there is nothing to do, whichever way it goes
)

// sight is what is seen of a step on the disk.
type sight struct {
	position position
	now      FileState // the file
	// appended is what another program has appended to it since.
	appended []byte
}

// survey looks at all steps. hasBegun says that something that can be seen was changed, and isWhole that all new texts are
// there: then the change can be completed.
func (s *settler) survey() (hasBegun, isWhole bool, err error) {
	var begun, incomplete atomic.Bool
	_, err = budget.WaitForEach(len(s.entry.Steps), func(i int) error {
		seen, err := s.look(i)
		if err != nil {
			return err
		}
		// A file that is gone may have been removed by the change, of which the rest is removed already.
		if seen.position != before && seen.position != foreign {
			begun.Store(true)
		}
		isReady, err := s.isReady(i, seen)
		if !isReady {
			incomplete.Store(true)
		}
		return err
	})
	return begun.Load(), !incomplete.Load(), err
}

// isReady reports whether a step is made, or its new text is whole and waits for that.
func (s *settler) isReady(i int, seen sight) (bool, error) {
	kept := s.entry.Steps[i]
	switch seen.position {
	case after, overtaken, gone:
		return true, nil
	case foreign:
		return false, nil
	}
	isOutOfTrash := !kept.Before.Exists && kept.Trash != ""
	writesText := kept.After.Exists && kept.Before != kept.After && !isFolderStep(kept) && !isOutOfTrash
	if !writesText {
		return true, nil
	}
	_, text, err := s.draft(kept)
	isStaged, _ := startsWith(FileState{Exists: text != nil, Text: guard.NewUnjudged(text)}, kept.After)
	return isStaged, err
}

// complete makes what is left of the change. It stops at the first step that cannot be made.
func (s *settler) complete() error {
	return s.eachStep(len(s.entry.Steps), func(n int) int { return n }, s.completeStep)
}

// takeBack takes back what was made of the change. It stops at the first step that cannot be.
func (s *settler) takeBack() error {
	last := len(s.entry.Steps) - 1
	return s.eachStep(len(s.entry.Steps), func(n int) int { return last - n }, s.takeBackStep)
}

// eachStep does something with so many steps; at gives the number of the n-th. Several are done at once where that is apart,
// see [apart].
func (s *settler) eachStep(steps int, at func(n int) int, do func(i int) error) error {
	for n := 0; n < steps; {
		count := 1
		if s.vault.Disk.HasExchanged() {
			count = apart(steps-n, func(k int) journal.Step { return s.entry.Steps[at(n+k)] })
		}
		_, err := budget.WaitForEach(count, func(k int) error {
			i := at(n + k)
			s.busy[i].Lock()
			defer s.busy[i].Unlock()
			return do(i)
		})
		if err != nil {
			return err
		}
		n += count
	}
	return nil
}

// apart returns how many steps, from the first on, change the texts of different files where these are, so that they can be
// made at once: at least one. at gives the n-th of so many. Where the disk does not exchange files, or it is not known yet, it
// does not tell of each whether it is made, so that they are made in their order.
func apart(steps int, at func(n int) journal.Step) int {
	seen := map[string]bool{}
	for count := range steps {
		kept := at(count)
		isInPlace := kept.Before.Exists && kept.After.Exists && kept.Source() == kept.Path && !isFolderStep(kept)
		isReplaced := isInPlace && kept.Draft != ""
		if !isReplaced || seen[kept.Path] {
			return max(count, 1)
		}
		seen[kept.Path] = true
	}
	return steps
}

// errForeign says that a file is neither as it was nor as it was to be.
var errForeign = errors.New("was changed by another program")

// paths returns where the file of a step is before it and after it.
func paths(kept journal.Step) (from, to disk.Path, err error) {
	if to, err = ParseStepPath(kept.Path); err != nil {
		return from, to, err
	}
	from, err = ParseStepPath(kept.Source())
	return from, to, err
}

func isFolderStep(kept journal.Step) bool { return kept.Path[len(kept.Path)-1] == '/' }

// look says how far the step with a number has come.
func (s *settler) look(i int) (sight, error) {
	s.busy[i].Lock()
	defer s.busy[i].Unlock()
	return s.lookBusy(i)
}

// lookBusy is look for the one that has the lock of the step.
func (s *settler) lookBusy(i int) (sight, error) {
	kept := s.entry.Steps[i]
	from, to, err := paths(kept)
	if err != nil {
		return sight{}, err
	}
	if isFolderStep(kept) {
		_, err := s.vault.Disk.FolderInfo(to)
		if err != nil && !disk.IsMissing(err) {
			return sight{}, err
		}
		if (err == nil) == kept.After.Exists {
			return sight{position: after}, nil
		}
		return sight{position: before}, nil
	}
	now, err := s.state(to)
	if err != nil {
		return sight{}, err
	}
	switch {
	case from != to:
		return s.lookAtMove(kept, from, to, now)
	case !kept.Before.Exists:
		return s.lookAtMade(i, now)
	case !kept.After.Exists:
		return s.lookAtRemoved(kept, now)
	}
	return s.lookAtChanged(i, now)
}

// state returns the file at a path as it is now. What is no file is none.
func (s *settler) state(path disk.Path) (FileState, error) {
	now, err := CurrentState(s.vault, path)
	if disk.IsMissing(err) {
		return FileState{}, nil
	}
	return now, err
}

func (s *settler) lookAtChanged(i int, now FileState) (sight, error) {
	kept := s.entry.Steps[i]
	isAfter, afterRest := startsWith(now, kept.After)
	isBefore, beforeRest := startsWith(now, kept.Before)
	if isBefore && (!isAfter || len(beforeRest) < len(afterRest)) {
		return sight{before, now, beforeRest}, nil
	}
	draft, text, err := s.draft(kept)
	if err != nil {
		return sight{}, err
	}
	isWaiting := text != nil && journal.ImageOf(text) == kept.After
	isExchanged := text != nil && journal.ImageOf(text) == kept.Before
	switch {
	case isAfter && (text == nil || isExchanged || s.isStagedBack(kept, afterRest, text)):
		return sight{after, now, afterRest}, nil
	case !isAfter && isExchanged:
		return sight{overtaken, now, nil}, nil
	case !isAfter && isWaiting:
		return sight{foreign, now, nil}, nil
	case !isAfter:
		isCommitted, err := s.isCommitted(i)
		if isCommitted {
			return sight{overtaken, now, nil}, err
		}
		return sight{foreign, now, nil}, err
	}
	// The files were exchanged, and what came out is a text of another program: the process ended before it looked at it. It is
	// put back.
	path, err := ParseStepPath(kept.Path)
	if err != nil {
		return sight{}, err
	}
	if err := s.vault.Disk.Replace(path, now.content(), draft, disk.Text(text)); err != nil {
		return sight{}, err
	}
	isBefore, beforeRest = startsWith(Existing(text), kept.Before)
	if isBefore {
		return sight{before, Existing(text), beforeRest}, nil
	}
	return sight{foreign, Existing(text), nil}, nil
}

// isCommitted reports whether a step that does not wait to be made is made. The steps are made in their order, and taken back in the
// opposite one, so it is if the one before it is; the first one is not, because its new text may not have been staged.
func (s *settler) isCommitted(i int) (bool, error) {
	for i--; i >= 0; i-- {
		if isFolderStep(s.entry.Steps[i]) {
			continue
		}
		seen, err := s.look(i)
		return seen.position == after || seen.position == overtaken, err
	}
	return false, nil
}

// isStagedBack reports whether a draft is what this settling writes to take the step back, or the beginning of that.
func (s *settler) isStagedBack(kept journal.Step, appended, text []byte) bool {
	old, err := s.text(kept.Before)
	return err == nil && bytes.HasPrefix(slices.Concat(old, appended), text)
}

func (s *settler) lookAtMade(i int, now FileState) (sight, error) {
	kept := s.entry.Steps[i]
	isAfter, rest := startsWith(now, kept.After)
	isWaiting, err := s.holds(kept, kept.After)
	if err != nil {
		return sight{}, err
	}
	switch {
	case !now.Exists && isWaiting:
		return sight{before, now, nil}, nil
	case !now.Exists:
		isCommitted, err := s.isCommitted(i)
		if isCommitted {
			return sight{gone, now, nil}, err
		}
		return sight{before, now, nil}, err
	case isWaiting && isEmpty(now) && kept.After.Size > 0:
		return sight{reserved, now, nil}, nil
	case isWaiting:
		return sight{foreign, now, nil}, nil
	case isAfter:
		return sight{after, now, rest}, nil
	}
	return sight{overtaken, now, nil}, nil
}

func (s *settler) lookAtRemoved(kept journal.Step, now FileState) (sight, error) {
	isAside, err := s.holds(kept, kept.Before)
	if err != nil {
		return sight{}, err
	}
	isBefore, rest := startsWith(now, kept.Before)
	switch {
	case isAside && now.Exists:
		return sight{overtaken, now, nil}, nil // another program has made a file in its place
	case isAside:
		return sight{after, now, nil}, nil
	case isBefore:
		return sight{before, now, rest}, nil
	case now.Exists:
		return sight{foreign, now, nil}, nil
	}
	draft, text, err := s.draft(kept)
	if err != nil {
		return sight{}, err
	}
	path, err := ParseStepPath(kept.Path)
	if text != nil && err == nil &&
		s.vault.Disk.PutBack(draft, path) == nil { // it was changed right before it was set aside
		return sight{foreign, Existing(text), nil}, nil
	}
	return sight{gone, now, nil}, nil
}

func (s *settler) lookAtMove(kept journal.Step, from, to disk.Path, now FileState) (sight, error) {
	then, err := s.state(from)
	if err != nil {
		return sight{}, err
	}
	wasThere, thenRest := startsWith(then, kept.Before)
	isAfter, afterRest := startsWith(now, kept.After)
	isBefore, beforeRest := startsWith(now, kept.Before)
	switch {
	case wasThere && now.Exists && s.vault.Disk.IsOneFile(from, to):
		return sight{doubled, then, nil}, nil
	case wasThere && isEmpty(now) && kept.Before.Size > 0:
		return sight{reserved, then, nil}, nil
	case wasThere:
		return sight{before, then, thenRest}, nil
	case isBefore && kept.Before != kept.After && (!isAfter || len(beforeRest) < len(afterRest)):
		return sight{moved, now, beforeRest}, nil
	case isAfter:
		return sight{after, now, afterRest}, nil
	case then.Exists:
		return sight{foreign, then, nil}, nil
	case !now.Exists:
		return sight{gone, now, nil}, nil
	}
	isWaiting, err := s.holds(kept, kept.After)
	if isWaiting { // it was moved, and changed before it got its new text
		return sight{moved, now, nil}, err
	}
	return sight{overtaken, now, nil}, err
}

// isEmpty reports whether there is an empty file, such as one that reserves a name, see [disk.Folder.Move].
func isEmpty(now FileState) bool {
	return now.Exists && !now.Folder && !now.Image.Exists && now.Text.Len() == 0
}

// startsWith reports whether a file is one of an image, or that with something appended.
func startsWith(now FileState, image journal.Image) (ok bool, appended []byte) {
	switch {
	case !now.Exists || !image.Exists:
		return false, nil
	case ImageOf(now) == image:
		return true, nil
	case now.Image.Exists || int64(now.Text.Len()) <= image.Size:
		return false, nil
	}
	begun := now.Text.ForProgram()[:image.Size]
	if journal.ImageOf(begun) != image {
		return false, nil
	}
	return true, now.Text.ForProgram()[image.Size:]
}

// draft returns the draft of a step, and its text, nil if it is not there. The error says that it cannot be read.
func (s *settler) draft(kept journal.Step) (disk.Draft, []byte, error) {
	if kept.Draft == "" {
		return disk.Draft{}, nil, nil
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return disk.Draft{}, nil, nil
	}
	text, err := s.vault.Disk.ReadDraft(draft)
	if disk.IsMissing(err) {
		return draft, nil, nil
	}
	return draft, text, err
}

// holds reports whether the draft of a step, or the trash, holds a file. The error says that it cannot be read.
func (s *settler) holds(kept journal.Step, image journal.Image) (bool, error) {
	content := disk.Sum(image.Hash, image.Size)
	if kept.Trash != "" {
		return s.vault.Disk.HoldsTrashed(kept.Trash, content)
	}
	if kept.Draft == "" {
		return false, nil
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return false, nil
	}
	return s.vault.Disk.Holds(draft, content)
}

func (s *settler) completeStep(i int) error {
	kept := s.entry.Steps[i]
	seen, err := s.lookBusy(i)
	if err != nil {
		return err
	}
	switch seen.position {
	case after, overtaken, gone:
		return nil
	case foreign:
		return errForeign
	}
	from, to, err := paths(kept)
	if err != nil {
		return err
	}
	defer s.touch(from, to)
	folder := s.vault.Disk
	switch {
	case isFolderStep(kept) && kept.After.Exists:
		return folder.MakeFolder(to)
	case isFolderStep(kept):
		return folder.RemoveFolder(to)
	case !kept.Before.Exists && kept.Trash != "":
		return folder.Untrash(kept.Trash, to, disk.Sum(kept.After.Hash, kept.After.Size))
	case !kept.Before.Exists:
		if seen.position == reserved {
			err = folder.RemoveName(to, disk.Text(nil))
		}
		if err == nil {
			err = s.publish(kept, to)
		}
		if err == nil {
			s.setTime(to, kept.Sets)
		}
		return err
	case !kept.After.Exists:
		return s.remove(kept, to, seen)
	}
	if from != to && seen.position != moved {
		if err := s.move(from, to, seen); err != nil {
			return err
		}
	}
	if kept.Before == kept.After {
		return nil
	}
	_, text, err := s.draft(kept)
	if err != nil {
		return err
	}
	isStaged, rest := startsWith(FileState{Exists: text != nil, Text: guard.NewUnjudged(text)}, kept.After)
	if !isStaged || len(rest) > 0 && !bytes.Equal(rest, seen.appended) {
		return errForeign // the new text was not staged
	}
	text = text[:len(text)-len(rest)] // it may have been staged once more, with what was appended
	if isBefore, _ := startsWith(seen.now, kept.Before); !isBefore {
		return errForeign // it was moved, and changed by another program
	}
	if len(seen.appended) > 0 {
		s.mu.Lock()
		s.was[i] = ImageOf(seen.now)
		s.mu.Unlock()
		if err := s.keep(kept, seen.now.Text.ForProgram()); err != nil {
			return err
		}
		text = slices.Concat(text, seen.appended)
	}
	err = s.replace(kept, to, seen.now, text)
	if err == nil {
		s.setTime(to, kept.Sets)
	}
	return err
}

// keep puts a text into the journal that is in no entry.
func (s *settler) keep(kept journal.Step, text []byte) error {
	return s.journal.Put(s.entry.Caller, kept.Source(), journal.ImageOf(text), bytes.NewReader(text))
}

func (s *settler) publish(kept journal.Step, to disk.Path) error {
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return err
	}
	isStaged, err := s.holds(kept, kept.After)
	if err != nil {
		return err
	}
	if !isStaged {
		return errForeign
	}
	return s.vault.Disk.Publish(draft, to)
}

func (s *settler) remove(kept journal.Step, path disk.Path, seen sight) error {
	if len(seen.appended) > 0 {
		return errForeign // what was appended would be lost
	}
	if kept.Trash != "" {
		return s.vault.Disk.Trash(path, kept.Trash, seen.now.content())
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return err
	}
	return s.vault.Disk.SetAside(path, seen.now.content(), draft)
}

// move gives the file of a step its new path. One that has it already loses its old one.
func (s *settler) move(from, to disk.Path, seen sight) error {
	switch seen.position {
	case doubled:
		return s.vault.Disk.RemoveName(from, seen.now.content())
	case reserved:
		if err := s.vault.Disk.RemoveName(to, disk.Text(nil)); err != nil {
			return err
		}
	}
	return s.vault.Disk.Move(from, to, seen.now.content())
}

// replace gives a file a text, by its draft if that has it.
func (s *settler) replace(kept journal.Step, path disk.Path, now FileState, text []byte) error {
	draft, held, err := s.draft(kept)
	if err != nil {
		return err
	}
	if draft == (disk.Draft{}) {
		draft = s.vault.Disk.NewDraft(path)
	}
	if held == nil || journal.ImageOf(held) != journal.ImageOf(text) {
		if err := s.vault.Disk.Discard(draft); err != nil {
			return err
		}
		err := s.vault.Disk.Stage(
			disk.Staging{Draft: draft, Text: func() ([]byte, error) { return text, nil }, Like: path},
		)
		if err != nil {
			return err
		}
	}
	err = s.vault.Disk.Replace(path, now.content(), draft, disk.Text(text))
	if err != nil || kept.Draft != "" {
		return err
	}
	return s.vault.Disk.Discard(draft)
}

func (s *settler) takeBackStep(i int) error {
	kept := s.entry.Steps[i]
	seen, err := s.lookBusy(i)
	if err != nil {
		return err
	}
	switch seen.position {
	case before, foreign, gone:
		return nil
	case overtaken:
		return errForeign
	}
	from, to, err := paths(kept)
	if err != nil {
		return err
	}
	defer s.touch(from, to)
	folder := s.vault.Disk
	switch {
	case isFolderStep(kept) && kept.After.Exists:
		return folder.RemoveFolder(to)
	case isFolderStep(kept):
		return s.restoreTime(kept, to, folder.MakeFolder(to))
	case seen.position == reserved:
		return folder.RemoveName(to, disk.Text(nil))
	case !kept.Before.Exists:
		return s.unmake(kept, to, seen)
	case !kept.After.Exists:
		return s.restore(kept, to, seen)
	case seen.position == doubled:
		return folder.RemoveName(to, seen.now.content())
	}
	if seen.position == after && kept.Before != kept.After {
		if err := s.restoreText(kept, to, &seen); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	return folder.Move(to, from, seen.now.content())
}

// restoreText gives a file its old text, with what another program has appended since.
func (s *settler) restoreText(kept journal.Step, path disk.Path, seen *sight) error {
	_, text, err := s.draft(kept)
	if err != nil {
		return err
	}
	if text == nil || journal.ImageOf(text) != kept.Before {
		old, err := s.text(kept.Before)
		if err != nil {
			return err
		}
		text = old
	}
	whole := slices.Concat(text, seen.appended)
	if err := s.replace(kept, path, seen.now, whole); err != nil {
		return err
	}
	seen.now = Existing(whole)
	if len(seen.appended) > 0 {
		return nil
	}
	return s.restoreTime(kept, path, nil)
}

// restoreTime gives a file its old time of modification, if it was restored without an error.
func (s *settler) restoreTime(kept journal.Step, path disk.Path, err error) error {
	if err == nil {
		s.setTime(path, kept.Modified)
	}
	return err
}

// unmake removes a file that the change has made.
func (s *settler) unmake(kept journal.Step, path disk.Path, seen sight) error {
	if len(seen.appended) > 0 {
		return errForeign
	}
	if kept.Trash != "" {
		return s.vault.Disk.Trash(path, kept.Trash, seen.now.content())
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return err
	}
	return s.vault.Disk.SetAside(path, seen.now.content(), draft)
}

// restore brings back a file that the change has removed.
func (s *settler) restore(kept journal.Step, path disk.Path, seen sight) error {
	held, err := s.holds(kept, kept.Before)
	if err != nil {
		return err
	}
	if held && kept.Trash != "" {
		return s.vault.Disk.Untrash(kept.Trash, path, disk.Sum(kept.Before.Hash, kept.Before.Size))
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		draft = s.vault.Disk.NewDraft(path)
	}
	if held {
		return s.vault.Disk.PutBack(draft, path)
	}
	text, err := s.text(kept.Before)
	if err != nil {
		return err
	}
	err = s.vault.Disk.Stage(
		disk.Staging{Draft: draft, Text: func() ([]byte, error) { return text, nil }, Mode: fs.FileMode(kept.Mode)},
	)
	if err == nil {
		err = s.vault.Disk.PutBack(draft, path)
	}
	return s.restoreTime(kept, path, err)
}

func (s *settler) touch(paths ...disk.Path) {
	for _, path := range paths {
		s.vault.Host.Knowledge.Touch(path)
	}
}
