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

// transaction makes the steps of a proposal on the disk: all of them, or none. Its states, and what a crash in each of
// them leads to, are in docs/vault.md.
type transaction struct {
	vault   *call.Vault
	journal *journal.Journal
	turn    *turn
	entry   journal.Entry
	steps   []Step
	// merges says that what another program appends to a note meanwhile is taken along: nobody has approved
	// the change of the one text that was shown.
	merges bool
	folder *disk.Folder // as the caller sees it, for changes that are made durable together
	sync   func() error
	mu     sync.Mutex            // for was and files
	was    map[int]journal.Image // of steps whose file another program changed right before them
	files  map[disk.Path]bool    // that were changed hastily, and are not durable yet
	// drafts are those of the steps by their folders, once a folder is removed.
	drafts map[disk.Path][]disk.Draft
	texts  journal.Packed // before the steps, once they are made ready for the journal
	parts  []*operation   // of a batch, whose steps together are those of the transaction; none for a single change
}

// newTransaction returns the transaction of the steps of a proposal, which are no no-ops. It names what the disk needs for
// them in the entry, and changes nothing.
func newTransaction(
	v *call.Vault,
	j *journal.Journal,
	turn *turn,
	p Proposal,
	e journal.Entry,
) (*transaction, error) {
	t := &transaction{
		vault:   v,
		journal: j,
		turn:    turn,
		entry:   e,
		steps:   p.Steps,
		was:     map[int]journal.Image{},
		files:   map[disk.Path]bool{},
	}
	t.folder, t.sync = v.Disk.Gathering()
	places := newPlaces(v.Disk)
	missing := map[string]bool{}
	for i := range t.steps {
		s := &t.steps[i]
		if err := t.place(s, places); err != nil {
			return nil, err
		}
		isMoved := s.After.Exists && !s.After.Folder && s.source() != s.Path
		if !isMoved && s.Before.Exists {
			continue
		}
		for _, folder := range places.missingAbove(s.Path) {
			if !missing[folder.String()] {
				missing[folder.String()] = true
				t.entry.Folders = append(t.entry.Folders, folder.String())
			}
		}
	}
	t.entry.Steps = make([]journal.Step, len(t.steps))
	_, _ = budget.WaitForEach(len(t.steps), func(i int) error {
		t.entry.Steps[i] = keptStep(t.folder, t.steps[i])
		return nil
	})
	for _, folder := range p.Emptied {
		t.entry.Emptied = append(t.entry.Emptied, folder.String())
	}
	return t, nil
}

// places are what was asked of the folders of a vault for a change: many of its files are in one folder, and a disk may
// take milliseconds for an answer.
type places struct {
	disk    *disk.Folder
	nearest map[string]disk.Path   // the folder for the drafts of the files in a folder
	missing map[string][]disk.Path // the folders that do not exist, above the files in a folder
	numbers map[string]int         // of the next file of a name in the trash
}

func newPlaces(folder *disk.Folder) *places {
	return &places{
		disk:    folder,
		nearest: map[string]disk.Path{},
		missing: map[string][]disk.Path{},
		numbers: map[string]int{},
	}
}

// newDraft is [disk.Folder.NewDraft].
func (p *places) newDraft(file disk.Path) disk.Draft {
	folder, known := p.nearest[file.Folder()]
	if !known {
		folder = p.disk.NearestFolder(file)
		p.nearest[file.Folder()] = folder
	}
	return disk.NewDraftIn(folder)
}

// missingAbove is [disk.Folder.MissingFolders].
func (p *places) missingAbove(file disk.Path) []disk.Path {
	folders, known := p.missing[file.Folder()]
	if !known {
		folders = p.disk.MissingFolders(file)
		p.missing[file.Folder()] = folders
	}
	return folders
}

// place finds a place for what a step needs on the disk besides its file.
func (t *transaction) place(s *Step, in *places) error {
	switch {
	case s.Before.Folder || s.After.Folder:
	case s.Trash && !s.After.Exists:
		name, next, err := t.vault.Disk.FreeTrashName(s.Path, in.numbers[s.Path.Base()])
		if err != nil {
			return answer.WriteError(s.Path.String(), err)
		}
		s.TrashName = name
		in.numbers[s.Path.Base()] = next
	case t.isTrashed(*s):
	case !s.IsMove() || !s.Before.Equal(s.After):
		s.TrashName = ""
		s.draft = in.newDraft(s.Path)
	}
	return nil
}

// isTrashed reports whether a step takes its file out of the trash. One that cannot be read there is made anew.
func (t *transaction) isTrashed(s Step) bool {
	if s.Before.Exists || s.TrashName == "" {
		return false
	}
	held, err := t.vault.Disk.HoldsTrashed(s.TrashName, s.After.content())
	return held && err == nil
}

// keptStep is what the journal keeps of a step.
func keptStep(folder *disk.Folder, s Step) journal.Step {
	kept := journal.Step{
		Path:   s.kept(),
		From:   s.From.String(),
		Before: ImageOf(s.Before),
		After:  ImageOf(s.After),
		Draft:  s.draft.String(),
		Trash:  s.TrashName,
		Sets:   s.Modified,
		Of:     s.of,
	}
	if !s.Before.Exists {
		return kept
	}
	stat := folder.Stat
	if s.Before.Folder {
		stat = folder.FolderInfo
	}
	if info, err := stat(s.source()); err == nil {
		kept.Modified, kept.Mode = info.ModTime().UnixNano(), uint32(info.Mode().Perm())
	}
	return kept
}

// compare makes sure that every file is what the steps were planned on. What another program has appended to one since is
// taken along, if it may be: a change of one file, and a batch, are rather worked out anew, while there is time for that.
func (t *transaction) compare(alone bool) error {
	merges := t.merges
	isLarge := len(t.steps) > 1 && len(t.parts) == 0 // the answers of a batch have been given
	t.merges = merges && (alone || isLarge)
	defer func() { t.merges = merges }()
	touched := map[disk.Path]bool{}
	var compared []int
	for i, s := range t.steps {
		// What is moved or removed without its text in memory is compared when its turn comes.
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
		return answer.WriteError(t.steps[i].source().String(), t.compareOne(i))
	})
	return err
}

func (t *transaction) compareOne(i int) error {
	s := &t.steps[i]
	if !s.Before.Exists {
		_, err := t.folder.Stat(s.Path)
		if err == nil {
			return fs.ErrExist
		}
		return nil // whatever is there is found when the file is to be made
	}
	err := t.folder.Unchanged(s.source(), s.Before.content())
	if errors.Is(err, disk.ErrChanged) && t.takeAlong(i) {
		return nil
	}
	return err
}

// takeAlong makes a step one of the file as it is now, if that is what it was planned on with something appended by
// another program: it stays behind what the step writes, as if it had been appended after it.
func (t *transaction) takeAlong(i int) bool {
	s := &t.steps[i]
	hasTexts := !s.Before.Image.Exists && !s.After.Image.Exists
	mayMerge := hasTexts || s.isPureMove()
	if !t.merges || !s.After.Exists || !mayMerge {
		return false
	}
	now, err := CurrentState(t.vault, s.source())
	if err != nil {
		return false
	}
	isBegun, appended := startsWith(now, ImageOf(s.Before))
	if !isBegun || len(appended) == 0 {
		return false
	}
	after := now
	if !s.isPureMove() {
		after = Existing(slices.Concat(s.After.Text.ForProgram(), appended))
	}
	if levelIn(t.vault, s.source(), s.Before) != levelIn(t.vault, s.source(), now) ||
		levelIn(t.vault, s.Path, s.After) != levelIn(t.vault, s.Path, after) {
		return false // the note says by now that others have no access to it
	}
	s.Before = now
	s.After = after
	return true
}

// endLending makes ready what is kept in the journal, and has others wait again. The error is errStale if they have changed what
// the change was worked out on.
func (t *transaction) endLending(rests *basis) error {
	if err := t.pack(); err != nil {
		return err
	}
	t.journal.Claim(t.entry)
	if err := rests.check(); err != nil { // most of it, before they have to wait
		return err
	}
	if err := t.turn.resume(t.vault, t.journal); err != nil {
		return err
	}
	return rests.check()
}

// pack makes the texts ready that the journal is going to keep.
func (t *transaction) pack() error {
	t.noteImages()
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

// noteImages notes in the entry what the steps are about, which may have become another file since.
func (t *transaction) noteImages() {
	for i, s := range t.steps {
		t.entry.Steps[i].Before = ImageOf(s.Before)
		t.entry.Steps[i].After = ImageOf(s.After)
	}
}

// close closes what was kept open for the steps.
func (t *transaction) close() { t.folder.CloseGathered() }

// run keeps the intention, stages all new texts, and commits. After an error the change is taken back, or completed if
// only that is possible.
func (t *transaction) run() (ending, error) {
	if err := t.begin(); err != nil {
		t.turn.mark.Clear()
		return ending{}, err
	}
	t.turn.passOn()
	err := t.stage()
	isCommitting := false
	if err == nil {
		if isCommitting, err = beginChanges(t.vault, len(t.steps)); isCommitting {
			defer t.vault.Host.Commits.End()
			err = t.commit()
		}
	}
	if err == nil {
		return t.finish()
	}
	// Whoever opens the vault next completes it where it is not marked, so that has to be tried first then.
	first := takingBack
	if t.turn.mark.SetTakingBack(t.entry.ID) != nil {
		first = completing
	}
	s := newSettler(t.vault, t.journal, t.turn.mark, t.entry)
	maps.Copy(s.was, t.was)
	end, failed := s.settle(first)
	if end.state == made && failed == nil { // it was completed, or another program let it not be taken back
		return end, nil
	}
	isUnfinished := first == completing && failed != nil
	end.unseen = isUnfinished || end.unseen && isCommitting
	return end, err
}

// beginChanges tells that files are about to be changed, which nothing interrupts from then on. It is false, with an error, if the call
// is cancelled or the process ends; else the caller calls [call.Commits.End].
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

// finish ends a change that is made. Behind this it can be taken back, even if only its beginning is in the journal.
func (t *transaction) finish() (ending, error) {
	s := newSettler(t.vault, t.journal, t.turn.mark, t.entry)
	maps.Copy(s.was, t.was)
	if err := s.finish(made, nil); err != nil {
		return ending{state: made}, nil // whoever opens the vault next finishes it
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

// maxKept is how many notes of one change are kept as they were left, too: a
// move may have changed thousands. A longer text than maxKeptText is only kept by the next change.
const (
	maxKept     = 16
	maxKeptText = 4 << 20
)

// isOvertaken reports whether another program has changed a file since the change.
func (t *transaction) isOvertaken() bool {
	isOther := errors.New("another program has changed a file")
	whole := t.folder.Whole()
	_, err := budget.WaitForEach(len(t.steps), func(i int) error {
		s := t.steps[i]
		if s.Before.Folder || s.After.Folder { // others may use it
			return nil
		}
		if !s.After.Exists {
			if _, err := whole.Stat(s.Path); !disk.IsMissing(err) {
				return isOther
			}
			return nil
		}
		return whole.Unchanged(s.Path, s.After.content())
	})
	return err != nil
}

// begin keeps the intention in the journal. After it the change is one that is to be completed or taken back, whatever
// becomes of this process.
func (t *transaction) begin() error {
	t.noteImages()
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
	err := t.journal.BeginPacked(entries, &t.texts, func(entry int, k journal.Step) (io.ReadCloser, error) {
		return contents[entry](k)
	})
	if err != nil {
		return unjournaled(err)
	}
	return nil
}

// contentOf gives the journal the bytes that steps are going to change. kept are the same steps, as the journal has them.
func contentOf(v *call.Vault, steps []Step, kept []journal.Step) journal.Content {
	type source struct{ path, hash string } // the bytes are the same for all steps with both
	at := make(map[source]int, len(kept))
	for i, k := range kept {
		at[source{k.Source(), k.Before.Hash}] = i
	}
	return func(k journal.Step) (io.ReadCloser, error) {
		s := steps[at[source{k.Source(), k.Before.Hash}]]
		if s.Before.Image.Exists {
			return v.Disk.Open(s.source())
		}
		return io.NopCloser(bytes.NewReader(s.Before.Text.ForProgram())), nil
	}
}

// stage writes all new texts into drafts. Nothing of it can be seen.
func (t *transaction) stage() error {
	t.vault.Tally.Changing(len(t.steps))
	origin := map[disk.Path]disk.Path{} // where a file is now that has another path when its step is made
	var all []disk.Staging
	var of []disk.Path
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
		all = append(all, staging)
		of = append(of, s.Path)
	}
	if failed, err := t.folder.StageAll(t.vault.Ctx, all); err != nil {
		return answer.WriteError(of[failed].String(), err)
	}
	return t.vault.Ctx.Err()
}

// textOf returns the text that a step writes; one that is not in memory is that of a copy, or in the journal.
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

// commit makes the steps, in their order. Nothing but an error of the disk or another program ends it early.
func (t *transaction) commit() error {
	for i := 0; i < len(t.steps); {
		end := i + 1
		if t.folder.HasExchanged() {
			rest := t.entry.Steps[i:]
			end = i + apart(len(rest), func(n int) journal.Step { return rest[n] })
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
	for path := range t.files {
		if err := t.folder.SyncFile(path); err != nil {
			return answer.WriteError(path.String(), err)
		}
	}
	if err := t.sync(); err != nil {
		return answer.WriteError(t.steps[0].Path.String(), err)
	}
	return nil
}

// maxTries is how often a step is made anew of a file to which another program appends all the time.
const maxTries = 100

// makeStep makes one step, also of a file to which another program has appended since it was compared.
func (t *transaction) makeStep(i int) error {
	s := &t.steps[i]
	defer t.touch(*s)
	err := t.do(*s)
	for n := 0; n < maxTries && errors.Is(err, disk.ErrChanged); n++ {
		half := s.IsMove() && t.vault.Disk.Unchanged(s.Path, s.Before.content()) == nil
		if half || !t.takeAlong(i) {
			return err
		}
		if err = t.restage(i); err == nil {
			err = t.do(*s)
		}
	}
	if err == nil && s.Modified != 0 && s.After.Exists && !s.After.Folder {
		_ = t.folder.SetModified(s.Path, time.Unix(0, s.Modified)) // not every file system lets it
	}
	return err
}

// restage notes that the file of a step has become another one, and writes its draft anew.
func (t *transaction) restage(i int) error {
	s := t.steps[i]
	t.mu.Lock()
	t.was[i] = ImageOf(s.Before)
	t.files[s.Path] = true
	t.mu.Unlock()
	t.entry.Steps[i].Before, t.entry.Steps[i].After = ImageOf(s.Before), ImageOf(s.After)
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

// do makes one step on the disk. It never touches a file that does not hold what the step expects.
func (t *transaction) do(s Step) error {
	switch {
	case s.Before.Folder:
		t.release(s.Path)
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

// release removes the drafts in a folder that is to be removed. What they hold is in the journal. Those in folders below it were
// removed with these.
func (t *transaction) release(folder disk.Path) {
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

// touch has the next call look at what a step concerns.
func (t *transaction) touch(s Step) {
	t.vault.Host.Knowledge.Touch(s.Path)
	if s.IsMove() {
		t.vault.Host.Knowledge.Touch(s.From)
	}
}
