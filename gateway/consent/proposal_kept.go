package consent

// [Proposals] keeps batches of changes that agents have planned and that wait for the owner, who accepts a whole batch,
// some of its operations, or none. A proposal permits nothing: accepted operations are planned and decided again, under
// the current rights of the agent, and shown to the owner before they are made.
//
// A proposal is a small file, the head, with what lists show, and a larger one, the body, with its operations and its
// whole difference. Both are authenticated with the key of the folder: an altered file is ignored. [Proposals.Claim] is
// the only way to carry out a proposal, by one process at a time; the claim is on the disk before anything is changed,
// so that [Proposals.Recover] can settle what a killed process left.
//
// This protects against agents, not against another program of the same user that can read the key of the folder.

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// ProposalsFolder returns the folder of proposals in the state folder.
func ProposalsFolder(state string) string { return filepath.Join(state, "proposals") }

const (
	// ProposalLife is how long a proposal waits for the owner, and how long its outcome is kept for its agent.
	ProposalLife = 7 * 24 * time.Hour

	// MaxProposalSentence is the maximum length in bytes of a message of the owner to the agent.
	MaxProposalSentence = 500

	maxOpenProposals = 8        // waiting proposals of one agent in all its sessions, or of one session without an agent
	maxAll           = 64       // waiting proposals of all agents; one agent gets up to half of what the others leave
	maxBytes         = 64 << 20 // of their bodies, shared in the same way
	maxBody          = 24 << 20 // bytes of one body
	maxHead          = 4 << 20  // bytes of one head
	maxKeptProposals = 256      // including decided ones
	maxProposalFiles = 4 * maxKeptProposals
	maxProposalText  = 16 << 10
	maxName          = 1 << 10
	repeatDelay      = 10 * time.Minute // after the owner declines, until the same operations may be proposed again
)

// ProposalState is the state of a proposal.
type ProposalState string

// The states of a proposal.
const (
	ProposalOpen      ProposalState = "waiting"
	ProposalMaking    ProposalState = "being made" // by a process of the owner
	ProposalTaken     ProposalState = "taken"      // some or all operations were accepted and made
	ProposalDeclined  ProposalState = "declined"
	ProposalWithdrawn ProposalState = "withdrawn" // by its agent; it is removed
)

// Proposal is the head of a proposal: everything but its operations and its difference.
type Proposal struct {
	ID   string `json:"id"`   // names it for the agent; it grants nothing
	Code string `json:"code"` // names it for the owner
	// Version identifies what is proposed. It changes each time the proposal is planned.
	Version string `json:"version"`
	// Sent is the digest of the operations as they were sent.
	Sent string `json:"sent"`

	Caller     string `json:"caller"` // who proposes it, with the agent
	Client     string `json:"client,omitempty"`
	Generation string `json:"generation,omitempty"` // of the agent's credentials: when they are renewed, the proposal ends
	Vault      string `json:"vault"`                // its name, for people
	Identity   string `json:"identity"`             // of the vault
	Folder     string `json:"folder"`               // of the vault

	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`

	Text        string              `json:"text"` // what it does and who asks, in a few rows
	Destructive bool                `json:"destructive,omitempty"`
	Operations  []ProposalOperation `json:"operations"`
	// Flows are the notes under flow rules that the session had read when it made the proposal: the rules also apply
	// when the proposal is carried out.
	Flows []ProposalFlow `json:"flows,omitempty"`
	// Before has the SHA-256, in hexadecimal, of the files on which it depends, by path; "" for no file.
	Before map[string]string `json:"before,omitempty"`

	Size int64  `json:"size"` // bytes of the body
	Body string `json:"body"` // the SHA-256 of its file

	State   ProposalState `json:"state"`
	Batch   string        `json:"batch,omitempty"`  // of the accepted operations in the journal, once it is claimed
	Chosen  []int         `json:"chosen,omitempty"` // indexes of the accepted operations
	Says    string        `json:"says,omitempty"`   // message of the owner to the agent
	By      string        `json:"by,omitempty"`     // where the owner decided
	Decided time.Time     `json:"decided,omitzero"`
}

// ProposalFlow is a note under a flow rule that a session has read.
type ProposalFlow struct {
	Rule  string `json:"rule"`
	Note  string `json:"note"`
	Vault string `json:"vault"` // its identity
}

// ProposalOperation is one operation of a proposal, as lists show it.
type ProposalOperation struct {
	ClientID string   `json:"clientId"`
	Command  string   `json:"command"`
	Act      string   `json:"act"` // what it does, in one row
	Changes  bool     `json:"changes,omitempty"`
	Needs    []int    `json:"needs,omitempty"` // indexes of earlier operations without which it would do something else
	Paths    []string `json:"paths,omitempty"` // the files that it changes
}

// Agent returns the agent that proposes it, or "" if no agents are defined.
func (p Proposal) Agent() string { return ownerfiles.AgentOf(p.Caller) }

// With returns the indexes of chosen operations and of all operations that they need, in order. ok is false if an index
// is out of range.
func (p Proposal) With(chosen []int) (closed []int, ok bool) {
	wanted := make([]bool, len(p.Operations))
	var add func(i int)
	add = func(i int) {
		if wanted[i] {
			return
		}
		wanted[i] = true
		for _, need := range p.Operations[i].Needs { // these come before i, so add ends
			add(need)
		}
	}
	for _, i := range chosen {
		if i < 0 || i >= len(p.Operations) {
			return nil, false
		}
		add(i)
	}
	return indexesOf(wanted), true
}

// Without returns the indexes of all operations except those in left and those that need them. ok is false if an index
// is out of range.
func (p Proposal) Without(left []int) (rest []int, ok bool) {
	kept := make([]bool, len(p.Operations))
	for i := range kept {
		kept[i] = true
	}
	for _, i := range left {
		if i < 0 || i >= len(p.Operations) {
			return nil, false
		}
		kept[i] = false
	}
	for i, o := range p.Operations { // the needs of an operation come before it, so they are decided
		for _, need := range o.Needs {
			kept[i] = kept[i] && kept[need]
		}
	}
	return indexesOf(kept), true
}

// indexesOf returns the indexes of the elements that are true.
func indexesOf(wanted []bool) (indexes []int) {
	for i, isWanted := range wanted {
		if isWanted {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// ProposalCall is an operation as it was sent.
type ProposalCall struct {
	ClientID   string                   `json:"clientId"`
	Command    string                   `json:"command"`
	Params     allowlist.Params         `json:"params,omitempty"`
	ExpectHash string                   `json:"expectHash,omitempty"`
	From       map[string]ProposalField `json:"from,omitempty"`
	HashFrom   *ProposalField           `json:"hashFrom,omitempty"`
}

// ProposalField is a field of the result of an earlier operation.
type ProposalField struct {
	ClientID string `json:"clientId"`
	Field    string `json:"field"`
}

// ProposalBody is the body of a proposal.
type ProposalBody struct {
	Calls []ProposalCall  `json:"calls"`
	Lines json.RawMessage `json:"lines"` // everything that the owner is shown, in a form that the caller defines
}

// ProposalHolder identifies the caller that asks for its proposals.
type ProposalHolder struct {
	Caller     string // with the agent
	Generation string // of the current credentials of the agent
	Identity   string // of the vault
}

// isOf reports whether a proposal belongs to a holder. Without an agent, it belongs to one session.
func (p Proposal) isOf(h ProposalHolder) bool {
	if p.Identity != h.Identity {
		return false
	}
	if agent := p.Agent(); agent != "" {
		return agent == ownerfiles.AgentOf(h.Caller) && p.Generation == h.Generation
	}
	return p.Caller == h.Caller
}

// ProposalSentence returns a message of the owner in the form that the agent gets: one row without control characters,
// up to [MaxProposalSentence] bytes.
func ProposalSentence(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	row := strings.Join(strings.Fields(text), " ")
	return excerpt.Clip(sanitize.Line(row), MaxProposalSentence)
}

// InvalidProposal reports which part of a proposal is invalid, and why.
type InvalidProposal struct{ Field, Reason string }

func (e *InvalidProposal) Error() string { return "the proposal: " + e.Field + " " + e.Reason }

// check returns an *[InvalidProposal] unless the proposal is valid.
func (p Proposal) check() error {
	for _, f := range []struct {
		name, text string
		most       int
	}{
		{"caller", p.Caller, maxName}, {"client", p.Client, maxName}, {"generation", p.Generation, maxName},
		{"vault", p.Vault, maxName}, {"identity", p.Identity, maxProposalText}, {"folder", p.Folder, maxProposalText},
		{"says", p.Says, 2 * MaxProposalSentence}, {"by", p.By, maxName},
	} {
		if len(f.text) > f.most || !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl) {
			return &InvalidProposal{f.name, "is too long, or not a name"}
		}
	}
	isText := len(p.Text) <= maxProposalText && utf8.ValidString(p.Text)
	isComplete := p.Caller != "" && p.Vault != "" && p.Identity != ""
	switch {
	case !isComplete || !isText:
		return &InvalidProposal{"head", "is incomplete"}
	case len(p.Operations) == 0:
		return &InvalidProposal{"operations", "are missing"}
	}
	for i, o := range p.Operations {
		for _, need := range o.Needs {
			if need < 0 || need >= i {
				return &InvalidProposal{"operations", fmt.Sprintf("are out of order at %d", i)}
			}
		}
	}
	for _, i := range p.Chosen {
		if i < 0 || i >= len(p.Operations) {
			return &InvalidProposal{"chosen", "names an operation that it does not have"}
		}
	}
	return nil
}

// LogProposal records a decision about a proposal ("approve", "deny" or "withdraw") in the audit log of a state folder.
// by is where it was made; session identifies the process. The decision is valid even if the line cannot be written:
// the changes have lines of their own.
func LogProposal(state string, p Proposal, decision, by, session string) {
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind: "proposal", Decision: decision, By: by, Session: session, Agent: sanitize.Line(p.Agent()),
		Client: sanitize.Line(p.Client), Vault: sanitize.Line(p.Vault), Proposal: p.ID,
	}, audit.Durable)
}

// Names returns the names of the accepted operations, and of the others.
func (p Proposal) Names() (taken, left []string) {
	isChosen := make([]bool, len(p.Operations))
	for _, i := range p.Chosen {
		isChosen[i] = true
	}
	for i, o := range p.Operations {
		if isChosen[i] {
			taken = append(taken, o.ClientID)
		} else {
			left = append(left, o.ClientID)
		}
	}
	return taken, left
}
