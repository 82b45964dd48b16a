package change

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// The operations of an atomic batch are worked out one after the other, each on the vault as those before it will leave it, and
// none is made. Then all their steps are made as one transaction. Each operation has an entry in the journal, as a change
// by itself has; that of the transaction stands behind them.

// plannedBatch is what is kept of a batch between its operations.
type plannedBatch struct {
	operations []*operation
	emptied    []disk.Path
	extent     journal.Extent // of the journal, before the first operation was worked out
	// undone are entries that an operation takes back of which nothing is left.
	undone []string
	// isOfOneState says that an operation was approved, or names its note by its hash.
	isOfOneState bool
}

// operation is the change of one operation of a batch.
type operation struct {
	entry journal.Entry
	steps []Step
	// outdated is that of the proposal, see [Proposal].
	outdated func(e journal.Entry) bool
	// sources are where the bytes before the steps are on the disk, for those whose text is not in memory.
	sources []disk.Path
}

// content gives the journal the bytes that the steps are going to change.
func (o *operation) content(v *call.Vault) journal.Content {
	type paths struct{ from, to string } // no two steps of an operation have the same
	at := make(map[paths]int, len(o.steps))
	for i, kept := range o.entry.Steps {
		at[paths{kept.From, kept.Path}] = i
	}
	return func(k journal.Step) (io.ReadCloser, error) {
		i := at[paths{k.From, k.Path}]
		if o.steps[i].Before.Image.Exists {
			return v.Disk.Open(o.sources[i])
		}
		return io.NopCloser(bytes.NewReader(o.steps[i].Before.Text.ForProgram())), nil
	}
}

// planOperation works out what an operation of a batch does, and has the next operations see it.
func planOperation(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	extent := j.Extent()
	p, err := propose(v, row, values, how)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := fits(v, p, how); err != nil {
		return answer.Reply{}, err
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	said := p.said(v)
	planned := plannedOf(v.Batch, extent)
	if len(p.Steps) == 0 {
		planned.undone = append(planned.undone, p.takesBack()...)
		return p.nothing(v, said), nil
	}
	said.Entry, err = planned.add(v, p, entry(v, row, values, how, p))
	planned.isOfOneState = planned.isOfOneState || how.Approved != "" || how.Expect != ""
	return said, err
}

// rehearse shows what an operation of a batch would do, and has the next operations see it. Nobody has approved it, and it is
// never made.
func rehearse(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	p, err := propose(v, row, values, how)
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := p.expects(v, how.Expect); err != nil {
		return answer.Reply{}, err
	}
	shown, err := showPlan(v, p)
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	if err != nil || len(p.Steps) == 0 {
		return shown, err
	}
	_, err = plannedOf(v.Batch, journal.Extent{}).add(v, p, entry(v, row, values, how, p))
	return shown, err
}

// plannedOf returns what is kept of a batch, which begins with the journal as it is.
func plannedOf(b *call.Batch, extent journal.Extent) *plannedBatch {
	planned, _ := b.Planned.(*plannedBatch)
	if planned == nil {
		planned = &plannedBatch{extent: extent}
		b.Planned = planned
	}
	return planned
}

// add has the next operations see what a proposal will do, and returns the id of its entry.
func (b *plannedBatch) add(v *call.Vault, p Proposal, e journal.Entry) (id string, err error) {
	o := &operation{entry: e, steps: p.Steps, outdated: p.Outdated}
	for i := range o.steps {
		if err := o.plan(v, i); err != nil {
			return "", answer.WriteError(o.steps[i].Path.String(), err)
		}
	}
	for _, folder := range p.Emptied {
		o.entry.Emptied = append(o.entry.Emptied, folder.String())
		in, err := v.Disk.Contents(folder)
		if err != nil {
			continue
		}
		hasNothing := len(in.Files) == 0 && len(in.Folders) == 1
		if hasNothing && !in.Stay[folder] {
			v.Batch.Overlay.RemoveFolder(folder)
		}
	}
	if err := v.Batch.Hold(o.size()); err != nil {
		return "", err
	}
	b.operations = append(b.operations, o)
	b.emptied = append(b.emptied, p.Emptied...)
	v.Batch.Add()
	return o.entry.ID, nil
}

// size returns how many bytes the texts have that are kept of an operation. Those that are texts of an earlier one are
// counted again.
func (o *operation) size() (bytes int64) {
	for _, s := range o.steps {
		bytes += int64(s.Before.Text.Len() + s.After.Text.Len())
	}
	return bytes
}

// makesName reports whether there is a file at the path of a step that was not there before it.
func (s Step) makesName() bool {
	isMoved := s.After.Exists && !s.After.Folder && s.source() != s.Path
	return isMoved || !s.Before.Exists
}

// resolve makes a step one that does not depend on a file that an earlier operation will make, and refuses one that cannot
// be made.
func (o *operation) resolve(v *call.Vault, s *Step) error {
	from, text := v.Batch.Overlay.Source(s.source())
	switch {
	case text == nil:
	case s.Before.Image.Exists:
		isCopy := s.After.Image == s.Before.Image
		s.Before = Existing(text)
		if isCopy {
			s.After = s.Before
		}
	case bytes.Equal(s.Before.Text.ForProgram(), text):
		s.Before.Text = guard.NewUnjudged(text) // it is in memory already
	}
	o.sources = append(o.sources, from)
	if s.CopyOf != (disk.Path{}) {
		from, text := v.Batch.Overlay.Source(s.CopyOf)
		if text != nil {
			s.After = Existing(text)
			from = disk.Path{}
		}
		s.CopyOf = from
	}
	if !s.makesName() || s.After.Folder || !s.After.Exists {
		return nil
	}
	_, err := v.Disk.Stat(s.Path)
	isRespelled := s.IsMove() && v.Disk.IsOneFile(s.source(), s.Path)
	if err == nil && !isRespelled {
		return fs.ErrExist
	}
	return v.Disk.MayMake(s.Path)
}

// plan has what comes after a step see what it will do.
func (o *operation) plan(v *call.Vault, i int) error {
	s := &o.steps[i]
	if err := o.resolve(v, s); err != nil {
		return err
	}
	if s.makesName() {
		for _, folder := range v.Disk.MissingFolders(s.Path) {
			o.entry.Folders = append(o.entry.Folders, folder.String())
		}
	}
	kept := keptStep(v.Disk, *s)
	o.entry.Steps = append(o.entry.Steps, kept)
	over := v.Batch.Overlay
	switch {
	case s.After.Folder:
		over.MakeFolder(s.Path)
		return nil
	case s.Before.Folder:
		over.RemoveFolder(s.Path)
		return nil
	case s.source() != s.Path || !s.After.Exists:
		over.Remove(s.source())
	}
	modified := v.Host.Now()
	if s.Modified != 0 {
		modified = time.Unix(0, s.Modified)
	}
	switch {
	case !s.After.Exists:
	case !s.After.Image.Exists:
		over.Write(s.Path, s.After.Text.ForProgram(), fs.FileMode(cmp.Or(s.Mode, kept.Mode, newNoteMode)), modified)
	case s.CopyOf != (disk.Path{}):
		over.Place(s.Path, s.CopyOf)
	default:
		over.Place(s.Path, o.sources[i])
	}
	return nil
}

// newNoteMode are the permission bits of a new note, as far as the umask of the user leaves them.
const newNoteMode = 0o644

// CommitBatch makes what the operations of a batch were worked out to do, as one transaction. The answer is about all of them.
func CommitBatch(v *call.Vault, how protocol.Write) (answer.Reply, error) {
	if v.Batch == nil {
		return answer.Reply{}, unknownBatch()
	}
	planned, _ := v.Batch.Planned.(*plannedBatch)
	if planned == nil || len(planned.operations) == 0 {
		return answer.Reply{}, unknownBatch()
	}
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	rests := basis{journal: j, since: planned.extent, isOutdated: func(since journal.Extent) bool {
		return !how.Alone && planned.isOutdated(v, j, how.Rests, since)
	}}
	if rests.check() != nil { // before others have to wait
		return answer.Reply{Stale: true}, nil
	}
	turn, err := takeTurn(v, j, how)
	if err != nil {
		return answer.Reply{}, err
	}
	defer turn.end()
	isLent := planned.mayLend(how.Rests) && turn.lend(planned.files())
	if rests.check() != nil {
		return answer.Reply{Stale: true}, nil
	}
	t, err := planned.transaction(v, j, turn, how)
	if err == nil {
		defer t.close()
		err = t.compare(how.Alone)
	}
	if err == nil && isLent {
		err = t.endLending(&rests)
	}
	if errors.Is(err, errStale) {
		return answer.Reply{Stale: true}, nil
	}
	if isConflict(err) && !how.Alone && !planned.isOfOneState {
		return answer.Reply{Stale: true}, nil
	}
	if err != nil {
		return answer.Reply{}, err
	}
	end, err := t.run()
	if err == nil && end.state == made {
		_ = endUndone(j, planned.undone) // an undo of them has nothing to do either
	}
	said := answer.Reply{Entry: t.entry.ID, Overtaken: end.overtaken, Notice: noticed(end.beside...)}
	if end.isLeft() {
		return said, partlyApplied(t.entry.ID, end, err)
	}
	return said, err
}

// files returns how many files the operations are about, at most.
func (b *plannedBatch) files() (count int) {
	for _, o := range b.operations {
		count += len(o.steps)
	}
	return count
}

// mayLend reports whether others may change notes while the batch is made ready: not if any change of theirs makes it
// outdated, see [plannedBatch.isOutdated].
func (b *plannedBatch) mayLend(rests string) bool {
	for rest := range slices.Chunk(strings.Split(rests, "\x00"), 2) {
		if len(rest) == 2 && rest[0] == "" {
			return false
		}
	}
	return !slices.ContainsFunc(b.operations, func(o *operation) bool { return len(o.steps) > 1 && o.outdated == nil })
}

// isOutdated reports whether the operations may do something else by now, because of what was changed since the journal had an
// extent. rests are the notes whose texts they have taken from the vault, see [protocol.Write]. The files that they change
// are compared once more.
func (b *plannedBatch) isOutdated(v *call.Vault, j *journal.Journal, rests string, since journal.Extent) bool {
	taken := strings.Split(rests, "\x00")
	for i := 0; i+1 < len(taken); i += 2 {
		hash := taken[i]
		path := taken[i+1]
		if hash == "" && since != j.Extent() {
			return true
		}
		if hash != "" && !isTaken(v, path, hash) {
			return true
		}
	}
	for _, o := range b.operations {
		mayRestOnOthers := len(o.steps) > 1
		if mayRestOnOthers && (Proposal{Outdated: o.outdated}).isOutdated(v, j, since) {
			return true
		}
	}
	return false
}

// isTaken reports whether the note at a path of the vault as the operations will leave it has the text that they have taken, as far
// as that is a text on the disk.
func isTaken(v *call.Vault, path, hash string) bool {
	at, err := ParseStepPath(path)
	if err != nil {
		return false
	}
	from, text := v.Batch.Overlay.Source(at)
	return text != nil || v.HashOf(from) == hash
}

// ShowBatch shows what the operations of a batch would do together, as a plan of one change. Nothing is made.
func ShowBatch(v *call.Vault, _ protocol.Write) (answer.Reply, error) {
	if v.Batch == nil {
		return answer.Reply{}, unknownBatch()
	}
	planned, _ := v.Batch.Planned.(*plannedBatch)
	if planned == nil {
		return answer.Reply{}, unknownBatch()
	}
	merged, err := planned.merged()
	if err != nil {
		return answer.Reply{}, err
	}
	return showPlan(v, Proposal{Steps: merged})
}

// merged returns the steps of all operations, of which no two concern one file.
func (b *plannedBatch) merged() ([]Step, error) {
	var all []Step
	for _, o := range b.operations {
		all = append(all, o.steps...)
	}
	return mergeSteps(all)
}

// transaction returns the transaction of all operations.
func (b *plannedBatch) transaction(
	v *call.Vault,
	j *journal.Journal,
	turn *turn,
	how protocol.Write,
) (*transaction, error) {
	merged, err := b.merged()
	if err != nil {
		return nil, err
	}
	stays := map[disk.Path]bool{}
	for _, folder := range v.Batch.Overlay.Folders() {
		stays[folder] = true
	}
	merged = slices.DeleteFunc(merged, func(s Step) bool { return s.Before.Folder && stays[s.Path] })
	emptied := slices.DeleteFunc(b.emptied, func(folder disk.Path) bool { return stays[folder] })
	merged = append(merged, emptyFolders(v, merged)...)
	e := b.operations[0].entry // for who made it, and when
	e.ID = v.Batch.ID
	e.Batch = v.Batch.ID
	e.Command = batchCommand
	e.Params = nil
	e.Undoes = ""
	e.Also = nil
	e.Folders = nil
	e.Emptied = nil
	e.Steps = nil
	for _, o := range b.operations {
		e.Parts = append(e.Parts, o.entry.ID)
	}
	t, err := newTransaction(v, j, turn, Proposal{Steps: merged, Emptied: emptied}, e)
	if err != nil {
		return nil, err
	}
	t.merges = !b.isOfOneState
	t.parts = b.operations
	for _, s := range t.steps {
		if s.TrashName != "" {
			b.noteTrash(s)
		}
	}
	return t, nil
}

// emptyFolders returns steps that make the folders in which nothing is left of what the operations made in them.
func emptyFolders(v *call.Vault, steps []Step) (folders []Step) {
	isMade := map[disk.Path]bool{}
	for _, s := range steps {
		if !s.After.Exists {
			continue
		}
		at := s.Path
		if !s.After.Folder {
			at, _ = disk.ParseFolder(s.Path.Folder())
		}
		for ; at != (disk.Path{}) && !isMade[at]; at, _ = disk.ParseFolder(at.Folder()) {
			isMade[at] = true
		}
	}
	for _, folder := range v.Batch.Overlay.Folders() {
		_, err := v.Disk.FolderInfo(folder)
		if !isMade[folder] && disk.IsMissing(err) {
			folders = append(folders, Step{Path: folder, After: ExistingFolder})
		}
	}
	return folders
}

// noteTrash notes in the entry of the operation that removes a file by which name it is in the trash.
func (b *plannedBatch) noteTrash(s Step) {
	for _, o := range slices.Backward(b.operations) {
		for i, one := range slices.Backward(o.steps) {
			isSame := one.Trash == s.Trash && one.After.Exists == s.After.Exists
			if isSame && (one.Path == s.Path || one.Path == s.source()) {
				o.entry.Steps[i].Trash = s.TrashName
				return
			}
		}
	}
}

// batchCommand is the command in the entry of a batch.
const batchCommand = "batch"

// InBatch returns the vault as the operations of a batch so far will leave it; of one in which nothing is planned yet, a call that
// changes nothing gets the vault as it is. The error says that the operations are not known: the process that had them has ended.
func InBatch(v *call.Vault, of protocol.Batch, changes bool) (*call.Vault, error) {
	b := v.Host.Batch(of.ID, of.Planned)
	isBegun := of.Planned > 0
	switch {
	case !isBegun && !changes:
		return v, nil
	case !isBegun:
		return v.Over(v.Host.BeginBatch(of.ID)), nil
	case b == nil:
		return nil, unknownBatch()
	}
	return v.Over(b), nil
}

func unknownBatch() error {
	return answer.NotApplied.Failure("Nothing was changed: the process that planned the operations of the batch has ended.")
}
