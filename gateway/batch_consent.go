package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"vaultwicket/tiers"
)

// asking is an operation of a batch that only a person can allow.
type asking struct {
	step    int
	plan    Plan
	refusal error
}

// maxAsked is how many operations of a batch a person is asked about at once.
const maxAsked = 8

// agreeBatch asks a person once about all operations of a batch that need it.
func (g *door) agreeBatch(ctx context.Context, plan *batchPlan) error {
	if len(plan.asking) == 0 {
		return nil
	}
	if len(plan.asking) > maxAsked {
		return refuse(codeUnconfirmed, fmt.Sprintf("make batches with at most %d such operations", maxAsked),
			"a person would have to be asked about %d operations at once", len(plan.asking))
	}
	b := plan.batch
	request := Request{Command: "batch", Vault: b.Vault, Ask: b.Ask, Caller: b.Caller, Client: b.Client, Surface: b.Surface}
	q := Question{Vault: g.name(), Command: "batch", Caller: b.Caller}
	var texts []string
	digest := sha256.New()
	whole := plan.digest()
	digest.Write(whole[:])
	for _, a := range plan.asking {
		step := plan.steps[a.step]
		if len(step.references()) > 0 {
			return refuse(codeUnconfirmed, "send it alone, with the value itself", "operation %q needs the yes of a person, who cannot be shown what it takes from another one", clip(step.ClientID))
		}
		one, _, err := g.question(ctx, request, a.plan)
		if err != nil {
			failure := errorOf(err)
			return refuse(failure.Code, failure.Hint, "operation %q: %s", clip(step.ClientID), failure.Message)
		}
		texts = append(texts, one.Text)
		digest.Write(one.Digest[:])
		q.Destructive = q.Destructive || a.plan.call.Effect().WorseThan(tiers.Writes)
	}
	q.Text = fmt.Sprintf("A batch of %d operations, %d of which need your yes:\n\n%s", len(plan.steps), len(texts), strings.Join(texts, "\n\n"))
	q.Digest = [sha256.Size]byte(digest.Sum(nil))
	if err := g.ask(ctx, request, q, plan.asking[0].refusal); err != nil {
		return err
	}
	plan.agreed = true
	return nil
}

// from gives a request of the batch what is known of who sent it.
func (r *batchRun) from(request Request) Request {
	b := r.batch
	request.Vault, request.Caller, request.Client, request.Surface = b.Vault, b.Caller, b.Client, b.Surface
	return request
}
