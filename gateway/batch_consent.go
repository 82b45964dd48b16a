package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/records"
	"vaultwicket/gateway/state/approvals"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// needsApprovalStep is an operation of a batch that requires approval.
type needsApprovalStep struct {
	step    int
	plan    Plan
	refusal error
}

const (
	maxAsked   = 8  // operations that are told in a form
	maxBesides = 16 // lines about the others in a form
)

// requestBatchApproval asks the user once about all operations of a batch that need it. The
// log has what they said for each.
func (g *vaultGateway) requestBatchApproval(ctx context.Context, plan *batchPlan) error {
	if len(plan.needApproval) == 0 {
		return nil
	}
	if err := g.admission.Call(plan.batch.Caller); err != nil { // to ask is a call, too
		g.recordOfBatch(ctx, plan.batch, "").Refused(err)
		return err
	}
	var lines []*records.Record
	for _, a := range plan.needApproval {
		line := g.recordOfStep(ctx, plan.batch, plan.steps[a.step].Operation, a.plan)
		line.Asked(a.refusal)
		lines = append(lines, line)
	}
	by, err := g.askAboutBatch(ctx, plan)
	for _, line := range lines {
		if err != nil {
			line.Refused(err)
			continue
		}
		line.Approved(by)
	}
	return err
}

// askAboutBatch asks the user about a batch, and says where they approved it.
func (g *vaultGateway) askAboutBatch(ctx context.Context, plan *batchPlan) (by string, err error) {
	calls := g.callsAsked(plan)
	if err := g.consent.CheckDeclined(observe.BatchCommand, g.callerOf(plan.request()), plan.batch.Answers, append(calls, consent.DigestOfCalls(calls))...); err != nil {
		return "", err
	}
	q, each, err := g.questionOfBatch(ctx, plan)
	if err != nil {
		return "", err
	}
	given, err := g.consent.Request(ctx, g.requester(plan.request()), q, plan.needApproval[0].refusal)
	if err != nil {
		return "", err
	}
	if given.Waited {
		if each, err = g.replanBatch(ctx, plan, q); err != nil {
			return "", err
		}
	}
	plan.question = q
	for i, a := range plan.needApproval {
		plan.steps[a.step].approved = &each[i]
	}
	return given.By, nil
}

// callsAsked are the calls of the operations that the user is asked about.
func (g *vaultGateway) callsAsked(plan *batchPlan) (calls []consent.CallDigest) {
	for _, a := range plan.needApproval {
		calls = append(calls, g.digestOfCall(a.plan))
	}
	return calls
}

// replanBatch plans a batch again after the user approved it, as replan does for a call,
// and replaces the plan. The error says that the question would now be another one.
func (g *vaultGateway) replanBatch(ctx context.Context, plan *batchPlan, q consent.Question) (each []consent.Question, err error) {
	if err := g.admission.Open(); err != nil {
		return nil, err
	}
	now, clientID, err := g.planBatch(plan.batch)
	switch {
	case err != nil && clientID != "":
		return nil, inOperation(clientID, err)
	case err != nil:
		return nil, err
	}
	if clientID, err := g.assessLosses(ctx, now); err != nil {
		return nil, inOperation(clientID, err)
	}
	again, each, err := g.questionOfBatch(ctx, now)
	if err != nil {
		return nil, err
	}
	*plan = *now
	return each, q.SameAs(again)
}

// checkBatchUnchanged refuses a batch to which the user said yes, and which then had to
// wait for a change that made it another one. Nothing of it has begun.
func (g *vaultGateway) checkBatchUnchanged(ctx context.Context, plan *batchPlan) error {
	if plan.question.Digest == (consent.Question{}).Digest {
		return nil // nobody was asked
	}
	again, _, err := g.questionOfBatch(ctx, plan)
	if err != nil {
		return err
	}
	return plan.question.SameAs(again)
}

// request is the batch as a request for the question to the user.
func (p *batchPlan) request() Request {
	request := p.batch.from(Request{Command: observe.BatchCommand})
	request.Ask, request.Answers, request.OneSession = p.batch.Ask, p.batch.Answers, p.batch.OneSession
	return request
}

// questionOfBatch makes one question of those about the operations, and returns
// these too. Each of them is about the notes as they are before the batch: what an
// operation does to a note that another one is asked about, the user has to see.
func (g *vaultGateway) questionOfBatch(ctx context.Context, plan *batchPlan) (q consent.Question, each []consent.Question, err error) {
	q = consent.Question{Vault: g.name(), Command: observe.BatchCommand, Caller: plan.batch.Caller}
	digest := sha256.New()
	whole := plan.digest()
	digest.Write(whole[:])
	q.InForm = true
	heading := fmt.Sprintf("A batch of %d operations, %d of which need approval:", len(plan.steps), len(plan.needApproval))
	if len(plan.needApproval) == 1 {
		heading = fmt.Sprintf("A batch of %d operations, one of which needs approval:", len(plan.steps))
	}
	q.Lines, q.Text = []approvals.Line{{Text: heading}}, heading
	for i, a := range plan.needApproval {
		step := plan.steps[a.step]
		if len(step.references()) > 0 {
			return q, nil, failure.New(failure.CodeUnconfirmed, "send it alone, with the value itself", "operation %q requires user approval, and the user cannot be shown what it takes from another one", quote.Short(step.ClientID))
		}
		one, err := g.question(ctx, plan.request(), a.plan, len(plan.needApproval))
		if err != nil {
			return q, nil, inOperation(step.ClientID, err)
		}
		each = append(each, one)
		q.Lines, q.InForm = append(append(q.Lines, approvals.Line{}), one.Lines...), q.InForm && one.InForm && i < maxAsked
		if i < maxAsked {
			q.Text += "\n\n" + one.Text
		}
		digest.Write(one.Digest[:])
		q.Destructive = q.Destructive || one.Destructive
	}
	if n := len(plan.needApproval) - maxAsked; n > 0 {
		q.Text += fmt.Sprintf("\n\n… left out: %d operations", n)
	}
	if besides := g.besides(ctx, plan); len(besides) > 0 {
		q.Lines = append(append(q.Lines, approvals.Line{}), besides...)
		if n := len(besides) - maxBesides; n > 0 {
			besides, q.InForm = append(besides[:maxBesides:maxBesides], approvals.Line{Text: fmt.Sprintf("… left out: %d lines", n)}), false
		}
		q.Text += "\n\n" + consent.Draw(besides)
	}
	q.Digest = [sha256.Size]byte(digest.Sum(nil))
	q.Call = consent.DigestOfCalls(g.callsAsked(plan))
	return q, each, nil
}

// inOperation says of an error in which operation it is.
func inOperation(clientID string, err error) error {
	cause := failure.Of(err)
	return failure.New(cause.Code, cause.Hint, "operation %q: %s", quote.Short(clientID), cause.Message)
}

// refuseBatch ends a batch of which nothing is begun. The log says which of its
// operations was refused, or that it was the batch, and it counts as one call.
func (g *vaultGateway) refuseBatch(ctx context.Context, b Batch, clientID string, err error) BatchResult {
	if limit := g.admission.Call(b.Caller); limit != nil {
		clientID, err = "", limit
	}
	g.recordOfBatch(ctx, b, clientID).Refused(err)
	return refusedBatch(clientID, err)
}

// recordOfBatch begins a record of the batch, or of its operation of that name.
func (g *vaultGateway) recordOfBatch(ctx context.Context, b Batch, clientID string) *records.Record {
	i := slices.IndexFunc(b.Operations, func(o Operation) bool { return clientID != "" && o.ClientID == clientID })
	if i < 0 {
		return g.record(ctx, g.name(), b.from(Request{Command: observe.BatchCommand}))
	}
	o, plan := b.Operations[i], Plan{}
	if request, err := o.withPlaceholders(); err == nil {
		plan, _ = g.Plan(request)
	}
	return g.recordOfStep(ctx, b, o, plan)
}

// recordOfStep begins the record of an operation before the batch is begun.
func (g *vaultGateway) recordOfStep(ctx context.Context, b Batch, o Operation, plan Plan) *records.Record {
	line := g.record(ctx, g.name(), b.from(o.Request))
	line.Described(plan.call, plan.refusal)
	line.Redact(slices.Collect(maps.Keys(o.From)))
	return line
}

// from gives a request of the batch what is known of who sent it.
func (b Batch) from(request Request) Request {
	request.Vault, request.Caller, request.Client, request.Surface = b.Vault, b.Caller, b.Client, b.Surface
	return request
}

// assessLosses is assessLoss for the operations of a batch, each on the notes as they
// are before it. Of one that takes values from others nothing is known; it is judged
// when it runs, and nobody is asked then.
func (g *vaultGateway) assessLosses(ctx context.Context, plan *batchPlan) (clientID string, err error) {
	var asked []needsApprovalStep
	touched := map[string]bool{}
	for i := range plan.steps {
		known := slices.IndexFunc(plan.needApproval, func(a needsApprovalStep) bool { return a.step == i })
		switch {
		case len(plan.steps[i].references()) > 0 && known >= 0:
			asked = append(asked, plan.needApproval[known])
			continue
		case len(plan.steps[i].references()) > 0:
			continue
		}
		var refusal error
		planned := plan.steps[i].plan
		if known >= 0 {
			refusal = plan.needApproval[known].refusal
		}
		planned, refusal = g.assessLoss(ctx, plan.batch.from(plan.steps[i].Request), planned, refusal)
		for _, path := range planned.touches() {
			touched[access.Fold(path)] = true
		}
		if refusal != nil && !needsApproval(refusal) {
			return plan.steps[i].ClientID, refusal
		}
		plan.steps[i].plan, plan.steps[i].call = planned, planned.call
		if refusal != nil {
			asked = append(asked, needsApprovalStep{i, planned, refusal})
		}
	}
	plan.needApproval = asked
	if len(touched) > maxTouched {
		return g.askAboutAll(plan, len(touched))
	}
	return "", nil
}

// maxTouched is how many notes a batch changes or moves before all of that is destructive,
// as it is for one call: see package command of the embedded program.
const maxTouched = 20

// askAboutAll has the user asked about all operations of a batch that change notes.
func (g *vaultGateway) askAboutAll(plan *batchPlan, notes int) (clientID string, err error) {
	var asked []needsApprovalStep
	for i := range plan.steps {
		step := &plan.steps[i]
		known := slices.IndexFunc(plan.needApproval, func(a needsApprovalStep) bool { return a.step == i })
		if known >= 0 {
			asked = append(asked, plan.needApproval[known])
			continue
		}
		if !step.plan.mayLose() || step.plan.policy.Confirm == policy.ConfirmNever {
			continue
		}
		planned, refusal := step.plan.withLoss(fmt.Sprintf("is part of a batch that changes %d notes", notes), nil)
		if refusal != nil && !needsApproval(refusal) {
			return step.ClientID, refusal
		}
		step.call = planned.call
		asked = append(asked, needsApprovalStep{i, planned, refusal})
	}
	plan.needApproval = asked
	return "", nil
}
