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

// A change that was begun is settled in the same way, whatever interrupted it: an error, another program, or
// the end of the process or of the system. Its journal entry has the intention, and the disk shows how far the
// change has come. It is completed or undone as a whole. If files that other programs changed meanwhile prevent
// both, it remains partly made, and the answer lists which files are changed.

// ending is the result of a change.
type ending struct {
	state outcome
	// made and unmade are the changed and the unchanged files of a change that is partly made.
	made, unmade []string
	// moved are those of made that are only moved: at their new path, with the old text.
	moved []string
	// unsettled is set if errors of the disk prevented both completing and undoing the change. The next process
	// that opens the vault tries again.
	unsettled bool
	// unseen is set if some files cannot be read, so that their state is unknown, or if it is unknown whether
	// the next process will complete or undo the change.
	unseen bool
	// overtaken is set if another program has changed a file since.
	overtaken bool
	// beside has notices about where texts of other programs are that could not stay in their notes.
	beside []answer.Notice
}

// outcome tells how much of a change is made.
type outcome uint8

const (
	unmade outcome = iota // nothing of it is left
	made                  // all of it is made
	partly                // some files are changed, and others are not
)

// direction is the way of settling an interrupted change that is tried first.
type direction int

const (
	undoing    direction = iota
	completing           // only if its commit had begun and all new texts are staged
)

// settle completes or undoes an interrupted change. If the first way is impossible, it tries the other one. The
// caller must have the turn in which the change was begun, or be alone. After an error of the disk, the change
// is not settled: the next process that opens the vault tries again.
func (s *settler) settle(first direction) (ending, error) {
	defer s.vault.Disk.CloseGathered()
	if first == completing {
		hasBegun, isWhole, err := s.survey()
		switch {
		case err != nil:
		case !hasBegun:
			return ending{state: unmade}, s.finish(unmade, nil)
		case !isWhole:
			first = undoing
			_ = s.mark.SetTakingBack(s.entry.ID) // if this process ends now, the next one must undo it, too
		}
	}
	directions := []struct {
		end  outcome
		walk func() error
	}{{unmade, s.undo}, {made, s.complete}}
	if first == completing {
		slices.Reverse(directions)
	}
	for _, direction := range directions {
		err := direction.walk()
		// The fault may be temporary, and a change by another program is noticed at the next attempt.
		for n := 1; err != nil && n < maxWalks; n++ {
			err = direction.walk()
		}
		if err == nil {
			return ending{state: direction.end}, s.finish(direction.end, nil)
		}
		if !isForeign(err) {
			end, _ := s.describePartial()
			end.unsettled = true
			return end, err
		}
	}
	end, images := s.describePartial()
	if len(end.made) == 0 {
		return ending{state: unmade}, s.finish(unmade, nil)
	}
	return end, s.finish(partly, images)
}

// describePartial returns the changed and the unchanged files of the change. images are the actual images after
// the steps: that of an unmade step is the one before it, so that an undo has nothing to do for it.
func (s *settler) describePartial() (end ending, images []journal.Image) {
	end.state = partly
	images = make([]journal.Image, len(s.entry.Steps))
	for i, recorded := range s.entry.Steps {
		seen, err := s.observe(i)
		images[i] = recorded.After
		if err != nil {
			end.unseen = true
		}
		switch {
		case isFolderStep(recorded):
		case err == nil && (seen.position == after || seen.position == moved || seen.position == overtaken):
			end.made = append(end.made, recorded.Path)
			if seen.position == moved {
				end.moved = append(end.moved, recorded.Path)
			}
		default:
			end.unmade = append(end.unmade, recorded.Source())
			images[i] = recorded.Before
		}
	}
	return end, images
}

// maxWalks limits the attempts in one direction before the other one is tried.
const maxWalks = 3

// isForeign reports whether another program prevents a step from being made or undone.
func isForeign(err error) bool {
	var refusal *disk.Refusal
	return errors.Is(err, errForeign) || errors.Is(err, disk.ErrChanged) || errors.Is(err, fs.ErrExist) ||
		errors.As(err, &refusal)
}

// finish removes what remains of a change other than its files, and records its outcome. images are the actual
// images after the steps, nil if they are as planned.
func (s *settler) finish(result outcome, images []journal.Image) error {
	defer s.vault.Disk.CloseGathered()
	if err := s.cleanUp(result); err != nil {
		return err
	}
	return s.recordOutcome(result, images)
}

// cleanUp removes what remains of a change other than its files: drafts, and folders that are no longer needed.
func (s *settler) cleanUp(result outcome) error {
	folder := s.vault.Disk
	failed := make([]error, len(s.entry.Steps))
	_, _ = budget.WaitForEach(len(failed), func(i int) error {
		draft, err := disk.ParseDraft(s.entry.Steps[i].Draft)
		if err != nil {
			return nil
		}
		if result == made {
			failed[i] = s.saveLate(i)
		}
		if failed[i] == nil {
			failed[i] = folder.Discard(draft)
		}
		return nil // continue with the other steps
	})
	empty := s.entry.Emptied
	if result == unmade {
		empty = slices.Clone(s.entry.Folders)
		slices.Reverse(empty)
		usesTrash := slices.ContainsFunc(s.entry.Steps, func(recorded journal.Step) bool {
			return recorded.Trash != "" && recorded.Before.Exists
		})
		if usesTrash {
			failed = append(failed, folder.RemoveEmptyTrash())
		}
	}
	for _, text := range empty {
		if path, err := disk.ParseFolder(text); err == nil && path != (disk.Path{}) {
			failed = append(failed, folder.RemoveFolder(path))
		}
	}
	if result == made {
		s.restoreTimes()
	}
	failed = append(failed, s.sync())
	return errors.Join(failed...)
}

// recordOutcome records the outcome of the change, and of its parts, in the journal, and clears its mark.
func (s *settler) recordOutcome(result outcome, images []journal.Image) error {
	record := journal.Outcome{State: journal.Done, After: images, Was: s.actualBefore}
	switch {
	case result == unmade:
		record = journal.Outcome{State: journal.Undone, Note: "it was not completed, and is taken back"}
	case result == partly:
		record.State = journal.Failed
		record.Note = "it is made in part"
	case len(s.actualBefore) > 0: // the files differ from what was planned
		record.After = s.actualImages()
	}
	if s.entry.State == journal.Done && result != unmade { // its outcome has already been recorded
		return nil
	}
	ends := []journal.Ended{{ID: s.entry.ID, Outcome: record}}
	parts := s.unfinishedParts()
	for _, part := range parts {
		ends = append(ends, journal.Ended{ID: part.ID, Outcome: s.partOutcome(part, result)})
	}
	if err := s.journal.EndTogether(ends); err != nil {
		return unjournaled(err)
	}
	s.mark.Clear()
	if result == made {
		for _, e := range append(parts, s.entry) {
			for _, id := range e.TakesBack() {
				_ = s.journal.MarkUndone(id, e.ID)
			}
		}
	}
	return nil
}

// unfinishedParts returns the entries of the batch's operations that have no outcome yet. An operation that is
// not in the journal was never begun.
func (s *settler) unfinishedParts() (parts []journal.Entry) {
	for _, id := range s.entry.Parts {
		e, err := s.journal.Entry(context.WithoutCancel(s.vault.Ctx), id)
		if err == nil && e.State == journal.Begun {
			parts = append(parts, e)
		}
	}
	return parts
}

// partOutcome returns the outcome of one operation of a batch. If the batch is partly made, its operations no
// longer count as changes of their own: the entry of the batch covers them.
func (s *settler) partOutcome(part journal.Entry, result outcome) journal.Outcome {
	switch result {
	case unmade:
		return journal.Outcome{State: journal.Undone, Note: "its batch was not completed, and is taken back"}
	case partly:
		return journal.Outcome{State: journal.Undone, Note: "its batch is made in part, see " + s.entry.ID}
	}
	return journal.Outcome{State: journal.Done, After: s.actualImagesOf(part)}
}

// actualImagesOf returns the images after the steps of a part, nil if they are as planned. If another program
// appended to a file meanwhile, the last step of that file has the actual image.
func (s *settler) actualImagesOf(part journal.Entry) (images []journal.Image) {
	for i := range s.actualBefore {
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
				if images == nil {
					images = answer.Map(part.Steps, func(step journal.Step) journal.Image { return step.After })
				}
				images[n] = ImageOf(now)
			}
		}
	}
	return images
}

// actualImages returns the images of the files of the steps as they are now.
func (s *settler) actualImages() []journal.Image {
	images := make([]journal.Image, len(s.entry.Steps))
	for i, recorded := range s.entry.Steps {
		images[i] = recorded.After
		if path, err := ParseStepPath(recorded.Path); err == nil && s.actualBefore[i].Exists {
			if now, err := CurrentState(s.vault, path); err == nil {
				images[i] = ImageOf(now)
			}
		}
	}
	return images
}

// restoreTimes sets the planned modification times of folders, now that nothing more is created in them.
func (s *settler) restoreTimes() {
	for _, recorded := range s.entry.Steps {
		if !isFolderStep(recorded) || !recorded.After.Exists {
			continue
		}
		if path, err := ParseStepPath(recorded.Path); err == nil {
			s.setTime(path, recorded.Sets)
		}
	}
}

// setTime sets the modification time of a file or folder, in Unix nanoseconds; 0 leaves it unchanged.
func (s *settler) setTime(path disk.Path, at int64) {
	if at != 0 {
		_ = s.vault.Disk.SetModified(path, time.Unix(0, at)) // not every file system supports it
	}
}

// Recover settles interrupted changes and batches, if there are any. The caller must be alone, see
// [journal.Turn].
func Recover(v *call.Vault, j *journal.Journal) error {
	if !j.HasUnfinished() { // the first call of a process still has to read the journal
		return recoverChange(v, j, j.Mark())
	}
	if err := recoverChanges(v, j); err != nil {
		return err
	}
	return recoverBatch(v, j)
}

// recoverChanges completes or undoes the interrupted changes.
func recoverChanges(v *call.Vault, j *journal.Journal) error {
	if err := recoverChange(v, j, j.BesideMark()); err != nil {
		return err
	}
	return recoverChange(v, j, j.Mark())
}

// recoverChange completes or undoes the change that a mark names.
func recoverChange(v *call.Vault, j *journal.Journal, mark journal.Mark) error {
	interrupted, err := mark.BrokenOff(v.Ctx)
	if err != nil {
		return unjournaled(err)
	}
	if interrupted == nil || interrupted.Backend != embedded {
		if mark.IsSet() {
			mark.Clear()
		}
		return nil
	}
	first := completing
	if interrupted.TakingBack {
		first = undoing
	}
	return recoverEntry(v, j, mark, interrupted.Entry, first)
}

// recoverBatch undoes the changes of a batch whose gateway process has ended: a batch is made as a whole or not
// at all.
func recoverBatch(v *call.Vault, j *journal.Journal) error {
	entries, isUnfinished, err := j.UnfinishedBatch(v.Ctx)
	if err != nil {
		return unjournaled(err)
	}
	if !isUnfinished {
		return nil
	}
	for _, e := range entries {
		if e.State != journal.Done || e.Undoes != "" {
			continue
		}
		if err := recoverEntry(v, j, j.Mark(), e, undoing); err != nil {
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

const unfinishedNotice = "a change was broken off and is completed or taken back by the next call that can write: notes may be as they were before it, or as after it"

// NoticeUnfinished returns a notice if a change is unfinished. It is for a process that cannot write notes.
func NoticeUnfinished(v *call.Vault) (notice answer.Notice) {
	if j, err := v.Journal(); err != nil || !j.HasUnfinished() {
		return answer.Notice{}
	}
	return answer.Remark(unfinishedNotice)
}

// RecoverBefore settles an interrupted change before a call reads the affected notes, in a process that can
// write notes. It returns a notice if the change is still unfinished.
func RecoverBefore(v *call.Vault) (notice answer.Notice) {
	j, err := v.Journal()
	if err != nil || !j.HasUnfinished() {
		return answer.Notice{}
	}
	unlock, free := j.TryLock()
	if !free {
		return answer.Notice{} // another process is making the change
	}
	defer unlock()
	if Recover(v, j) != nil {
		return answer.Remark(unfinishedNotice)
	}
	return answer.Notice{}
}

// embedded is the backend in the journal entries of this program.
const embedded = "embedded"

// settler completes or undoes one change.
type settler struct {
	vault        *call.Vault // as the owner sees it, with all notes
	journal      *journal.Journal
	mark         journal.Mark // the mark of the change; the zero Mark if the settler only observes
	entry        journal.Entry
	sync         func() error
	mu           sync.Mutex            // guards actualBefore and beside
	actualBefore map[int]journal.Image // by step: see [journal.Outcome.Was]
	beside       []answer.Notice       // see [ending]
	// stepLocks has a lock for each step, held while the step is observed or made. The holder of a step's lock
	// may only wait for the locks of earlier steps.
	stepLocks []sync.Mutex
}

// oldText returns a text from the journal. It ignores cancellation: a change that was begun is settled even
// after its call was cancelled.
func (s *settler) oldText(image journal.Image) ([]byte, error) {
	text, err := s.journal.Object(context.WithoutCancel(s.vault.Ctx), image.Hash)
	return text.ForProgram(), err
}

func newSettler(v *call.Vault, j *journal.Journal, mark journal.Mark, e journal.Entry) *settler {
	whole := *v
	folder, syncAll := v.Disk.Whole().Gathering()
	whole.Disk = folder
	return &settler{
		vault:        &whole,
		journal:      j,
		mark:         mark,
		entry:        e,
		sync:         syncAll,
		actualBefore: map[int]journal.Image{},
		stepLocks:    make([]sync.Mutex, len(e.Steps)),
	}
}

// position is the progress of a step on the disk.
type position uint8

const (
	before    position = iota // not started
	moved                     // the file has its new path and its old text
	doubled                   // the file has both paths
	reserved                  // the file has its old path, and an empty file reserves the new one
	after                     // done
	foreign                   // another program changed the file first: the step is not started, and cannot be made
	overtaken                 // done, but another program has changed the file since
	gone                      // another program removed the file: nothing to do in either direction
)

// observation is the state of a step on the disk.
type observation struct {
	position position
	now      FileState // of the file
	// appended is text that another program has appended to the file since.
	appended []byte
}

// survey observes all steps. hasBegun is set if a visible file was changed, and isWhole if all new texts are
// staged, so that the change can be completed.
func (s *settler) survey() (hasBegun, isWhole bool, err error) {
	var begun, incomplete atomic.Bool
	_, err = budget.WaitForEach(len(s.entry.Steps), func(i int) error {
		seen, err := s.observe(i)
		if err != nil {
			return err
		}
		// A missing file may have been removed by the change itself, whose draft was then already discarded.
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

// isReady reports whether a step is made, or its new text is completely staged.
func (s *settler) isReady(i int, seen observation) (bool, error) {
	recorded := s.entry.Steps[i]
	switch seen.position {
	case after, overtaken, gone:
		return true, nil
	case foreign:
		return false, nil
	}
	isOutOfTrash := !recorded.Before.Exists && recorded.Trash != ""
	writesText := recorded.After.Exists && recorded.Before != recorded.After && !isFolderStep(recorded) && !isOutOfTrash
	if !writesText {
		return true, nil
	}
	_, text, err := s.draft(recorded)
	isStaged, _ := startsWith(FileState{Exists: text != nil, Text: guard.NewUnjudged(text)}, recorded.After)
	return isStaged, err
}

// complete makes the remaining steps of the change. It stops at the first step that cannot be made.
func (s *settler) complete() error {
	return s.eachStep(len(s.entry.Steps), func(n int) int { return n }, s.completeStep)
}

// undo undoes the steps of the change that are made, last first. It stops at the first step that cannot be
// undone.
func (s *settler) undo() error {
	last := len(s.entry.Steps) - 1
	return s.eachStep(len(s.entry.Steps), func(n int) int { return last - n }, s.undoStep)
}

// eachStep calls do for each of the steps. at returns the index of the n-th step in the order of the calls.
// Steps that are independent of each other are done concurrently, see [independentPrefix].
func (s *settler) eachStep(steps int, at func(n int) int, do func(i int) error) error {
	for n := 0; n < steps; {
		count := 1
		if s.vault.Disk.HasExchanged() {
			count = independentPrefix(steps-n, func(k int) journal.Step { return s.entry.Steps[at(n+k)] })
		}
		_, err := budget.WaitForEach(count, func(k int) error {
			i := at(n + k)
			s.stepLocks[i].Lock()
			defer s.stepLocks[i].Unlock()
			return do(i)
		})
		if err != nil {
			return err
		}
		n += count
	}
	return nil
}

// independentPrefix returns the number of steps, from the first on, that change the texts of different files in
// place, so that they can be made concurrently; it is at least 1. at returns the n-th of the steps. Callers use
// it only if the disk is known to exchange files: otherwise the state of a single step does not reveal whether
// it was made, so that steps must be made in order.
func independentPrefix(steps int, at func(n int) journal.Step) int {
	seen := map[string]bool{}
	for count := range steps {
		recorded := at(count)
		isInPlace := recorded.Before.Exists && recorded.After.Exists && recorded.Source() == recorded.Path && !isFolderStep(recorded)
		isReplaced := isInPlace && recorded.Draft != ""
		if !isReplaced || seen[recorded.Path] {
			return max(count, 1)
		}
		seen[recorded.Path] = true
	}
	return steps
}

// errForeign is returned for a file that is neither in its old nor in its new state.
var errForeign = errors.New("was changed by another program")

// paths returns where the file of a step is before and after it.
func paths(recorded journal.Step) (from, to disk.Path, err error) {
	if to, err = ParseStepPath(recorded.Path); err != nil {
		return from, to, err
	}
	from, err = ParseStepPath(recorded.Source())
	return from, to, err
}

func isFolderStep(recorded journal.Step) bool { return recorded.Path[len(recorded.Path)-1] == '/' }

// observe returns the state of the step with an index.
func (s *settler) observe(i int) (observation, error) {
	s.stepLocks[i].Lock()
	defer s.stepLocks[i].Unlock()
	return s.observeLocked(i)
}

// observeLocked is observe for a caller that has the lock of the step.
func (s *settler) observeLocked(i int) (observation, error) {
	recorded := s.entry.Steps[i]
	from, to, err := paths(recorded)
	if err != nil {
		return observation{}, err
	}
	if isFolderStep(recorded) {
		_, err := s.vault.Disk.FolderInfo(to)
		if err != nil && !disk.IsMissing(err) {
			return observation{}, err
		}
		if (err == nil) == recorded.After.Exists {
			return observation{position: after}, nil
		}
		return observation{position: before}, nil
	}
	now, err := s.state(to)
	if err != nil {
		return observation{}, err
	}
	switch {
	case from != to:
		return s.observeMove(recorded, from, to, now)
	case !recorded.Before.Exists:
		return s.observeCreation(i, now)
	case !recorded.After.Exists:
		return s.observeRemoval(recorded, now)
	}
	return s.observeChange(i, now)
}

// state returns the state of the file at a path. Anything that is not a file counts as missing.
func (s *settler) state(path disk.Path) (FileState, error) {
	now, err := CurrentState(s.vault, path)
	if disk.IsMissing(err) {
		return FileState{}, nil
	}
	return now, err
}

func (s *settler) observeChange(i int, now FileState) (observation, error) {
	recorded := s.entry.Steps[i]
	isAfter, afterRest := startsWith(now, recorded.After)
	isBefore, beforeRest := startsWith(now, recorded.Before)
	isUnchanged := isBefore && (!isAfter || len(beforeRest) < len(afterRest))
	if isUnchanged {
		return observation{before, now, beforeRest}, nil
	}
	draft, text, err := s.draft(recorded)
	if err != nil {
		return observation{}, err
	}
	isWaiting := text != nil && journal.ImageOf(text) == recorded.After
	isExchanged := text != nil && journal.ImageOf(text) == recorded.Before
	switch {
	case isAfter && (text == nil || isExchanged || s.isStagedBack(recorded, afterRest, text)):
		return observation{after, now, afterRest}, nil
	case !isAfter && isExchanged:
		return observation{overtaken, now, nil}, nil
	case !isAfter && isWaiting:
		return observation{foreign, now, nil}, nil
	case !isAfter:
		isCommitted, err := s.isCommitted(i)
		if isCommitted {
			return observation{overtaken, now, nil}, err
		}
		return observation{foreign, now, nil}, err
	}
	// The files were exchanged, and the file that came out has a text of another program, which the process did
	// not check before it ended. Put that text back.
	path, err := ParseStepPath(recorded.Path)
	if err != nil {
		return observation{}, err
	}
	if err := s.vault.Disk.Replace(path, now.content(), draft, disk.Text(text)); err != nil {
		return observation{}, err
	}
	isBefore, beforeRest = startsWith(Existing(text), recorded.Before)
	if isBefore {
		return observation{before, Existing(text), beforeRest}, nil
	}
	return observation{foreign, Existing(text), nil}, nil
}

// isCommitted reports whether a step with neither its old nor its new text staged was made. Steps are made in
// order and undone in reverse, so it was if the one before it was. For the first step it is false, because its
// new text may not have been staged at all.
func (s *settler) isCommitted(i int) (bool, error) {
	for i--; i >= 0; i-- {
		if isFolderStep(s.entry.Steps[i]) {
			continue
		}
		seen, err := s.observe(i)
		return seen.position == after || seen.position == overtaken, err
	}
	return false, nil
}

// isStagedBack reports whether the text of a draft is what an earlier settling staged to undo the step, or the
// beginning of it.
func (s *settler) isStagedBack(recorded journal.Step, appended, text []byte) bool {
	old, err := s.oldText(recorded.Before)
	return err == nil && bytes.HasPrefix(slices.Concat(old, appended), text)
}

func (s *settler) observeCreation(i int, now FileState) (observation, error) {
	recorded := s.entry.Steps[i]
	isAfter, rest := startsWith(now, recorded.After)
	isWaiting, err := s.isStored(recorded, recorded.After)
	if err != nil {
		return observation{}, err
	}
	switch {
	case !now.Exists && isWaiting:
		return observation{before, now, nil}, nil
	case !now.Exists:
		isCommitted, err := s.isCommitted(i)
		if isCommitted {
			return observation{gone, now, nil}, err
		}
		return observation{before, now, nil}, err
	case isWaiting && isEmpty(now) && recorded.After.Size > 0:
		return observation{reserved, now, nil}, nil
	case isWaiting:
		return observation{foreign, now, nil}, nil
	case isAfter:
		return observation{after, now, rest}, nil
	}
	return observation{overtaken, now, nil}, nil
}

func (s *settler) observeRemoval(recorded journal.Step, now FileState) (observation, error) {
	isAside, err := s.isStored(recorded, recorded.Before)
	if err != nil {
		return observation{}, err
	}
	isBefore, rest := startsWith(now, recorded.Before)
	switch {
	case isAside && now.Exists:
		return observation{overtaken, now, nil}, nil // another program created a file at its path
	case isAside:
		return observation{after, now, nil}, nil
	case isBefore:
		return observation{before, now, rest}, nil
	case now.Exists:
		return observation{foreign, now, nil}, nil
	}
	draft, text, err := s.draft(recorded)
	if err != nil {
		return observation{}, err
	}
	path, err := ParseStepPath(recorded.Path)
	hasDraft := text != nil && err == nil // the file was changed just before it was set aside
	if hasDraft && s.vault.Disk.PutBack(draft, path) == nil {
		return observation{foreign, Existing(text), nil}, nil
	}
	return observation{gone, now, nil}, nil
}

func (s *settler) observeMove(recorded journal.Step, from, to disk.Path, now FileState) (observation, error) {
	source, err := s.state(from)
	if err != nil {
		return observation{}, err
	}
	isAtSource, sourceRest := startsWith(source, recorded.Before)
	isAfter, afterRest := startsWith(now, recorded.After)
	isBefore, beforeRest := startsWith(now, recorded.Before)
	hasOldText := isBefore && (!isAfter || len(beforeRest) < len(afterRest))
	switch {
	case isAtSource && now.Exists && s.vault.Disk.IsOneFile(from, to):
		return observation{doubled, source, nil}, nil
	case isAtSource && isEmpty(now) && recorded.Before.Size > 0:
		return observation{reserved, source, nil}, nil
	case isAtSource:
		return observation{before, source, sourceRest}, nil
	case hasOldText && recorded.Before != recorded.After:
		return observation{moved, now, beforeRest}, nil
	case isAfter:
		return observation{after, now, afterRest}, nil
	case source.Exists:
		return observation{foreign, source, nil}, nil
	case !now.Exists:
		return observation{gone, now, nil}, nil
	}
	isWaiting, err := s.isStored(recorded, recorded.After)
	if isWaiting { // it was moved, and then changed before its new text replaced it
		return observation{moved, now, nil}, err
	}
	return observation{overtaken, now, nil}, err
}

// isEmpty reports whether a file exists and is empty, such as one that reserves a name, see [disk.Folder.Move].
func isEmpty(now FileState) bool {
	return now.Exists && !now.Folder && !now.Image.Exists && now.Text.Len() == 0
}

// startsWith reports whether a file has an image, possibly followed by appended bytes, which it returns.
func startsWith(now FileState, image journal.Image) (isMatch bool, appended []byte) {
	switch {
	case !now.Exists || !image.Exists:
		return false, nil
	case ImageOf(now) == image:
		return true, nil
	case now.Image.Exists || int64(now.Text.Len()) <= image.Size:
		return false, nil
	}
	prefix := now.Text.ForProgram()[:image.Size]
	if journal.ImageOf(prefix) != image {
		return false, nil
	}
	return true, now.Text.ForProgram()[image.Size:]
}

// draft returns the draft of a step and its text, nil if there is no draft. It returns an error if the draft
// cannot be read.
func (s *settler) draft(recorded journal.Step) (disk.Draft, []byte, error) {
	if recorded.Draft == "" {
		return disk.Draft{}, nil, nil
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return disk.Draft{}, nil, nil
	}
	text, err := s.vault.Disk.ReadDraft(draft)
	if disk.IsMissing(err) {
		return draft, nil, nil
	}
	return draft, text, err
}

// isStored reports whether the draft of a step, or the trash, has a file with the image. It returns an error if
// that cannot be read.
func (s *settler) isStored(recorded journal.Step, image journal.Image) (bool, error) {
	content := disk.Sum(image.Hash, image.Size)
	if recorded.Trash != "" {
		return s.vault.Disk.HoldsTrashed(recorded.Trash, content)
	}
	if recorded.Draft == "" {
		return false, nil
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return false, nil
	}
	return s.vault.Disk.Holds(draft, content)
}

func (s *settler) completeStep(i int) error {
	recorded := s.entry.Steps[i]
	seen, err := s.observeLocked(i)
	if err != nil {
		return err
	}
	switch seen.position {
	case after, overtaken, gone:
		return nil
	case foreign:
		return errForeign
	}
	from, to, err := paths(recorded)
	if err != nil {
		return err
	}
	defer s.touch(from, to)
	folder := s.vault.Disk
	switch {
	case isFolderStep(recorded) && recorded.After.Exists:
		return folder.MakeFolder(to)
	case isFolderStep(recorded):
		return folder.RemoveFolder(to)
	case !recorded.Before.Exists && recorded.Trash != "":
		return folder.Untrash(recorded.Trash, to, disk.Sum(recorded.After.Hash, recorded.After.Size))
	case !recorded.Before.Exists:
		return s.create(recorded, to, seen)
	case !recorded.After.Exists:
		return s.remove(recorded, to, seen)
	}
	if from != to && seen.position != moved {
		if err := s.move(from, to, seen); err != nil {
			return err
		}
	}
	if recorded.Before == recorded.After {
		return nil
	}
	return s.writeText(i, to, seen)
}

// writeText replaces the text of a step's file with the staged one, followed by what another program has
// appended to the file since.
func (s *settler) writeText(i int, to disk.Path, seen observation) error {
	recorded := s.entry.Steps[i]
	_, text, err := s.draft(recorded)
	if err != nil {
		return err
	}
	isStaged, rest := startsWith(FileState{Exists: text != nil, Text: guard.NewUnjudged(text)}, recorded.After)
	if !isStaged {
		return errForeign
	}
	if isBefore, _ := startsWith(seen.now, recorded.Before); !isBefore {
		return errForeign // it was moved, and then changed by another program
	}
	text = text[:len(text)-len(rest)]
	var appended []byte
	if len(seen.appended) > 0 {
		earlier := seen.now.Text.ForProgram()[:recorded.Before.Size]
		appended = slices.Concat(lineBreak(earlier, text, seen.appended), seen.appended)
	}
	if len(rest) > 0 && !bytes.Equal(rest, appended) { // it may have been staged again together with the appended text
		return errForeign
	}
	if len(appended) > 0 {
		s.mu.Lock()
		s.actualBefore[i] = ImageOf(seen.now)
		s.mu.Unlock()
		if err := s.keepText(recorded, seen.now.Text.ForProgram()); err != nil {
			return err
		}
		text = slices.Concat(text, appended)
	}
	err = s.replace(recorded, to, seen.now, text)
	if err == nil {
		s.setTime(to, recorded.Sets)
	}
	return err
}

// keepText stores a text in the journal to which no entry refers.
func (s *settler) keepText(recorded journal.Step, text []byte) error {
	return s.journal.Put(s.entry.Caller, recorded.Source(), journal.ImageOf(text), bytes.NewReader(text))
}

// create publishes the new file of a step, also if its name is reserved.
func (s *settler) create(recorded journal.Step, to disk.Path, seen observation) error {
	if seen.position == reserved {
		if err := s.vault.Disk.RemoveName(to, disk.Text(nil)); err != nil {
			return err
		}
	}
	if err := s.publish(recorded, to); err != nil {
		return err
	}
	s.setTime(to, recorded.Sets)
	return nil
}

func (s *settler) publish(recorded journal.Step, to disk.Path) error {
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return err
	}
	isStaged, err := s.isStored(recorded, recorded.After)
	if err != nil {
		return err
	}
	if !isStaged {
		return errForeign
	}
	return s.vault.Disk.Publish(draft, to)
}

func (s *settler) remove(recorded journal.Step, path disk.Path, seen observation) error {
	if len(seen.appended) > 0 {
		return errForeign // the appended text would be lost
	}
	if recorded.Trash != "" {
		return s.vault.Disk.Trash(path, recorded.Trash, seen.now.content())
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return err
	}
	return s.vault.Disk.SetAside(path, seen.now.content(), draft)
}

// move moves the file of a step to its new path. If the file already has both paths, it removes the old one.
func (s *settler) move(from, to disk.Path, seen observation) error {
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

// replace replaces the text of a file. It uses the draft of the step if that already has the text.
func (s *settler) replace(recorded journal.Step, path disk.Path, now FileState, text []byte) error {
	draft, staged, err := s.draft(recorded)
	if err != nil {
		return err
	}
	if draft == (disk.Draft{}) {
		draft = s.vault.Disk.NewDraft(path)
	}
	if staged == nil || journal.ImageOf(staged) != journal.ImageOf(text) {
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
	if err != nil || recorded.Draft != "" {
		return err
	}
	return s.vault.Disk.Discard(draft)
}

func (s *settler) undoStep(i int) error {
	recorded := s.entry.Steps[i]
	seen, err := s.observeLocked(i)
	if err != nil {
		return err
	}
	switch seen.position {
	case before, foreign, gone:
		return nil
	case overtaken:
		return errForeign
	}
	from, to, err := paths(recorded)
	if err != nil {
		return err
	}
	defer s.touch(from, to)
	folder := s.vault.Disk
	switch {
	case isFolderStep(recorded) && recorded.After.Exists:
		return folder.RemoveFolder(to)
	case isFolderStep(recorded):
		return s.restoreTime(recorded, to, folder.MakeFolder(to))
	case seen.position == reserved:
		return folder.RemoveName(to, disk.Text(nil))
	case !recorded.Before.Exists:
		return s.undoCreation(recorded, to, seen)
	case !recorded.After.Exists:
		return s.undoRemoval(recorded, to, seen)
	case seen.position == doubled:
		return folder.RemoveName(to, seen.now.content())
	}
	if seen.position == after && recorded.Before != recorded.After {
		if err := s.undoText(recorded, to, &seen); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	return folder.Move(to, from, seen.now.content())
}

// undoText restores the old text of a file, followed by what another program has appended since.
func (s *settler) undoText(recorded journal.Step, path disk.Path, seen *observation) error {
	_, text, err := s.draft(recorded)
	if err != nil {
		return err
	}
	if text == nil || journal.ImageOf(text) != recorded.Before {
		old, err := s.oldText(recorded.Before)
		if err != nil {
			return err
		}
		text = old
	}
	whole := slices.Concat(text, seen.appended)
	if err := s.replace(recorded, path, seen.now, whole); err != nil {
		return err
	}
	seen.now = Existing(whole)
	if len(seen.appended) > 0 {
		return nil
	}
	return s.restoreTime(recorded, path, nil)
}

// restoreTime restores the old modification time of a file, unless restoring the file returned an error. It
// returns that error.
func (s *settler) restoreTime(recorded journal.Step, path disk.Path, err error) error {
	if err == nil {
		s.setTime(path, recorded.Modified)
	}
	return err
}

// undoCreation removes a file that the change created.
func (s *settler) undoCreation(recorded journal.Step, path disk.Path, seen observation) error {
	if len(seen.appended) > 0 {
		return errForeign
	}
	if recorded.Trash != "" {
		return s.vault.Disk.Trash(path, recorded.Trash, seen.now.content())
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return err
	}
	return s.vault.Disk.SetAside(path, seen.now.content(), draft)
}

// undoRemoval restores a file that the change removed.
func (s *settler) undoRemoval(recorded journal.Step, path disk.Path, seen observation) error {
	isHeld, err := s.isStored(recorded, recorded.Before)
	if err != nil {
		return err
	}
	if isHeld && recorded.Trash != "" {
		return s.vault.Disk.Untrash(recorded.Trash, path, disk.Sum(recorded.Before.Hash, recorded.Before.Size))
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		draft = s.vault.Disk.NewDraft(path)
	}
	if isHeld {
		return s.vault.Disk.PutBack(draft, path)
	}
	text, err := s.oldText(recorded.Before)
	if err != nil {
		return err
	}
	err = s.vault.Disk.Stage(
		disk.Staging{Draft: draft, Text: func() ([]byte, error) { return text, nil }, Mode: fs.FileMode(recorded.Mode)},
	)
	if err == nil {
		err = s.vault.Disk.PutBack(draft, path)
	}
	return s.restoreTime(recorded, path, err)
}

func (s *settler) touch(paths ...disk.Path) {
	for _, path := range paths {
		s.vault.Host.Knowledge.Touch(path)
	}
}
