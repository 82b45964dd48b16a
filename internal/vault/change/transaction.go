package change

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// transaction carries out the steps of a proposal on the disk: all of them, or none. docs/vault.md describes
// its states, and what follows a crash in each of them.
type transaction struct {
	vault   *call.Vault
	journal *journal.Journal
	turn    *turn
	entry   journal.Entry
	steps   []Step
	// mergesAppends is set if text that another program appends to a note meanwhile is kept. It is not if the
	// user approved the change of exactly the text that was shown.
	mergesAppends bool
	folder        *disk.Folder // as the caller sees it; collects changes so that they are made durable together
	sync          func() error
	mu            sync.Mutex            // guards actualBefore and unsynced
	actualBefore  map[int]journal.Image // by step: a file that another program changed just before it
	unsynced      map[disk.Path]bool    // files written without waiting for the disk
	// drafts has the drafts of the steps by folder. It is nil until a step removes a folder.
	drafts map[disk.Path][]disk.Draft
	texts  journal.Packed // steps and texts before them, once they are prepared for the journal
	parts  []*operation   // operations of a batch, whose steps are merged; nil for a single change
}

// newTransaction returns a transaction for the steps of a proposal, none of which may be a no-op. It records
// the paths of drafts, trashed files and missing folders in the entry, and changes nothing on the disk.
func newTransaction(
	v *call.Vault,
	j *journal.Journal,
	turn *turn,
	p Proposal,
	e journal.Entry,
) (*transaction, error) {
	t := &transaction{
		vault:        v,
		journal:      j,
		turn:         turn,
		entry:        e,
		steps:        p.Steps,
		actualBefore: map[int]journal.Image{},
		unsynced:     map[disk.Path]bool{},
	}
	t.folder, t.sync = v.Disk.Gathering()
	cache := newFolderCache(v.Disk)
	missing := map[string]bool{}
	for i := range t.steps {
		s := &t.steps[i]
		if err := t.reservePaths(s, cache); err != nil {
			t.close()
			return nil, err
		}
		isMoved := s.After.Exists && !s.After.Folder && s.source() != s.Path
		if !isMoved && s.Before.Exists {
			continue
		}
		above, err := cache.missingAbove(s.Path)
		if err != nil {
			t.close()
			return nil, err
		}
		for _, folder := range above {
			if !missing[folder.String()] {
				missing[folder.String()] = true
				t.entry.Folders = append(t.entry.Folders, folder.String())
			}
		}
	}
	t.entry.Steps = make([]journal.Step, len(t.steps))
	_, _ = budget.WaitForEach(len(t.steps), func(i int) error {
		t.entry.Steps[i] = journalStep(t.folder, t.steps[i])
		return nil
	})
	for _, folder := range p.Emptied {
		t.entry.Emptied = append(t.entry.Emptied, folder.String())
	}
	return t, nil
}

// folderCache remembers lookups about the folders of a vault during one change: many of its files are in the
// same folder, and a disk may take milliseconds per lookup.
type folderCache struct {
	disk    *disk.Folder
	nearest map[string]disk.Path   // by folder of a file: where to put its draft
	missing map[string][]disk.Path // by folder of a file: the missing folders above it
	numbers map[string]int         // by base name: the next number to try in the trash
}

func newFolderCache(folder *disk.Folder) *folderCache {
	return &folderCache{
		disk:    folder,
		nearest: map[string]disk.Path{},
		missing: map[string][]disk.Path{},
		numbers: map[string]int{},
	}
}

// newDraft is [disk.Folder.NewDraft].
func (c *folderCache) newDraft(file disk.Path) disk.Draft {
	folder, known := c.nearest[file.Folder()]
	if !known {
		folder = c.disk.NearestFolder(file)
		c.nearest[file.Folder()] = folder
	}
	return disk.NewDraftIn(folder)
}

// missingAbove is [disk.Folder.MissingFolders].
func (c *folderCache) missingAbove(file disk.Path) ([]disk.Path, error) {
	if folders, known := c.missing[file.Folder()]; known {
		return folders, nil
	}
	folders, err := c.disk.MissingFolders(file)
	if err != nil {
		return nil, answer.WriteError(file.String(), err)
	}
	c.missing[file.Folder()] = folders
	return folders, nil
}

// reservePaths chooses the name in the trash or the draft that a step needs beside its file.
func (t *transaction) reservePaths(s *Step, cache *folderCache) error {
	switch {
	case s.Before.Folder || s.After.Folder:
	case s.Trash && !s.After.Exists:
		name, next, err := t.folder.FreeTrashName(s.Path, cache.numbers[s.Path.Base()])
		if err != nil {
			return answer.WriteError(s.Path.String(), err)
		}
		s.TrashName = name
		cache.numbers[s.Path.Base()] = next
	case t.isInTrash(*s):
	case !s.IsMove() || !s.Before.Equal(s.After):
		s.TrashName = ""
		s.draft = cache.newDraft(s.Path)
	}
	return nil
}

// isInTrash reports whether a step takes its file out of the trash. A file that is missing or unreadable there
// is created anew.
func (t *transaction) isInTrash(s Step) bool {
	if s.Before.Exists || s.TrashName == "" {
		return false
	}
	isHeld, err := t.vault.Disk.HoldsTrashed(s.TrashName, s.After.content())
	return isHeld && err == nil
}

// journalStep returns a step as the journal records it.
func journalStep(folder *disk.Folder, s Step) journal.Step {
	recorded := journal.Step{
		Path:   s.journalPath(),
		From:   s.From.String(),
		Before: ImageOf(s.Before),
		After:  ImageOf(s.After),
		Draft:  s.draft.String(),
		Trash:  s.TrashName,
		Sets:   s.Modified,
		Of:     s.origins,
	}
	if !s.Before.Exists {
		return recorded
	}
	stat := folder.Stat
	if s.Before.Folder {
		stat = folder.FolderInfo
	}
	if info, err := stat(s.source()); err == nil {
		recorded.Modified = info.ModTime().UnixNano()
		recorded.Mode = uint32(info.Mode().Perm())
	}
	return recorded
}

// compare verifies that every file still is what its step was planned on. Text that another program appended
// since may be kept; but a change of one file, and a batch, are planned again instead if there is time for
// that, as without alone.
func (t *transaction) compare(alone bool) error {
	mayMerge := t.mergesAppends
	isLarge := len(t.steps) > 1 && len(t.parts) == 0 // the operations of a batch have been answered
	t.mergesAppends = mayMerge && (alone || isLarge)
	defer func() { t.mergesAppends = mayMerge }()
	touched := map[disk.Path]bool{}
	var compared []int
	for i, s := range t.steps {
		// A file that is moved or removed and not in memory is compared just before its step.
		isRead := !s.Before.Folder && !s.After.Folder && !s.Before.Image.Exists
		if isRead && !touched[s.source()] {
			compared = append(compared, i)
		}
		touched[s.source()] = true
		touched[s.Path] = true
	}
	_, err := budget.WaitForEach(len(compared), func(n int) error {
		if err := t.vault.Ctx.Err(); err != nil {
			return err
		}
		i := compared[n]
		return answer.WriteError(t.steps[i].source().String(), t.compareStep(i))
	})
	return err
}

func (t *transaction) compareStep(i int) error {
	s := &t.steps[i]
	if !s.Before.Exists {
		_, err := t.folder.Stat(s.Path)
		if err == nil {
			return fs.ErrExist
		}
		return nil // anything else at the path is found when the file is created
	}
	err := t.folder.Unchanged(s.source(), s.Before.content())
	if errors.Is(err, disk.ErrChanged) && t.mergeAppended(i) {
		return nil
	}
	return err
}

// mergeAppended replans a step on the file as it is now, if that is the planned one with text appended by
// another program. The appended text then follows what the step writes. It reports whether it did so.
func (t *transaction) mergeAppended(i int) bool {
	s := &t.steps[i]
	hasTexts := !s.Before.Image.Exists && !s.After.Image.Exists
	isMergeable := hasTexts || s.isPureMove()
	if !t.mergesAppends || !s.After.Exists || !isMergeable {
		return false
	}
	now, err := CurrentState(t.vault, s.source())
	if err != nil {
		return false
	}
	startsAsPlanned, appended := startsWith(now, ImageOf(s.Before))
	if !startsAsPlanned || len(appended) == 0 {
		return false
	}
	after := now
	if !s.isPureMove() {
		text := s.After.Text.ForProgram()
		if continuesChangedLine(s.Before.Text.ForProgram(), text, appended) {
			return false
		}
		after = Existing(slices.Concat(text, lineBreak(s.Before.Text.ForProgram(), text, appended), appended))
	}
	// By now, the note may restrict access to itself in another way.
	hadOtherLevel := levelIn(t.vault, s.source(), s.Before) != levelIn(t.vault, s.source(), now)
	getsOtherLevel := levelIn(t.vault, s.Path, s.After) != levelIn(t.vault, s.Path, after)
	if hadOtherLevel || getsOtherLevel {
		return false
	}
	s.Before = now
	s.After = after
	return true
}

// lineBreak returns what must be put between a text and one that another program has appended to an earlier text,
// so that the appended lines are lines of their own there, too: nothing, or a line break.
func lineBreak(earlier, text, appended []byte) []byte {
	switch {
	case beginsLine(appended) || !endsLine(earlier) || endsLine(text):
		return nil
	case bytes.Contains(text, []byte("\r\n")):
		return []byte("\r\n")
	}
	return []byte("\n")
}

// continuesChangedLine reports whether appended continues the last line of an earlier text, and the new text ends
// with another line.
func continuesChangedLine(earlier, text, appended []byte) bool {
	lastLine := earlier[bytes.LastIndexByte(earlier, '\n')+1:]
	return len(lastLine) > 0 && !beginsLine(appended) && !bytes.HasSuffix(text, lastLine)
}

func endsLine(text []byte) bool { return len(text) == 0 || bytes.HasSuffix(text, []byte("\n")) }

func beginsLine(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\n")) || bytes.HasPrefix(text, []byte("\r\n"))
}

// endLending prepares the texts for the journal, and then makes other writers wait again. It returns errStale
// if their changes make the plan outdated.
func (t *transaction) endLending(plannedOn *basis) error {
	if err := t.pack(); err != nil {
		return err
	}
	t.journal.Claim(t.entry)
	if err := plannedOn.check(); err != nil { // most changes are noticed here, before others have to wait
		return err
	}
	if err := t.turn.resume(t.vault, t.journal); err != nil {
		return err
	}
	return plannedOn.check()
}

// pack prepares the texts and the steps that the journal is going to keep.
func (t *transaction) pack() error {
	t.recordImages()
	if err := t.texts.AddSteps(t.entry); err != nil {
		return unjournaled(err)
	}
	content := contentOf(t.vault, t.steps, t.entry.Steps)
	_, err := budget.WaitForEach(len(t.steps), func(i int) error {
		step := t.entry.Steps[i]
		if err := t.vault.Ctx.Err(); err != nil || !step.NeedsBytes() {
			return err
		}
		in, err := content(step)
		if err != nil {
			return unjournaled(err)
		}
		defer in.Close()
		if err := t.texts.Add(step.Source(), step.Before, in); err != nil {
			return unjournaled(err)
		}
		return nil
	})
	return err
}

// recordImages updates the images in the entry, because the steps may have been replanned on other files.
func (t *transaction) recordImages() {
	for i, s := range t.steps {
		t.entry.Steps[i].Before = ImageOf(s.Before)
		t.entry.Steps[i].After = ImageOf(s.After)
	}
}

// close closes the files that are open for the steps.
func (t *transaction) close() { t.folder.CloseGathered() }

// run records the intention in the journal, stages all new texts, and commits. After an error, it undoes the
// change, or completes it if undoing is impossible.
func (t *transaction) run() (ending, error) {
	if err := t.begin(); err != nil {
		t.turn.mark.Clear()
		return ending{}, err
	}
	t.turn.passOn()
	if len(t.steps) >= minLentFiles {
		_ = t.journal.IndexLong(t.vault.Ctx) // others need not wait for it; without the index, the next query builds it
	}
	err := t.stage()
	isCommitting := false
	if err == nil {
		isCommitting, err = beginChanges(t.vault, len(t.steps))
	}
	if isCommitting {
		defer t.vault.Host.Commits.End()
		err = t.commit()
	}
	if err == nil {
		return t.finish()
	}
	// If the mark cannot be set to undoing, the next process that opens the vault would complete the change. So
	// completing is tried first here, too.
	first := undoing
	if t.turn.mark.SetTakingBack(t.entry.ID) != nil {
		first = completing
	}
	s := newSettler(t.vault, t.journal, t.turn.mark, t.entry)
	maps.Copy(s.actualBefore, t.actualBefore)
	end, settleErr := s.settle(first)
	if end.state == made && settleErr == nil { // it was completed, or another program prevented undoing it
		return end, nil
	}
	isUnfinished := first == completing && settleErr != nil
	end.unseen = isUnfinished || end.unseen && isCommitting
	return end, err
}

// beginChanges announces that files are about to be changed, which must not be interrupted. It returns false
// and an error if the call was cancelled or the process is ending. Otherwise the caller must call
// [call.Commits.End].
func beginChanges(v *call.Vault, files int) (bool, error) {
	if !v.Host.Commits.Begin() {
		return false, context.Canceled
	}
	if v.Changes != nil && !v.Changes(files) {
		v.Host.Commits.End()
		return false, context.Canceled
	}
	return true, nil
}

// finish ends a change that is made. From here on, a call can undo it, even if the journal only has its
// beginning.
func (t *transaction) finish() (ending, error) {
	s := newSettler(t.vault, t.journal, t.turn.mark, t.entry)
	maps.Copy(s.actualBefore, t.actualBefore)
	if err := s.finish(made, nil); err != nil {
		return ending{state: made}, nil // the next process that opens the vault finishes it
	}
	for _, step := range t.steps[:min(len(t.steps), maxKept)] {
		// The written text is kept so that an undo can show later changes. It costs no space, because
		// the next change of the note keeps it anyway. Nothing else needs it, so errors are ignored.
		isShown := step.After.Exists && !step.After.Folder && step.After.Text.Len() <= maxKeptText
		if isShown && !step.After.Image.Exists && !step.Before.Equal(step.After) {
			_ = t.journal.Put(t.entry.Caller, step.Path.String(), ImageOf(step.After), bytes.NewReader(step.After.Text.ForProgram()))
		}
	}
	return ending{state: made, overtaken: t.isOvertaken(), beside: s.beside}, nil
}

// Limits of the written notes that the journal keeps beyond the texts before a change: a move may change
// thousands. A longer text than maxKeptText is kept by the next change only.
const (
	maxKept     = 16
	maxKeptText = 4 << 20
)

// isOvertaken reports whether another program has changed a file since the change.
func (t *transaction) isOvertaken() bool {
	errChanged := errors.New("another program has changed a file")
	whole := t.folder.Whole()
	_, err := budget.WaitForEach(len(t.steps), func(i int) error {
		s := t.steps[i]
		if s.Before.Folder || s.After.Folder { // others may have used the folder
			return nil
		}
		if !s.After.Exists {
			if _, err := whole.Stat(s.Path); !disk.IsMissing(err) {
				return errChanged
			}
			return nil
		}
		return whole.Unchanged(s.Path, s.After.content())
	})
	return err != nil
}

// begin records the intention in the journal. From here on, the change must be completed or undone, whatever
// happens to this process.
func (t *transaction) begin() error {
	t.recordImages()
	if err := t.turn.mark.Set(t.entry.ID); err != nil {
		return unjournaled(err)
	}
	whole := contentOf(t.vault, t.steps, t.entry.Steps)
	entries := []journal.Entry{t.entry}
	contents := []journal.Content{whole}
	for _, o := range t.parts {
		entries = append(entries, o.entry)
		contents = append(contents, o.content(t.vault))
	}
	err := t.journal.BeginPacked(entries, &t.texts, func(entry int, step journal.Step) (io.ReadCloser, error) {
		return contents[entry](step)
	})
	if err != nil {
		return unjournaled(err)
	}
	return nil
}

// contentOf returns a function that gives the journal the bytes before a step. recorded are the same steps, as
// the journal has them.
func contentOf(v *call.Vault, steps []Step, recorded []journal.Step) journal.Content {
	type source struct{ path, hash string } // steps with the same path and hash have the same bytes
	at := make(map[source]int, len(recorded))
	for i, step := range recorded {
		at[source{step.Source(), step.Before.Hash}] = i
	}
	return func(step journal.Step) (io.ReadCloser, error) {
		s := steps[at[source{step.Source(), step.Before.Hash}]]
		if s.Before.Image.Exists {
			return v.Disk.Open(s.source())
		}
		return io.NopCloser(bytes.NewReader(s.Before.Text.ForProgram())), nil
	}
}

// stage writes all new texts to drafts, which nobody sees.
func (t *transaction) stage() error {
	t.vault.Tally.Changing(len(t.steps))
	origin := map[disk.Path]disk.Path{} // by path at the time of its step: where the file is now
	var stagings []disk.Staging
	var targets []disk.Path
	for i := range t.steps {
		s := t.steps[i]
		from := s.source()
		if earlier, moved := origin[from]; moved {
			from = earlier
		}
		if s.IsMove() {
			origin[s.Path] = from
		}
		if s.draft == (disk.Draft{}) || !s.After.Exists {
			continue
		}
		staging := disk.Staging{
			Draft: s.draft,
			Text:  func() ([]byte, error) { return t.textOf(s) },
			Mode:  fs.FileMode(s.Mode),
		}
		if s.Before.Exists {
			staging.Like = from
		}
		stagings = append(stagings, staging)
		targets = append(targets, s.Path)
	}
	if failed, err := t.folder.StageAll(t.vault.Ctx, stagings); err != nil {
		return answer.WriteError(targets[failed].String(), err)
	}
	return t.vault.Ctx.Err()
}

// textOf returns the text that a step writes. A text that is not in memory is that of a copied file, or is in
// the journal.
func (t *transaction) textOf(s Step) ([]byte, error) {
	switch {
	case !s.After.Image.Exists:
		return s.After.Text.ForProgram(), nil
	case s.CopyOf == (disk.Path{}):
		text, err := t.journal.Object(t.vault.Ctx, s.After.Image.Hash)
		return text.ForProgram(), err
	}
	raw, err := t.vault.Disk.Raw().Read(s.CopyOf)
	text := raw.ForProgram()
	if err == nil && journal.ImageOf(text) != s.After.Image {
		err = disk.ErrChanged
	}
	return text, err
}

// commit carries out the steps in order. Only errors of the disk and other programs end it early.
func (t *transaction) commit() error {
	for i := 0; i < len(t.steps); {
		end := i + 1
		if t.folder.HasExchanged() {
			rest := t.entry.Steps[i:]
			end = i + independentPrefix(len(rest), func(n int) journal.Step { return rest[n] })
		}
		failed, err := budget.WaitForEach(end-i, func(n int) error {
			err := t.makeStep(i + n)
			if err == nil {
				t.vault.Tally.Done()
			}
			return err
		})
		if err != nil {
			return answer.WriteError(t.steps[i+failed].Path.String(), err)
		}
		i = end
	}
	for path := range t.unsynced {
		if err := t.folder.SyncFile(path); err != nil {
			return answer.WriteError(path.String(), err)
		}
	}
	if err := t.sync(); err != nil {
		return answer.WriteError(t.steps[0].Path.String(), err)
	}
	return nil
}

// maxTries limits the retries of a step whose file another program keeps appending to.
const maxTries = 100

// makeStep carries out one step, even if another program has appended to its file since that was compared.
func (t *transaction) makeStep(i int) error {
	s := &t.steps[i]
	defer t.touch(*s)
	err := t.applyStep(*s)
	for n := 0; n < maxTries && errors.Is(err, disk.ErrChanged); n++ {
		isHalfMoved := s.IsMove() && t.vault.Disk.Unchanged(s.Path, s.Before.content()) == nil
		if isHalfMoved || !t.mergeAppended(i) {
			return err
		}
		if err = t.restage(i); err == nil {
			err = t.applyStep(*s)
		}
	}
	if err == nil && s.Modified != 0 && s.After.Exists && !s.After.Folder {
		_ = t.folder.SetModified(s.Path, time.Unix(0, s.Modified)) // not every file system supports it
	}
	return err
}

// restage records that the file of a step has changed, and writes its draft again.
func (t *transaction) restage(i int) error {
	s := t.steps[i]
	t.mu.Lock()
	t.actualBefore[i] = ImageOf(s.Before)
	t.unsynced[s.Path] = true
	t.mu.Unlock()
	t.entry.Steps[i].Before = ImageOf(s.Before)
	t.entry.Steps[i].After = ImageOf(s.After)
	if err := t.journal.Put(t.entry.Caller, s.source().String(), ImageOf(s.Before), bytes.NewReader(s.Before.Text.ForProgram())); err != nil {
		return err
	}
	if s.draft == (disk.Draft{}) {
		return nil
	}
	if err := t.folder.Discard(s.draft); err != nil {
		return err
	}
	return t.folder.Stage(
		disk.Staging{
			Draft:   s.draft,
			Text:    func() ([]byte, error) { return s.After.Text.ForProgram(), nil },
			Like:    s.source(),
			IsHasty: true,
		},
	)
}

// applyStep carries out one step on the disk. It never touches a file that does not contain what the step
// expects.
func (t *transaction) applyStep(s Step) error {
	switch {
	case s.Before.Folder:
		t.discardDrafts(s.Path)
		return t.folder.RemoveFolder(s.Path)
	case s.After.Folder:
		return t.folder.MakeFolder(s.Path)
	case s.IsMove():
		err := t.folder.Move(s.From, s.Path, s.Before.content())
		if err == nil && s.draft != (disk.Draft{}) {
			err = t.folder.Replace(s.Path, s.Before.content(), s.draft, s.After.content())
		}
		return err
	case !s.Before.Exists && s.TrashName != "":
		return t.folder.Untrash(s.TrashName, s.Path, s.After.content())
	case !s.Before.Exists:
		return t.folder.Publish(s.draft, s.Path)
	case s.After.Exists:
		return t.folder.Replace(s.Path, s.Before.content(), s.draft, s.After.content())
	case s.Trash:
		return t.folder.Trash(s.Path, s.TrashName, s.Before.content())
	}
	return t.folder.SetAside(s.Path, s.Before.content(), s.draft)
}

// discardDrafts removes the drafts in a folder that is about to be removed; their contents are in the journal.
// The drafts in its subfolders were removed with these.
func (t *transaction) discardDrafts(folder disk.Path) {
	if t.drafts == nil {
		t.drafts = map[disk.Path][]disk.Draft{}
		for _, s := range t.steps {
			if s.draft != (disk.Draft{}) {
				t.drafts[s.draft.Folder()] = append(t.drafts[s.draft.Folder()], s.draft)
			}
		}
	}
	for _, draft := range t.drafts[folder] {
		_ = t.folder.Discard(draft)
	}
	delete(t.drafts, folder)
}

// touch makes the next call reread the files of a step.
func (t *transaction) touch(s Step) {
	t.vault.Host.Knowledge.Touch(s.Path)
	if s.IsMove() {
		t.vault.Host.Knowledge.Touch(s.From)
	}
}
