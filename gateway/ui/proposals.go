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
	Act, Who, Left string
}

// proposalsWaiting returns the proposals that wait, the oldest first.
func (p *Page) proposalsWaiting() (cards []proposalCard) {
	list, _, err := consent.OpenProposals(p.State, p.Now).List()
	if err != nil {
		return nil // the view of one says why
	}
	for _, one := range list {
		if one.State == consent.ProposalOpen {
			cards = append(cards, p.proposalCardOf(one))
		}
	}
	return cards
}

func (p *Page) proposalCardOf(one consent.Proposal) proposalCard {
	act, _, _ := strings.Cut(one.Text, "\n")
	return proposalCard{one, act, gateway.WhoProposes(one), countdown(one.Expires.Sub(p.Now()))}
}

// pickedOperation is an operation with the box that takes it.
type pickedOperation struct {
	consent.ProposalOperation
	Place  int
	Needed []string // the names of those that it needs
	Picked bool
}

// proposalData is what the view of a proposal shows: as it was made, or what would be taken, planned anew.
type proposalData struct {
	proposalCard
	Picks   []pickedOperation
	Changed []string // files that are not as they were
	Intro   []diffRow
	Files   []fileBlock
	// One that is too long for a view is read in parts. What would be taken is taken where its end is shown.
	lines       []consent.Line
	Part, Parts int          // from 1
	Next, Prev  template.URL // the queries of other parts, "" for none
	// Of what would be taken: the operations, what binds it, the words to type, and what is said to the agent.
	Chosen, Digest, Typed, Says string
	Declined                    int // operations, with it
	IsWhole                     bool
	// Ended is what became of a proposal that does not wait.
	Ended string
}

// oneProposal shows a proposal as it was made, with a box for each operation.
func (p *Page) oneProposal(r request) view {
	one, err := p.proposalWith(r.rest)
	if err != nil {
		return view{goTo: "approvals", template: "missing", title: "Not found"}.failed(err)
	}
	data := p.proposalDataOf(one)
	if g, err := p.gatewayOfAgent(one); err == nil {
		if one.State == consent.ProposalMaking {
			g.RecoverProposals([]consent.Proposal{one})
			if again, err := p.proposalWith(one.ID); err == nil {
				data = p.proposalDataOf(again)
			}
		}
		if data.Ended == "" {
			data.Changed, _ = g.ChangedUnder(one) // where that is not known, taking it says why
		}
	}
	lines, err := gateway.ProposalLines(consent.OpenProposals(p.State, p.Now), one)
	data.lines = lines
	return view{template: "proposal", title: "Proposal", data: data.inPart(r.URL.Query())}.failed(err)
}

func (p *Page) proposalDataOf(one consent.Proposal) proposalData {
	data := proposalData{proposalCard: p.proposalCardOf(one)}
	for i, o := range one.Operations {
		pick := pickedOperation{ProposalOperation: o, Place: i, Picked: true}
		for _, need := range o.Needs {
			pick.Needed = append(pick.Needed, one.Operations[need].ClientID)
		}
		data.Picks = append(data.Picks, pick)
	}
	if one.State != consent.ProposalOpen {
		taken, left := one.Names()
		data.Ended = fmt.Sprintf("%s: %s", one.State, sanitize.Counted(len(taken), "operation"))
		if one.State == consent.ProposalTaken && len(left) > 0 {
			data.Ended += ", and declined " + sanitize.Counted(len(left), "operation")
		}
		if one.State != consent.ProposalTaken {
			data.Ended = string(one.State)
		}
	}
	return data
}

// inPart returns the data with the part of its lines that a query names, or the first.
func (d proposalData) inPart(query url.Values) any {
	parts := partsOf(d.lines)
	d.Parts = len(parts)
	at, _ := strconv.Atoi(query.Get("part")) // anything else is the first
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
func (p *Page) proposalWith(typed string) (consent.Proposal, error) {
	list, _, err := consent.OpenProposals(p.State, p.Now).List()
	if err != nil {
		return consent.Proposal{}, failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err)
	}
	i := slices.IndexFunc(list, func(one consent.Proposal) bool { return one.ID == typed || consent.SameCode(typed, one.Code) })
	if i < 0 {
		return consent.Proposal{}, failure.New(
			failure.CodeNotFound, "it has expired, or its agent has withdrawn it", "no such proposal",
		)
	}
	return list[i], nil
}

// gatewayOfAgent returns a gateway with the rights of the agent of a proposal.
func (p *Page) gatewayOfAgent(one consent.Proposal) (*gateway.Gateway, error) {
	if one.Agent() == "" {
		return p.Gateway, nil
	}
	return p.gatewayOf(tryData{Agent: one.Agent(), Agents: []string{one.Agent()}})
}

// pickedIn returns the operations that are ticked in a form.
func pickedIn(r request) (places []int) {
	for _, text := range r.PostForm["pick"] {
		if i, err := strconv.Atoi(text); err == nil {
			places = append(places, i)
		}
	}
	return places
}

// proposalOfForm returns the proposal that a form is about, with a gateway that has the rights of its agent. An error comes
// with the view that shows it.
func (p *Page) proposalOfForm(r request) (one consent.Proposal, g *gateway.Gateway, v view, err error) {
	code := r.PostForm.Get("code")
	if one, err = p.proposalWith(code); err != nil {
		return one, nil, view{goTo: "approvals"}.failed(err), err
	}
	v = view{goTo: "approvals/proposal/" + code}
	if g, err = p.gatewayOfAgent(one); err != nil {
		return one, nil, v.failed(err), err
	}
	return one, g, v, nil
}

// draftProposal plans what is ticked on the notes as they are, and shows it with the button that takes it.
func (p *Page) draftProposal(r request) view {
	one, g, v, err := p.proposalOfForm(r)
	if err != nil {
		return v
	}
	drawn, err := g.DraftProposal(r.Context(), one, pickedIn(r), Surface)
	if err != nil {
		return v.failed(err)
	}
	data := p.proposalDataOf(one)
	data.Changed = drawn.Changed
	data.lines = drawn.Lines
	data.Digest = drawn.Digest
	data.Typed = drawn.Typed
	data.Says = consent.ProposalSentence(r.PostForm.Get("says"))
	var chosen []string
	for i := range data.Picks {
		data.Picks[i].Picked = slices.Contains(drawn.Chosen, i)
		if data.Picks[i].Picked {
			chosen = append(chosen, strconv.Itoa(i))
		}
	}
	data.Chosen = strings.Join(chosen, ",")
	data.Declined = len(one.Operations) - len(chosen)
	data.IsWhole = data.Declined == 0
	v.template = "proposal"
	v.title = "Proposal"
	v.data = data
	return v
}

// takeProposal carries out what was shown.
func (p *Page) takeProposal(r request) view {
	one, g, v, err := p.proposalOfForm(r)
	if err != nil {
		return v
	}
	shown := gateway.ProposalDraft{Proposal: one, Digest: r.PostForm.Get("digest")}
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
		len(shown.Chosen), sanitize.Counted(len(one.Operations), "operation"))
	return v
}

// declineProposal declines all of a proposal.
func (p *Page) declineProposal(r request) view {
	v := view{goTo: "approvals"}
	one, err := p.proposalWith(r.PostForm.Get("code"))
	if err != nil {
		return v.failed(err)
	}
	declined, err := consent.OpenProposals(p.State, p.Now).Decline(one.ID, Surface, r.PostForm.Get("says"))
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
