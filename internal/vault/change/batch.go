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

// The operations of an atomic batch are planned one after the other, each on the vault as the earlier ones will
// leave it; nothing is written meanwhile. Then all their steps are carried out as one transaction. Each
// operation has its own journal entry, as a single change has; the entry of the transaction follows them.

// plannedBatch is the state of a batch between its operations.
type plannedBatch struct {
	operations []*operation
	emptied    []disk.Path
	extent     journal.Extent // of the journal, before the first operation was planned
	// undone has the IDs of entries that an operation undoes, although none of their effects remain.
	undone []string
	// requiresExactState is set if an operation was approved, or requires a certain hash of its note.
	requiresExactState bool
}

// operation is the planned change of one operation in a batch.
type operation struct {
	entry journal.Entry
	steps []Step
	// outdated is [Proposal.Outdated].
	outdated func(e journal.Entry) bool
	// sources has, for each step, the file on the disk with the bytes before it. They are read from there if
	// the text is not in memory.
	sources []disk.Path
}

// content returns a function that gives the journal the bytes before a step.
func (o *operation) content(v *call.Vault) journal.Content {
	type paths struct{ from, to string } // identifies a step within an operation
	at := make(map[paths]int, len(o.steps))
	for i, step := range o.entry.Steps {
		at[paths{step.From, step.Path}] = i
	}
	return func(step journal.Step) (io.ReadCloser, error) {
		i := at[paths{step.From, step.Path}]
		if o.steps[i].Before.Image.Exists {
			return v.Disk.Open(o.sources[i])
		}
		return io.NopCloser(bytes.NewReader(o.steps[i].Before.Text.ForProgram())), nil
	}
}

// planOperation plans one operation of a batch, and makes its effect visible to the next ones.
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
	if err := checkExpected(v, p, how); err != nil {
		return answer.Reply{}, err
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	reply := p.successReply(v)
	batch := plannedOf(v.Batch, extent)
	if len(p.Steps) == 0 {
		batch.undone = append(batch.undone, p.takesBack()...)
		return p.unchangedReply(v, reply), nil
	}
	reply.Entry, err = batch.add(v, p, entry(v, row, values, how, p))
	batch.requiresExactState = batch.requiresExactState || how.Approved != "" || how.Expect != ""
	return reply, err
}

// rehearse shows the plan of one operation of a batch, and makes its effect visible to the next ones. The
// operation was not approved and is never carried out.
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

// plannedOf returns the state of a batch. A new one starts at extent of the journal.
func plannedOf(b *call.Batch, extent journal.Extent) *plannedBatch {
	planned, _ := b.Planned.(*plannedBatch)
	if planned == nil {
		planned = &plannedBatch{extent: extent}
		b.Planned = planned
	}
	return planned
}

// add makes the effect of a proposal visible to the next operations, and returns the ID of its entry.
func (b *plannedBatch) add(v *call.Vault, p Proposal, e journal.Entry) (id string, err error) {
	o := &operation{entry: e, steps: p.Steps, outdated: p.Outdated}
	for i := range o.steps {
		if err := o.planStep(v, i); err != nil {
			return "", answer.WriteError(o.steps[i].Path.String(), err)
		}
	}
	for _, folder := range p.Emptied {
		o.entry.Emptied = append(o.entry.Emptied, folder.String())
		in, err := v.Disk.Contents(folder)
		if disk.IsUnread(err) {
			return "", answer.FolderReadError(folder.String(), err)
		}
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

// size returns the number of bytes of the texts that an operation keeps in memory. Texts shared with an earlier
// operation are counted again.
func (o *operation) size() (bytes int64) {
	for _, s := range o.steps {
		bytes += int64(s.Before.Text.Len() + s.After.Text.Len())
	}
	return bytes
}

// makesName reports whether a step creates a file at a path where there was none.
func (s Step) makesName() bool {
	isMoved := s.After.Exists && !s.After.Folder && s.source() != s.Path
	return isMoved || !s.Before.Exists
}

// resolve makes a step independent of files that earlier operations will create, and returns an error if the
// step cannot be carried out.
func (o *operation) resolve(v *call.Vault, s *Step) error {
	source, text := v.Batch.Overlay.Source(s.source())
	switch {
	case text == nil:
	case s.Before.Image.Exists:
		isCopy := s.After.Image == s.Before.Image
		s.Before = Existing(text)
		if isCopy {
			s.After = s.Before
		}
	case bytes.Equal(s.Before.Text.ForProgram(), text):
		s.Before.Text = guard.NewUnjudged(text) // share the copy in memory
	}
	o.sources = append(o.sources, source)
	if s.CopyOf != (disk.Path{}) {
		source, text := v.Batch.Overlay.Source(s.CopyOf)
		if text != nil {
			s.After = Existing(text)
			source = disk.Path{}
		}
		s.CopyOf = source
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

// planStep makes the effect of a step visible to what follows it.
func (o *operation) planStep(v *call.Vault, i int) error {
	s := &o.steps[i]
	if err := o.resolve(v, s); err != nil {
		return err
	}
	if s.makesName() {
		folders, err := v.Disk.MissingFolders(s.Path)
		if err != nil {
			return err
		}
		for _, folder := range folders {
			o.entry.Folders = append(o.entry.Folders, folder.String())
		}
	}
	planned := journalStep(v.Disk, *s)
	o.entry.Steps = append(o.entry.Steps, planned)
	overlay := v.Batch.Overlay
	switch {
	case s.After.Folder:
		overlay.MakeFolder(s.Path)
		return nil
	case s.Before.Folder:
		overlay.RemoveFolder(s.Path)
		return nil
	case s.source() != s.Path || !s.After.Exists:
		overlay.Remove(s.source())
	}
	modified := v.Host.Now()
	if s.Modified != 0 {
		modified = time.Unix(0, s.Modified)
	}
	switch {
	case !s.After.Exists:
	case !s.After.Image.Exists:
		overlay.Write(s.Path, s.After.Text.ForProgram(), fs.FileMode(cmp.Or(s.Mode, planned.Mode, newNoteMode)), modified)
	case s.CopyOf != (disk.Path{}):
		overlay.Place(s.Path, s.CopyOf)
	default:
		overlay.Place(s.Path, o.sources[i])
	}
	return nil
}

// newNoteMode has the permission bits of a new note; the user's umask restricts them.
const newNoteMode = 0o644

// CommitBatch carries out the planned operations of a batch as one transaction. The reply is about all of them.
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
	isOutdated := func(since journal.Extent) bool {
		return !how.Alone && planned.isOutdated(v, j, how.Rests, since)
	}
	plannedOn := basis{journal: j, since: planned.extent, isOutdated: isOutdated}
	if plannedOn.check() != nil { // before other writers have to wait
		return answer.Reply{Stale: true}, nil
	}
	turn, err := takeTurn(v, j, how)
	if err != nil {
		return answer.Reply{}, err
	}
	defer turn.end()
	isLent := planned.mayLend(how.Rests) && turn.lend(planned.files())
	if plannedOn.check() != nil {
		return answer.Reply{Stale: true}, nil
	}
	t, err := planned.transaction(v, j, turn, how)
	if err == nil {
		defer t.close()
		err = t.compare(how.Alone)
	}
	if err == nil && isLent {
		err = t.endLending(&plannedOn)
	}
	if errors.Is(err, errStale) {
		return answer.Reply{Stale: true}, nil
	}
	if isConflict(err) && !how.Alone && !planned.requiresExactState {
		return answer.Reply{Stale: true}, nil
	}
	if err != nil {
		return answer.Reply{}, err
	}
	end, err := t.run()
	if err == nil && end.state == made {
		_ = endUndone(j, planned.undone) // undoing them has nothing to do either
	}
	reply := answer.Reply{Entry: t.entry.ID, Overtaken: end.overtaken, Notice: answer.Notice{}.And(end.beside...)}
	if end.isLeft() {
		return reply, partlyApplied(t.entry.ID, end, err)
	}
	return reply, err
}

// files returns the number of files that the operations affect. A file may be counted twice.
func (b *plannedBatch) files() (count int) {
	for _, o := range b.operations {
		count += len(o.steps)
	}
	return count
}

// mayLend reports whether other writers may continue while the batch is prepared. They may not if any change of
// theirs would make it outdated, see [plannedBatch.isOutdated].
func (b *plannedBatch) mayLend(rests string) bool {
	for rest := range slices.Chunk(strings.Split(rests, "\x00"), 2) {
		if len(rest) == 2 && rest[0] == "" {
			return false
		}
	}
	return !slices.ContainsFunc(b.operations, func(o *operation) bool { return len(o.steps) > 1 && o.outdated == nil })
}

// isOutdated reports whether planning the operations again could give another result, because of changes since
// the journal had the extent. rests lists the notes whose text was copied from the vault, see [protocol.Write].
// Files that the batch changes are compared separately.
func (b *plannedBatch) isOutdated(v *call.Vault, j *journal.Journal, rests string, since journal.Extent) bool {
	pairs := strings.Split(rests, "\x00")
	for i := 0; i+1 < len(pairs); i += 2 {
		hash := pairs[i]
		path := pairs[i+1]
		if hash == "" && since != j.Extent() {
			return true
		}
		if hash != "" && !hasHash(v, path, hash) {
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

// hasHash reports whether a note whose text the operations copied still has that hash. It is true for a note
// that exists only in the overlay.
func hasHash(v *call.Vault, path, hash string) bool {
	at, err := ParseStepPath(path)
	if err != nil {
		return false
	}
	from, text := v.Batch.Overlay.Source(at)
	return text != nil || v.HashOf(from) == hash
}

// ShowBatch shows the joint effect of the operations of a batch as the plan of one change. Nothing is written.
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

// merged returns the steps of all operations, merged so that no two concern the same file.
func (b *plannedBatch) merged() ([]Step, error) {
	var steps []Step
	for _, o := range b.operations {
		steps = append(steps, o.steps...)
	}
	return mergeSteps(steps)
}

// transaction returns the transaction that carries out all operations.
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
	e := b.operations[0].entry // for its caller and time
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
	t.mergesAppends = !b.requiresExactState
	t.parts = b.operations
	for _, s := range t.steps {
		if s.TrashName != "" {
			b.recordTrashName(s)
		}
	}
	return t, nil
}

// emptyFolders returns steps that create the folders which the operations leave without files.
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

// recordTrashName records the name that a removed file has in the trash, in the entry of the operation that
// removes it.
func (b *plannedBatch) recordTrashName(s Step) {
	for _, o := range slices.Backward(b.operations) {
		for i, step := range slices.Backward(o.steps) {
			isSame := step.Trash == s.Trash && step.After.Exists == s.After.Exists
			if isSame && (step.Path == s.Path || step.Path == s.source()) {
				o.entry.Steps[i].Trash = s.TrashName
				return
			}
		}
	}
}

// batchCommand is the command in the journal entry of a batch.
const batchCommand = "batch"

// InBatch returns the vault as the planned operations of a batch will leave it. Before the first operation, a
// call that only reads gets the vault as it is. It returns an error if the process that planned the operations
// has ended.
func InBatch(v *call.Vault, batch protocol.Batch, changes bool) (*call.Vault, error) {
	b := v.Host.Batch(batch.ID, batch.Planned)
	isBegun := batch.Planned > 0
	switch {
	case !isBegun && !changes:
		return v, nil
	case !isBegun:
		return v.Over(v.Host.BeginBatch(batch.ID)), nil
	case b == nil:
		return nil, unknownBatch()
	}
	return v.Over(b), nil
}

func unknownBatch() error {
	return answer.NotApplied.Failure("Nothing was changed: the process that planned the operations of the batch has ended.")
}
