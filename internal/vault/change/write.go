package change

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// SessionVariable names the session on whose behalf this program writes, for
// the journal.
const SessionVariable = "VAULTWICKET_SESSION"

// Command is a command that may change the vault.
type Command struct {
	Name string
	// Plan works out what a request would do. It changes nothing itself.
	Plan      func(*call.Vault, call.Values) (Proposal, error)
	OnlyReads func(call.Values) bool // whether a request only shows something; nil for never
	Verify    Verifier               // of a file that differs from the plan after the app has changed it; nil refuses it
}

// Write carries out a command that writes: alone in the vault among all
// programs of this kind, kept in the journal before anything is touched, and
// read back afterwards.
func Write(v *call.Vault, row Command, values call.Values, how protocol.Write) (answer.Reply, error) {
	switch {
	case row.OnlyReads != nil && row.OnlyReads(values):
		p, err := propose(v, row, values, how)
		return p.answer(), err
	case (how.Task == protocol.Begin || how.Task == protocol.End) && how.Entry == "":
		return answer.Reply{}, answer.Misuse("A change that another program makes needs an id.")
	case how.Task == protocol.Begin:
		return begin(v, row, values, how)
	case how.Task == protocol.End:
		return end(v, row, values, how)
	case how.Task == protocol.Plan:
		p, err := propose(v, row, values, how)
		if err != nil || p.ReadAnswer != nil {
			return p.answer(), err
		}
		if err := p.expects(v, how.Expect); err != nil {
			return answer.Reply{}, err
		}
		return showPlan(v, p)
	}
	j, err := v.Journal()
	if err != nil {
		return answer.Reply{}, err
	}
	p, unlock, err := proposeAlone(v, j, row, values, how)
	defer unlock()
	if err != nil || p.ReadAnswer != nil {
		return p.answer(), err
	}
	if err := fits(v, p, how); err != nil {
		return answer.Reply{}, err
	}
	p.Steps = slices.DeleteFunc(p.Steps, Step.IsNoop)
	notices := []string{v.Origin.Left, p.Notice}
	if broken := p.Broken.breaks(); broken != "" {
		notices = append(notices, "the change "+broken)
	}
	notices = slices.DeleteFunc(notices, func(notice string) bool { return notice == "" })
	said := answer.Reply{Text: p.Message, Notice: strings.Join(notices, "; "), Note: p.Note, Change: p.change(v), LineEnds: p.lineEnds}
	if len(p.Steps) == 0 {
		if p.Undoes != "" { // of what is to be undone nothing is there
			for _, id := range p.takesBack() {
				if err := j.End(id, journal.Undone, nil, ""); err != nil {
					return said, unjournaled(err)
				}
			}
		}
		return said, nil
	}
	said.Entry, said.Overtaken, err = carryOut(v, j, p, entry(v, row, values, how, p))
	return said, err
}

const (
	// quickPlan is how long a plan takes that may be made anew while others wait.
	quickPlan = 100 * time.Millisecond
	// maxPlans is how often one that takes longer is made before the call is a conflict.
	maxPlans = 3
)

// proposeAlone works out what a call would do, and takes the lock of the journal, under
// which it is still that. What takes long is worked out without the lock, so that no other
// writer waits for it.
func proposeAlone(v *call.Vault, j *journal.Journal, row Command, values call.Values, how protocol.Write) (p Proposal, unlock func(), err error) {
	for range maxPlans {
		before, begun := j.Extent(), time.Now()
		if p, err = propose(v, row, values, how); err != nil || p.ReadAnswer != nil {
			return p, func() {}, err
		}
		took := time.Since(begun)
		if unlock, err = j.Lock(v.Ctx); err != nil {
			return Proposal{}, func() {}, unjournaled(err)
		}
		sweep(v, j)
		if before == j.Extent() { // no program has changed a note through the journal since
			return p, unlock, nil
		}
		if took < quickPlan {
			p, err = propose(v, row, values, how)
			return p, unlock, err
		}
		unlock()
	}
	return Proposal{}, func() {}, answer.Conflict.Failure("Conflict: notes were changed again and again while the change was worked out. Nothing was changed.")
}

// propose works out what a call would do, and refuses what the rules do not allow.
func propose(v *call.Vault, row Command, values call.Values, how protocol.Write) (Proposal, error) {
	p, err := row.Plan(v, values)
	if err == nil {
		declared, _ := allowlist.Describe(row.Name)
		p.destroys = declared.DestroysNote
		err = cmp.Or(p.restore(v), p.findCarried(v, how.Addresses), budget.From(v.Ctx).Exceeded(), judge(v, p), p.suits())
	}
	if err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// MarkCut is the failure of a change that would leave a part of the mark of a secret.
var MarkCut = answer.BadValue.Advise("leave the mark whole, or replace all of it").Failure("By this change a part of the mark of a secret would be left, and the secret lost.")

// restore puts the secrets of the notes back into what was worked out from texts with marks.
// What takes back a change has the texts of the journal, which have none.
func (p *Proposal) restore(v *call.Vault) error {
	if !v.Disk.IsRedacted() || p.Undoes != "" {
		return nil
	}
	var texts [][]byte
	for i := range p.Steps {
		s := &p.Steps[i]
		if guard.HasMark(s.Before.Text) {
			if guard.Cuts(s.Before.Text, s.After.Text) {
				return MarkCut
			}
			now, err := CurrentState(v, s.source())
			if err != nil || !bytes.Equal(v.Redact(now.Text), s.Before.Text) && !now.Equal(s.Before) {
				return cmp.Or(err, answer.Conflict.Failure("Conflict: %q was changed while the change was worked out.", named(s.source().String())))
			}
			s.Before = now
		}
		texts = append(texts, s.Before.Text)
	}
	restored := v.Restorer(texts...)
	for i := 0; i <= len(p.Steps); i++ {
		text := &p.asGiven
		if i < len(p.Steps) {
			text = &p.Steps[i].After.Text
		}
		var err error
		if *text, err = restored(*text); budget.From(v.Ctx).Exceeded() != nil {
			return err
		} else if errors.Is(err, guard.ErrExposed) {
			return answer.BadValue.Advise("keep the mark where it is, with the name in front of it").Failure("Secret not recognized: by this change %v.", err)
		} else if err != nil {
			return answer.BadValue.Advise("the mark of a secret can be written only into the note that has the secret").Failure("%v.", err)
		}
	}
	return nil
}

// takesBack returns the entries that a proposal takes back.
func (p Proposal) takesBack() []string {
	return journal.Entry{Undoes: p.Undoes, Also: p.Also}.TakesBack()
}

func (p Proposal) answer() answer.Reply {
	if p.ReadAnswer != nil {
		return *p.ReadAnswer
	}
	return answer.Reply{}
}

// carryOut keeps, does, checks and closes. The change was made also if it was overtaken: another
// program has changed a note since.
func carryOut(v *call.Vault, j *journal.Journal, p Proposal, e journal.Entry) (id string, overtaken bool, err error) {
	if err := j.Begin(e, func(s journal.Step) (io.ReadCloser, error) { return p.content(v, s) }); err != nil {
		return "", false, unjournaled(err)
	}
	if v.Changes != nil {
		v.Changes()
	}
	written := j.Writing()
	err = doAll(v, p.Steps)
	written()
	left := map[disk.Path]FileState{} // of files that several steps touch, the last one says it
	state, remark := journal.Done, ""
	for _, s := range p.Steps {
		delete(left, s.From)
		if left[s.Path] = s.After; s.Before.Folder || s.After.Folder {
			delete(left, s.Path) // others may use it
		}
		switch {
		case !s.Trash || s.TrashName == "":
		case remark == "":
			remark = TrashRemark + s.TrashName
		default:
			remark = TrashRemark + TrashMany
		}
	}
	if err != nil {
		text := err.Error()
		state, remark = journal.Failed, strings.ToValidUTF8(text[:min(len(text), maxRemark)], "")
	} else {
		for path, after := range left {
			if now, err := CurrentState(v, path); err != nil || !now.Equal(after) {
				overtaken = true
				break
			}
		}
		// The written text is kept so that an undo can show later changes. It costs no space, because
		// the next change of the note keeps it anyway. Nothing else needs it, so errors are ignored.
		for _, s := range p.Steps[:min(len(p.Steps), maxKept)] {
			if s.After.Exists && !s.After.Folder && !s.After.Image.Exists && !s.Before.Equal(s.After) {
				_ = j.Put(e.Caller, s.Path.String(), ImageOf(s.After), bytes.NewReader(s.After.Text))
			}
		}
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

// TrashRemark begins the remark of the journal that says under which name a removed
// file is in the trash.
const TrashRemark = "in the trash as "

// TrashMany is in place of the name where several files were removed.
const TrashMany = "/"

// entry is what the journal keeps of a call: never a value, but the names of
// its parameters.
func entry(v *call.Vault, row Command, values call.Values, how protocol.Write, p Proposal) journal.Entry {
	now, id := v.Host.Now(), how.Entry
	if id == "" {
		id = journal.NewID(now)
	}
	e := journal.Entry{
		ID: id, Time: now, Session: v.Host.Env(SessionVariable), Caller: how.Caller, Client: how.Client, Command: row.Name, Backend: "embedded",
		Batch: how.Batch, Undoes: p.Undoes, Also: p.Also,
	}
	for name := range values {
		e.Params = append(e.Params, name)
	}
	slices.Sort(e.Params)
	for _, s := range p.Steps {
		var modified int64
		if s.Before.Exists {
			stat := v.Disk.Stat
			if s.Before.Folder {
				stat = v.Disk.FolderInfo
			}
			if info, err := stat(s.source()); err == nil {
				modified = info.ModTime().UnixNano()
			}
		}
		e.Steps = append(e.Steps, journal.Step{Modified: modified, Path: s.kept(), From: s.From.String(), Before: ImageOf(s.Before), After: ImageOf(s.After)})
	}
	return e
}

// ImageOf returns what the journal keeps of a state: the hash of its bytes.
func ImageOf(c FileState) journal.Image {
	if !c.Exists {
		return journal.Image{}
	}
	if c.Image.Exists {
		return c.Image
	}
	return journal.ImageOf(c.Text) // of a folder it is that of an empty file
}

// kept is the path of the step in the journal: that of a folder ends with a slash.
func (s Step) kept() string {
	if s.Before.Folder || s.After.Folder {
		return s.Path.String() + "/"
	}
	return s.Path.String()
}

// StepPath returns a path in an entry as the disk has it.
func StepPath(v *call.Vault, text string) (disk.Path, error) {
	at, err := ParseStepPath(text)
	if err != nil {
		return at, err
	}
	return v.NameOnDisk(at)
}

// ParseStepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func ParseStepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(strings.TrimSuffix(text, "/")) // with the slash it is a folder
}

// content gives the journal the bytes that a step is going to change.
func (p Proposal) content(v *call.Vault, step journal.Step) (io.ReadCloser, error) {
	for _, s := range p.Steps {
		if s.kept() == step.Path && s.From.String() == step.From && ImageOf(s.Before) == step.Before {
			if s.Before.Image.Exists {
				return v.Disk.Open(s.source())
			}
			return io.NopCloser(bytes.NewReader(s.Before.Text)), nil
		}
	}
	return nil, fs.ErrNotExist
}

// change is what the answer says of the note that it is about.
func (p Proposal) change(v *call.Vault) *answer.Change {
	var made *answer.Change
	for _, s := range p.Steps {
		if s.Path != p.Note {
			continue
		}
		if made == nil {
			var total edit.LineCounts
			for _, s := range p.Steps {
				one := edit.CountLines(s.Before.Text, s.After.Text)
				total.Added += one.Added
				total.Removed += one.Removed
			}
			made = &answer.Change{Before: hashAt(v, s.source(), s.Before), Lines: total, Destructive: p.loss() != ""}
		}
		made.After = hashAt(v, s.Path, s.After)
	}
	return made
}

// fits refuses a proposal that is not the one that the caller knows. One that is destructive and was not
// approved is refused if it is to be, and always if it adds an address with text of another note.
func fits(v *call.Vault, p Proposal, how protocol.Write) error {
	if how.Approved != "" && how.Approved != digestOf(v, p) {
		return answer.Conflict.Failure("Conflict: the change is not the one that was approved, because notes were changed since.")
	}
	if err := p.expects(v, how.Expect); err != nil {
		return err
	}
	if why := p.loss(); why != "" && (how.Sparing || p.carried.asks && how.Approved == "") {
		return answer.Unapproved.Failure("Approval required: the change %s. Nothing was changed.", why)
	}
	return nil
}

// expects refuses a proposal if its note is not the one that the caller knows.
func (p Proposal) expects(v *call.Vault, hash string) error {
	if hash == "" {
		return nil
	}
	for _, s := range p.Steps {
		if s.Path != p.Note && s.From != p.Note {
			continue
		}
		if now := cmp.Or(hashAt(v, s.source(), s.Before), "none"); now != hash {
			return answer.Conflict.Failure("Conflict: %q has the hash %s, not %s.", answer.Verbatim(p.Note.String()), now, hash)
		}
		return nil
	}
	return answer.Conflict.Failure("Conflict: the call concerns no note that has a hash.")
}

const maxRemark = 500

// digestOf returns the digest of a change: of the files as they are, of what they
// would become and of the way there. A user who was shown a plan approves the
// change with its digest, and another change has another one.
//
// The text that a template makes at another minute is another text, so there the
// template counts in its place.
func digestOf(v *call.Vault, p Proposal) string {
	hash := sha256.New()
	item := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	item(v.Origin.Text)
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		item(s.Path.String())
		item(s.From.String())
		fmt.Fprintf(hash, "%t %t %t;", s.Trash, s.Before.Exists, s.Before.Folder || s.After.Folder)
		item(string(s.Before.Text) + s.Before.Image.Hash)
		fmt.Fprintf(hash, "%t %t;", s.After.Exists, v.Origin.Timed)
		if !v.Origin.Timed {
			item(string(s.After.Text) + s.After.Image.Hash)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sweepAge is how old a temporary file has to be to count as abandoned. No write
// of this program is under way when it is looked for; one of another machine on a
// shared folder may be, and ends within seconds.
const sweepAge = 10 * time.Minute

// sweep removes the temporary files, each a whole note, that a writer left in the
// vault when it was killed. The caller has the lock of the journal and is about
// to write: a process that only reads removes nothing. The vault is searched if
// the journal tells of such a writer, and once by each worker, for those of which
// no journal tells.
func sweep(v *call.Vault, j *journal.Journal) {
	since, killed := j.Interrupted()
	due := killed && v.Host.Now().Sub(since) >= sweepAge
	first := v.Host.Knowledge.Resident && !v.Host.Swept.Swap(true)
	if !due && !first {
		return
	}
	left, err := v.Disk.Sweep(v.Host.Now().Add(-sweepAge))
	if due && left == 0 && err == nil {
		j.Swept()
	}
}
