package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Do plans req and carries it out. It always returns a result, which also reports failures and internal errors.
func (g *Gateway) Do(ctx context.Context, req Request) (result Result) {
	started := time.Now()
	req.Caller = g.ofAgent(req.Caller)
	if req.Cursor != "" && (req.Command == "" || req.Vault == "") { // a cursor alone is sufficient
		id, _, err := parseCursor(req.Cursor)
		if err == nil { // an invalid cursor is refused when it is used
			if _, first, err := g.answers.Get(req.Caller, id); err == nil {
				req.Command = cmp.Or(req.Command, first.request.Command)
				req.Vault = cmp.Or(req.Vault, first.request.Vault)
			}
		}
	}
	req = req.withOneLimit()
	if req.Taken.IsZero() {
		req.Taken = started
	}
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.Single, req.Command, req.Surface, g.agent)
	fault := g.guard(req.Command, func() {
		d, err := g.vaultNamed(req.Vault)
		if err != nil {
			g.record(ctx, "", req).Refused(err)
			result = Reject(req.Command, err)
			return
		}
		req.Vault = d.name() // the request may name it by its id or folder
		ctx, end := g.admission.Follow(ctx, d.rules.Ended)
		defer end()
		hold := g.runner.Hold(req.Caller)
		defer hold.Release()
		if req.Cursor != "" {
			result = d.nextPage(ctx, hold, req)
			return
		}
		if req.Keep {
			req.visibility = d.rules.Fingerprint()
		}
		whole, _ := d.process(ctx, hold, req, approved{})
		result = d.firstPage(req, whole)
	})
	if fault != nil {
		result = Fault(req.Command)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	observed.Ended(result.outcome())
	return result
}

// process takes a request through its stages, in this order:
//
//  1. admit: pause, rate limits, policy, approval, audit log. The only program that it starts
//     is the one that works out the change.
//  2. acquire: wait for the semaphore of running calls, and for earlier changes.
//  3. runOnce: with an idempotency key that has an answer, return that answer.
//  4. carryOut: run the call on the first program that can, see run.
//
// hold is the right to keep a large answer in memory. by is what the user has approved already. started is false if
// the request ended while it waited.
func (g *vaultGateway) process(
	ctx context.Context,
	hold *exec.Hold,
	req Request,
	by approved,
) (result Result, started bool) {
	line := by.record
	if line == nil {
		line = g.record(ctx, g.name(), req)
		line.OfProposal(by.proposal)
	} else {
		line.InBatch(telemetry.CallOf(ctx))
	}
	if req.undoesForOwner() {
		ctx = admission.PastPause(ctx)
	}
	plan, err := g.admit(ctx, req, line, by)
	ran := false
	defer func() { g.settleGrant(plan.use, ran, result) }()
	if err == nil && !by.inBatch { // in a batch, waiting would block the other operations
		plan, err = g.awaitDecisions(ctx, req, plan)
	}
	if before, ok := errors.AsType[*answered](err); ok {
		return g.replayAnswer(before.plan, before.answer).endedIn(line), true
	}
	if err != nil {
		line.Refused(err)
		return Reject(req.Command, err), true
	}
	ctx, cancel := g.admission.WithDeadline(ctx, req.Taken, plan.asking)
	defer cancel()
	ctx = exec.WithHold(ctx, hold) // not earlier, because the user may have needed minutes to decide
	isPaged := req.Keep && req.batch == ""
	if isPaged && !plan.call.Effect().Mutates() && plan.policy.Secrets != policy.SecretsBlock {
		if formOf(plan.call) == formJSON {
			ctx = exec.CompactJSON(ctx)
		}
		plan.part = req.firstPart(plan.call)
	}
	release, err := g.admission.Acquire(ctx, req.Caller, plan.call.Name(), g.linesFor(plan.call, by)...)
	if err != nil {
		return Reject(req.Command, err).endedIn(line), false
	}
	defer release()
	result = g.runOnce(req, plan, func(plan Plan) Result {
		ran = true
		return g.carryOut(ctx, plan)
	})
	if result.divided != nil && !result.exceedsPage(req) { // the first part is not enough for a page
		result = result.divided.whole()
	}
	if by.prepare != nil {
		result.found = result.found.and(by.prepare(result))
	}
	g.recordReads(plan, result)
	if req.Shows && result.Change != nil && plan.change != nil {
		g.recordDisclosure(plan)
		result.Difference = consent.Changes(plan.change.files(), plan.change.changes(), plan.change.Rest)
	}
	result.found = g.withPrivate(plan, result)
	if by.held != nil && plan.call.Effect().Mutates() && result.OK {
		by.held(line)
		return result, true
	}
	if result.Error != nil && result.Error.Code == failure.CodeNotFound {
		for _, named := range plan.call.NamedPaths() {
			if g.rules.Closes(named.Path) {
				line.HiddenBy(policy.RulePrivate, "")
			}
		}
	}
	return result.endedIn(line), true
}

// firstPart returns how many bytes of the answer to a read to prepare for its first page, 0 for all of it. An answer
// with headings between its rows is not divided, nor is a note, because its hash needs the whole text.
func (r Request) firstPart(call allowlist.Call) int {
	form := formOf(call)
	isLimited := r.MaxOutput != 0 && r.Fields == nil
	isDivisible := form != formHeaded && form != formNumbered && !call.PrintsNote()
	if !isLimited || !isDivisible {
		return 0
	}
	return r.MaxOutput + 1 // one byte more, so that the page ends before the part does
}

// linesFor returns the lines in which a call waits for its turn.
func (g *vaultGateway) linesFor(call allowlist.Call, by approved) []*shares.Line {
	if !call.Effect().Mutates() || by.inBatch { // a batch has acquired the others itself
		return []*shares.Line{g.running}
	}
	if call.ChangesMany() {
		return []*shares.Line{g.changingMany, g.running}
	}
	return []*shares.Line{g.writing, g.running}
}

// recordReads records what the session has read with an answer: suspected prompt injection, and under flow rules.
func (g *vaultGateway) recordReads(plan Plan, result Result) {
	var signs []string
	for _, entry := range result.found.found {
		if kind, ok := strings.CutPrefix(entry, policy.RuleSuspicious+" "); ok && kind != audit.NotSearched {
			signs = append(signs, kind)
		}
	}
	if signs != nil && plan.policy.Suspicious == policy.SuspiciousAsk {
		g.suspects.LoadOrStore(plan.caller, "suspected prompt injection ("+strings.Join(signs, ", ")+")")
	}
	g.flows.add(g.flowReads(plan.policy, plan.call, readsAnswer, result))
}

// record begins the audit record of a request to a vault, "" for an unknown vault.
func (g *shared) record(ctx context.Context, vault string, req Request) *audit.Record {
	return g.records.Begin(
		audit.Caller{Client: req.Client, Surface: req.Surface, Vault: vault, Command: req.Command},
		telemetry.CallOf(ctx),
	)
}

// admit takes a request through everything that comes before the first process: the pause, the limits, the policy,
// the approval and the audit log. by is what the user has approved already.
func (g *vaultGateway) admit(ctx context.Context, req Request, line *audit.Record, by approved) (Plan, error) {
	switch {
	case req.undoesForOwner(): // neither limits nor a pause apply
	case by.takesBack: // the gateway itself undoes what it has just done
		if err := g.admission.Open(); err != nil {
			return Plan{}, err
		}
	default:
		calls := 1
		if by.inBatch {
			calls = 0 // the batch has counted them
		}
		if err := g.admission.Calls(g.accountOf(req.Caller), calls); err != nil {
			return Plan{}, err
		}
	}
	if time.Since(req.Taken) >= g.runner.Timeout() {
		// The user is not asked about a call that would be too late.
		return Plan{}, g.admission.NotStarted(context.DeadlineExceeded, telemetry.KnownCommand(req.Command))
	}
	plan, err := g.planWithFolder(ctx, req)
	plan.change = by.change
	plan, err = g.assessLoss(ctx, req, plan, err)
	if err == nil && req.Shows {
		err = g.workOut(ctx, &plan)
	}
	line.Described(plan.call, plan.refusal)
	line.Found(plan.findings.found, plan.findings.shadow)
	for _, read := range plan.because {
		line.Because(read.note)
	}
	line.HiddenBy(g.rules.HiddenBy(plan.call, plan.policy, plan.facts))
	if needsApproval(err) && by.question == nil && !by.takesBack {
		plan, err = g.approveNoChange(ctx, req, plan, err)
	}
	switch {
	case by.question != nil && (err == nil || needsApproval(err)):
		plan, err = plan.withApproval(*by.question)
		plan = plan.withGrant(by.grant).ofProposal(by.proposal)
	case by.takesBack && needsApproval(err):
		plan, err = plan.withApproval(consent.Question{})
	case needsApproval(err) && by.inBatch:
		err = failure.New(
			failure.CodeUnconfirmed,
			"send it alone",
			"command %q requires user approval, and the user was not shown it with the batch",
			plan.call.Name(),
		)
	case needsApproval(err):
		if answer := g.recall(req.IdempotencyKey, g.bindToSender(req, digestOf(plan))); answer != nil {
			line.Asked(err)
			return plan, &answered{plan, answer} // do not ask the user about a call that was made already
		}
		if g.approveUnderGrant(ctx, req, &plan) {
			line.Granted(plan.grant)
			err = nil
			break
		}
		line.Asked(err)
		askedAt := time.Now()
		approvedBy := ""
		if plan, approvedBy, err = g.requestApproval(ctx, req, plan, line, err); err == nil {
			line.Approved(approvedBy)
		}
		plan.asking = time.Since(askedAt)
	}
	if err != nil {
		return plan, err
	}
	if plan.call.Effect().Mutates() && !by.inBatch && !req.undoesForOwner() {
		if err := g.admission.Mutation(); err != nil {
			return plan, err
		}
	}
	return plan, line.Allowed(plan.call, plan.backend())
}

// carryOut runs the plan on its first route, and on the next one if nothing ran on that. A call that the gateway
// answers itself has no routes.
func (g *vaultGateway) carryOut(ctx context.Context, plan Plan) Result {
	if plan.answer != "" {
		return Result{
			OK:       true,
			Command:  plan.call.Name(),
			ExitCode: -1,
			Stdout:   plan.answer,
			Notices:  plan.notices,
			Unread:   plan.unread,
			raw:      plan.answer,
		}
	}
	notices := plan.notices
	for i, route := range plan.routes {
		route.change = plan.change
		out, err := g.run(ctx, route)
		if i+1 < len(plan.routes) {
			unavailable, isUnavailable := errors.AsType[*exec.Unavailable](err)
			failed, isFailure := errors.AsType[*exec.Failure](err)
			appIsAway := isUnavailable && slices.Contains(fallbackCodes, unavailable.Code())
			appDoesLess := isFailure && failed.AppDoesLess()
			if appIsAway || appDoesLess {
				notices = append(notices, noticeEmbedded(err))
				continue
			}
		}
		g.logFault(err)
		askedApp := route.program.Backend() == string(App) && route.call.OnlyReads()
		isMissing := err == nil && out.Failure != nil && out.Failure.IsNotFound()
		if askedApp && isMissing {
			// The app did not find something. The hint comes from the embedded program, which knows the visible
			// names. Only reads are run a second time for that.
			if own := g.embeddedProgram(); own != nil {
				retry, err := g.runner.Run(ctx, route.permit, *own)
				isMissing := err == nil && retry.Failure != nil && retry.Failure.Code() == failure.CodeNotFound
				if isMissing && retry.Failure.Hint() != "" {
					out.Failure = out.Failure.WithHint(retry.Failure.Hint())
				}
			}
		}
		return reported{g.name(), route, notices, plan.part}.result(out, err)
	}
	return Reject(plan.call.Name(), failure.New(failure.CodeInternal, "", "a plan without a program"))
}

// noticeEmbedded returns the notice that the app was not used, and why.
func noticeEmbedded(cause error) string {
	return "answered by the embedded backend: " + cause.Error()
}

// canFallBack reports whether another program can carry out the plan, because the first one is unavailable.
func (p Plan) canFallBack(unavailable *exec.Unavailable) bool {
	return len(p.routes) > 1 && slices.Contains(fallbackCodes, unavailable.Code())
}

// fallbackCodes are the error codes of programs that did not begin the call, so that another program may.
var fallbackCodes = []string{"cli_not_found", "cli_unsuitable", "cli_too_old", "cli_disabled", "app_not_running"}

// run carries out a call on a route.
func (g *vaultGateway) run(ctx context.Context, r route) (exec.Outcome, error) {
	if err := g.checkPinnedVault(ctx, r); err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	located := exec.Outcome{} // the answer of the app when a step resolved the note
	var err error
	for _, s := range r.steps() {
		if s.resolve != nil {
			if r, located, err = s.resolve(g, ctx, r); err != nil || located.Failure != nil {
				return located, err
			}
			break
		}
	}
	if err := g.checkNotes(r); err != nil {
		return outcomeNotRun(located), err
	}
	out, err := g.runResolved(ctx, r)
	out.Duration += located.Duration
	out.Notices = append(located.Notices, out.Notices...)
	readsVersions := r.call.VersionsOf() != "" && !r.call.Effect().Mutates()
	hasAnswer := err == nil && out.Failure == nil && out.Stdout != ""
	if readsVersions && hasAnswer {
		out.Notices = append(out.Notices, r.noticeOfHistory())
	}
	if err == nil && out.Failure != nil && g.isText(ctx, r, out.Failure.Text()) {
		out.Stdout = out.Failure.Text()
		out.Total = int64(len(out.Stdout))
		out.Failure = nil
	}
	if err != nil || out.Failure != nil {
		return out, err
	}
	// The path tells that the answer is of that note alone. Exceptions for the note, and flow rules, depend on it.
	if !r.call.Effect().Mutates() {
		out.Path = cmp.Or(out.Path, r.namedNote(), r.printedPath(out))
	}
	if r.program.Backend() == string(App) {
		return g.completeAppAnswer(ctx, r, out)
	}
	return out, nil
}

// checkNotes returns an error if the notes that a call names must not be reached by the app, or are not in the state
// that the caller expects.
func (g *vaultGateway) checkNotes(r route) error {
	if r.program.Backend() == string(App) && r.policy.Access.Restrict() {
		// The access rules judge the given path, but the app follows symbolic links, and hard links to files with
		// other names. The embedded program follows no links and enforces the rules itself.
		for _, named := range r.call.NamedPaths() {
			if err := RejectIndirect(g.target().Folder, named.Path); err != nil {
				return err
			}
		}
	}
	if r.shown.Change != "" {
		return nil // the program checks the change
	}
	return g.checkUnchanged(r.shown)
}

// runResolved runs the program of a route, once its notes are resolved and checked.
func (g *vaultGateway) runResolved(ctx context.Context, r route) (exec.Outcome, error) {
	switch {
	case r.isHidden() && !r.changesNotes():
		return exec.Missing(r.call), nil
	case r.changesNotes():
		return g.change(ctx, r)
	}
	out, err := g.perform(ctx, r)
	if r.call.Effect().Mutates() {
		err = unverifiable(err)
	}
	return out, err
}

// completeAppAnswer adds to an answer of the app the path and the hash of its note. The error means that the app printed
// a message in place of the note.
func (g *vaultGateway) completeAppAnswer(ctx context.Context, r route, out exec.Outcome) (exec.Outcome, error) {
	path, _ := r.call.Param("path")
	isOfNote := r.call.TouchesOneNote() && !r.call.FollowsLinks() // otherwise the path may be that of a base, or the old one
	if r.call.Effect().Mutates() && isOfNote {
		out.Path = cmp.Or(out.Path, confirmedPath(r.call, out.Stdout), path)
	}
	hasText := r.call.PrintsNote() && out.Path != "" && !out.Cut
	if !hasText {
		return out, nil
	}
	// The app adds a missing final newline (inferred from byte counts, 1.12.7), so the size of the file tells
	// which of two texts the note has. Without the folder of the vault, or if the note changes meanwhile, there
	// is no hash.
	out.Hash = HashOfPrinted(g.target().Folder, out.Path, out.Stdout)
	// A single sentence that is not the content of the file is a message that the app prints instead.
	isOther := out.Hash == "" && HashOfNote(g.target().Folder, out.Path) != ""
	line := strings.TrimSuffix(out.Stdout, "\n")
	isRemark := !strings.Contains(line, "\n") && exec.LooksLikeRemark(line)
	if isOther && isRemark && !g.isText(ctx, r, out.Stdout) {
		return out, failure.New(
			failure.CodeCLIError,
			"repeat the call",
			"the client answered %s, which is not the text of the note",
			excerpt.Quoted(line),
		)
	}
	return out, nil
}

// isText reports whether an answer of the app is proven to be the requested text although it looks like an error or
// a remark: the embedded program reads the same text from the file. For a version of a note, or without the folder
// of the vault, that cannot be proven.
func (g *vaultGateway) isText(ctx context.Context, r route, printed string) bool {
	own := g.embeddedProgram()
	runsInApp := r.program.Backend() == string(App) && r.call.VersionsOf() == ""
	if own == nil || printed == "" || !runsInApp {
		return false
	}
	read, err := g.runner.Run(ctx, r.permit, *own)
	return err == nil && read.Failure == nil && isSameText(read.Stdout, printed)
}

// isSameText reports whether two texts are equal, except for a newline at their end.
func isSameText(a, b string) bool { return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n") }

// namedNote returns the path of the file that a call names. It is "" if the call names none, or if its answer also
// has texts of other files.
func (r route) namedNote() string {
	if !r.call.TouchesOneNote() {
		return ""
	}
	for _, named := range r.call.NamedPaths() {
		if named.Param == "path" && !named.Folder && !named.To {
			return named.Path
		}
	}
	return ""
}

// printedPath returns the path of a note if that is the answer of the app, "" for any other answer.
func (r route) printedPath(out exec.Outcome) string {
	printed := strings.TrimSpace(out.Stdout)
	isPath := strings.HasSuffix(printed, ".md") && !strings.Contains(printed, "\n")
	isAnswer := r.call.PrintsPath() && r.program.Backend() == string(App) // the embedded program reports it separately
	if !isAnswer || !isPath {
		return ""
	}
	return printed
}

// reported is what a result contains in addition to the outcome of the program.
type reported struct {
	vault   string // the name that callers use; a program may know it by an id or a folder
	route   route
	notices []string
	part    int // how many bytes of a long listing to prepare now; 0 for all
}

// result turns the outcome of a program into a result.
func (r reported) result(out exec.Outcome, err error) Result {
	call := r.route.call
	part := r.divide(out, err)
	if part != nil {
		out.Stdout = part.out.Stdout[:part.prepared]
		if part.isArray() { // make the part valid JSON
			out.Stdout += "]"
		}
	}
	var found findings
	if err == nil {
		if found, err = r.route.inspect(&out); err != nil {
			out.Stdout = ""
			out.Total = 0
			out.Cut = false
		}
	}
	image := takeImage(&out)
	var notices []string
	for _, notice := range out.Notices {
		// A notice may be a piece of a long answer, which it would keep in memory.
		notices = append(notices, strings.Clone(notice))
	}
	result := Result{
		OK:          err == nil && out.Failure == nil,
		Command:     call.Name(),
		Vault:       r.vault,
		ExitCode:    out.ExitCode,
		Backend:     r.route.program.Backend(),
		Path:        out.Path,
		Hash:        out.Hash,
		SectionHash: out.Part,
		Notices:     append(slices.Clip(r.notices), failure.Sentences(notices)...),
		Image:       image,
		raw:         out.Stdout,
		form:        formOf(call),
		isNote:      call.PrintsNote(),
		found:       found,
		state:       out.State,
		closed:      out.Closed,
		unchanged:   out.Unchanged,
		divided:     part,
	}
	if out.Change != "" {
		result.Change = &Change{
			ID:      out.Change,
			Before:  out.Before,
			After:   out.Hash,
			Added:   out.Added,
			Removed: out.Removed,
		}
		result.lost = out.Destructive || call.Loss() != ""
	}
	result.Unread = out.Unread
	if out.Nothing {
		result.Changed = new(int)
	}
	result.Stdout = result.shown(out.Stdout, "stdout")
	result.Stderr = result.shown(out.Stderr, "stderr")
	if call.Reply().JSON && result.Stdout != out.Stdout {
		result.Stdout = sanitize.InJSON(result.Stdout)
	}
	if out.Cut {
		result.Truncated = &Truncated{ShownBytes: len(result.Stdout), TotalBytes: out.Total}
		result.missingPart = fmt.Sprintf(
			"the answer had %d bytes; what is missing was in the middle, behind byte %d",
			out.Total,
			out.CutAt,
		)
	}
	switch {
	case err != nil:
		result.Error = failure.Of(err)
	case out.Failure != nil:
		result.Error = failure.Of(out.Failure)
	case result.Path == "":
		result.Path = strings.Clone(confirmedPath(call, out.Stdout))
	}
	if out.Partly != nil && result.Error != nil {
		result.Error.Made = failure.Sentences(slices.Clone(out.Partly.Made))
		result.Error.Moved = failure.Sentences(slices.Clone(out.Partly.Moved))
		result.Error.NotMade = failure.Sentences(slices.Clone(out.Partly.Unmade))
	}
	return result
}

// takeImage returns the image of an outcome, nil if there is none or not all of it, and leaves the line that describes it
// in its output.
func takeImage(out *exec.Outcome) *Image {
	if out.Image == "" {
		return nil
	}
	description, data, found := strings.Cut(strings.TrimSuffix(out.Stdout, "\n"), "\n")
	var image *Image
	if found && !out.Cut {
		image = &Image{MediaType: out.Image, Base64: data}
	}
	out.Stdout = strings.Clone(description) + "\n"
	out.Total = int64(len(description) + 1)
	out.Cut = false
	return image
}

// logFault logs an error without a code, which is internal and not shown to any caller.
func (g *shared) logFault(err error) {
	if _, hasCode := errors.AsType[failure.CodedError](err); err != nil && !hasCode {
		g.log.LogAttrs(
			context.Background(),
			telemetry.LevelBug,
			"an error without a code",
			telemetry.FaultAttrs(err)...)
	}
}

// guard calls do. If do panics, the panic is logged and [failure.ErrInternal] is returned.
func (g *shared) guard(command string, do func()) error {
	var caught panics.Catcher
	caught.Try(do)
	if r := caught.Recovered(); r != nil {
		telemetry.LogPanic(g.log, telemetry.KnownCommand(command), r.Value, r.Stack)
		return failure.ErrInternal
	}
	return nil
}
