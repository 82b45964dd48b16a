package ui

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// proposalCard is a proposal in the view of approvals.
type proposalCard struct {
	consent.Proposal
	Act  string // the first line of its text
	Who  string // who made it
	Left string // time until it expires
}

// proposalsWaiting returns the waiting proposals, oldest first.
func (p *Page) proposalsWaiting() (cards []proposalCard) {
	list, _, err := consent.OpenProposals(p.State, p.Now).List()
	if err != nil {
		return nil // the view of a proposal reports the error
	}
	for _, proposal := range list {
		if proposal.State == consent.ProposalOpen {
			cards = append(cards, p.proposalCardOf(proposal))
		}
	}
	return cards
}

// proposalCardOf returns the card of a proposal.
func (p *Page) proposalCardOf(proposal consent.Proposal) proposalCard {
	act, _, _ := strings.Cut(proposal.Text, "\n")
	return proposalCard{proposal, act, gateway.WhoProposes(proposal), countdown(proposal.Expires.Sub(p.Now()))}
}

// pickedOperation is an operation with the checkbox that accepts it.
type pickedOperation struct {
	consent.ProposalOperation
	Place  int
	Needed []string // names of the operations that it needs
	Picked bool
}

// proposalData is the data of the view of a proposal: as it was made, or a draft of the accepted operations, planned
// again.
type proposalData struct {
	proposalCard
	Picks   []pickedOperation
	Changed []string // files that have changed since the proposal was made
	Intro   []diffRow
	Files   []fileBlock
	lines   []consent.Line // what the owner is shown; [proposalData.inPart] splits it
	// The part that is shown, from 1, and their number. Only the last part has the button that accepts a draft.
	Part, Parts int
	Next, Prev  template.URL // the queries of other parts, "" for none
	// For a draft:
	Chosen   string // indexes of the accepted operations, with commas
	Digest   string // of the draft, to be sent back
	Typed    string // words that the owner has to type
	Says     string // message to the agent
	Declined int    // number of operations that the draft leaves out
	IsWhole  bool
	// Ended is the outcome of a proposal that no longer waits.
	Ended string
}

// oneProposal shows a proposal as it was made, with a checkbox for each operation.
func (p *Page) oneProposal(r request) view {
	proposal, err := p.proposalWith(r.rest)
	if err != nil {
		return view{goTo: "approvals", template: "missing", title: "Not found"}.failed(err)
	}
	data := p.proposalDataOf(proposal)
	if g, err := p.gatewayOfAgent(proposal); err == nil {
		if proposal.State == consent.ProposalMaking {
			g.RecoverProposals([]consent.Proposal{proposal})
			if current, err := p.proposalWith(proposal.ID); err == nil {
				data = p.proposalDataOf(current)
			}
		}
		if data.Ended == "" {
			data.Changed, _ = g.ChangedUnder(proposal) // after an error, accepting it reports why
		}
	}
	lines, err := gateway.ProposalLines(consent.OpenProposals(p.State, p.Now), proposal)
	data.lines = lines
	return view{template: "proposal", title: "Proposal", data: data.inPart(r.URL.Query())}.failed(err)
}

// proposalDataOf returns the data of a proposal without its lines.
func (p *Page) proposalDataOf(proposal consent.Proposal) proposalData {
	data := proposalData{proposalCard: p.proposalCardOf(proposal)}
	for i, o := range proposal.Operations {
		pick := pickedOperation{ProposalOperation: o, Place: i, Picked: true}
		for _, need := range o.Needs {
			pick.Needed = append(pick.Needed, proposal.Operations[need].ClientID)
		}
		data.Picks = append(data.Picks, pick)
	}
	switch proposal.State {
	case consent.ProposalOpen: // it still waits
	case consent.ProposalTaken:
		taken, left := proposal.Names()
		data.Ended = fmt.Sprintf("%s: %s", proposal.State, sanitize.Counted(len(taken), "operation"))
		if len(left) > 0 {
			data.Ended += ", and declined " + sanitize.Counted(len(left), "operation")
		}
	default:
		data.Ended = string(proposal.State)
	}
	return data
}

// inPart returns the data with the part of its lines that a query selects, or the first.
func (d proposalData) inPart(query url.Values) any {
	parts := partsOf(d.lines)
	d.Parts = len(parts)
	at, _ := strconv.Atoi(query.Get("part")) // without a number, the first part
	d.Part = min(max(at, 1), d.Parts)
	linkTo := func(part int) template.URL {
		other := url.Values{"part": {strconv.Itoa(part)}}
		if answer := query.Get(answerField); answer != "" {
			other.Set(answerField, answer)
		}
		return template.URL(other.Encode())
	}
	if d.Part > 1 {
		d.Prev = linkTo(d.Part - 1)
	}
	if d.Part < d.Parts {
		d.Next = linkTo(d.Part + 1)
	}
	_, d.Intro, d.Files = blocksOf(parts[d.Part-1])
	return d
}

// proposalWith returns the proposal with a code or an id.
func (p *Page) proposalWith(codeOrID string) (consent.Proposal, error) {
	list, _, err := consent.OpenProposals(p.State, p.Now).List()
	if err != nil {
		return consent.Proposal{}, failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err)
	}
	i := slices.IndexFunc(list, func(proposal consent.Proposal) bool {
		return proposal.ID == codeOrID || consent.SameCode(codeOrID, proposal.Code)
	})
	if i < 0 {
		return consent.Proposal{}, failure.New(
			failure.CodeNotFound, "it has expired, or its agent has withdrawn it", "no such proposal",
		)
	}
	return list[i], nil
}

// gatewayOfAgent returns a gateway with the rights of the agent of a proposal.
func (p *Page) gatewayOfAgent(proposal consent.Proposal) (*gateway.Gateway, error) {
	if proposal.Agent() == "" {
		return p.Gateway, nil
	}
	return p.gatewayOf(tryData{Agent: proposal.Agent(), Agents: []string{proposal.Agent()}})
}

// pickedIn returns the indexes of the operations that are ticked in a form.
func pickedIn(r request) (indexes []int) {
	for _, text := range r.PostForm["pick"] {
		if i, err := strconv.Atoi(text); err == nil {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// proposalOfForm returns the proposal that a form names, a gateway with the rights of its agent, and the view to answer
// with. After an error, the view shows it.
func (p *Page) proposalOfForm(r request) (proposal consent.Proposal, g *gateway.Gateway, v view, err error) {
	code := r.PostForm.Get("code")
	proposal, err = p.proposalWith(code)
	if err != nil {
		return proposal, nil, view{goTo: "approvals"}.failed(err), err
	}
	v = view{goTo: "approvals/proposal/" + code}
	g, err = p.gatewayOfAgent(proposal)
	if err != nil {
		return proposal, nil, v.failed(err), err
	}
	return proposal, g, v, nil
}

// draftProposal plans the ticked operations on the current notes, and shows them with the button that accepts them.
func (p *Page) draftProposal(r request) view {
	proposal, g, v, err := p.proposalOfForm(r)
	if err != nil {
		return v
	}
	draft, err := g.DraftProposal(r.Context(), proposal, pickedIn(r), Surface)
	if err != nil {
		return v.failed(err)
	}
	data := p.proposalDataOf(proposal)
	data.Changed = draft.Changed
	data.lines = draft.Lines
	data.Digest = draft.Digest
	data.Typed = draft.Typed
	data.Says = consent.ProposalSentence(r.PostForm.Get("says"))
	var chosen []string
	for i := range data.Picks {
		data.Picks[i].Picked = slices.Contains(draft.Chosen, i)
		if data.Picks[i].Picked {
			chosen = append(chosen, strconv.Itoa(i))
		}
	}
	data.Chosen = strings.Join(chosen, ",")
	data.Declined = len(proposal.Operations) - len(chosen)
	data.IsWhole = data.Declined == 0
	v.template = "proposal"
	v.title = "Proposal"
	v.data = data
	return v
}

// takeProposal carries out the draft that was shown.
func (p *Page) takeProposal(r request) view {
	proposal, g, v, err := p.proposalOfForm(r)
	if err != nil {
		return v
	}
	shown := gateway.ProposalDraft{Proposal: proposal, Digest: r.PostForm.Get("digest")}
	for text := range strings.SplitSeq(r.PostForm.Get("chosen"), ",") {
		i, err := strconv.Atoi(text)
		if err != nil {
			return v.failed(failure.New(failure.CodeBadRequest, "choose one or more of them", "no operation is chosen"))
		}
		shown.Chosen = append(shown.Chosen, i)
	}
	result := g.TakeProposal(r.Context(), shown, gateway.ProposalAnswer{
		By: Surface, Says: r.PostForm.Get("says"), Typed: r.PostForm.Get("typed"),
	})
	if cause := result.WhyNotMade(); cause != nil {
		return v.failed(failure.New(cause.Code, cause.Hint, "%s", cause.Message))
	}
	v.goTo = "approvals"
	v.note = fmt.Sprintf("Done: %d of %s. The view of changes takes it back.",
		len(shown.Chosen), sanitize.Counted(len(proposal.Operations), "operation"))
	return v
}

// declineProposal declines a whole proposal.
func (p *Page) declineProposal(r request) view {
	v := view{goTo: "approvals"}
	proposal, err := p.proposalWith(r.PostForm.Get("code"))
	if err != nil {
		return v.failed(err)
	}
	declined, err := consent.OpenProposals(p.State, p.Now).Decline(proposal.ID, Surface, r.PostForm.Get("says"))
	if answered, ok := errors.AsType[*consent.AnsweredProposal](err); ok {
		return v.failed(failure.New(failure.CodeConflict, "it was decided here or in a terminal", "%v", answered))
	}
	if err != nil {
		return v.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err))
	}
	consent.LogProposal(p.State, declined, "deny", Surface, p.Session)
	v.note = "Declined."
	return v
}
