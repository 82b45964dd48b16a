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

// change carries out a call that changes notes. The embedded program journals, makes and checks
// the change itself. A change by the app is journaled before and verified afterwards, if the
// folder of the vault is known.
func (g *vaultGateway) change(ctx context.Context, r route) (exec.Outcome, error) {
	id := cmp.Or(r.entry, journal.NewID(time.Now()))
	options := protocol.Write{
		Entry: id, Expect: r.expect, Approved: r.shown.Change, Caller: argument(r.caller), Client: audit.Name(r.client), Batch: r.batch, Grant: r.grant, Proposal: r.proposal, Alone: r.alone,
		Sparing: r.policy.Confirm != policy.ConfirmNever && !r.approved, Addresses: r.addresses(),
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

// changeEmbedded has the embedded program make a change, or plan it for a batch.
func (g *vaultGateway) changeEmbedded(ctx context.Context, r route, options protocol.Write) (exec.Outcome, error) {
	if r.planning != nil {
		out, err := r.planning.plan(ctx, g, r, r.program.WithOptions(options))
		if mayHaveActed(err) { // it was only worked out
			err = brokenOffUnmade(err)
		}
		return out, err
	}
	out, err := g.runner.Run(ctx, r.permit, r.program.WithOptions(options))
	if err != nil {
		return g.settledOutcome(ctx, r, options.Entry, out, err)
	}
	if out.Partly != nil {
		out.Change = options.Entry
	}
	return out, nil
}

// changeUnjournaled has the app make a change in a vault whose folder is not known.
func (g *vaultGateway) changeUnjournaled(ctx context.Context, r route) (exec.Outcome, error) {
	if r.expect != "" {
		return exec.Outcome{ExitCode: -1}, failure.New(
			failure.CodeVaultNotFound,
			"the user can set vault to the folder of the vault",
			"expectHash needs the folder of the vault, which is not known",
		)
	}
	if kind := r.call.TextInto(); kind != "note" { // no one would look at what the file becomes
		return exec.Outcome{ExitCode: -1}, failure.New(
			failure.CodeBadValue,
			"the user can set vault to the folder of the vault; "+allowlist.ServesKind(kind),
			"while the folder of the vault is not known, text is written into notes only",
		)
	}
	return g.performUnseen(ctx, r, "because the folder of the vault is not known")
}

// performUnseen has the app make a change that is not in the journal.
func (g *vaultGateway) performUnseen(ctx context.Context, r route, why string) (exec.Outcome, error) {
	out, err := g.perform(ctx, r)
	out.Notices = append(out.Notices, notKept+", "+why+": undo cannot take it back")
	return out, unseen(err)
}

// lockVault waits until no other program changes the vault. Of a call that is alone in it the batch has the lock.
func (g *vaultGateway) lockVault(ctx context.Context, r route) (unlock func(), err error) {
	if r.alone {
		return func() {}, nil
	}
	kept, err := g.journal(g.target().Folder)
	if err != nil {
		return nil, err
	}
	unlock, err = kept.Lock(ctx)
	if err != nil {
		return nil, failure.New(failure.CodeConflict, "try again", "another program changes the vault: %v", err)
	}
	return unlock, nil
}

// changeJournaled has the app make a change that the embedded program journals before and verifies afterwards.
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
		return exec.Missing(r.call), nil // no rule lets it come here
	case needsApp:
		return g.performUnseen(ctx, r, "because only the app knows what it changes")
	case begun.Failure != nil:
		return nothingRan(begun), begun.Failure
	}
	if changesNothing(begun) && !r.call.Shows() { // the app may do it twice all the same
		options.Task = protocol.Whole
		options.Alone = true
		return g.runner.Run(ctx, r.permit, own.WithOptions(options))
	}
	limited, cancel := withinLimit(ctx)
	defer cancel()
	out, err := g.perform(limited, r)
	if err == nil {
		return g.verified(ctx, r, own, id, begun, out)
	}
	if !mayHaveActed(err) {
		return out, err
	}
	found, isKnown := g.pollOutcome(r, own, id, answerBy(ctx))
	if isKnown {
		return found.afterBreak(out, id, err)
	}
	if found.State == stateUntouched {
		out.Notices = append(out.Notices, "when the call was answered the note was as before it")
	}
	if !r.alone {
		g.watchOn(r, own, id, unlock)
		unlock = func() {} // the watch unlocks
	}
	return out, err
}

// afterBreak returns the outcome of a call that was broken off, of which the state of the change is known.
func (s changeState) afterBreak(out exec.Outcome, id string, cause error) (exec.Outcome, error) {
	s.note(&out, id)
	if s.State == stateApplied {
		out.Notices = append(out.Notices, "the call was broken off ("+cause.Error()+"), and the change is made")
		return out, nil
	}
	return out, unexpectedState(id, "the call was broken off (%v)", cause)
}

// changesNothing reports whether a change that is begun would change no byte.
func changesNothing(begun exec.Outcome) bool {
	var planned plannedChange
	return json.Unmarshal([]byte(begun.Stdout), &planned) == nil && planned.Nothing
}

// changeState is the state of a change afterwards, as the embedded program reports it.
type changeState struct {
	State  string `json:"state"` // one of those below
	Path   string `json:"path"`  // of the note
	Before string `json:"before"`
	After  string `json:"after"`
	// Notices say how a change that was made differs from the planned one.
	Notices []string `json:"notices"`
	// Added and Removed are those of [Change].
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Made and Unmade are the notes of a change that is made in part.
	Made   []string `json:"made"`
	Unmade []string `json:"unmade"`
}

const (
	stateApplied   = "applied"
	stateUntouched = "untouched"
	stateOtherwise = "otherwise"
	statePartly    = "partly"
)

// note adds the state of a change to an outcome.
func (s changeState) note(out *exec.Outcome, id string) {
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

// unexpectedState says that a note is neither unchanged nor as planned: the change was made twice,
// in part, differently, or together with one of another program. The journal has the note as it
// was found.
func unexpectedState(id, format string, args ...any) *failure.RequestError {
	hint := "look at the note before you try again; undo id=" + id + " makes it what it was"
	return failure.New(
		failure.CodeUnknown,
		hint,
		format+", but the note is neither as it was nor as it was to be",
		args...)
}

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

// verified compares the answer of the app with the notes.
func (g *vaultGateway) verified(
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
		s.note(&out, id)
		isUsual := out.Stdout == "" && r.call.Reply().Silent
		if !isUsual {
			out.Notices = append(out.Notices, out.Failure.Error()+", and the change is made")
		}
		out.Failure = nil
	case s.State == stateOtherwise && out.Failure == nil:
		s.note(&out, id)
		return out, unexpectedState(id, "the app reports success")
	case s.State == stateOtherwise:
		s.note(&out, id)
		return out, unexpectedState(id, "%v", out.Failure)
	case s.State != stateUntouched:
		s.note(&out, id)
	}
	return out, nil
}

// isVague reports whether the code of a failure does not say why the app did nothing.
func isVague(code string) bool {
	return code == failure.CodeCLIError || code == failure.CodeUnknown || code == failure.CodeNotApplied
}

// isElsewhere reports whether the app has confirmed a change of another note than the planned one. It confirms some
// without the folder.
func isElsewhere(confirmed, planned string) bool {
	isFile := path.Ext(confirmed) != "" && path.Ext(confirmed) == path.Ext(planned) // not the name of a property
	return isFile && path.Base(confirmed) != path.Base(planned)
}

const (
	// pollFor is how long a note is polled after a call was aborted: an app that was only slow
	// is done by then. What is left of it behind the answer is watched on.
	pollFor   = 2 * time.Second
	pollEvery = 100 * time.Millisecond
	// readBack is kept of the limit of a call for reading the note back, at most a quarter of it; overLimit is how long
	// behind the limit a call is answered at most.
	readBack  = time.Second
	overLimit = 450 * time.Millisecond
)

// withinLimit returns a context that ends so long before the limit of a call that the note can be read back within it.
func withinLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(readBack, time.Until(deadline)/4)))
}

// answerBy is when a call that was aborted is to be answered.
func answerBy(ctx context.Context) time.Time {
	by := time.Now().Add(pollFor)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(overLimit).Before(by) {
		by = deadline.Add(overLimit)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for it
		by = time.Now().Add(pollEvery)
	}
	return by
}

// mayHaveActed reports whether a program was stopped, or died, that may have changed something.
func mayHaveActed(broken error) bool {
	stopped, isStopped := errors.AsType[*exec.Stopped](broken)
	if isStopped && stopped.Code() == exec.CodeOutcomeUnknown {
		return true
	}
	away, isAway := errors.AsType[*exec.Unavailable](broken)
	return isAway && away.Code() == exec.CodeCrashed
}

// unseen is the error of a call that was to change what no text shows: the app may have done it all the same.
func unseen(broken error) error {
	if !mayHaveActed(broken) {
		return broken
	}
	return failure.New(failure.CodeUnknown,
		"the user can see in the app whether it was done, before it is asked for again", "%v", broken)
}

// settleFor is how long a change of the embedded program is waited for that was broken off: for the end of its process, and
// until what it left is completed or taken back.
const settleFor = time.Minute

// settleTries is how often the embedded program is started for that.
const settleTries = 3

// settledOutcome has the embedded program settle its change that was broken off, and says what became of it: it is made, or nothing
// of it is, or where other programs have changed notes meanwhile it is made in part.
func (g *vaultGateway) settledOutcome(
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
			s.note(&out, id)
			out.Notices = append(out.Notices, "the call was broken off ("+broken.Error()+"), and the change is made")
			return out, nil
		case err == nil && s.State == statePartly:
			out.Change = id
			out.Partly = &protocol.Partly{Made: s.Made, Unmade: s.Unmade}
			return out, failure.New(
				failure.CodePartlyApplied,
				"undo id="+id+" takes back what was made",
				"the call was broken off (%v), and other programs changed notes at the same time: %d of its notes are changed and %d are not",
				broken,
				len(s.Made),
				len(s.Unmade),
			)
		case err == nil, isAnswer && cause.Code() == failure.CodeNotFound: // it did not even begin
			return out, brokenOffUnmade(broken)
		case isAnswer:
			return out, err
		}
		stopped, isStopped := errors.AsType[*exec.Stopped](err)
		isOver := isStopped && stopped.Code() == exec.CodeCancelled && ctx.Err() == nil // the gateway ends
		if isOver || tries == settleTries {
			return out, broken
		}
		select {
		case <-ctx.Done():
			return out, broken
		case <-time.After(pollEvery):
		}
	}
}

// brokenOffUnmade is the error of a call that was broken off before it changed anything.
func brokenOffUnmade(broken error) error {
	return failure.New(
		failure.CodeNotApplied,
		"the call can be repeated",
		"the call was broken off (%v), and nothing was changed",
		broken,
	)
}

// pollOutcome finds out until a time whether the app has made a change whose call was aborted, and returns what was seen
// last. The change is never made again. isKnown is false while the app may still be making it.
//
// A note that is neither old nor as planned is read once: the journal then records it as the
// result of the change.
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

// watchOn polls a note on behind the answer to its call, so that the journal has what becomes of it. Until then nothing else
// is changed: the lock of the journal is given up afterwards.
func (g *vaultGateway) watchOn(r route, own exec.Program, id string, unlock func()) {
	g.watches.Go(func() {
		defer unlock()
		_ = g.guard(r.call.Name(), func() { g.pollOutcome(r, own, id, time.Now().Add(pollFor)) })
	})
}

// The name of a call does not say what it removes: replacing the text of a note by nothing deletes
// it. So before a change of notes is decided, the embedded program works it out, once, and the
// plan carries it to the question, the preview and the run. A change that removes much is judged,
// asked about, shown and logged as destructive. If notes change before the run (TOCTOU), the
// embedded program refuses a change that is not the approved one, or, if the user was not asked,
// one that removes much.

// assessLoss judges a plan by what it would do. err is the error that came with the plan.
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
	loses := p.mayLose() && p.policy.Confirm != policy.ConfirmNever
	// The call may add an address on another machine. What it does not say itself, the embedded program
	// refuses when it makes the change.
	isPlanned := p.changesNotes() && p.routes[0].decision.Preview().Valid()
	carries := !p.policy.RemoteLinks && isPlanned &&
		p.call.HasValue(func(value string) bool { return strings.Contains(value, "://") })
	takes := len(p.policy.Flows) > 0 && p.call.Effect().Mutates()
	return loses || carries || takes
}

// workOutNow is [vaultGateway.workOut] as a call of its own. The error is that of waiting for one, or that of
// a plan that cannot be read; if the change cannot be worked out for another reason, the call itself says why.
func (g *vaultGateway) workOutNow(ctx context.Context, req Request, plan *Plan) error {
	if plan.change != nil ||
		g.embeddedProgram() == nil { // the commands that could remove a text are those of the embedded program
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

// carried are the kinds of text that an added address can carry, in words.
var carried = map[string]string{"text": "text of another note", "secret": "a secret"}

// withChange returns the plan judged by the change that was worked out. err is what it came with.
func (g *vaultGateway) withChange(p Plan, err error) (Plan, error) {
	if p.change == nil {
		return p, err
	}
	isKnown := func(read flowRead) bool {
		return slices.ContainsFunc(p.because, func(r flowRead) bool { return r.rule.Name == read.rule.Name })
	}
	taken := g.takenFrom(p.policy, p.call, p.change.Takes)
	if len(taken) > 0 {
		taken = slices.DeleteFunc(g.flowing(p.policy, p.call, batchReads{read: taken}), isKnown)
	}
	if len(taken) > 0 {
		p.because = slices.Concat(p.because, taken)
		for _, read := range taken {
			p.findings.acts(p.policy, policy.RuleFlow, read.rule.Action())
			p.facts.Flowing = p.facts.Flowing.With(read.rule)
		}
		p, err = p.decidedAgain(err)
	}
	what := carried[p.change.Carries]
	if what != "" {
		p.findings.acts(p.policy, policy.RuleRemoteLinks, p.change.Carries)
		p.facts.Carries = policy.Because("adds an address with " + what)
	}
	return p.withLoss(p.change.Loss, err)
}

// workOut has the embedded program work out the change of a plan, unless the plan has it already.
// The change stays nil for a call that changes no notes, and if the folder of the vault is not
// known.
func (g *vaultGateway) workOut(ctx context.Context, plan *Plan) error {
	return g.workOutIn(ctx, plan, plan.planning)
}

// workOutIn is [vaultGateway.workOut] for the vault as the planned operations of a batch will leave it.
func (g *vaultGateway) workOutIn(ctx context.Context, plan *Plan, in *planning) error {
	if plan.change != nil || !plan.changesNotes() || !plan.routes[0].decision.Preview().Valid() {
		return nil
	}
	program := g.embeddedProgram()
	if program == nil {
		return nil
	}
	var err error
	plan.change, err = g.planned(ctx, plan.routes[0], *program, in)
	if away, ok := errors.AsType[*exec.Unavailable](err); ok && plan.canTurn(away) {
		// The version is then one of the journal, and the call is carried out as it was planned.
		plan.notices = append(slices.Clone(plan.notices), answeredByEmbedded(away))
		plan.routes = slices.Clone(plan.routes[1:])
		plan.change, err = g.planned(ctx, plan.routes[0], *program, in)
	}
	return err
}

// unreadablePlan is the error of a call whose change was worked out, and is not known all the same: nobody
// could be asked about it.
type unreadablePlan struct{ reason string }

// Code returns the stable code of the failure.
func (*unreadablePlan) Code() string { return failure.CodeCLIError }

// Hint says what to do.
func (*unreadablePlan) Hint() string { return "change fewer notes at once; nothing was changed" }

func (e *unreadablePlan) Error() string { return "the plan of the change cannot be read: " + e.reason }

// planned has the embedded program work out the change of a route. The error is an [*unreadablePlan] if
// the plan is not whole.
func (g *vaultGateway) planned(ctx context.Context, r route, own exec.Program, in *planning) (*plannedChange, error) {
	own = in.over(own).WithOptions(
		protocol.Write{Task: in.task(), Expect: r.expect, Caller: argument(r.caller), Addresses: r.addresses()},
	)
	if r.restoresVersion() {
		return g.plannedRestore(ctx, r, own, in)
	}
	return g.plannedBy(ctx, r, own, in)
}

// plannedBy has the embedded program work out the change of a route with the options that it is given.
func (g *vaultGateway) plannedBy(ctx context.Context, r route, own exec.Program, in *planning) (*plannedChange, error) {
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

// passNothing approves a change that changes no byte: nobody is asked about it. If it would change something by the time that it
// is made, it is a conflict. err is the one that asks for the approval.
func (g *vaultGateway) passNothing(ctx context.Context, req Request, plan Plan, err error) (Plan, error) {
	if !plan.changesNotes() || g.workOutNow(ctx, req, &plan) != nil {
		return plan, err
	}
	if plan.change == nil || !plan.change.Nothing {
		return plan, err
	}
	return plan.withApproval(consent.Question{Change: plan.change.Digest})
}

// mayLose reports whether the plan changes notes, and is not destructive anyway.
func (p Plan) mayLose() bool {
	return len(p.routes) > 0 && p.routes[0].decision.Preview().Valid() && p.call.Effect() == tiers.Writes
}

// withLoss returns the plan as one of which it is known what it would remove, judged
// again. err is what it came with.
func (p Plan) withLoss(why string, err error) (Plan, error) {
	if why == "" {
		return p, err
	}
	p.call = p.call.WithLoss(sanitize.Line(why))
	return p.decidedAgain(err)
}

// decidedAgain returns the plan with the decision by what is known by now.
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
		p.routes[i], _ = r.permitted() // without a permit it is only shown
	}
	if p.refusal = p.decision.Err(); p.refusal != nil {
		err = p.refusal
	}
	return p, err
}

// addresses says what the embedded program does about added addresses with text of other notes.
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
	failure failure.CodedError // why there is no change
	version *version           // whose text it writes, nil for another change
	Path    string             // of the note that it is about
	Says    string             // what the call answers once it is made
	Files   []struct {
		consent.PlannedFile
		Raw *[2]string // see [consent.PlannedFile]
		// Lost, LostText and Text are those of [consent.GrantFile].
		Lost, LostText, Text int
		difference.Change
	}
	Rest  consent.Rest
	Loss  string `json:"loses"` // why the change is destructive, "" if it is not
	Links string `json:"links"` // what it does to links, "" for nothing
	// Carries is the kind of what the addresses that it adds carry, "" for nothing.
	Carries string `json:"carries"`
	// Takes are other files whose text goes into those that are changed or made.
	Takes   []string `json:"takes"`
	Digest  string   // that the run has to have, see [protocol.Write]
	Nothing bool     // it changes no byte
	// LostLinks is how many links it breaks or leads elsewhere. Marked says that a note narrows the access to itself, and
	// Foreign that it takes back what the caller has not made.
	LostLinks       int
	Marked, Foreign bool
}

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

// changes are those of the files, nil where there is none.
func (p *plannedChange) changes() (list []difference.Change) {
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		list = append(list, f.Change)
	}
	return list
}

// diff shows so much of the change in the form of diff -u. It counts the files whose text the plan leaves out.
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

// What of a difference is in a preview. A question shows all of it.
const (
	maxDiff      = 256 << 10 // bytes of all lines together
	maxDiffLines = 4000
	maxDiffLine  = 8 << 10 // bytes of one line
)

// embeddedProgram returns the program that keeps a change of the app, nil if there is none.
func (g *vaultGateway) embeddedProgram() *exec.Program {
	own, err := g.embedded()
	if err != nil {
		return nil // the folder is gone, or was never there: the app says what that means
	}
	return &own
}
