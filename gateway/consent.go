package gateway

import (
	"context"
	"slices"

	"vaultwicket/gateway/consent"
)

// plan returns a plan as it may be carried out.
func (by approved) plan(p Plan) (Plan, error) {
	if by.takesBack {
		return p.withApproval(consent.Question{})
	}
	return p.withApproval(*by.question)
}

// requestApproval asks a person about a plan that only they can allow. It returns the plan
// as it may be carried out, or why it may not.
func (g *vaultGateway) requestApproval(ctx context.Context, req Request, plan Plan, refusal error) (Plan, error) {
	if err := g.consent.CheckDeclined(plan.call.Name(), g.callerOf(req), req.Answers, g.digestOfCall(plan)); err != nil {
		return plan, err
	}
	q, err := g.question(ctx, req, plan, 1)
	if err != nil {
		return plan, err
	}
	userWaited, err := g.consent.Request(ctx, g.requester(req), q, refusal)
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

// requester is who sends a request, as the one who needs an approval.
func (g *vaultGateway) requester(req Request) consent.Requester {
	by := consent.Requester{Caller: g.callerOf(req), Client: req.Client, Ask: req.Ask}
	if req.OneSession {
		by.Session = g.identity() + "\x00" + req.Caller
	}
	return by
}

// replan plans once more what a person said yes to. They may have thought about
// it for minutes, in which somebody can have closed what was open, and notes can
// have become others than the person was shown.
func (g *vaultGateway) replan(ctx context.Context, req Request, q consent.Question) (Plan, error) {
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
	return plan, q.SameAs(again)
}

// approved returns a plan to which a person said yes: for the change that q has
// shown, and for no other.
func (p Plan) withApproval(q consent.Question) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		r.approved, r.shown = true, bindingOf(q)
		var err error
		if p.routes[i], err = r.permitted(); err != nil {
			return p, err
		}
	}
	p.refusal = nil
	return p, nil
}

// binding is what a call must still be when it is carried out, for an approval to
// be one of it. The zero value is any call.
type binding struct {
	change  string
	spelled map[string]string
}

// approved says how a call that needs approval may be carried out: by a question
// that the user said yes to. The zero value asks.
type approved struct {
	question *consent.Question
	// inBatch says that the user was asked about the whole batch: what they were
	// not shown there is not asked about in the midst of it.
	inBatch bool
	// takesBack is for undoing what an operation of the batch has just done.
	takesBack bool
}

func bindingOf(q consent.Question) binding { return binding{q.Change, q.Spelled} }
