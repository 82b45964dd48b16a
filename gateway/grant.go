package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// holder identifies the sender of a request for the grants of the vault.
func (g *vaultGateway) holder(req Request) consent.GrantHolder {
	h := consent.GrantHolder{
		Agent:    g.agent,
		Identity: g.identity(),
		MaxTime:  g.rules.Policy().MaxGrantTime(),
	}
	switch {
	case g.agent != "":
		h.Generation = g.admission.Generation()
	case g.callerOf(req) == g.session: // the only client of a server on standard input and output
		h.Server = g.session
	}
	return h
}

// approveUnderGrant approves a plan that requires approval if a grant of the owner covers its change. Otherwise it
// returns false and the user has to be asked; the plan stays the same, except that its change may be worked out.
func (g *vaultGateway) approveUnderGrant(ctx context.Context, req Request, plan *Plan) bool {
	if !g.grants.MayHave() {
		return false
	}
	change, q, ok := g.grantable(ctx, req, plan)
	if !ok {
		return false
	}
	use, err := g.grants.Take(g.holder(req), change)
	if use == nil || err != nil {
		return false
	}
	approved, err := plan.withApproval(q)
	if err != nil { // the decision has changed meanwhile
		_ = use.Settle(func(int) bool { return false })
		return false
	}
	approved.use = use
	*plan = approved.withGrant(use.Grant)
	return true
}

// grantable returns the change of a plan for a check against grants, and the question that a grant would answer. ok
// is false if no grant can answer the question.
func (g *vaultGateway) grantable(
	ctx context.Context,
	req Request,
	plan *Plan,
) (change consent.GrantChange, q consent.Question, ok bool) {
	effect := plan.call.Effect()
	changesNotes := effect == tiers.Writes || effect == tiers.Destroys
	leavesVault := plan.call.Sends() || plan.hasActiveFlows()
	if !changesNotes || leavesVault || !asksOnlyToConfirm(plan) {
		return change, q, false
	}
	declined := g.consent.CheckDeclined(plan.call.Name(), g.callerOf(req), req.Answers, g.digestOfCall(*plan))
	if declined != nil {
		return change, q, false
	}
	q, err := g.question(ctx, req, plan)
	p := plan.change
	if err != nil || p == nil || p.failure != nil {
		return change, q, false
	}
	isWhole := p.Digest != "" && p.Rest.Files() == 0
	if !isWhole || p.isBeyondGrants() {
		return change, q, false
	}
	change = consent.GrantChange{Command: plan.call.Name(), Destructive: q.Destructive, Links: p.LostLinks}
	for _, f := range p.Files {
		change.Files = append(change.Files, consent.GrantFile{
			Path: f.Path, From: f.From, Lost: f.Lost, LostText: f.LostText, Text: f.Text,
		})
	}
	return change, q, true
}

// isBeyondGrants reports whether the change does something that no grant covers.
func (p *plannedChange) isBeyondGrants() bool { return p.Marked || p.Foreign || p.Carries != "" }

// asksOnlyToConfirm reports whether the setting confirm is the only reason why a plan requires approval.
func asksOnlyToConfirm(plan *Plan) bool {
	for _, v := range plan.policy.Judge(plan.call, plan.facts) {
		if v.Verdict != policy.Pass && v.Rule != policy.RuleConfirm {
			return false
		}
	}
	return true
}

// withGrant returns the plan with the grant that allows it, for the journal.
func (p Plan) withGrant(id string) Plan {
	p.grant = id
	for i := range p.routes {
		p.routes[i].grant = id
	}
	return p
}

// settleGrant ends the use of a grant by a call. ran tells whether the call was carried out.
func (g *vaultGateway) settleGrant(use *consent.GrantUse, ran bool, result Result) {
	if use == nil {
		return
	}
	succeeded := result.OK || result.Change != nil
	made := ran && (succeeded || mayHaveChanged(result.Error))
	if err := use.Settle(func(int) bool { return made }); err != nil {
		g.log.Warn("the use of a grant is not settled, and counts", "grant", use.Grant, "error", err.Error())
	}
}

// mayHaveChanged reports whether a call that ended with the given error may have changed something. A nil error
// means that the error is not known.
func mayHaveChanged(cause *failure.Error) bool {
	if cause == nil {
		return true
	}
	switch cause.Code {
	case failure.CodeUnknown, failure.CodePartlyApplied, failure.CodeInternal:
		return true
	}
	return len(cause.Made) > 0
}

// approveBatchUnderGrant approves the operations of a batch that require approval if one grant of the owner covers
// all of them.
func (g *vaultGateway) approveBatchUnderGrant(ctx context.Context, plan *batchPlan) bool {
	asked := plan.asked()
	if len(asked) == 0 || !g.grants.MayHave() {
		return false
	}
	var changes []consent.GrantChange
	var each []consent.Question
	for _, step := range asked {
		if plan.failure != nil || step.checkKnown() != nil {
			return false
		}
		change, q, ok := g.grantable(ctx, plan.batch.Request, &step.plan)
		if !ok {
			return false
		}
		changes = append(changes, change)
		each = append(each, q)
	}
	use, err := g.grants.Take(g.holder(plan.batch.Request), changes...)
	if use == nil || err != nil {
		return false
	}
	plan.use = use
	plan.approved = each
	plan.approvedFiles = plan.boundFiles()
	for i, step := range asked {
		step.approved = &each[i]
		step.record = g.recordOfStep(ctx, plan.batch, step.Operation, step.plan)
		step.record.Granted(use.Grant)
	}
	return true
}

// settleGrantOfBatch ends the use of a grant by a batch. Operations that did not start, failed or were undone do not
// count.
func (g *vaultGateway) settleGrantOfBatch(plan *batchPlan, result BatchResult) {
	if plan.use == nil {
		return
	}
	var places []int // indexes of the operations that use the grant
	for i := range plan.steps {
		if plan.steps[i].approved != nil {
			places = append(places, i)
		}
	}
	counts := func(n int) bool {
		if !plan.isBegun || n >= len(places) || places[n] >= len(result.Results) {
			return plan.isBegun
		}
		done := result.Results[places[n]]
		isUndone := done.Undone != nil && *done.Undone
		if isUndone || done.Status == statusSkipped {
			return false
		}
		if done.Result == nil {
			return true
		}
		succeeded := done.Status == statusOK || done.Result.Change != nil
		return succeeded || mayHaveChanged(done.Result.Error)
	}
	if err := plan.use.Settle(counts); err != nil {
		g.log.Warn("the use of a grant is not settled, and counts", "grant", plan.use.Grant, "error", err.Error())
	}
}

// describeGrants returns the grants of the sender of a request as text for the agent, one per line, with what is
// left of them.
func (g *vaultGateway) describeGrants(req Request) (string, error) {
	if !g.grants.MayHave() {
		return "", nil
	}
	held, err := g.grants.Held(g.holder(req))
	if err != nil {
		return "", failure.New(failure.CodeState, `the user can see more with "vaultwicket doctor"`, "the grants cannot be read: %s", excerpt.Reason(err))
	}
	var b strings.Builder
	for _, grant := range held {
		changes, notes, lines, links := grant.Left()
		fmt.Fprintf(&b, "grant %s\t%s\t%s\tuntil %s\tleft: %s, %s", grant.ID,
			strings.Join(grant.Commands, ","), strings.Join(grant.Folders, ","), grant.Expires.Local().Format(time.DateTime),
			sanitize.Counted(changes, "change"), sanitize.Counted(notes, "more note"))
		if lines >= 0 {
			fmt.Fprintf(&b, ", %s to remove", sanitize.Counted(lines, "line"))
		}
		if links > 0 {
			fmt.Fprintf(&b, ", %s to break", sanitize.Counted(links, "link"))
		}
		if grant.Destructive {
			b.WriteString(", also destructive changes")
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// GrantPlace returns the name and the identity of a vault, "" meaning the default one, and folders of it with their
// names as spelled on the disk. It is used for the terms of a grant.
func (g *Gateway) GrantPlace(vault string, folders []string) (name, identity string, named []string, err error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return "", "", nil, err
	}
	at := d.target().Folder
	if at == "" {
		return "", "", nil, errNoFolder
	}
	names := filenames.In(func() (*os.Root, error) { return os.OpenRoot(at) })
	for _, folder := range folders {
		if folder != "/" {
			if folder, err = names.Name(strings.TrimSuffix(folder, "/")); err != nil {
				return "", "", nil, err
			}
		}
		named = append(named, folder)
	}
	return d.name(), d.identity(), named, nil
}

// endNarrowedGrants ends the grants on the vault for the agent, or for this server, because their rules have become
// stricter.
func (g *vaultGateway) endNarrowedGrants() {
	if !g.grants.MayHave() {
		return
	}
	err := g.grants.EndAll(consent.GrantNarrowed, func(grant consent.Grant) bool {
		isOurs := grant.Agent == g.agent && (g.agent != "" || grant.Server == g.session)
		return isOurs && grant.Identity == g.identity()
	})
	if err != nil {
		g.log.Warn("grants of narrowed rules cannot be ended", "error", err.Error())
	}
}

// offer returns the terms of a grant for calls like the one in question, in its folder, as JSON; "" if none is
// offered.
func (g *vaultGateway) offer(plan *Plan, q consent.Question) string {
	p := plan.change
	if p == nil || q.Destructive || q.Rest.Files() > 0 {
		return ""
	}
	isPlain := p.LostLinks == 0 && !p.isBeyondGrants()
	folder := consent.FolderOfAll(q.Files)
	mayHave := g.grants != nil && g.agent != "" && g.rules.Policy().MaxGrantTime() > 0
	isInOneFolder := isPlain && folder != ""
	if !isInOneFolder || !mayHave || !asksOnlyToConfirm(plan) {
		return ""
	}
	terms := consent.GrantTerms{
		Agent: g.agent, Generation: g.admission.Generation(), Vault: g.name(), Identity: g.identity(),
		Commands: []string{plan.call.Name()}, Folders: []string{folder},
		Notes: consent.DefaultGrantNotes, Changes: consent.DefaultGrantChanges,
	}
	text, err := json.Marshal(terms)
	if err != nil || terms.Check() != nil || len(text) > maxOffer {
		return ""
	}
	return string(text)
}

// maxOffer is the maximum size of the terms of a grant in a question, in bytes.
const maxOffer = 1000
