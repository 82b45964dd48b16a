package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/pages"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/tiers"
)

// checkUndoable refuses an atomic batch with a change that could not be undone.
func (g *vaultGateway) checkUndoable(plan *batchPlan) (clientID string, err error) {
	for _, step := range plan.steps {
		effect := step.plan.call.Effect()
		if effect.Mutates() && effect != tiers.Writes && effect != tiers.Destroys {
			return step.ClientID, failure.New(failure.CodeBadRequest, "leave it out of the atomic batch", "command %q changes more than notes, which nothing can take back", step.Command)
		}
	}
	if g.embeddedProgram() == nil {
		return "", failure.New(failure.CodeBadRequest, "the user can set vault to the folder of the vault", "an atomic batch with changes needs the folder of the vault, which is not known")
	}
	if _, err := g.journal(g.target().Folder); err != nil {
		return "", err
	}
	if _, err := g.Plan(undoOf(journal.NewID(time.Now()))); err != nil && !needsApproval(err) {
		cause := failure.Of(err)
		return "", failure.New(cause.Code, cause.Hint, "an atomic batch has to be able to take back what it did: %s", cause.Message)
	}
	return "", nil
}

func undoOf(id string) Request {
	return Request{Command: undoCommand, Params: allowlist.Params{"id": allowlist.Text(id)}}
}

// undoOne undoes the change of an operation.
func (r *batchRun) undoOne(ctx context.Context, i int) {
	result, done := r.results[i], &r.done[i]
	undone := false
	switch {
	case result.Change != nil:
		var back Result
		fault := r.gateway.guard(undoCommand, func() {
			back, _ = r.gateway.step(ctx, r.gateway.runner.Hold(), r.batch.from(undoOf(result.Change.ID)), approved{inBatch: true, takesBack: true})
		})
		if fault != nil {
			back = Fault(undoCommand)
		}
		if undone = back.OK; !undone {
			done.Notice = "not undone: " + back.Error.Message
		}
	case result.Error != nil && result.Error.Code == failure.CodeUnknown:
		done.Notice = "not undone: unknown whether it was made"
	case slices.ContainsFunc(result.Notices, func(n string) bool { return strings.HasPrefix(n, notKept) }):
		done.Notice = "not undone: it is " + notKept
	default:
		return // it changed nothing
	}
	done.Undone = &undone
}

// rememberedBatch is [rememberedResult] for a batch.
type rememberedBatch struct {
	BatchResult
	Hidden string `json:"hidden"`
}

// firstBatch returns the first answer again.
func (g *vaultGateway) firstBatch(ctx context.Context, plan *batchPlan, answer []byte) BatchResult {
	var kept rememberedBatch
	if err := json.Unmarshal(answer, &kept); err != nil {
		return RejectBatch("", failure.New(failure.CodeUnknown, "look at the notes", "the answer that was kept cannot be read"))
	}
	first := kept.BatchResult
	if kept.Hidden != g.rules.Digest() {
		// Remove from the first answer to a batch what is hidden by now.
		for i := range first.Results[:min(len(first.Results), len(plan.steps))] {
			done, step := &first.Results[i], plan.steps[i]
			if done.Result == nil {
				continue
			}
			err := g.mayBeSeen(step.plan.call, done.Result.Path, done.Result.Stdout)
			if err == nil && len(step.From) > 0 && done.Result.Path == "" {
				err = missing(step.plan.call) // of which note it was is not known
			}
			if err != nil {
				*done = OperationResult{ClientID: done.ClientID, Status: statusError, Result: Reject(step.Command, err).answer()}
			}
		}
		first.count()
	}
	Result{ExitCode: -1, Error: first.failure()}.endedIn(g.recordOfBatch(ctx, plan.batch, ""))
	first.Notices = append(first.Notices, firstTime)
	return first
}

// dispositionOfBatch says what happens to the key of a batch.
func dispositionOfBatch(plan *batchPlan, result BatchResult) keyDisposition {
	what := keyForget
	for i, done := range result.Results {
		if done.Result == nil || !plan.steps[i].plan.call.Effect().Mutates() {
			continue
		}
		switch dispositionOf(done.Result.Error, done.Result.Change != nil) {
		case keyStaysClaimed:
			return keyStaysClaimed
		case keyRemember:
			what = keyRemember
		}
	}
	return what
}

const (
	maxKept   = 512 << 10 // bytes of an answer under a key, half of what the journal takes
	keptShare = 1 << 10   // of the output of an operation, where the whole is too long
)

// forKeeping returns the result, or a shorter one if it is too long to be kept under a key.
func (r BatchResult) forKeeping() BatchResult {
	if text, err := json.Marshal(r); err != nil || len(text) <= maxKept {
		return r
	}
	r.Results = slices.Clone(r.Results)
	for i, done := range r.Results {
		if done.Result == nil {
			continue
		}
		short := *done.Result
		cut, _, _ := Result{Stdout: short.Stdout, Stderr: short.Stderr, Truncated: short.Truncated}.cut(pages.Limit{Bytes: keptShare})
		short.Stdout, short.Stderr, short.Truncated = cut.Stdout, cut.Stderr, cut.Truncated
		r.Results[i].Result = &short
	}
	return r
}
