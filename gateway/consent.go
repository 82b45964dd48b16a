package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// requestApproval asks the user about a plan that requires approval. It returns the plan with permits and by which
// way the user approved it, or the reason why the plan must not be carried out. The question is noted in the audit
// record.
func (g *vaultGateway) requestApproval(
	ctx context.Context,
	req Request,
	plan Plan,
	record *audit.Record,
	refusal error,
) (approvedPlan Plan, approvedBy string, err error) {
	if err := g.consent.CheckDeclined(plan.call.Name(), g.callerOf(req), req.Answers, g.digestOfCall(plan)); err != nil {
		return plan, "", err
	}
	q, err := g.question(ctx, req, &plan)
	if err != nil {
		return plan, "", err
	}
	record.AskedIn(q.ID())
	if req.Shows {
		g.recordDisclosure(plan)
	}
	approval, err := g.consent.Request(ctx, g.requester(req), q, refusal)
	if err != nil {
		return plan, "", err
	}
	if approval.Waited {
		// Plan again, because settings may have become stricter and notes may have changed meanwhile. The notes of
		// the change that the question showed must be unchanged, and the question must be the same.
		if err := g.admission.Open(); err != nil && !req.undoesForOwner() {
			return Plan{}, "", err
		}
		change := plan.change
		plan, err = g.Plan(req)
		plan.change = change
		if plan, err = g.assessLoss(ctx, req, plan, err); err != nil && !needsApproval(err) {
			return plan, "", err
		}
		if err := g.checkUnchanged(q); err != nil {
			return plan, "", err
		}
		again, err := g.question(ctx, req, &plan)
		if err = cmp.Or(err, q.SameAs(again)); err != nil {
			return plan, "", err
		}
	}
	plan, err = plan.withApproval(q)
	return plan, approval.By, err
}

// requester describes the sender of a request for questions to the user.
func (g *vaultGateway) requester(req Request) consent.Requester {
	p := g.rules.Policy()
	requester := consent.Requester{
		Caller:    g.callerOf(req),
		Client:    req.Client,
		Ask:       req.Ask,
		Owner:     req.Owner || req.AtTerminal,
		Ways:      p.Asking,
		MinAnswer: p.MinAnswerTime(),
		Taken:     req.Taken,
	}
	// Earlier approvals of the session no longer count once it has read something that is suspicious, or under a
	// flow rule.
	isSuspected := g.hasRead(requester.Caller) != "" && !p.Shadows(policy.RuleSuspicious)
	hasFlows := len(g.flows.recent(time.Now())) > 0 && !p.Shadows(policy.RuleFlow)
	if req.OneSession && !isSuspected && !hasFlows {
		requester.Session = g.identity() + "\x00" + req.Caller
	}
	return requester
}

// withApproval returns the plan as approved by the user. The approval is valid only for the change that the question
// showed.
func (p Plan) withApproval(q consent.Question) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		r.approved = true
		r.shown = q
		var err error
		if p.routes[i], err = r.permitted(); err != nil {
			return p, err
		}
	}
	p.refusal = nil
	return p, nil
}

// approved describes how a call that requires approval may be carried out: by a question that the user approved. The
// zero value means that the user is asked.
type approved struct {
	question *consent.Question
	change   *plannedChange // the change that the question showed
	record   *audit.Record  // the audit record with the question, nil for none
	grant    string         // the grant of the owner that answered the question, "" if the user did
	proposal string         // the proposal that the owner applies, "" for none
	// inBatch means that the user was asked about the batch as a whole. They are not asked again in the middle of it.
	inBatch bool
	// held receives the audit record of a change that is only planned, to be ended once it is known whether the
	// change is made. If it is nil, records end with the answer.
	held func(*audit.Record)
	// prepare prepares the page of an earlier answer, given the answer of now, and returns what the content rules found
	// in it. It is nil if the call is for no such page.
	prepare func(current Result) findings
	// takesBack means that the call undoes what an operation of the batch has just done.
	takesBack bool
}

// question creates the question about a plan. An error is the answer to the call: the user is not asked about a call
// that would fail.
func (g *vaultGateway) question(ctx context.Context, req Request, plan *Plan) (consent.Question, error) {
	call := plan.call
	q := consent.Question{
		Vault:       g.name(),
		Command:     call.Name(),
		Caller:      req.Caller,
		Requester:   g.callerOf(req),
		Client:      req.Client,
		Destructive: call.Effect().WorseThan(tiers.Writes) || plan.hasActiveFlows(),
	}
	if plan.hasActiveFlows() {
		var parts []string
		for _, r := range plan.because {
			parts = append(
				parts,
				fmt.Sprintf(
					"the session has read %s (flow rule %s)",
					excerpt.Quoted(excerpt.Short(r.note)),
					excerpt.Quoted(r.rule.Name),
				),
			)
		}
		q.Because = strings.Join(parts, "; ")
	}
	if err := g.workOut(ctx, plan); err != nil {
		return q, err
	}
	if change := plan.change; change != nil {
		if change.failure != nil && change.failure.Code() != failure.CodeNeedsApp {
			return q, change.failure
		}
		q.Files = change.files()
		q.Rest = change.Rest
		q.Change = change.Digest
		q.Links = sanitize.Line(change.Links)
	}
	q.Identity = g.identity()
	q.Call = g.digestOfCall(*plan)
	if q.Change == "" {
		q.Spelled = map[string]string{} // "" for a note that does not exist, or if the folder of the vault is not known
		for _, named := range call.NamedPaths() {
			q.Spelled[named.Path] = HashOfNote(g.target().Folder, named.Path)
		}
	}
	if len(q.Files) > 0 {
		q.Path = q.Files[0].Path
		if before := q.Files[0].Before; plan.expect != "" && plan.expect != before {
			return q, failure.New(
				failure.CodeConflict,
				"re-read the note and retry",
				"the note %q has the hash %q, not %q",
				excerpt.Short(q.Path),
				before,
				plan.expect,
			)
		}
	} else if spelled := call.NamedPaths(); len(spelled) > 0 {
		q.Path = spelled[0].Path
	}
	if !q.Destructive && req.OneSession && q.Rest.Files() == 0 {
		q.Folder = consent.FolderOfAll(q.Files)
	}
	q.Offer = g.offer(plan, q)
	if err := q.Describe(call, plan.change.changes()); err != nil {
		return q, err
	}
	q.Digest = g.digestOfQuestion(*plan, q)
	return q, nil
}

// hasActiveFlows reports whether flow rules apply to the plan and are enforced.
func (p Plan) hasActiveFlows() bool { return len(p.because) > 0 && !p.policy.Shadows(policy.RuleFlow) }

// digestOfQuestion returns the hash that binds an approval to the call, the vault, the caller with the generation of
// its credentials, and the current state of the notes. After any other change the user has to see the call again.
func (g *vaultGateway) digestOfQuestion(plan Plan, q consent.Question) [sha256.Size]byte {
	hash, write := listDigest()
	call := digestOf(plan)
	write("question", string(call[:]), g.identity(), q.Caller, g.admission.Generation())
	for _, r := range plan.routes {
		write(r.program.Backend(), r.call.Vault())
	}
	for _, f := range q.Files {
		before := ""
		if f.Raw != nil {
			before = f.Raw[0]
		}
		write(f.Path, f.From, before)
	}
	write(q.Change)
	for _, path := range slices.Sorted(maps.Keys(q.Spelled)) {
		write(path, q.Spelled[path])
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// checkUnchanged returns an error if the notes that a question showed or named have changed since.
func (g *vaultGateway) checkUnchanged(q consent.Question) error {
	folder := g.target().Folder
	madeSoFar := map[string]string{} // hashes of the files that the change has made so far: it may change a file twice
	for _, f := range q.Files {
		if f.Raw == nil { // for such a file the program that makes the change compares the digest
			continue
		}
		from := cmp.Or(f.From, f.Path)
		before, ok := madeSoFar[from]
		if !ok {
			before = hex.EncodeToString([]byte(HashOfNote(folder, from)))
		}
		if before != f.Raw[0] {
			return consent.ChangedSince(q.Command)
		}
		madeSoFar[from] = ""
		madeSoFar[f.Path] = f.Raw[1]
	}
	for path, hash := range q.Spelled {
		if HashOfNote(folder, path) != hash {
			return consent.ChangedSince(q.Command)
		}
	}
	return nil
}

// listDigest returns a hash and a function that writes lists of texts to it, such that different lists give
// different input.
func listDigest() (sum hash.Hash, write func(items ...string)) {
	sum = sha256.New()
	return sum, func(items ...string) {
		fmt.Fprintf(sum, "%d;", len(items))
		for _, item := range items {
			fmt.Fprintf(sum, "%d:%s", len(item), item)
		}
	}
}

// digestOfCall returns the digest of one call in the vault. It leaves out the hash that the caller expects, because
// the call stays the same with another one.
func (g *vaultGateway) digestOfCall(plan Plan) consent.CallDigest {
	return consent.CallDigest(digest(append([]string{g.identity()}, plan.call.Items()...)...))
}
