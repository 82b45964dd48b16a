package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
)

// requestBatchApproval asks the user once about all operations of a batch that require approval. The audit log
// records the answer for each of them.
func (g *vaultGateway) requestBatchApproval(ctx context.Context, plan *batchPlan) error {
	asked := plan.asked()
	if len(asked) == 0 || g.approveBatchUnderGrant(ctx, plan) {
		return nil
	}
	if err := g.admission.Call(g.accountOf(plan.batch.Caller)); err != nil { // the question counts as a call
		g.recordOfBatch(ctx, plan.batch, "").Refused(err)
		return err
	}
	var records []*audit.Record
	for _, step := range asked {
		step.record = g.recordOfStep(ctx, plan.batch, step.Operation, step.plan)
		step.record.Asked(step.plan.refusal)
		records = append(records, step.record)
	}
	approvedBy, err := g.askAboutBatch(ctx, plan)
	for _, record := range records {
		if err != nil {
			record.Refused(err)
			continue
		}
		record.Approved(approvedBy)
	}
	return err
}

// recordSkipped ends the audit records of the operations that did not run. The log has every operation of a batch
// that was started; of any other batch it has those that the user was asked about.
func (g *vaultGateway) recordSkipped(ctx context.Context, plan *batchPlan) {
	for i := range plan.steps {
		step := &plan.steps[i]
		isInLog := plan.isBegun || step.record != nil
		if step.isRecorded || !isInLog {
			continue
		}
		if step.record == nil {
			step.record = g.recordOfStep(ctx, plan.batch, step.Operation, step.plan)
		}
		step.record.Skipped()
	}
}

// askAboutBatch asks the user about a batch, and returns by which way they approved it.
func (g *vaultGateway) askAboutBatch(ctx context.Context, plan *batchPlan) (approvedBy string, err error) {
	var calls []consent.CallDigest // of the operations that require approval
	for _, step := range plan.asked() {
		calls = append(calls, g.digestOfCall(step.plan))
	}
	caller := g.callerOf(plan.batch.Request)
	digests := append(calls, consent.DigestOfCalls(calls))
	if err := g.consent.CheckDeclined(telemetry.BatchCommand, caller, plan.batch.Answers, digests...); err != nil {
		return "", err
	}
	q, each, err := g.questionOfBatch(ctx, plan)
	if err != nil {
		return "", err
	}
	for _, step := range plan.asked() {
		if plan.batch.Shows {
			g.recordDisclosure(step.plan)
		}
		step.record.AskedIn(q.ID())
	}
	approval, err := g.consent.Request(ctx, g.requester(plan.batch.Request), q, plan.asked()[0].plan.refusal)
	if err != nil {
		return "", err
	}
	if approval.Waited {
		each, err = g.planBatchAgain(ctx, plan, q, each)
		if err != nil {
			return "", err
		}
	}
	plan.approved = each
	plan.approvedFiles = plan.boundFiles()
	for i, step := range plan.asked() {
		step.approved = &each[i]
	}
	return approval.By, nil
}

// planBatchAgain plans a batch again after waiting for its approval, as for a single call, and replaces the plan. q
// is the question that was approved, and each are the questions about its operations, which it returns anew. The
// error says that something has changed.
func (g *vaultGateway) planBatchAgain(
	ctx context.Context,
	plan *batchPlan,
	q consent.Question,
	each []consent.Question,
) ([]consent.Question, error) {
	if err := g.admission.Open(); err != nil {
		return nil, err
	}
	now, clientID, err := g.planBatch(plan.batch)
	if err == nil {
		clientID, err = g.adoptRehearsal(now, plan)
	}
	if err == nil {
		clientID, err = g.judgeChanges(now)
	}
	if err != nil && clientID != "" {
		return nil, inOperation(clientID, err)
	}
	if err != nil {
		return nil, err
	}
	if err := g.checkBatchUnchanged(each, plan.boundFiles()); err != nil {
		return nil, err
	}
	again, each, err := g.questionOfBatch(ctx, now)
	if err != nil {
		return nil, err
	}
	*plan = *now
	return each, q.SameAs(again)
}

// questionOfBatch combines the questions about the operations into one, and also returns them separately. Each is
// about the notes as the operations before it will leave them.
func (g *vaultGateway) questionOfBatch(
	ctx context.Context,
	plan *batchPlan,
) (q consent.Question, each []consent.Question, err error) {
	q = consent.Question{
		Vault:     g.name(),
		Command:   telemetry.BatchCommand,
		Caller:    plan.batch.Caller,
		Requester: g.callerOf(plan.batch.Request),
		Client:    plan.batch.Client,
	}
	digest := sha256.New()
	digest.Write(plan.sent[:])
	asked := plan.asked()
	if plan.failure != nil { // the user is not asked about a batch that would fail
		return q, nil, plan.failure
	}
	var files []consent.PlannedFile
	var calls []consent.CallDigest
	var rest consent.Rest
	for _, step := range asked {
		if err := step.checkKnown(); err != nil {
			return q, nil, err
		}
		question, err := g.question(ctx, plan.batch.Request, &step.plan)
		if err != nil {
			return q, nil, inOperation(step.ClientID, err)
		}
		each = append(each, question)
		files = append(files, question.Files...)
		calls = append(calls, question.Call)
		rest = rest.Plus(question.Rest)
		digest.Write(question.Digest[:])
		q.Destructive = q.Destructive || question.Destructive
	}
	q.Does = consent.Does(q.Command, files, rest)
	q.Together(len(plan.steps), each, describeOthers(plan))
	bound := plan.boundFiles()
	for _, path := range slices.Sorted(maps.Keys(bound)) {
		fmt.Fprintf(digest, "%d:%s%d:%s", len(path), path, len(bound[path]), bound[path])
	}
	q.Digest = [sha256.Size]byte(digest.Sum(nil))
	q.Call = consent.DigestOfCalls(calls)
	return q, each, nil
}

// describeOthers describes the operations that need no approval, for the user: every line that they would change,
// or, if that is only known when the batch runs, what they name.
func describeOthers(plan *batchPlan) (lines []consent.Line) {
	say := func(format string, args ...any) {
		lines = append(lines, consent.Line{Text: fmt.Sprintf(format, args...)})
	}
	reads := 0
	for i := range plan.steps {
		step := &plan.steps[i]
		switch {
		case step.plan.refusal != nil:
			continue
		case !step.plan.call.Effect().Mutates():
			reads++
			continue
		}
		say("operation %d: %s", i+1, step.plan.call.Name())
		change := step.plan.change
		if change == nil || change.failure != nil {
			command, _ := allowlist.Describe(step.plan.call.Name())
			for _, p := range command.Params { // the names and paths in the parameters
				from, isReference := step.From[p.Name]
				value, isGiven := step.plan.call.Param(p.Name)
				isText := p.Kind == "content" || p.Kind == "text" || p.Kind == "flag"
				switch {
				case isReference:
					lines = append(lines, consent.Named(p.Name+", from the result of", from.ClientID))
				case isGiven && !isText:
					lines = append(lines, consent.Named(p.Name, value))
				}
			}
			continue
		}
		lines = append(lines, consent.Besides(change.files(), change.changes(), change.Rest)...)
	}
	switch {
	case reads == 1:
		say("One more operation only reads.")
	case reads > 1:
		say("%d more operations only read.", reads)
	}
	return lines
}

// inOperation returns err with the name of the operation in its message.
func inOperation(clientID string, err error) error {
	cause := failure.Of(err)
	return failure.New(cause.Code, cause.Hint, "operation %q: %s", excerpt.Short(clientID), cause.Message)
}

// refuseBatch ends a batch before any operation has started. The audit log records which operation was refused, or
// that the batch was. The refusal counts as one call.
func (g *vaultGateway) refuseBatch(ctx context.Context, b Batch, clientID string, err error) BatchResult {
	if limit := g.admission.Call(g.accountOf(b.Caller)); limit != nil {
		clientID = ""
		err = limit
	}
	g.recordOfBatch(ctx, b, clientID).Refused(err)
	refused := RejectBatch(clientID, err)
	if i := b.find(clientID); i >= 0 {
		refused.Command = shownCommand(b.Operations[i].Command)
	}
	return refused
}

// find returns the index of the operation with the given name, -1 if there is none or the name is "".
func (b Batch) find(clientID string) int {
	return slices.IndexFunc(b.Operations, func(o Operation) bool { return clientID != "" && o.ClientID == clientID })
}

// recordOfBatch begins an audit record of the operation with the given name, or of the batch if there is none.
func (g *vaultGateway) recordOfBatch(ctx context.Context, b Batch, clientID string) *audit.Record {
	i := b.find(clientID)
	if i < 0 {
		return g.record(ctx, g.name(), b.Request)
	}
	o := b.Operations[i]
	plan := Plan{}
	if request, err := o.withPlaceholders(); err == nil {
		plan, _ = g.Plan(request)
	}
	return g.recordOfStep(ctx, b, o, plan)
}

// recordOfStep begins the audit record of an operation before the batch has started.
func (g *vaultGateway) recordOfStep(ctx context.Context, b Batch, o Operation, plan Plan) *audit.Record {
	line := g.record(ctx, g.name(), b.from(o.Request))
	line.Described(plan.call, plan.refusal)
	line.Redact(slices.Collect(maps.Keys(o.From)))
	return line
}

// from returns a request with the vault and the sender of the batch.
func (b Batch) from(request Request) Request {
	request.Vault = b.Vault
	request.Caller = b.Caller
	request.Client = b.Client
	request.Surface = b.Surface
	request.Shows = b.Shows
	request.Owner = b.Owner
	return request
}

// judgeChanges judges the operations of a batch by what they would do, as [vaultGateway.assessLoss] does for a
// single call. An operation whose effect is not known yet is judged when it runs, without asking the user.
func (g *vaultGateway) judgeChanges(plan *batchPlan) (clientID string, err error) {
	touched := map[string]bool{}
	for i := range plan.steps {
		step := &plan.steps[i]
		if step.checkKnown() != nil {
			continue
		}
		var refusal error
		step.plan, refusal = g.withChange(step.plan, step.plan.refusal)
		if change := step.plan.change; needsApproval(refusal) && change != nil && change.Nothing {
			step.plan, refusal = step.plan.withApproval(consent.Question{Change: change.Digest}) // see approveNoChange
		}
		for _, path := range step.plan.changedPaths() {
			touched[access.Fold(path)] = true
		}
		if refusal != nil && !needsApproval(refusal) {
			return step.ClientID, refusal
		}
	}
	if len(touched) <= maxTouched {
		return "", nil
	}
	return g.judgeLargeBatch(plan, len(touched))
}

// changedPaths returns the paths of the notes that a plan changes, as far as they are known.
func (p Plan) changedPaths() (paths []string) {
	if p.change != nil {
		for _, f := range p.change.Files {
			paths = append(paths, f.Path)
		}
	}
	named := p.call.NamedPaths()
	if paths == nil && p.call.Effect().Mutates() && len(named) > 0 {
		paths = []string{named[0].Path}
	}
	return paths
}

// judgeLargeBatch judges a batch that changes more than [maxTouched] notes: all its operations that change notes
// count as destructive.
func (g *vaultGateway) judgeLargeBatch(plan *batchPlan, touched int) (clientID string, err error) {
	levels, known := g.rules.Narrowing()
	for i := range plan.steps {
		step := &plan.steps[i]
		if step.plan.refusal != nil && !needsApproval(step.plan.refusal) || !step.plan.mayLose() {
			continue
		}
		if err := checkMayDestroy(step.plan, levels, known); err != nil {
			return step.ClientID, err
		}
		var refusal error
		step.plan, refusal = step.plan.withLoss(
			"is part of a batch that changes "+sanitize.Counted(touched, "note"),
			nil,
		)
		if refusal != nil && !needsApproval(refusal) {
			return step.ClientID, refusal
		}
	}
	return "", nil
}

// mayChangeMany reports whether the operations together may change more than [maxTouched] notes.
func (p *batchPlan) mayChangeMany() bool {
	changes := 0
	for _, step := range p.steps {
		if !step.plan.mayLose() {
			continue
		}
		changes++
		if step.plan.call.ChangesMany() || changes > maxTouched {
			return true
		}
	}
	return false
}

// checkMayDestroy returns an error if a destructive operation changes a note for which the access rules, or the note
// itself, do not allow that, however the operation names the note. levels are those to which notes of the vault
// restrict access to themselves; known is false if they could not be read.
func checkMayDestroy(p Plan, levels map[string]access.Level, known bool) error {
	for _, f := range p.change.files() {
		if f.Before == "" {
			continue // the operation creates it
		}
		path := cmp.Or(f.From, f.Path)
		level := p.policy.Access.Level(path)
		if level == access.None {
			continue // to the caller the note does not exist, which the operation reports when it runs
		}
		if ownLevel, isNarrowed := levels[path]; isNarrowed {
			level = min(level, ownLevel)
		}
		if !known || level < access.Delete {
			return failure.New(
				policy.CodeAccess,
				"the user can raise the access of the note; or send fewer operations at once",
				"command %q: a batch that changes more than %d notes needs rwd, which %q does not have",
				p.call.Name(),
				maxTouched,
				excerpt.Short(path),
			)
		}
	}
	return nil
}

// maxTouched is how many notes a batch may change or move before all its changes count as destructive. A single call
// has the same limit, see package command of the embedded program.
const maxTouched = 20
