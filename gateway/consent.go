package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/approvals"
)

// plan returns a plan as it may be carried out.
func (by approved) plan(p Plan) (Plan, error) {
	if by.takesBack {
		return p.withApproval(Question{})
	}
	return p.withApproval(*by.question)
}

// requestApproval asks a person about a plan that only they can allow. It returns the plan
// as it may be carried out, or why it may not.
func (g *vaultGateway) requestApproval(ctx context.Context, req Request, plan Plan, refusal error) (Plan, error) {
	if req.Answers {
		g.consent.attention.answered(g.callerOf(req), g.digestOfCall(plan))
	}
	if g.consent.attention.isDeclined(g.callerOf(req), g.digestOfCall(plan)) {
		return plan, declinedError(plan.call.Name())
	}
	q, err := g.question(ctx, req, plan, 1)
	if err != nil {
		return plan, err
	}
	userWaited, err := g.ask(ctx, req, q, refusal)
	if err != nil {
		return plan, err
	}
	if userWaited {
		if plan, err = g.replan(ctx, req, q); err != nil {
			return plan, err
		}
	}
	return plan.withApproval(q)
}

// replan plans once more what a person said yes to. They may have thought about
// it for minutes, in which somebody can have closed what was open, and notes can
// have become others than the person was shown.
func (g *vaultGateway) replan(ctx context.Context, req Request, q Question) (Plan, error) {
	if err := g.admission.Open(); err != nil {
		return Plan{}, err
	}
	plan, err := g.Plan(req)
	plan, err = g.assessLoss(ctx, req, plan, err)
	if err != nil && !needsApproval(err) {
		return plan, err
	}
	again, err := g.question(ctx, req, plan, 1)
	if err != nil {
		return plan, err
	}
	return plan, q.sameAs(again)
}

// approved returns a plan to which a person said yes: for the change that q has
// shown, and for no other.
func (p Plan) withApproval(q Question) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		r.approved, r.shown = true, q.binding()
		var err error
		if p.routes[i], err = r.permitted(); err != nil {
			return p, err
		}
	}
	p.refusal = nil
	return p, nil
}

// ask returns nil if a person said yes, else the error for the caller. thought says
// that the yes was waited for.
func (g *vaultGateway) ask(ctx context.Context, req Request, q Question, refusal error) (userWaited bool, err error) {
	standing := g.identity() + "\x00" + req.Caller
	if req.OneSession && g.standsFor(standing, q) {
		return false, nil
	}
	vault, caller := clean.Line(cmp.Or(q.Vault, "the app's choice")), g.callerOf(req)
	if g.consent.attention.isDeclined(caller, q.calls()...) {
		return false, declinedError(q.Command)
	}
	pending, err := g.redeem(vault, q, caller)
	if pending == nil || err != nil {
		return false, err
	}
	reply := NoWay
	if req.Ask != nil {
		end, ok := g.consent.attention.begin(caller, q.calls())
		if !ok {
			return false, anotherIsOpen(q)
		}
		defer func() { end(reply) }()
		reply = req.Ask(ctx, q)
	}
	switch reply {
	case YesHere:
		if req.OneSession && !q.Destructive && q.Folder != "" {
			_ = g.consent.standing.Grant(standing, q.Folder, time.Now().Add(standingYes)) // a yes to this call it is anyway
		}
		return true, nil
	case Yes:
		return true, nil
	case No:
		return false, declinedError(q.Command)
	case Later:
		return false, failure.New(failure.CodeUnconfirmed, "send the call again with the answer of the user", "command %q: the user is being asked", q.Command)
	case Void:
		return false, failure.New(failure.CodeUnconfirmed, "send the call again, without an answer: the user is asked again", "command %q: the answer is not one to this call on the notes as they are, or comes too late", q.Command)
	}
	if pending.State == approvals.Pending {
		return false, waiting(q)
	}
	return false, g.leaveQuestion(vault, q, caller, req, refusal)
}

// standsFor reports whether a yes for folders covers all that a call would change.
func (g *vaultGateway) standsFor(standing string, q Question) bool {
	for _, f := range q.files {
		for _, path := range f.places() {
			if !g.consent.standing.Covers(standing, path, q.Destructive) {
				return false
			}
		}
	}
	return len(q.files) > 0
}

// redeem takes a yes that was given in a terminal. Without one it says what
// became of the question; an error is the answer to the call.
func (g *vaultGateway) redeem(vault string, q Question, caller string) (*approvals.Ungranted, error) {
	if g.consent.store == nil {
		return &approvals.Ungranted{}, nil
	}
	held, err := g.consent.store.Held(vault, approvals.Digest(q.call), caller)
	switch {
	case err != nil:
		return nil, unreadable(q, err)
	case held == approvals.Denied: // also where an earlier yes was not used
		return nil, declinedError(q.Command)
	}
	grant, err := g.consent.store.Redeem(vault, q.Digest, caller)
	var ungranted *approvals.Ungranted
	switch {
	case err == nil && grant.Valid():
		return nil, nil
	case !errors.As(err, &ungranted):
		return nil, unreadable(q, err)
	case ungranted.State == approvals.Denied:
		return nil, declinedError(q.Command)
	case ungranted.State != approvals.Pending && held == approvals.Pending:
		return nil, anotherIsOpen(q)
	}
	return ungranted, nil
}

func unreadable(q Question, err error) error {
	return failure.New(failure.CodeUnconfirmed, `the user can look at them with "vaultwicket approvals"`, "command %q: the answers of the user cannot be read: %v", q.Command, err)
}

// leaveQuestion puts a question where a person finds it in a terminal.
func (g *vaultGateway) leaveQuestion(vault string, q Question, caller string, req Request, refusal error) error {
	if g.consent.store == nil {
		return refusal
	}
	_, err := g.consent.store.Ask(approvals.Question{
		Session: caller, Client: clean.Line(quote.Short(req.Client)), Vault: vault, Command: q.Command, Text: q.Text, Digest: q.Digest, Call: approvals.Digest(q.call),
	})
	var open *approvals.StillOpen
	switch {
	case errors.As(err, &open):
		return anotherIsOpen(q)
	case err != nil:
		return failure.New(failure.CodeUnconfirmed, failure.Of(refusal).Hint, "command %q: approval cannot be requested: %v", q.Command, err)
	}
	return waiting(q)
}

// waiting tells a caller that the user has to answer in a terminal. It does not
// tell the code of the question: who has it and a terminal can say yes.
func waiting(q Question) error {
	return failure.New(failure.CodeUnconfirmed, `the user can list what waits for approval with "vaultwicket approvals" in a terminal, and approve it there; then send the same call again`,
		"command %q requires user approval", q.Command)
}

func anotherIsOpen(q Question) error {
	return failure.New(failure.CodeUnconfirmed, `wait until the user has answered; "vaultwicket approvals" shows them what waits in a terminal`,
		"command %q requires user approval, and another question of this session is still open", q.Command)
}
