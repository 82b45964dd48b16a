package consent

// [Proposals] keeps batches of changes that agents have planned and that wait for the owner, who takes all of one,
// some of its operations, or none. A proposal opens nothing: what is taken is planned and decided anew, under the
// rights that its agent has then, and drawn for the owner before it is made.
//
// A proposal is a small file with what a list shows and a larger one with its operations and its whole difference.
// Both are bound by a code with the key of the folder: a file that is not as it was written counts for nothing.
// [Proposals.Claim] is the one way to carry a proposal out, by one process at a time; the claim is on the disk
// before anything is made, so that [Proposals.Recover] can settle what a killed process has left.
//
// It protects against agents, not against another program of the same user that can read the key of the folder.

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
	// ProposalLife is how long a proposal waits for the owner, and how long after that its agent can read what became of it.
	ProposalLife = 7 * 24 * time.Hour

	// MaxProposalSentence bounds what the owner says to the agent, in bytes.
	MaxProposalSentence = 500

	maxOpenProposals = 8        // that wait of one agent, over all its sessions, or of one session without an agent
	maxAll           = 64       // that wait of all agents, of which one has up to a half of what the others leave
	maxBytes         = 64 << 20 // of their operations and differences, shared in the same way
	maxBody          = 24 << 20 // of one
	maxHead          = 4 << 20  // of the file that lists read
	maxKeptProposals = 256      // with those that are decided
	maxProposalFiles = 4 * maxKeptProposals
	maxProposalText  = 16 << 10
	maxName          = 1 << 10
	declining        = 10 * time.Minute // for which the same operations are not proposed again after the owner has declined
)

// ProposalState is what became of a proposal.
type ProposalState string

// The states of a proposal.
const (
	ProposalOpen      ProposalState = "waiting"
	ProposalMaking    ProposalState = "being made" // by a process of the owner
	ProposalTaken     ProposalState = "taken"      // all or some of it
	ProposalDeclined  ProposalState = "declined"
	ProposalWithdrawn ProposalState = "withdrawn" // by its agent; it is removed
)

// Proposal is what is known of a proposal without its difference.
type Proposal struct {
	ID   string `json:"id"`   // names it for the agent; it gives no right
	Code string `json:"code"` // names it for the owner
	// Version names what is proposed. Each time that it is planned it is another one.
	Version string `json:"version"`
	// Sent is the digest of the operations as they were sent.
	Sent string `json:"sent"`

	Caller     string `json:"caller"` // who proposes it, with the agent
	Client     string `json:"client,omitempty"`
	Generation string `json:"generation,omitempty"` // of the credentials of the agent: with others it has ended
	Vault      string `json:"vault"`                // its name, for people
	Identity   string `json:"identity"`             // of the vault
	Folder     string `json:"folder"`               // of the vault

	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`

	Text        string              `json:"text"` // what it does and who asks, in a few rows
	Destructive bool                `json:"destructive,omitempty"`
	Operations  []ProposalOperation `json:"operations"`
	// Flows are what the session had read from places of flow rules when it proposed: they count when it is made, too.
	Flows []ProposalFlow `json:"flows,omitempty"`
	// Before are the SHA-256, in hexadecimal, of the files on which it rests, by their paths; "" for no file.
	Before map[string]string `json:"before,omitempty"`

	Size int64  `json:"size"` // bytes of the body
	Body string `json:"body"` // the SHA-256 of its file

	State   ProposalState `json:"state"`
	Batch   string        `json:"batch,omitempty"`  // what is taken of it, in the journal, once it is claimed
	Chosen  []int         `json:"chosen,omitempty"` // which operations those are
	Says    string        `json:"says,omitempty"`   // the owner, to the agent
	By      string        `json:"by,omitempty"`     // where the owner has decided
	Decided time.Time     `json:"decided,omitzero"`
}

// ProposalFlow says that a session has read from a place of a flow rule.
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
	Needs    []int    `json:"needs,omitempty"` // operations before it without which it would do something else, by their places
	Paths    []string `json:"paths,omitempty"` // the files that it changes
}

// Agent returns the agent that proposes it, "" where none is defined.
func (p Proposal) Agent() string { return ownerfiles.AgentOf(p.Caller) }

// With returns a choice of operations with all that they need, in their order. It reports false for places that are none.
func (p Proposal) With(chosen []int) (closed []int, ok bool) {
	wanted := make([]bool, len(p.Operations))
	var add func(i int)
	add = func(i int) {
		if wanted[i] {
			return
		}
		wanted[i] = true
		for _, need := range p.Operations[i].Needs { // they are before it
			add(need)
		}
	}
	for _, i := range chosen {
		if i < 0 || i >= len(p.Operations) {
			return nil, false
		}
		add(i)
	}
	return placesOf(wanted), true
}

// Without returns all operations but some, and but those that need them.
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
	for i, o := range p.Operations { // what an operation needs is before it, and decided
		for _, need := range o.Needs {
			kept[i] = kept[i] && kept[need]
		}
	}
	return placesOf(kept), true
}

func placesOf(wanted []bool) (places []int) {
	for i, is := range wanted {
		if is {
			places = append(places, i)
		}
	}
	return places
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

// ProposalBody is the rest of a proposal.
type ProposalBody struct {
	Calls []ProposalCall  `json:"calls"`
	Lines json.RawMessage `json:"lines"` // all that the owner is shown, as the caller has it
}

// ProposalHolder is who asks for the proposals of an agent.
type ProposalHolder struct {
	Caller     string // with the agent
	Generation string // of the credentials of the agent that count
	Identity   string // of the vault
}

// isOf reports whether a proposal is one of a holder. Without an agent it is of one session.
func (p Proposal) isOf(h ProposalHolder) bool {
	if p.Identity != h.Identity {
		return false
	}
	if agent := p.Agent(); agent != "" {
		return agent == ownerfiles.AgentOf(h.Caller) && p.Generation == h.Generation
	}
	return p.Caller == h.Caller
}

// ProposalSentence returns what an owner says in the form in which an agent gets it: one row without control characters, of up to
// [MaxProposalSentence] bytes.
func ProposalSentence(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))), " ")
	return excerpt.Clip(sanitize.Line(text), MaxProposalSentence)
}

// InvalidProposal says which part of a proposal cannot be kept, and why.
type InvalidProposal struct{ Field, Reason string }

func (e *InvalidProposal) Error() string { return "the proposal: " + e.Field + " " + e.Reason }

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

// LogProposal writes to the audit log of a state folder what was decided about a proposal ("approve", "deny" or "withdraw"), where,
// and by which process. The decision counts without the line: what is made has lines of its own.
func LogProposal(state string, p Proposal, decision, by, session string) {
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind: "proposal", Decision: decision, By: by, Session: session, Agent: sanitize.Line(p.Agent()),
		Client: sanitize.Line(p.Client), Vault: sanitize.Line(p.Vault), Proposal: p.ID,
	}, audit.Durable)
}

// Names returns the names of the operations that were taken, and of those that were not.
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
