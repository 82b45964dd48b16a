package consent

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// Proposals keeps proposals in a folder that only the user can access. It is safe for concurrent use by goroutines and
// processes.
type Proposals struct {
	dir    string
	now    func() time.Time
	system ownerfiles.System
	folder *ownerfiles.RecordFolder // the same as dir
	keyed  []byte                   // the key of the folder, once it was read under its lock
}

const (
	proposalsLockFile = "proposals.lock"
	makingFile        = "making.lock" // held by the one process that carries out a proposal
	proposalsKeyFile  = "proposals.key"
	headSuffix        = ".json"
	bodySuffix        = ".body"
	halfSuffix        = ".half" // a file that is being written

	makingPatience = 30 * time.Second // for another proposal that is being made
)

// OpenProposals returns the store in the state folder. It reads nothing; the first proposal creates the folder. A nil clock
// is the system's.
func OpenProposals(state string, now func() time.Time) *Proposals {
	if now == nil {
		now = time.Now
	}
	dir := ProposalsFolder(state)
	return &Proposals{
		dir:    dir,
		now:    now,
		system: ownerfiles.Disk{},
		folder: &ownerfiles.RecordFolder{Path: dir, Store: proposalStore, LockFile: proposalsLockFile, MaxFiles: maxProposalFiles},
	}
}

var proposalStore = ownerfiles.Store{Name: "proposals", Code: "proposals"}

func unusableProposals(path string, err error) error { return proposalStore.Unusable(path, err) }

// DamagedProposal says that a file is not what was written. It counts for nothing, and is left where it is.
type DamagedProposal struct{ Name, Reason string }

func (e *DamagedProposal) Error() string {
	return fmt.Sprintf("proposal file %q: %s", e.Name, e.Reason)
}

// UnknownProposal says that there is no proposal with an id, or none of the holder who asks.
type UnknownProposal struct{ What string }

func (e *UnknownProposal) Error() string { return fmt.Sprintf("no proposal has the id %.40q", e.What) }

// AnsweredProposal says that a proposal does not wait any more.
type AnsweredProposal struct{ Proposal Proposal }

func (e *AnsweredProposal) Error() string {
	return fmt.Sprintf("the proposal %s was already decided: %s", e.Proposal.ID, e.Proposal.State)
}

// ReplacedProposal says that a proposal was planned again since the owner was shown it.
type ReplacedProposal struct{ ID string }

func (e *ReplacedProposal) Error() string {
	return fmt.Sprintf("the proposal %s was planned again since it was shown", e.ID)
}

// ProposalBusy says that a process carries out a proposal.
type ProposalBusy struct{}

func (e *ProposalBusy) Error() string { return "another proposal is being carried out" }

// RefusedProposal says why no further proposal is kept.
type RefusedProposal struct{ Reason string }

func (e *RefusedProposal) Error() string { return e.Reason }

// RepeatedProposal says that the owner has just declined the same operations.
type RepeatedProposal struct{ ID string }

func (e *RepeatedProposal) Error() string {
	return fmt.Sprintf("the user declined the same operations in %s", e.ID)
}

// NewProposalID makes the id of a proposal.
func NewProposalID() string { return "p-" + strings.ToLower(rand.Text()[:10]) }

// MayHave reports whether there may be a proposal: one look. It may be asked of nil.
func (s *Proposals) MayHave() bool {
	if s == nil || !filepath.IsAbs(s.dir) {
		return false
	}
	_, err := os.Lstat(s.dir)
	return err == nil
}

// Keep stores a proposal for [ProposalLife]. newCode makes codes for the owner. Its errors are *[InvalidProposal],
// *[RefusedProposal], *[RepeatedProposal] and *[ownerfiles.Unusable]; with one nothing has changed.
func (s *Proposals) Keep(p Proposal, b ProposalBody, newCode func() string) (Proposal, error) {
	return s.keep(p, b, newCode, func(proposalContent) (Proposal, error) { return Proposal{}, nil })
}

// Replace stores a proposal of a holder in place of the one with the same id, which has to wait and to be one of the holder.
// Its errors are those of [Proposals.Keep], *[UnknownProposal] and *[AnsweredProposal]; with one nothing has changed.
func (s *Proposals) Replace(h ProposalHolder, p Proposal, b ProposalBody, newCode func() string) (Proposal, error) {
	return s.keep(p, b, newCode, func(c proposalContent) (Proposal, error) {
		before, err := c.ofHolder(h, p.ID)
		if err == nil && before.State != ProposalOpen {
			err = &AnsweredProposal{before}
		}
		return before, err
	})
}

// keep stores a proposal in place of the one that replaced returns, the zero Proposal for none.
func (s *Proposals) keep(
	p Proposal,
	b ProposalBody,
	newCode func() string,
	replaced func(proposalContent) (Proposal, error),
) (kept Proposal, err error) {
	body, size, err := encodeBody(b)
	if err != nil {
		return Proposal{}, err
	}
	if err := p.check(); err != nil {
		return Proposal{}, err
	}
	if err := ownerfiles.MakeFolder(s.system, s.dir); err != nil {
		return Proposal{}, unusableProposals(s.dir, err)
	}
	err = s.withLock(func(c proposalContent) error {
		now := c.now.UTC().Round(0)
		p.Made = now
		before, err := replaced(c)
		if err != nil {
			return err
		}
		p.Code = before.Code
		if err := c.hasCapacity(p, int64(size), before); err != nil {
			return err
		}
		for p.Code == "" {
			code := newCode()
			if !slices.ContainsFunc(c.list, func(other Proposal) bool { return other.Code == code }) {
				p.Code = code
			}
		}
		sum := sha256.Sum256(body)
		p.Body = hex.EncodeToString(sum[:])
		p.Size = int64(size)
		p.Version = rand.Text()
		p.State = ProposalOpen
		p.Expires = now.Add(ProposalLife)
		if err := s.write(s.bodyPath(p), body); err != nil {
			return err
		}
		if err := s.save(p); err != nil {
			return err
		}
		if before.Body != "" && before.Body != p.Body {
			_ = s.system.Remove(s.bodyPath(before))
		}
		kept = p
		return s.forgetOldest(c)
	})
	return kept, err
}

// hasCapacity returns an error unless a proposal may be kept in place of another one, the zero Proposal for none.
func (c proposalContent) hasCapacity(p Proposal, size int64, before Proposal) error {
	var all, own, allBytes, ownBytes int64
	for _, other := range c.list {
		if other.ID == before.ID {
			continue
		}
		isSame := other.State == ProposalDeclined && other.Sent == p.Sent && other.Caller == p.Caller
		if isSame && c.now.Sub(other.Decided).Abs() < declining {
			return &RepeatedProposal{other.ID}
		}
		if other.State != ProposalOpen && other.State != ProposalMaking {
			continue
		}
		all++
		allBytes += other.Size
		if shares.Agent(other.Caller) == shares.Agent(p.Caller) {
			own++
			ownBytes += other.Size
		}
	}
	switch {
	case own >= maxOpenProposals:
		return &RefusedProposal{fmt.Sprintf("%d proposals of yours wait for the user already", own)}
	case !shares.Half.Allows(maxAll, all, own, 1):
		return &RefusedProposal{fmt.Sprintf("limit of %d proposals reached", maxAll)}
	case !shares.Half.Allows(maxBytes, allBytes, ownBytes, size):
		return &RefusedProposal{fmt.Sprintf("proposals that wait take up to %d MiB, and yours a part of it", maxBytes>>20)}
	}
	return nil
}

// forgetOldest removes those that were decided first, where too many are kept.
func (s *Proposals) forgetOldest(c proposalContent) error {
	left := len(c.list) + 1 - maxKeptProposals
	for _, p := range c.list {
		if left <= 0 {
			break
		}
		if p.State != ProposalOpen && p.State != ProposalMaking {
			s.remove(p)
			left--
		}
	}
	return nil
}

// List returns the proposals, the oldest first, also those that were decided, and the files that cannot be read. Its error
// is *[ownerfiles.Unusable].
func (s *Proposals) List() (list []Proposal, damaged []*DamagedProposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		list = c.list
		damaged = c.damaged
		return nil
	})
	return list, damaged, err
}

// Of returns the proposals of a holder, the oldest first.
func (s *Proposals) Of(h ProposalHolder) (list []Proposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		for _, p := range c.list {
			if p.isOf(h) {
				list = append(list, p)
			}
		}
		return nil
	})
	return list, err
}

// Find returns the proposal with an id. Its errors are *[UnknownProposal], *[DamagedProposal] and *[ownerfiles.Unusable].
func (s *Proposals) Find(id string) (found Proposal, err error) {
	err = s.withContent(func(c proposalContent) (err error) {
		found, err = c.byID(id)
		return err
	})
	return found, err
}

// Body returns the rest of a proposal. The error is *[DamagedProposal], *[ReplacedProposal] for one that was planned again meanwhile, or
// *[ownerfiles.Unusable].
func (s *Proposals) Body(p Proposal) (ProposalBody, error) {
	path := s.bodyPath(p)
	data, err := ownerfiles.Read(path, maxBody)
	if errors.Is(err, fs.ErrNotExist) {
		return ProposalBody{}, &ReplacedProposal{p.ID}
	}
	if unsafe, ok := errors.AsType[*ownerfiles.Unsafe](err); ok {
		return ProposalBody{}, &DamagedProposal{filepath.Base(path), unsafe.Reason()}
	}
	if err != nil {
		return ProposalBody{}, unusableProposals(path, err)
	}
	sum := sha256.Sum256(data)
	b, err := decodeBody(data)
	if err != nil || hex.EncodeToString(sum[:]) != p.Body || len(b.Calls) != len(p.Operations) {
		return ProposalBody{}, &DamagedProposal{filepath.Base(path), "is not what was written"}
	}
	return b, nil
}

// Decline has the owner decline a proposal as a whole. Its errors are *[UnknownProposal], *[AnsweredProposal], *[DamagedProposal] and
// *[ownerfiles.Unusable].
func (s *Proposals) Decline(id, by, says string) (declined Proposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		p, err := c.byID(id)
		if err != nil {
			return err
		}
		if p.State != ProposalOpen {
			return &AnsweredProposal{p}
		}
		p.State = ProposalDeclined
		p.Says = ProposalSentence(says)
		p.decide(c.now, by)
		declined = p
		return s.save(p)
	})
	return declined, err
}

func (p *Proposal) decide(now time.Time, by string) {
	p.By = by
	p.Decided = now.UTC().Round(0)
	p.Expires = p.Decided.Add(ProposalLife)
}

// Withdraw removes a proposal of a holder that waits. Its errors are *[UnknownProposal], *[AnsweredProposal] and *[ownerfiles.Unusable].
func (s *Proposals) Withdraw(h ProposalHolder, id string) (withdrawn Proposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		p, err := c.ofHolder(h, id)
		if err != nil {
			return err
		}
		if p.State != ProposalOpen {
			return &AnsweredProposal{p}
		}
		s.remove(p)
		withdrawn = p
		withdrawn.State = ProposalWithdrawn
		return nil
	})
	return withdrawn, err
}

// ProposalDecision is what the owner takes of a proposal.
type ProposalDecision struct {
	ID, Version string // as the owner was shown it
	Chosen      []int  // with all that they need
	Batch       string // as which it is made, in the journal
	By          string // where the owner decides
	Says        string // to the agent
}

// ProposalClaim is a proposal that one process carries out.
type ProposalClaim struct {
	store  *Proposals
	chosen Proposal
	free   func()
}

// Claim takes a proposal to be carried out, for one process at a time. The caller settles it. Its errors are *[UnknownProposal],
// *[AnsweredProposal], *[ReplacedProposal], *[ProposalBusy], *[InvalidProposal], *[DamagedProposal] and *[ownerfiles.Unusable].
func (s *Proposals) Claim(ctx context.Context, d ProposalDecision) (*ProposalClaim, error) {
	free, err := s.making(ctx, makingPatience)
	if err != nil {
		return nil, err
	}
	var claimed Proposal
	err = s.withContent(func(c proposalContent) error {
		p, err := c.byID(d.ID)
		switch {
		case err != nil:
			return err
		case p.State != ProposalOpen:
			return &AnsweredProposal{p}
		case p.Version != d.Version:
			return &ReplacedProposal{p.ID}
		}
		closed, ok := p.With(d.Chosen)
		if !ok || len(closed) == 0 || !slices.Equal(closed, d.Chosen) {
			return &InvalidProposal{"choice", "leaves out an operation that another one needs"}
		}
		p.State = ProposalMaking
		p.Chosen = d.Chosen
		p.Batch = d.Batch
		p.By = d.By
		p.Says = ProposalSentence(d.Says)
		claimed = p
		return s.save(p)
	})
	if err != nil {
		free()
		return nil, err
	}
	return &ProposalClaim{s, claimed, free}, nil
}

// making takes the lock of the one process that carries out a proposal.
func (s *Proposals) making(ctx context.Context, patience time.Duration) (free func(), err error) {
	path := filepath.Join(s.dir, makingFile)
	free, err = ownerfiles.Lock(ctx, path, patience)
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is no folder, and so no proposal
		return nil, &UnknownProposal{}
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return nil, &ProposalBusy{}
	case err != nil:
		return nil, unusableProposals(path, err)
	}
	return free, nil
}

// Complete ends a claim of which what was taken is made.
func (c *ProposalClaim) Complete() (Proposal, error) {
	defer c.free()
	return c.store.complete(c.chosen.ID)
}

// Reopen ends a claim of which nothing is made: the proposal waits again.
func (c *ProposalClaim) Reopen() (Proposal, error) {
	defer c.free()
	return c.store.reopen(c.chosen.ID)
}

// Leave ends a claim of which it is not known whether it is made: [Proposals.Recover] finds out.
func (c *ProposalClaim) Leave() { c.free() }

func (s *Proposals) complete(id string) (Proposal, error) {
	return s.settle(id, func(p *Proposal, now time.Time) {
		p.State = ProposalTaken
		p.decide(now, p.By)
	})
}

func (s *Proposals) reopen(id string) (Proposal, error) {
	return s.settle(id, func(p *Proposal, _ time.Time) {
		p.State = ProposalOpen
		p.Batch = ""
		p.Chosen = nil
		p.By = ""
		p.Says = ""
	})
}

// settle ends the state in which a proposal is carried out.
func (s *Proposals) settle(id string, end func(p *Proposal, now time.Time)) (settled Proposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		p, err := c.byID(id)
		if err != nil {
			return err
		}
		if p.State != ProposalMaking {
			return &AnsweredProposal{p}
		}
		end(&p, c.now)
		settled = p
		return s.save(p)
	})
	return settled, err
}

// Recover settles proposals whose process was killed while it carried them out. wasMade finds out whether that is made,
// and fails where that cannot be told; then the proposal stays as it is. It does nothing while a process carries one out.
func (s *Proposals) Recover(list []Proposal, wasMade func(Proposal) (bool, error)) {
	if !slices.ContainsFunc(list, func(p Proposal) bool { return p.State == ProposalMaking }) {
		return
	}
	free, err := s.making(context.Background(), time.Millisecond)
	if err != nil {
		return
	}
	defer free()
	now, _, err := s.List()
	if err != nil {
		return
	}
	for _, p := range now {
		if p.State != ProposalMaking {
			continue
		}
		isMade, err := wasMade(p)
		switch { // what cannot be written is tried again by the next look
		case err != nil:
		case isMade:
			_, _ = s.complete(p.ID)
		default:
			_, _ = s.reopen(p.ID)
		}
	}
}

// proposalContent is what is in the folder while its lock is held.
type proposalContent struct {
	now     time.Time
	list    []Proposal // the oldest first
	damaged []*DamagedProposal
}

func (c proposalContent) byID(id string) (Proposal, error) {
	for _, p := range c.list {
		if p.ID == id {
			return p, nil
		}
	}
	for _, d := range c.damaged {
		if d.Name == id+headSuffix {
			return Proposal{}, d
		}
	}
	return Proposal{}, &UnknownProposal{id}
}

// ofHolder returns the proposal of a holder with an id. Those of others do not exist for it.
func (c proposalContent) ofHolder(h ProposalHolder, id string) (Proposal, error) {
	p, err := c.byID(id)
	if err != nil || !p.isOf(h) {
		return Proposal{}, &UnknownProposal{id}
	}
	return p, nil
}

// withContent runs do with the content of the folder, under its lock. If nothing was ever proposed, the content is empty and
// nothing is created.
func (s *Proposals) withContent(do func(proposalContent) error) error {
	return inFolder(s.folder.Use, s.readContent, do)
}

// withLock does the same in a folder that is there.
func (s *Proposals) withLock(do func(proposalContent) error) error {
	return inFolder(s.folder.UseExisting, s.readContent, do)
}

// readContent reads the folder, and removes what has expired, temporary files of killed processes, and bodies of which no
// proposal is. The caller has the lock.
func (s *Proposals) readContent(names []string) (proposalContent, error) {
	c := proposalContent{now: s.now()}
	bodies := map[string]bool{}
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		switch filepath.Ext(name) {
		case halfSuffix:
			_ = s.system.Remove(path)
		case headSuffix:
			p, damaged, err := s.read(name)
			switch {
			case err != nil:
				return proposalContent{}, unusableProposals(path, err)
			case damaged != nil:
				c.damaged = append(c.damaged, damaged)
			case p.State != ProposalMaking && !c.now.Before(p.Expires):
				s.remove(p)
			default:
				bodies[filepath.Base(s.bodyPath(p))] = true
				c.list = append(c.list, p)
			}
		}
	}
	for _, name := range names {
		isOrphan := filepath.Ext(name) == bodySuffix && !bodies[name] && len(c.damaged) == 0
		if isOrphan {
			_ = s.system.Remove(filepath.Join(s.dir, name))
		}
	}
	slices.SortStableFunc(c.list, func(a, b Proposal) int { return cmp.Or(a.Made.Compare(b.Made), cmp.Compare(a.ID, b.ID)) })
	return c, nil
}

// read reads the file of a proposal. damaged says why it is not one.
func (s *Proposals) read(name string) (p Proposal, damaged *DamagedProposal, err error) {
	damage, err := s.folder.Read(name, maxHead, func(data []byte) (ok bool) {
		p, ok = s.parse(strings.TrimSuffix(name, headSuffix), data)
		return ok
	})
	if damage != "" {
		return p, &DamagedProposal{name, damage}, nil
	}
	return p, nil, err
}

// proposalRecord is a proposal in its file, with a code by the key of the folder.
type proposalRecord struct {
	Sum string `json:"sum"`
	Proposal
}

func (s *Proposals) encode(p Proposal) ([]byte, error) {
	return ownerfiles.Sealed(s.key(), func(code string) any { return proposalRecord{Sum: code, Proposal: p} })
}

// parse reads the file of the proposal with an id. It takes nothing but what encode writes, to the byte.
func (s *Proposals) parse(id string, data []byte) (Proposal, bool) {
	var r proposalRecord
	if len(data) > maxHead || json.Unmarshal(data, &r) != nil {
		return Proposal{}, false
	}
	if r.ID != id || r.check() != nil {
		return Proposal{}, false
	}
	again, err := s.encode(r.Proposal)
	return r.Proposal, err == nil && bytes.Equal(again, data)
}

// key returns the key of the folder.
func (s *Proposals) key() []byte {
	if s.keyed == nil {
		s.keyed = ownerfiles.Key(s.dir, proposalsKeyFile)
	}
	return s.keyed
}

func (s *Proposals) headPath(p Proposal) string { return filepath.Join(s.dir, p.ID+headSuffix) }

// bodyPath is another one for every content.
func (s *Proposals) bodyPath(p Proposal) string {
	return filepath.Join(s.dir, p.ID+"-"+p.Body[:min(len(p.Body), 16)]+bodySuffix)
}

// save writes the file of a proposal atomically.
func (s *Proposals) save(p Proposal) error {
	data, err := s.encode(p)
	if err != nil {
		return err
	}
	if len(data) > maxHead {
		return &InvalidProposal{"files", "are too many: make it several"}
	}
	return s.write(s.headPath(p), data)
}

func (s *Proposals) write(path string, data []byte) error {
	_, err := ownerfiles.Replace(s.system, path+halfSuffix, path, data, time.Time{})
	return unusableProposals(path, err)
}

func (s *Proposals) remove(p Proposal) {
	_ = s.system.Remove(s.headPath(p))
	_ = s.system.Remove(s.bodyPath(p)) // without the head it counts for nothing
}

// encodeBody writes a body as the content of a file. size is what it counts with.
func encodeBody(b ProposalBody) (data []byte, size int, err error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, 0, &InvalidProposal{"operations", "cannot be kept: " + err.Error()}
	}
	if len(text) > maxBody {
		return nil, 0, &InvalidProposal{"size", fmt.Sprintf("is %d MiB, of %d that are kept: make it several", len(text)>>20, maxBody>>20)}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return nil, 0, err
	}
	err = w.Close()
	return packed.Bytes(), len(text), err
}

// decodeBody reads what encodeBody has written.
func decodeBody(data []byte) (b ProposalBody, err error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return b, err
	}
	text, err := io.ReadAll(io.LimitReader(packed, maxBody+1))
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}
