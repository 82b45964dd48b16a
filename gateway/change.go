package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// change carries out a call that changes notes. The embedded program journals, makes and checks its changes itself.
// A change by the app is journaled before and verified afterwards, if the folder of the vault is known.
func (g *vaultGateway) change(ctx context.Context, r route) (exec.Outcome, error) {
	id := cmp.Or(r.entry, journal.NewID(time.Now()))
	options := protocol.Write{
		Entry:     id,
		Expect:    r.expect,
		Approved:  r.shown.Change,
		Caller:    argument(r.caller),
		Client:    audit.Name(r.client),
		Batch:     r.batch,
		Grant:     r.grant,
		Proposal:  r.proposal,
		Alone:     r.alone,
		Sparing:   r.policy.Confirm != policy.ConfirmNever && !r.approved,
		Addresses: r.addresses(),
	}
	if r.program.Backend() == string(Embedded) {
		return g.changeEmbedded(ctx, r, options)
	}
	own := g.embeddedProgram()
	switch {
	case own == nil:
		return g.changeUnjournaled(ctx, r)
	case r.restoresVersion():
		return g.restore(ctx, r, *own, options)
	}
	return g.changeJournaled(ctx, r, *own, options)
}

// changeEmbedded makes the embedded program make a change, or plan it for a batch.
func (g *vaultGateway) changeEmbedded(ctx context.Context, r route, options protocol.Write) (exec.Outcome, error) {
	if r.planning != nil {
		out, err := r.planning.plan(ctx, g, r, r.program.WithOptions(options))
		if mayHaveActed(err) { // it was only planned
			err = brokenOffUnmade(err)
		}
		return out, err
	}
	out, err := g.runner.Run(ctx, r.permit, r.program.WithOptions(options))
	if err != nil {
		return g.settleOutcome(ctx, r, options.Entry, out, err)
	}
	if out.Partly != nil {
		out.Change = options.Entry
	}
	return out, nil
}

// changeUnjournaled makes the app change a vault whose folder is not known.
func (g *vaultGateway) changeUnjournaled(ctx context.Context, r route) (exec.Outcome, error) {
	if r.expect != "" {
		return exec.Outcome{ExitCode: -1}, failure.New(
			failure.CodeVaultNotFound,
			"the user can set vault to the folder of the vault",
			"expectHash needs the folder of the vault, which is not known",
		)
	}
	if kind := r.call.TextInto(); kind != "note" { // the result would not be checked
		return exec.Outcome{ExitCode: -1}, failure.New(
			failure.CodeBadValue,
			"the user can set vault to the folder of the vault; "+allowlist.ServesKind(kind),
			"while the folder of the vault is not known, text is written into notes only",
		)
	}
	return g.performUnjournaled(ctx, r, "because the folder of the vault is not known")
}

// performUnjournaled makes the app carry out a change that is not in the journal.
func (g *vaultGateway) performUnjournaled(ctx context.Context, r route, why string) (exec.Outcome, error) {
	out, err := g.perform(ctx, r)
	out.Notices = append(out.Notices, noticeNotJournaled+", "+why+": undo cannot take it back")
	return out, unverifiable(err)
}

// lockVault waits until no other program changes the vault. If the call belongs to a batch that holds the lock, it
// does nothing.
func (g *vaultGateway) lockVault(ctx context.Context, r route) (unlock func(), err error) {
	if r.alone {
		return func() {}, nil
	}
	undoJournal, err := g.journal(g.target().Folder)
	if err != nil {
		return nil, err
	}
	unlock, err = undoJournal.Lock(ctx)
	if err != nil {
		return nil, failure.New(failure.CodeConflict, "try again", "another program changes the vault: %v", err)
	}
	return unlock, nil
}

// changeJournaled makes the app carry out a change that the embedded program journals before and verifies afterwards.
func (g *vaultGateway) changeJournaled(
	ctx context.Context, r route, own exec.Program, options protocol.Write,
) (exec.Outcome, error) {
	id := options.Entry
	unlock, err := g.lockVault(ctx, r)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	defer func() { unlock() }()
	options.Task = protocol.Begin
	begun, err := g.runner.Run(ctx, r.permit, own.WithOptions(options))
	needsApp := begun.Failure != nil && begun.Failure.Code() == failure.CodeNeedsApp
	switch {
	case err != nil:
		return begun, err
	case r.isHidden() && (begun.Failure == nil || needsApp):
		return exec.Missing(r.call), nil // no rule allows the call here
	case needsApp:
		return g.performUnjournaled(ctx, r, "because only the app knows what it changes")
	case begun.Failure != nil:
		return outcomeNotRun(begun), begun.Failure
	}
	if changesNothing(begun) && !r.call.Shows() { // the app might make the change twice
		options.Task = protocol.Whole
		options.Alone = true
		return g.runner.Run(ctx, r.permit, own.WithOptions(options))
	}
	limited, cancel := withinLimit(ctx)
	defer cancel()
	out, err := g.perform(limited, r)
	if err == nil {
		return g.verify(ctx, r, own, id, begun, out)
	}
	if !mayHaveActed(err) {
		return out, err
	}
	state, isKnown := g.pollOutcome(r, own, id, answerBy(ctx))
	if isKnown {
		return state.afterAbort(out, id, err)
	}
	if state.State == stateUntouched {
		out.Notices = append(out.Notices, "when the call was answered the note was as before it")
	}
	if !r.alone {
		g.watchInBackground(r, own, id, unlock)
		unlock = func() {} // the background watch unlocks
	}
	return out, err
}

// afterAbort returns the outcome of a call that was aborted, with the state that its change is in.
func (s changeState) afterAbort(out exec.Outcome, id string, cause error) (exec.Outcome, error) {
	s.addTo(&out, id)
	if s.State == stateApplied {
		out.Notices = append(out.Notices, "the call was broken off ("+cause.Error()+"), and the change is made")
		return out, nil
	}
	return out, unexpectedState(id, "the call was broken off (%v)", cause)
}

// changesNothing reports whether a prepared change would leave all files as they are.
func changesNothing(begun exec.Outcome) bool {
	var planned plannedChange
	return json.Unmarshal([]byte(begun.Stdout), &planned) == nil && planned.Nothing
}

// changeState is the state of a change after it was made, as the embedded program reports it.
type changeState struct {
	State  string `json:"state"` // one of those below
	Path   string `json:"path"`  // the note
	Before string `json:"before"`
	After  string `json:"after"`
	// Notices describe how the change differs from the planned one.
	Notices []string `json:"notices"`
	// Added and Removed are like those of [Change].
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Made, Moved and Unmade are the notes of a change that was made in part, see [protocol.Partly].
	Made   []string `json:"made"`
	Moved  []string `json:"moved"`
	Unmade []string `json:"unmade"`
}

const (
	stateApplied   = "applied"
	stateUntouched = "untouched"
	stateOtherwise = "otherwise"
	statePartly    = "partly"
)

// addTo adds the state of a change to an outcome.
func (s changeState) addTo(out *exec.Outcome, id string) {
	out.Change = id
	out.Before = s.Before
	out.Hash = s.After
	out.Added = s.Added
	out.Removed = s.Removed
	out.Path = cmp.Or(out.Path, s.Path)
	if s.State == stateApplied {
		out.Notices = append(out.Notices, s.Notices...)
	}
}

// unexpectedState returns the error for a note that is neither unchanged nor as planned: the change was made twice,
// in part, differently, or together with a change by another program. The journal has the note as it was found.
func unexpectedState(id, format string, args ...any) *failure.RequestError {
	hint := "look at the note before you try again; undo id=" + id + " makes it what it was"
	return failure.New(
		failure.CodeUnknown,
		hint,
		format+", but the note is neither as it was nor as it was to be",
		args...)
}

// readChangeState makes the embedded program determine the state of a change and end it in the journal.
func (g *vaultGateway) readChangeState(ctx context.Context, r route, own exec.Program, id string) (changeState, error) {
	out, err := g.runner.Run(
		ctx,
		r.permit,
		own.WithOptions(protocol.Write{Task: protocol.End, Entry: id, Alone: r.alone}),
	)
	if err != nil {
		return changeState{}, err
	}
	if out.Failure != nil {
		return changeState{}, out.Failure
	}
	var s changeState
	err = json.Unmarshal([]byte(out.Stdout), &s)
	return s, err
}

// verify compares the answer of the app with the notes.
func (g *vaultGateway) verify(
	ctx context.Context,
	r route,
	own exec.Program,
	id string,
	begun, out exec.Outcome,
) (exec.Outcome, error) {
	var planned struct {
		Path  string
		Files []json.RawMessage
		Links string
	}
	if err := json.Unmarshal([]byte(begun.Stdout), &planned); err == nil && len(planned.Files) == 0 {
		return out, nil // there was nothing to change
	}
	if planned.Links != "" && out.Failure == nil {
		out.Notices = append(out.Notices, "the change "+planned.Links)
	}
	s, err := g.readChangeState(context.WithoutCancel(ctx), r, own, id)
	switch {
	case err != nil:
		out.Notices = append(out.Notices, "the change could not be read back: "+excerpt.Reason(err))
	case s.State == stateUntouched && out.Failure == nil && isElsewhere(confirmedPath(r.call, out.Stdout), planned.Path):
		return out, failure.New(
			failure.CodeUnknown,
			"look at both notes before you try again",
			"the app reports that it changed %q, and not %q",
			excerpt.Short(confirmedPath(r.call, out.Stdout)),
			excerpt.Short(planned.Path),
		)
	case s.State == stateUntouched && out.Failure == nil:
		return out, failure.New(
			failure.CodeNotApplied,
			"look at the note",
			"the app reports success, but the note is as it was",
		)
	case s.State == stateUntouched && isVague(out.Failure.Code()):
		return out, failure.New(failure.CodeNotApplied, out.Failure.Hint(),
			"%s, and the note is as it was", out.Failure.Error())
	case s.State == stateApplied && out.Failure != nil:
		s.addTo(&out, id)
		isUsual := out.Stdout == "" && r.call.Reply().Silent
		if !isUsual {
			out.Notices = append(out.Notices, out.Failure.Error()+", and the change is made")
		}
		out.Failure = nil
	case s.State == stateOtherwise && out.Failure == nil:
		s.addTo(&out, id)
		return out, unexpectedState(id, "the app reports success")
	case s.State == stateOtherwise:
		s.addTo(&out, id)
		return out, unexpectedState(id, "%v", out.Failure)
	case s.State != stateUntouched:
		s.addTo(&out, id)
	}
	return out, nil
}

// isVague reports whether a failure code does not tell why the app did nothing.
func isVague(code string) bool {
	return code == failure.CodeCLIError || code == failure.CodeUnknown || code == failure.CodeNotApplied
}

// isElsewhere reports whether the app confirmed a change of another note than the planned one. Some confirmations
// leave out the folder.
func isElsewhere(confirmed, planned string) bool {
	isFile := path.Ext(confirmed) != "" && path.Ext(confirmed) == path.Ext(planned) // and not the name of a property
	return isFile && path.Base(confirmed) != path.Base(planned)
}

const (
	// pollFor is how long a note is polled after a call was aborted. An app that was only slow has finished by then.
	// What is left of that time when the call has to be answered is polled in the background.
	pollFor   = 2 * time.Second
	pollEvery = 100 * time.Millisecond
	// readBackTime is the part of the time limit of a call that is reserved for reading the note back, but at most a
	// quarter of it. answerOverrun is how long after its time limit a call may be answered.
	readBackTime  = time.Second
	answerOverrun = 450 * time.Millisecond
)

// withinLimit returns a context that ends early enough before the time limit of a call to read the note back.
func withinLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(readBackTime, time.Until(deadline)/4)))
}

// answerBy returns the time by which an aborted call must be answered.
func answerBy(ctx context.Context) time.Time {
	deadlineOfAnswer := time.Now().Add(pollFor)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(answerOverrun).Before(deadlineOfAnswer) {
		deadlineOfAnswer = deadline.Add(answerOverrun)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for the answer
		deadlineOfAnswer = time.Now().Add(pollEvery)
	}
	return deadlineOfAnswer
}

// mayHaveActed reports whether err is that of a program that was stopped, or died, and may have changed something.
func mayHaveActed(broken error) bool {
	stopped, isStopped := errors.AsType[*exec.Stopped](broken)
	if isStopped && stopped.Code() == exec.CodeOutcomeUnknown {
		return true
	}
	unavailable, isUnavailable := errors.AsType[*exec.Unavailable](broken)
	return isUnavailable && unavailable.Code() == exec.CodeCrashed
}

// unverifiable returns the error of a call whose effect is not visible in the notes: the app may have carried it out
// nevertheless.
func unverifiable(broken error) error {
	if !mayHaveActed(broken) {
		return broken
	}
	return failure.New(failure.CodeUnknown,
		"the user can see in the app whether it was done, before it is asked for again", "%v", broken)
}

// settleFor is how long an aborted change of the embedded program is waited for: until its process has ended, and
// until what it left has been completed or undone.
const settleFor = time.Minute

// settleTries is how often the embedded program is started to settle a change.
const settleTries = 3

// settleOutcome makes the embedded program settle its aborted change, and returns the outcome: the change is made,
// or nothing of it is, or, if other programs changed notes meanwhile, it is made in part.
func (g *vaultGateway) settleOutcome(
	ctx context.Context,
	r route,
	id string,
	out exec.Outcome,
	broken error,
) (exec.Outcome, error) {
	if !mayHaveActed(broken) {
		return out, broken
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	for tries := 1; ; tries++ {
		s, err := g.readChangeState(ctx, r, r.program, id)
		cause, isAnswer := errors.AsType[*exec.Failure](err)
		switch {
		case err == nil && s.State == stateApplied:
			s.addTo(&out, id)
			out.Notices = append(out.Notices, "the call was broken off ("+broken.Error()+"), and the change is made")
			return out, nil
		case err == nil && s.State == statePartly:
			out.Change = id
			out.Partly = &protocol.Partly{Made: s.Made, Moved: s.Moved, Unmade: s.Unmade}
			return out, failure.New(
				failure.CodePartlyApplied,
				"undo id="+id+" takes back what was made",
				"the call was broken off (%v), and other programs changed notes at the same time: %d of its notes are changed and %d are not",
				broken,
				len(s.Made),
				len(s.Unmade),
			)
		case err == nil, isAnswer && cause.Code() == failure.CodeNotFound: // the change had not begun
			return out, brokenOffUnmade(broken)
		case isAnswer:
			return out, err
		}
		stopped, isStopped := errors.AsType[*exec.Stopped](err)
		isGatewayEnding := isStopped && stopped.Code() == exec.CodeCancelled && ctx.Err() == nil
		if isGatewayEnding || tries == settleTries {
			return out, broken
		}
		select {
		case <-ctx.Done():
			return out, broken
		case <-time.After(pollEvery):
		}
	}
}

// brokenOffUnmade returns the error of a call that was aborted before it changed anything.
func brokenOffUnmade(broken error) error {
	return failure.New(
		failure.CodeNotApplied,
		"the call can be repeated",
		"the call was broken off (%v), and nothing was changed",
		broken,
	)
}

// pollOutcome polls, until the given time, whether the app has made a change whose call was aborted. It returns the
// last state that it read. The change is never made again. isKnown is false while the app may still be making it.
//
// If the note is neither unchanged nor as planned, polling stops: the journal then records that note as the result
// of the change.
func (g *vaultGateway) pollOutcome(
	r route,
	own exec.Program,
	id string,
	until time.Time,
) (last changeState, isKnown bool) {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	for {
		s, err := g.readChangeState(ctx, r, own, id)
		if err == nil {
			last = s
		}
		if err == nil && (s.State == stateApplied || s.State == stateOtherwise) {
			return s, true
		}
		select {
		case <-ctx.Done():
			return last, false
		case <-time.After(pollEvery):
		}
	}
}

// watchInBackground continues to poll a note after its call was answered, so that the journal has the result.
// Nothing else is changed until then: the lock of the journal is released afterwards.
func (g *vaultGateway) watchInBackground(r route, own exec.Program, id string, unlock func()) {
	g.watches.Go(func() {
		defer unlock()
		_ = g.guard(r.call.Name(), func() { g.pollOutcome(r, own, id, time.Now().Add(pollFor)) })
	})
}

// The name of a call does not tell what it removes: replacing the text of a note by nothing deletes it. So before a
// change of notes is decided on, the embedded program works it out, once, and the plan carries it to the question,
// the preview and the run. A change that removes much is judged, asked about, shown and logged as destructive. If
// notes change before the run (TOCTOU), the embedded program refuses a change that is not the approved one, or, if
// the user was not asked, one that removes much.

// assessLoss judges a plan by what it would do. err is the error that Plan returned with it.
func (g *vaultGateway) assessLoss(ctx context.Context, req Request, plan Plan, err error) (Plan, error) {
	if err != nil && !needsApproval(err) || !plan.isAssessed() {
		return plan, err
	}
	if busy := g.workOutNow(ctx, req, &plan); busy != nil {
		return plan, busy
	}
	return g.withChange(plan, err)
}

// isAssessed reports whether a plan is judged by what it would do.
func (p Plan) isAssessed() bool {
	mayRemove := p.mayLose() && p.policy.Confirm != policy.ConfirmNever
	// The call may add an address on another machine. If the address is not in its own parameters, the embedded
	// program refuses it when it makes the change.
	isPlanned := p.changesNotes() && p.routes[0].decision.Preview().Valid()
	hasAddress := p.call.HasValue(func(value string) bool { return strings.Contains(value, "://") })
	addsAddress := isPlanned && hasAddress && !p.policy.RemoteLinks
	flowsMayApply := len(p.policy.Flows) > 0 && p.call.Effect().Mutates()
	return mayRemove || addsAddress || flowsMayApply
}

// workOutNow is like [vaultGateway.workOut], and acquires the right to run a program. The error says that waiting
// for it was ended, or that the plan cannot be read. If the change cannot be worked out for another reason, the call
// itself will report that.
func (g *vaultGateway) workOutNow(ctx context.Context, req Request, plan *Plan) error {
	if plan.change != nil || g.embeddedProgram() == nil { // only commands of the embedded program could remove text
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.runner.Timeout())
	defer cancel()
	release, busy := g.admission.Acquire(ctx, req.Caller, plan.call.Name(), g.running)
	if busy != nil {
		return busy
	}
	defer release()
	if unreadable, ok := errors.AsType[*unreadablePlan](g.workOut(ctx, plan)); ok {
		return unreadable
	}
	return nil
}

// carriedTexts describes the kinds of text that an added address can carry.
var carriedTexts = map[string]string{"text": "text of another note", "secret": "a secret"}

// withChange returns the plan, judged by the change that was worked out. err is the error that came with the plan.
func (g *vaultGateway) withChange(p Plan, err error) (Plan, error) {
	if p.change == nil {
		return p, err
	}
	isKnown := func(read flowRead) bool {
		return slices.ContainsFunc(p.because, func(r flowRead) bool { return r.rule.Name == read.rule.Name })
	}
	reads := g.readsThroughChange(p.policy, p.call, p.change.Takes)
	if len(reads) > 0 {
		reads = slices.DeleteFunc(g.applicableFlows(p.policy, p.call, batchReads{read: reads}), isKnown)
	}
	if len(reads) > 0 {
		p.because = slices.Concat(p.because, reads)
		for _, read := range reads {
			p.findings.apply(p.policy, policy.RuleFlow, read.rule.Action())
			p.facts.Flowing = p.facts.Flowing.With(read.rule)
		}
		p, err = p.decidedAgain(err)
	}
	what := carriedTexts[p.change.Carries]
	if what != "" {
		p.findings.apply(p.policy, policy.RuleRemoteLinks, p.change.Carries)
		p.facts.Carries = policy.Because("adds an address with " + what)
	}
	return p.withLoss(p.change.Loss, err)
}

// workOut makes the embedded program work out the change of a plan, unless the plan has it already. The change stays
// nil for a call that changes no notes, and if the folder of the vault is not known.
func (g *vaultGateway) workOut(ctx context.Context, plan *Plan) error {
	return g.workOutIn(ctx, plan, plan.planning)
}

// workOutIn is like [vaultGateway.workOut], on the vault as the planned operations of a batch will leave it.
func (g *vaultGateway) workOutIn(ctx context.Context, plan *Plan, in *planning) error {
	if plan.change != nil || !plan.changesNotes() || !plan.routes[0].decision.Preview().Valid() {
		return nil
	}
	program := g.embeddedProgram()
	if program == nil {
		return nil
	}
	var err error
	plan.change, err = g.planChange(ctx, plan.routes[0], *program, in)
	if unavailable, ok := errors.AsType[*exec.Unavailable](err); ok && plan.canFallBack(unavailable) {
		// The version is then taken from the journal, and the call is carried out as planned.
		plan.notices = append(slices.Clone(plan.notices), noticeEmbedded(unavailable))
		plan.routes = slices.Clone(plan.routes[1:])
		plan.change, err = g.planChange(ctx, plan.routes[0], *program, in)
	}
	return err
}

// unreadablePlan is the error of a call whose change was worked out but cannot be read, so that the user could not
// be asked about it.
type unreadablePlan struct{ reason string }

// Code returns the stable code of the failure.
func (*unreadablePlan) Code() string { return failure.CodeCLIError }

// Hint says what to do.
func (*unreadablePlan) Hint() string { return "change fewer notes at once; nothing was changed" }

func (e *unreadablePlan) Error() string { return "the plan of the change cannot be read: " + e.reason }

// planChange makes the embedded program work out the change of a route. The error is an [*unreadablePlan] if its
// answer is not complete.
func (g *vaultGateway) planChange(ctx context.Context, r route, own exec.Program, in *planning) (*plannedChange, error) {
	own = in.over(own).WithOptions(
		protocol.Write{Task: in.task(), Expect: r.expect, Caller: argument(r.caller), Addresses: r.addresses()},
	)
	if r.restoresVersion() {
		return g.planRestore(ctx, r, own, in)
	}
	return g.previewChange(ctx, r, own, in)
}

// previewChange makes the embedded program work out the change of a route. own has the options for that.
func (g *vaultGateway) previewChange(ctx context.Context, r route, own exec.Program, in *planning) (*plannedChange, error) {
	out, err := g.runner.Preview(ctx, r.decision.Preview(), own)
	if err != nil {
		return nil, err
	}
	in.rehearsed(r, out)
	if out.Failure != nil {
		return &plannedChange{failure: out.Failure}, nil
	}
	if out.Cut {
		return nil, &unreadablePlan{fmt.Sprintf("it has %d bytes, more than are kept of an answer", out.Total)}
	}
	change := &plannedChange{}
	if err := json.Unmarshal([]byte(out.Stdout), change); err != nil {
		return nil, &unreadablePlan{fmt.Sprintf("%d bytes, %v", len(out.Stdout), err)}
	}
	for _, f := range change.Files {
		for i, l := range f.Lines {
			if text := sanitize.String(l.Text); text != l.Text {
				f.Lines[i].Text = text
				f.Lines[i].From = 0
				f.Lines[i].To = len(text)
				f.Lines[i].Cuts = nil
			}
		}
	}
	return change, nil
}

// approveNoChange approves a plan that would change no byte, so that the user is not asked about it. If it would
// change something by the time it is made, that is a conflict. err is the error that asks for the approval.
func (g *vaultGateway) approveNoChange(ctx context.Context, req Request, plan Plan, err error) (Plan, error) {
	if !plan.changesNotes() || g.workOutNow(ctx, req, &plan) != nil {
		return plan, err
	}
	if plan.change == nil || !plan.change.Nothing {
		return plan, err
	}
	return plan.withApproval(consent.Question{Change: plan.change.Digest})
}

// mayLose reports whether the plan changes notes and is not destructive anyway.
func (p Plan) mayLose() bool {
	return len(p.routes) > 0 && p.routes[0].decision.Preview().Valid() && p.call.Effect() == tiers.Writes
}

// withLoss returns the plan, judged again with the knowledge of what it would remove. why is "" if that is not
// destructive. err is the error that came with the plan.
func (p Plan) withLoss(why string, err error) (Plan, error) {
	if why == "" {
		return p, err
	}
	p.call = p.call.WithLoss(sanitize.Line(why))
	return p.decidedAgain(err)
}

// decidedAgain returns the plan with a new decision, based on all that is known by now.
func (p Plan) decidedAgain(err error) (Plan, error) {
	p.decision = p.policy.Decide(p.call, p.facts)
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		decision, err := inVault(p.decision, r.call.Vault())
		if err != nil {
			return p, err
		}
		r.decision = decision
		r.facts = p.facts
		r.call = r.decision.Call()
		p.routes[i], _ = r.permitted() // without a permit it can only be shown
	}
	p.refusal = p.decision.Err()
	if p.refusal != nil {
		return p, p.refusal
	}
	return p, err
}

// addresses returns what the embedded program does about added addresses that contain text of other notes.
func (r route) addresses() protocol.Addresses {
	switch {
	case r.policy.RemoteLinks:
		return protocol.AddressesPass
	case r.policy.Shadows(policy.RuleRemoteLinks):
		return protocol.AddressesLog
	}
	return protocol.AddressesAsk
}

// plannedChange is what a call would change, as the embedded program reports it.
type plannedChange struct {
	failure failure.CodedError // why there is no change, nil if there is one
	version *version           // the version whose text it writes, nil for other changes
	Path    string             // the note that it is about
	Says    string             // the answer of the call once the change is made
	Files   []struct {
		consent.PlannedFile
		Raw *[2]string // see [consent.PlannedFile]
		// Lost, LostText and Text are like those of [consent.GrantFile].
		Lost, LostText, Text int
		difference.Change
	}
	Rest  consent.Rest
	Loss  string `json:"loses"` // why the change is destructive, "" if it is not
	Links string `json:"links"` // what it does to links, "" if nothing
	// Carries is the kind of text that added addresses carry, "" if none.
	Carries string `json:"carries"`
	// Takes are other files whose text it copies into the changed files.
	Takes   []string `json:"takes"`
	Digest  string   // identifies the change; the run must have the same, see [protocol.Write]
	Nothing bool     // it changes no byte
	// LostLinks is how many links it breaks or redirects. Marked means that a note restricts access to itself.
	// Foreign means that it undoes something that the caller has not made.
	LostLinks       int
	Marked, Foreign bool
}

// files returns the files that the change would change.
func (p *plannedChange) files() (list []consent.PlannedFile) {
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		f.PlannedFile.Raw = f.Raw
		list = append(list, f.PlannedFile)
	}
	return list
}

// changes returns the differences of the files, nil if the change is not known.
func (p *plannedChange) changes() (list []difference.Change) {
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		list = append(list, f.Change)
	}
	return list
}

// diff returns up to most of the change in the format of diff -u, and counts the files whose text it leaves out.
func (p *plannedChange) diff(most difference.Extent) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	left := p.Rest
	shown := difference.Fit(p.changes(), most)
	for i, f := range p.Files {
		f.Change = shown[i]
		if f.Raw == nil && len(f.Lines) == 0 {
			left = left.Plus(consent.Rest{Changed: 1, Added: f.Added, Removed: f.Removed})
			continue
		}
		from := "a/" + cmp.Or(f.From, f.Path)
		to := "b/" + f.Path
		switch {
		case f.PlannedFile.From != "":
			fmt.Fprintf(&b, "rename from %s\nrename to %s\n", f.From, f.Path)
		case f.Before == "":
			from = "/dev/null"
		case f.After == "":
			to = "/dev/null"
		}
		if f.From == "" || len(f.Lines) > 0 || f.Binary {
			b.WriteString(f.Unified(from, to))
		}
	}
	if n := left.Files(); n > 0 {
		fmt.Fprintf(&b, "# %s: %s added, %d removed; not shown\n", sanitize.Counted(n, "more file"), sanitize.Counted(left.Added, "line"), left.Removed)
	}
	return sanitize.String(b.String())
}

// Limits of the difference in a preview. A question shows all of it.
const (
	maxDiff      = 256 << 10 // bytes of all lines together
	maxDiffLines = 4000
	maxDiffLine  = 8 << 10 // bytes of one line
)

// embeddedProgram returns the embedded program for the vault, nil if there is none.
func (g *vaultGateway) embeddedProgram() *exec.Program {
	own, err := g.embedded()
	if err != nil {
		return nil // the folder is missing or unknown, which the app will report
	}
	return &own
}
