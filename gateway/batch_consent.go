package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
)

// asking is an operation of a batch that only a person can allow.
type asking struct {
	step    int
	plan    Plan
	refusal error
}

const (
	maxAsked         = 8       // operations that a person is asked about at once
	maxShownTogether = 8 << 10 // bytes of their excerpts
)

// agreeBatch asks a person once about all operations of a batch that need it. The
// log has what they said for each.
func (g *door) agreeBatch(ctx context.Context, plan *batchPlan) error {
	if len(plan.asking) == 0 {
		return nil
	}
	if err := g.admission.call(plan.batch.Caller); err != nil {
		g.recordOfBatch(ctx, plan.batch, "").refused(failed(batchCommand, err))
		return err
	}
	var lines []*record
	for _, a := range plan.asking {
		line := g.recordOfStep(ctx, plan.batch, plan.steps[a.step].Operation, a.plan)
		line.asked(a.refusal)
		lines = append(lines, line)
	}
	err := g.askAboutBatch(ctx, plan)
	for _, line := range lines {
		if err != nil {
			line.refused(failed(line.line.Command, err))
			continue
		}
		line.answered()
	}
	return err
}

func (g *door) askAboutBatch(ctx context.Context, plan *batchPlan) error {
	q, err := g.questionOfBatch(ctx, plan)
	if err != nil {
		return err
	}
	thought, err := g.ask(ctx, plan.request(), q, plan.asking[0].refusal)
	if err != nil {
		return err
	}
	if thought {
		if err := g.batchAsBefore(ctx, plan, q); err != nil {
			return err
		}
	}
	plan.agreed = true
	return nil
}

// batchAsBefore is asBefore for a batch: it puts the one that was planned once
// more into its place.
func (g *door) batchAsBefore(ctx context.Context, plan *batchPlan, q Question) error {
	if err := g.admission.open(); err != nil {
		return err
	}
	now, clientID, err := g.planBatch(plan.batch)
	switch {
	case err != nil && clientID != "":
		return inOperation(clientID, err)
	case err != nil:
		return err
	}
	if clientID, err := g.foreseeAll(ctx, now); err != nil {
		return inOperation(clientID, err)
	}
	again, err := g.questionOfBatch(ctx, now)
	if err != nil {
		return err
	}
	*plan = *now
	return q.sameAs(again)
}

// request is the batch as a request that a person is asked about.
func (p *batchPlan) request() Request {
	request := p.batch.from(Request{Command: batchCommand})
	request.Ask = p.batch.Ask
	return request
}

// questionOfBatch makes one question of those about the operations.
func (g *door) questionOfBatch(ctx context.Context, plan *batchPlan) (Question, error) {
	q := Question{Vault: g.name(), Command: batchCommand, Caller: plan.batch.Caller}
	if len(plan.asking) > maxAsked {
		return q, refuse(codeUnconfirmed, fmt.Sprintf("make batches with at most %d such operations", maxAsked),
			"a person would have to be asked about %d operations at once", len(plan.asking))
	}
	var texts []string
	digest := sha256.New()
	whole := plan.digest()
	digest.Write(whole[:])
	for _, a := range plan.asking {
		step := plan.steps[a.step]
		if len(step.references()) > 0 {
			return q, refuse(codeUnconfirmed, "send it alone, with the value itself", "operation %q needs the yes of a person, who cannot be shown what it takes from another one", clip(step.ClientID))
		}
		one, err := g.question(ctx, plan.request(), a.plan, min(maxShownBytes, maxShownTogether/len(plan.asking)))
		if err != nil {
			return q, inOperation(step.ClientID, err)
		}
		texts = append(texts, one.Text)
		digest.Write(one.Digest[:])
		q.Destructive = q.Destructive || one.Destructive
	}
	q.Text = fmt.Sprintf("A batch of %d operations, %d of which need your yes:\n\n%s", len(plan.steps), len(texts), strings.Join(texts, "\n\n"))
	if len(q.Text) > maxQuestion {
		return q, refuse(codeUnconfirmed, "make it several batches", "the batch needs the yes of a person, and the question would be too long to be read")
	}
	q.Digest = [sha256.Size]byte(digest.Sum(nil))
	return q, nil
}

// inOperation says of an error in which operation it is.
func inOperation(clientID string, err error) error {
	failure := errorOf(err)
	return refuse(failure.Code, failure.Hint, "operation %q: %s", clip(clientID), failure.Message)
}
