package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/difference"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
	"vaultwicket/tiers"
)

// plan returns a plan as it may be carried out.
func (by approved) plan(p Plan) (Plan, error) {
	if by.takesBack {
		return p.withApproval(consent.Question{})
	}
	return p.withApproval(*by.question)
}

// requestApproval asks the user about a plan that requires approval. It returns the plan
// as it may be carried out and where the user approved it, or why it may not.
func (g *vaultGateway) requestApproval(ctx context.Context, req Request, plan Plan, refusal error) (approvedPlan Plan, by string, err error) {
	if err := g.consent.CheckDeclined(plan.call.Name(), g.callerOf(req), req.Answers, g.digestOfCall(plan)); err != nil {
		return plan, "", err
	}
	q, err := g.question(ctx, req, plan, 1)
	if err != nil {
		return plan, "", err
	}
	given, err := g.consent.Request(ctx, g.requester(req), q, refusal)
	if err != nil {
		return plan, "", err
	}
	if given.Waited {
		if plan, err = g.replan(ctx, req, q); err != nil {
			return plan, "", err
		}
	}
	plan, err = plan.withApproval(q)
	return plan, given.By, err
}

// requester is who sends a request, as the one who needs an approval.
func (g *vaultGateway) requester(req Request) consent.Requester {
	by := consent.Requester{Caller: g.callerOf(req), Client: req.Client, Ask: req.Ask}
	if req.OneSession {
		by.Session = g.identity() + "\x00" + req.Caller
	}
	return by
}

// replan plans again what the user approved. They may have taken minutes, in which
// settings can have become stricter, and notes can have changed. The error says that the
// question would now be another one.
func (g *vaultGateway) replan(ctx context.Context, req Request, q consent.Question) (Plan, error) {
	if err := g.admission.Open(); err != nil && !req.undoesForOwner() {
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

// withApproval returns a plan that the user approved: for the change that the question
// has shown, and for no other.
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

// question makes the question about a plan, which is one of several that are asked
// together. An error is the answer to the call: nobody is asked about one that would
// fail.
func (g *vaultGateway) question(ctx context.Context, req Request, plan Plan, together int) (consent.Question, error) {
	call := plan.call
	q := consent.Question{
		Vault: g.name(), Command: call.Name(), Caller: req.Caller,
		Destructive: call.Effect().WorseThan(tiers.Writes),
	}
	var changes []difference.Change
	if own := g.embeddedProgram(); own != nil && len(plan.routes) > 0 && plan.routes[0].changesNotes() {
		r := plan.routes[0]
		planned, cause, err := g.planned(ctx, r, *own)
		switch {
		case err != nil:
			return q, err
		case cause != nil && cause.Code() != failure.CodeNeedsApp:
			return q, cause
		}
		q.Files, q.Change, q.Broken, changes = planned.files(), planned.Digest, clean.Line(planned.Broken), planned.changes()
	}
	q.Identity, q.Call = g.identity(), g.digestOfCall(plan)
	if q.Change == "" {
		q.Spelled = g.spelledHashes(call)
	}
	if len(q.Files) > 0 {
		q.Path = q.Files[0].Path
		if before := q.Files[0].Before; plan.expect != "" && plan.expect != before {
			return q, failure.New(failure.CodeConflict, "re-read the note and retry", "the note %q has the hash %q, not %q", quote.Short(q.Path), before, plan.expect)
		}
	} else if spelled := call.NamedPaths(); len(spelled) > 0 {
		q.Path = spelled[0].Path
	}
	if !q.Destructive && req.OneSession {
		q.Folder = consent.FolderOfAll(q.Files)
	}
	if err := q.Describe(call, changes, together); err != nil {
		return q, err
	}
	q.Digest = g.digestOfQuestion(plan, q)
	return q, nil
}

// digestOfQuestion binds a yes to the call, to the vault, to who asked, and to the
// notes as they are: after another change the user has to be shown it again.
func (g *vaultGateway) digestOfQuestion(plan Plan, q consent.Question) [sha256.Size]byte {
	hash := sha256.New()
	write := func(items ...string) {
		fmt.Fprintf(hash, "%d;", len(items))
		for _, item := range items {
			fmt.Fprintf(hash, "%d:%s", len(item), item)
		}
	}
	call := digestOf(plan)
	write("question", string(call[:]), g.identity(), q.Caller)
	for _, r := range plan.routes {
		write(r.program.Backend(), r.call.Vault())
	}
	for _, f := range q.Files {
		write(f.Path, f.From, f.Before)
	}
	write(q.Change)
	for _, path := range slices.Sorted(maps.Keys(q.Spelled)) {
		write(path, q.Spelled[path])
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// spelledHashes returns the hashes of the notes that a call names by their paths,
// "" for one that is not there or whose vault has no known folder.
func (g *vaultGateway) spelledHashes(call allowlist.Call) map[string]string {
	hashes := map[string]string{}
	for _, s := range call.NamedPaths() {
		hashes[s.Path] = notes.Hash(g.target().Folder, s.Path)
	}
	return hashes
}

// checkUnchanged refuses a call of which only the app knows what it changes, unless the
// notes that it names are as the user was shown them.
func (g *vaultGateway) checkUnchanged(r route) error {
	for path, hash := range r.shown.spelled {
		if notes.Hash(g.target().Folder, path) != hash {
			return consent.ChangedSince(r.call.Name())
		}
	}
	return nil
}

// digestOfCall is that of one call in the vault. The hash that the caller expects
// is no part of it: with another one it is the same call once more.
func (g *vaultGateway) digestOfCall(plan Plan) consent.CallDigest {
	hash := sha256.New()
	for _, item := range append([]string{g.identity()}, plan.call.Items()...) {
		fmt.Fprintf(hash, "%d:%s", len(item), item)
	}
	return consent.CallDigest(hash.Sum(nil))
}
