package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
)

// ProposalDraft is the part of a proposal that the owner would take, planned on the current notes.
type ProposalDraft struct {
	Proposal consent.Proposal
	Chosen   []int          // indexes of the operations, including all that they need
	Lines    []consent.Line // everything that the owner must see before they take it
	Typed    string         // what they must type to take it, "" if nothing, see [consent.StoredQuestion]
	Changed  []string       // files that the proposal depends on and that have changed since it was made
	// Digest binds what is taken to the operations, to the change that Lines show, and to the current notes.
	Digest string
}

// DraftProposal plans a part of a proposal for the owner: the operations with the chosen indexes, and all that they
// need. The gateway must be that of the agent that made the proposal. by is where the owner looks at it, see
// [ProposalAnswer]. Nothing is changed. The errors are typed.
func (g *Gateway) DraftProposal(
	ctx context.Context,
	p consent.Proposal,
	chosen []int,
	by string,
) (d ProposalDraft, err error) {
	fault := g.guard(telemetry.BatchCommand, func() {
		var at *vaultGateway
		if at, err = g.vaultOfProposal(p); err != nil {
			return
		}
		var part *draft
		if part, d, err = at.draftPart(ctx, p, chosen, by); err == nil {
			d.Lines = part.question.Lines
			d.Typed = part.question.IsMuch()
			d.Changed = at.changedSince(p)
		}
	})
	return d, cmp.Or(fault, err)
}

// ChangedUnder returns the files that a proposal depends on and that have changed since it was made.
func (g *Gateway) ChangedUnder(p consent.Proposal) ([]string, error) {
	at, err := g.vaultOfProposal(p)
	if err != nil {
		return nil, err
	}
	return at.changedSince(p), nil
}

// vaultOfProposal returns the vault of a proposal, provided that the gateway belongs to its agent and serves the
// vault.
func (g *Gateway) vaultOfProposal(p consent.Proposal) (*vaultGateway, error) {
	if g.proposals == nil {
		return nil, errNoPlaceForProposals()
	}
	if p.Agent() != g.agent {
		return nil, failure.New(
			failure.CodeAgent, "the agents in the settings have changed since",
			"the proposal is of %s, which has no rights here", WhoProposes(p),
		)
	}
	for _, at := range g.vaults {
		if at.identity() == p.Identity {
			return at, nil
		}
	}
	return nil, failure.New(
		failure.CodeVaultNotFound, "if the vault was moved, the proposal can be declined and made anew", "the vault %s of the proposal is not served here",
		excerpt.Quoted(p.Vault),
	)
}

// checkCurrent returns an error if a proposal was decided or planned again since the owner looked at it, or if the
// credentials of its agent were renewed, or if its agent may do nothing at the moment.
func (g *vaultGateway) checkCurrent(p consent.Proposal) error {
	if err := g.admission.Open(); err != nil {
		return err
	}
	current, err := g.proposals.Find(p.ID)
	if err != nil {
		return proposalError(err)
	}
	if current.State != consent.ProposalOpen {
		return proposalError(&consent.AnsweredProposal{Proposal: current})
	}
	if current.Version != p.Version {
		return proposalError(&consent.ReplacedProposal{ID: p.ID})
	}
	if g.agent != "" && p.Generation != g.admission.Generation() {
		return failure.New(
			failure.CodeAgent, "it can be declined; the agent can propose it anew",
			"the credentials of the agent were renewed since, and its proposal counts no more",
		)
	}
	return nil
}

// batchOf returns the operations with the chosen indexes as a batch of the agent that made the proposal.
func (g *vaultGateway) batchOf(p consent.Proposal, chosen []int, surface string) (Batch, error) {
	body, err := g.proposals.Body(p)
	if err != nil {
		return Batch{}, proposalError(err)
	}
	b := Batch{
		Request: Request{
			Command: telemetry.BatchCommand,
			Caller:  g.ofAgent(ownerfiles.SessionOf(p.Caller)),
			Client:  p.Client,
			Surface: surface,
			Taken:   time.Now(),
			Vault:   g.name(),
		},
		Operations: operationsOf(body.Calls, chosen),
	}
	b.flowed = g.flowsOf(p)
	return b, nil
}

// flowRule returns the current flow rule with the given name. If there is none any more, it returns a rule without
// places.
func (g *vaultGateway) flowRule(name string) policy.Flow {
	flows := g.rules.Policy().Flows
	i := slices.IndexFunc(flows, func(rule policy.Flow) bool { return rule.Name == name })
	if i < 0 {
		return policy.Flow{Name: name}
	}
	return flows[i]
}

// draftPart plans a part of a proposal.
func (g *vaultGateway) draftPart(
	ctx context.Context,
	p consent.Proposal,
	chosen []int,
	surface string,
) (part *draft, d ProposalDraft, err error) {
	if err := g.checkCurrent(p); err != nil {
		return nil, d, err
	}
	complete, ok := p.With(chosen)
	if !ok || len(complete) == 0 {
		return nil, d, failure.New(failure.CodeBadRequest, "choose one or more of them", "no operation of the proposal is chosen")
	}
	b, err := g.batchOf(p, complete, surface)
	if err != nil {
		return nil, d, err
	}
	ctx, end := g.admission.Follow(ctx, g.rules.Ended)
	defer end()
	part, clientID, err := g.draft(ctx, b, p.ID)
	if err != nil && clientID != "" {
		err = inOperation(clientID, err)
	}
	if err != nil {
		return nil, d, missingRights(err)
	}
	digest := digest(p.ID, p.Version, hex.EncodeToString(part.question.Digest[:]))
	return part, ProposalDraft{Proposal: p, Chosen: complete, Digest: hex.EncodeToString(digest[:])}, nil
}

// missingRights adds to an error about rights why they may be missing: the client's entry for its server can have
// settings as flags, which the process in which the owner decides does not have.
func missingRights(err error) error {
	cause := failure.Of(err)
	if cause.Code != policy.CodeTierClosed && cause.Code != policy.CodeMutationsOff {
		return err
	}
	const advice = "; if the client starts its server with flags, this program needs them, too"
	return failure.New(cause.Code, cause.Hint+advice, "%s", cause.Message)
}

// ProposalAnswer is how the owner takes a draft.
type ProposalAnswer struct {
	By    string // where they were shown it: "terminal" or "page"
	Says  string // their message to the agent
	Typed string // what they typed, see [ProposalDraft]
}

// TakeProposal carries out what the owner was shown and has approved, as one change or not at all. First it is
// planned and decided again: unless that gives the same as the draft, on the same notes, the result is a conflict.
// If several processes take a proposal, only one succeeds. Operations that were not chosen are declined.
func (g *Gateway) TakeProposal(ctx context.Context, shown ProposalDraft, decision ProposalAnswer) (result BatchResult) {
	started := time.Now()
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.WholeBatch, telemetry.BatchCommand, decision.By, g.agent)
	fault := g.guard(telemetry.BatchCommand, func() {
		at, err := g.vaultOfProposal(shown.Proposal)
		if err != nil {
			result = RejectBatch("", err)
			return
		}
		result = at.take(ctx, shown, decision)
	})
	if fault != nil {
		result = RejectBatch("", fault)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	observed.Ended(telemetry.CallOutcome{OK: result.OK, Error: result.failure()})
	return result
}

// take is [Gateway.TakeProposal] in one vault.
func (g *vaultGateway) take(ctx context.Context, shown ProposalDraft, decision ProposalAnswer) (result BatchResult) {
	ctx, end := g.admission.Follow(ctx, g.rules.Ended)
	defer end()
	part, now, err := g.draftPart(ctx, shown.Proposal, shown.Chosen, decision.By)
	if err != nil {
		return RejectBatch("", err)
	}
	plan := part.plan
	isSame := now.Digest == shown.Digest && slices.Equal(now.Chosen, shown.Chosen)
	if !isSame {
		return g.refuseBatch(ctx, plan.batch, "", errNotAsShown())
	}
	if typed := part.question.IsMuch(); typed != "" && decision.Typed != typed {
		return RejectBatch("", failure.New(failure.CodeUnconfirmed, "", "it is approved by typing %q", typed))
	}
	changes := len(plan.asked())
	if err := g.admission.Batch(g.accountOf(plan.batch.Caller), len(plan.steps), changes); err != nil {
		return g.refuseBatch(ctx, plan.batch, "", err)
	}
	plan.approved = part.each
	plan.approvedFiles = plan.boundFiles()
	for i, step := range plan.asked() {
		step.approved = &part.each[i]
		step.record = g.recordOfStep(ctx, plan.batch, step.Operation, step.plan)
		step.record.OfProposal(plan.proposal)
		step.record.Approved(decision.By)
	}
	defer g.recordSkipped(ctx, plan)
	plan.batch.Taken = time.Now()
	ctx, cancel := g.admission.WithDeadline(ctx, plan.batch.Taken, 0)
	defer cancel()
	release, err := g.admission.Acquire(ctx, plan.batch.Caller, telemetry.BatchCommand, g.changingMany)
	if err != nil {
		return RejectBatch("", err)
	}
	defer release()
	if err := g.checkBatchUnchanged(plan.approved, plan.approvedFiles); err != nil {
		return g.refuseBatch(ctx, plan.batch, "", errNotAsShown())
	}
	claim, err := g.proposals.Claim(ctx, consent.ProposalDecision{
		ID:      shown.Proposal.ID,
		Version: shown.Proposal.Version,
		Chosen:  shown.Chosen,
		Batch:   plan.id,
		By:      decision.By,
		Says:    decision.Says,
	})
	if err != nil {
		return RejectBatch("", proposalError(err))
	}
	result = g.carryOutBatch(ctx, plan)
	return g.settleProposal(claim, shown.Proposal, decision, plan.id, result)
}

func errNotAsShown() error {
	return failure.New(
		failure.CodeConflict, "look at it again: it is planned on the notes as they are",
		"notes or the proposal were changed since it was shown; nothing was changed",
	)
}

// settleProposal records the outcome of a proposal once its batch has ended.
func (g *vaultGateway) settleProposal(
	claim *consent.ProposalClaim,
	p consent.Proposal,
	decision ProposalAnswer,
	batch string,
	result BatchResult,
) BatchResult {
	isMade := result.OK
	var err error
	if !isMade {
		p.Batch = batch
		isMade, err = g.wasTaken(p)
	}
	if err != nil {
		claim.Leave()
		return result
	}
	end := claim.Reopen
	if isMade {
		end = claim.Complete
	}
	settled, err := end()
	if err != nil {
		result.Notices = append(result.Notices, "what became of the proposal could not be noted: "+excerpt.Reason(err))
		return result
	}
	if settled.State == consent.ProposalTaken {
		consent.LogProposal(ownerfiles.StateFolder(g.getenv, ""), settled, "approve", decision.By, g.session)
	}
	return result
}

// wasTaken reports whether the batch that a proposal was claimed for was made, according to the journal. Before
// that, it completes or undoes what a killed process has left.
func (g *vaultGateway) wasTaken(p consent.Proposal) (bool, error) {
	if p.Batch == "" || p.Identity != g.identity() {
		return false, failure.New(failure.CodeVaultNotFound, "", "the proposal is of another vault")
	}
	undoJournal, err := g.journal(g.target().Folder)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFor)
	defer cancel()
	e, err := undoJournal.Entry(ctx, p.Batch)
	if _, unknown := errors.AsType[*journal.Unknown](err); unknown {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if e.State == journal.Done || e.State == journal.Undone {
		return true, nil
	}
	s, err := g.stateOfChange(ctx, undoOf(p.Batch), p.Batch)
	if err != nil {
		return false, err
	}
	return s.State == stateApplied || s.State == statePartly, nil
}

// RecoverProposals settles proposals of this gateway that a killed process has carried out only in part.
func (g *Gateway) RecoverProposals(list []consent.Proposal) {
	if g.proposals == nil {
		return
	}
	g.proposals.Recover(list, func(p consent.Proposal) (bool, error) {
		at, err := g.vaultOfProposal(p)
		if err != nil {
			return false, err
		}
		return at.wasTaken(p)
	})
}

// ofProposal returns the plan with the proposal that it belongs to, for the journal.
func (p Plan) ofProposal(proposal string) Plan {
	for i := range p.routes {
		p.routes[i].proposal = proposal
	}
	return p
}
