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
	folder *ownerfiles.RecordFolder // dir as a folder of records
	// cachedKey is the key of the folder, once it was read; guarded by the lock of the folder.
	cachedKey []byte
}

const (
	proposalsLockFile = "proposals.lock"
	makingFile        = "making.lock" // held by the one process that carries out a proposal
	proposalsKeyFile  = "proposals.key"
	headSuffix        = ".json"
	bodySuffix        = ".body"
	halfSuffix        = ".half" // a file that is being written

	makingPatience = 30 * time.Second // how long to wait while another proposal is being made
)

// OpenProposals returns the store in the state folder. It reads nothing; the first proposal creates the folder. With
// a nil now, the system clock is used.
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

// DamagedProposal reports a proposal file that was altered. It is ignored, and left in place.
type DamagedProposal struct{ Name, Reason string }

func (e *DamagedProposal) Error() string {
	return fmt.Sprintf("proposal file %q: %s", e.Name, e.Reason)
}

// UnknownProposal reports that no proposal has an id, or none of the holder who asks.
type UnknownProposal struct{ What string }

func (e *UnknownProposal) Error() string { return fmt.Sprintf("no proposal has the id %.40q", e.What) }

// AnsweredProposal reports that a proposal is no longer waiting.
type AnsweredProposal struct{ Proposal Proposal }

func (e *AnsweredProposal) Error() string {
	return fmt.Sprintf("the proposal %s was already decided: %s", e.Proposal.ID, e.Proposal.State)
}

// ReplacedProposal reports that a proposal was planned again since it was shown to the owner.
type ReplacedProposal struct{ ID string }

func (e *ReplacedProposal) Error() string {
	return fmt.Sprintf("the proposal %s was planned again since it was shown", e.ID)
}

// ProposalBusy reports that a process is carrying out a proposal.
type ProposalBusy struct{}

func (e *ProposalBusy) Error() string { return "another proposal is being carried out" }

// RefusedProposal reports which limit a further proposal would exceed.
type RefusedProposal struct{ Reason string }

func (e *RefusedProposal) Error() string { return e.Reason }

// RepeatedProposal reports that the owner recently declined the same operations.
type RepeatedProposal struct{ ID string }

func (e *RepeatedProposal) Error() string {
	return fmt.Sprintf("the user declined the same operations in %s", e.ID)
}

// NewProposalID returns a new id for a proposal.
func NewProposalID() string { return "p-" + strings.ToLower(rand.Text()[:10]) }

// MayHave reports whether there may be any proposal. It costs one system call. The receiver may be nil.
func (s *Proposals) MayHave() bool {
	if s == nil || !filepath.IsAbs(s.dir) {
		return false
	}
	_, err := os.Lstat(s.dir)
	return err == nil
}

// Keep stores a proposal for [ProposalLife]. newCode returns codes for the owner. Its errors are *[InvalidProposal],
// *[RefusedProposal], *[RepeatedProposal] and *[ownerfiles.Unusable]; after an error nothing has changed.
func (s *Proposals) Keep(p Proposal, b ProposalBody, newCode func() string) (Proposal, error) {
	return s.keep(p, b, newCode, func(proposalContent) (Proposal, error) { return Proposal{}, nil })
}

// Replace stores a proposal in place of the one with the same id, which must belong to the holder and still wait. Its
// errors are those of [Proposals.Keep], *[UnknownProposal] and *[AnsweredProposal]; after an error nothing has changed.
func (s *Proposals) Replace(h ProposalHolder, p Proposal, b ProposalBody, newCode func() string) (Proposal, error) {
	return s.keep(p, b, newCode, func(c proposalContent) (Proposal, error) {
		before, err := c.ofHolder(h, p.ID)
		if err == nil && before.State != ProposalOpen {
			err = &AnsweredProposal{before}
		}
		return before, err
	})
}

// keep stores a proposal in place of the one that findReplaced returns, or in addition if that is the zero Proposal.
func (s *Proposals) keep(
	p Proposal,
	b ProposalBody,
	newCode func() string,
	findReplaced func(proposalContent) (Proposal, error),
) (kept Proposal, err error) {
	encoded, size, err := encodeBody(b)
	if err != nil {
		return Proposal{}, err
	}
	if err := p.check(); err != nil {
		return Proposal{}, err
	}
	if err := ownerfiles.MakeFolder(s.system, s.dir); err != nil {
		return Proposal{}, unusableProposals(s.dir, err)
	}
	err = s.withExistingContent(func(c proposalContent) error {
		now := c.now.UTC().Round(0)
		p.Made = now
		before, err := findReplaced(c)
		if err != nil {
			return err
		}
		p.Code = before.Code
		if err := c.checkCapacity(p, int64(size), before); err != nil {
			return err
		}
		for p.Code == "" {
			code := newCode()
			if !slices.ContainsFunc(c.list, func(other Proposal) bool { return other.Code == code }) {
				p.Code = code
			}
		}
		sum := sha256.Sum256(encoded)
		p.Body = hex.EncodeToString(sum[:])
		p.Size = int64(size)
		p.Version = rand.Text()
		p.State = ProposalOpen
		p.Expires = now.Add(ProposalLife)
		if err := s.write(s.bodyPath(p), encoded); err != nil {
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

// checkCapacity returns an error unless a proposal may be stored in place of before, which is the zero Proposal for
// none.
func (c proposalContent) checkCapacity(p Proposal, size int64, before Proposal) error {
	var all, own, allBytes, ownBytes int64
	for _, other := range c.list {
		if other.ID == before.ID {
			continue
		}
		isSame := other.State == ProposalDeclined && other.Sent == p.Sent && other.Caller == p.Caller
		if isSame && c.now.Sub(other.Decided).Abs() < repeatDelay {
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

// forgetOldest removes the oldest decided proposals if too many are kept.
func (s *Proposals) forgetOldest(c proposalContent) error {
	excess := len(c.list) + 1 - maxKeptProposals
	for _, p := range c.list {
		if excess <= 0 {
			break
		}
		if p.State != ProposalOpen && p.State != ProposalMaking {
			s.remove(p)
			excess--
		}
	}
	return nil
}

// List returns the proposals, including decided ones, oldest first, and the files that cannot be read. Its error is
// *[ownerfiles.Unusable].
func (s *Proposals) List() (list []Proposal, damaged []*DamagedProposal, err error) {
	err = s.withContent(func(c proposalContent) error {
		list = c.list
		damaged = c.damaged
		return nil
	})
	return list, damaged, err
}

// Of returns the proposals of a holder, oldest first.
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

// Body returns the body of a proposal. The error is *[DamagedProposal], *[ReplacedProposal] if it was planned again in
// the meantime, or *[ownerfiles.Unusable].
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

// Decline records that the owner declined a whole proposal. by is where they did so, and says their message to the
// agent. Its errors are *[UnknownProposal], *[AnsweredProposal], *[DamagedProposal] and *[ownerfiles.Unusable].
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

// decide records where and when the owner decided. The proposal is kept for [ProposalLife] from then.
func (p *Proposal) decide(now time.Time, by string) {
	p.By = by
	p.Decided = now.UTC().Round(0)
	p.Expires = p.Decided.Add(ProposalLife)
}

// Withdraw removes a waiting proposal of a holder. Its errors are *[UnknownProposal], *[AnsweredProposal] and
// *[ownerfiles.Unusable].
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

// ProposalDecision describes what the owner accepts of a proposal.
type ProposalDecision struct {
	ID, Version string // of the proposal that was shown to the owner
	Chosen      []int  // indexes of the accepted operations, including those that they need
	Batch       string // name of the changes in the journal
	By          string // where the owner decides
	Says        string // message to the agent
}

// ProposalClaim is a proposal that this process carries out. It ends with Complete, Reopen or Leave.
type ProposalClaim struct {
	store  *Proposals
	chosen Proposal
	free   func() // releases the lock
}

// Claim reserves a proposal for this process to carry out; only one process can hold a claim. The caller must end the
// claim. Its errors are *[UnknownProposal], *[AnsweredProposal], *[ReplacedProposal], *[ProposalBusy],
// *[InvalidProposal], *[DamagedProposal] and *[ownerfiles.Unusable].
func (s *Proposals) Claim(ctx context.Context, d ProposalDecision) (*ProposalClaim, error) {
	free, err := s.lockMaking(ctx, makingPatience)
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

// lockMaking acquires the lock of the one process that carries out a proposal. Its errors are *[UnknownProposal] without
// a folder, *[ProposalBusy] after patience or the end of ctx, and *[ownerfiles.Unusable].
func (s *Proposals) lockMaking(ctx context.Context, patience time.Duration) (free func(), err error) {
	path := filepath.Join(s.dir, makingFile)
	free, err = ownerfiles.Lock(ctx, path, patience)
	switch {
	case errors.Is(err, fs.ErrNotExist): // no folder, so no proposals
		return nil, &UnknownProposal{}
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return nil, &ProposalBusy{}
	case err != nil:
		return nil, unusableProposals(path, err)
	}
	return free, nil
}

// Complete ends a claim whose accepted operations were made.
func (c *ProposalClaim) Complete() (Proposal, error) {
	defer c.free()
	return c.store.complete(c.chosen.ID)
}

// Reopen ends a claim of which nothing was made: the proposal waits again.
func (c *ProposalClaim) Reopen() (Proposal, error) {
	defer c.free()
	return c.store.reopen(c.chosen.ID)
}

// Leave ends a claim whose outcome is unknown: [Proposals.Recover] will find out.
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

// settle changes a proposal that is being made with end.
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

// Recover settles proposals whose process was killed while it carried them out. wasMade finds out whether the accepted
// operations were made; if it returns an error, the proposal is left as it is. Recover does nothing while a process
// carries out a proposal.
func (s *Proposals) Recover(list []Proposal, wasMade func(Proposal) (bool, error)) {
	if !slices.ContainsFunc(list, func(p Proposal) bool { return p.State == ProposalMaking }) {
		return
	}
	free, err := s.lockMaking(context.Background(), time.Millisecond)
	if err != nil {
		return
	}
	defer free()
	proposals, _, err := s.List()
	if err != nil {
		return
	}
	for _, p := range proposals {
		if p.State != ProposalMaking {
			continue
		}
		isMade, err := wasMade(p)
		switch { // after an error the next Recover tries again
		case err != nil:
		case isMade:
			_, _ = s.complete(p.ID)
		default:
			_, _ = s.reopen(p.ID)
		}
	}
}

// proposalContent is the content of the folder while its lock is held.
type proposalContent struct {
	now     time.Time
	list    []Proposal // the oldest first
	damaged []*DamagedProposal
}

// byID returns the proposal with an id. Its errors are *[UnknownProposal] and *[DamagedProposal].
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

// ofHolder returns the proposal of a holder with an id. A proposal of another holder is reported as unknown.
func (c proposalContent) ofHolder(h ProposalHolder, id string) (Proposal, error) {
	p, err := c.byID(id)
	if err != nil || !p.isOf(h) {
		return Proposal{}, &UnknownProposal{id}
	}
	return p, nil
}

// withContent calls do with the content of the folder, under its lock. If there is no folder, the content is empty, and
// nothing is created.
func (s *Proposals) withContent(do func(proposalContent) error) error {
	return inFolder(s.folder.Use, s.readContent, do)
}

// withExistingContent is withContent for a folder that must exist.
func (s *Proposals) withExistingContent(do func(proposalContent) error) error {
	return inFolder(s.folder.UseExisting, s.readContent, do)
}

// readContent reads the folder. It removes expired proposals, temporary files of killed processes, and bodies that no
// proposal uses. The caller has the lock.
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

// read reads the file of a proposal. damaged is set if the file is not a valid proposal.
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

// proposalRecord is a proposal as stored, with an HMAC by the key of the folder.
type proposalRecord struct {
	Sum string `json:"sum"`
	Proposal
}

// encode returns the content of the head of a proposal.
func (s *Proposals) encode(p Proposal) ([]byte, error) {
	return ownerfiles.Sealed(s.key(), func(code string) any { return proposalRecord{Sum: code, Proposal: p} })
}

// parse reads the head of the proposal with an id. It accepts exactly the bytes that encode writes.
func (s *Proposals) parse(id string, data []byte) (Proposal, bool) {
	var r proposalRecord
	if len(data) > maxHead || json.Unmarshal(data, &r) != nil {
		return Proposal{}, false
	}
	if r.ID != id || r.check() != nil {
		return Proposal{}, false
	}
	encoded, err := s.encode(r.Proposal)
	if err != nil || !bytes.Equal(encoded, data) {
		return Proposal{}, false
	}
	return r.Proposal, true
}

// key returns the key of the folder. The caller has the lock.
func (s *Proposals) key() []byte {
	if s.cachedKey == nil {
		s.cachedKey = ownerfiles.Key(s.dir, proposalsKeyFile)
	}
	return s.cachedKey
}

func (s *Proposals) headPath(p Proposal) string { return filepath.Join(s.dir, p.ID+headSuffix) }

// bodyPath returns the path of the body of a proposal, which depends on its content.
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

// write writes a file of the folder atomically.
func (s *Proposals) write(path string, data []byte) error {
	_, err := ownerfiles.Replace(s.system, path+halfSuffix, path, data, time.Time{})
	return unusableProposals(path, err)
}

// remove removes the files of a proposal.
func (s *Proposals) remove(p Proposal) {
	_ = s.system.Remove(s.headPath(p))
	_ = s.system.Remove(s.bodyPath(p)) // without the head it is removed later
}

// encodeBody returns a body as the content of a file. size is its uncompressed size in bytes, which the limits count.
func encodeBody(b ProposalBody) (data []byte, size int, err error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, 0, &InvalidProposal{"operations", "cannot be kept: " + err.Error()}
	}
	if len(text) > maxBody {
		return nil, 0, &InvalidProposal{"size", fmt.Sprintf("is %d MiB, of %d that are kept: make it several", len(text)>>20, maxBody>>20)}
	}
	var compressed bytes.Buffer
	zw := gzip.NewWriter(&compressed)
	if _, err := zw.Write(text); err != nil {
		return nil, 0, err
	}
	err = zw.Close()
	return compressed.Bytes(), len(text), err
}

// decodeBody is the inverse of encodeBody.
func decodeBody(data []byte) (b ProposalBody, err error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return b, err
	}
	text, err := io.ReadAll(io.LimitReader(zr, maxBody+1))
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}
