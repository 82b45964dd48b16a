package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Run runs the call of permit with p.
//
// The error is nil if the program answered, even if the answer is a [Failure]. Otherwise it is an [*Unavailable] for
// a problem of the environment, a [*Stopped] if the call was ended before its answer was complete, an
// [*allowlist.ParseError] if the call cannot be passed to the program, or [ErrNoPermit] or [ErrNoProgram]. The
// Outcome has what was collected in any case.
//
// A call is repeated in two cases, in which nothing was changed: once, if the Obsidian CLI did not know it because its
// vault was just being opened, and up to maxAttempts times, if its worker was stopped because of another call.
func (r *Runner) Run(ctx context.Context, permit policy.Permit, p Program) (Outcome, error) {
	isPermitted := permit.Valid() && (!permit.Confined() || p.backend == embeddedBackend)
	return r.watched(ctx, p, isPermitted, permit, func(ctx context.Context, command Command) (Outcome, error) {
		if p.backend == embeddedBackend {
			command.request = withWants(ctx, command.request)
			return r.attempt(ctx, permit, p, command, nil).result(r, permit)
		}
		turn := &turn{r: r}
		if err := turn.begin(ctx); err != nil {
			return notRun(), err
		}
		defer turn.end()
		remarks, err := r.ready(ctx, permit, p)
		if err != nil {
			return notRun(), err
		}
		out, err := r.runWithRetry(ctx, permit, p, command, turn)
		if err != nil {
			r.learnRelease(nil) // the CLI may have been replaced: the next call asks for its version again
		}
		out.Notices = append(remarks, out.Notices...)
		return out, err
	})
}

// Preview makes p work out what the call of preview would change, and changes nothing. p must be the embedded
// program with a task that makes no changes, see [protocol.Task.Makes]. The results are those of Run.
func (r *Runner) Preview(ctx context.Context, preview policy.Preview, p Program) (Outcome, error) {
	isPermitted := preview.Valid() && p.backend == embeddedBackend && !p.options.Task.Makes()
	return r.watched(ctx, p, isPermitted, preview, func(ctx context.Context, command Command) (Outcome, error) {
		return r.attempt(ctx, preview, p, command, nil).result(r, preview)
	})
}

// watched runs a call with its time limit and its [Hold], and notifies the watcher. A call without a permit is not
// run.
func (r *Runner) watched(
	ctx context.Context,
	p Program,
	isPermitted bool,
	permit policy.Grant,
	run func(context.Context, Command) (Outcome, error),
) (out Outcome, err error) {
	if r.config.Watch != nil {
		if endRun := r.config.Watch.BeginRun(ctx, p.Backend()); endRun != nil {
			defer func() { endRun(out.ExitCode, resultCode(out, err)) }()
		}
	}
	if !isPermitted {
		return notRun(), ErrNoPermit
	}
	command, err := p.Command(permit.Call())
	if err != nil {
		return notRun(), err
	}
	command.request.Want.Millis = int(r.config.Timeout.Milliseconds())
	ctx, end := r.underHold(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	return run(ctx, command)
}

// resultCode returns the code of the error or the failure of a run, "" if it succeeded.
func resultCode(out Outcome, err error) string {
	if coded, ok := err.(interface{ Code() string }); ok {
		return coded.Code()
	}
	if err != nil {
		return "internal"
	}
	if out.Failure != nil {
		return out.Failure.code
	}
	return ""
}

// runWithRetry repeats a call that the Obsidian CLI did not know: nothing was run, and a vault that was just opened
// knows it the second time. The turn, if not nil, is ended after each process and begun again before the second.
func (r *Runner) runWithRetry(
	ctx context.Context,
	permit policy.Permit,
	p Program,
	command Command,
	turn *turn,
) (Outcome, error) {
	first := r.attempt(ctx, permit, p, command, turn)
	if first.Kind != process.Exited || !first.verdict.cold {
		return first.result(r, permit)
	}
	if err := turn.begin(ctx); err != nil {
		return notRun(), err
	}
	second := r.attempt(ctx, permit, p, command, turn)
	second.Took += first.Took
	call := permit.Call()
	v := &second.verdict
	text := v.sentence()
	switch {
	case v.cold && call.IsProbe() && !(question{name: call.Name()}).isUnknownCommand(text):
		v.unavailable = &Unavailable{
			code: CodeVaultStarting,
			reason: "the Obsidian CLI answered " + excerpt.Quoted(firstLine(text)) +
				" in place of its version: the app is starting, or this is not the Obsidian CLI",
			hint: "ask again in a few seconds; if the answer stays the same, the user can set cli to the full path of the Obsidian CLI",
		}
	// The app's own commands are known to every open vault, so the vault is still being opened.
	case v.cold && (call.BuiltIn() || first.verdict.sentence() != text),
		v.failure != nil && v.failure.code == CodeEmptyOutput:
		v.failure = nil
		v.unavailable = &Unavailable{
			code:   CodeVaultStarting,
			reason: "the vault is being opened and does not know its commands yet",
			hint:   "nothing was run; ask again in a few seconds",
		}
	case v.cold: // the same answer twice to a plugin's command means that the plugin is off
		v.failure = &Failure{
			fact: fact{
				code:   CodeCLIError,
				reason: "the Obsidian CLI answered " + excerpt.Quoted(firstLine(text)),
				hint:   "the user can switch on the core plugin that brings this command, in Obsidian under Settings > Core plugins",
			},
		}
	}
	return second.result(r, permit)
}

// attempt is one run of a process: how it ended, and what its answer means.
type attempt struct {
	process.Ending
	path     string
	embedded bool // the embedded program was run
	verdict  verdict
	reply    protocol.Reply // from the embedded program
}

// attempt runs the call. It is run again if its worker was stopped because of another call and nothing can have been
// changed. The turn, if not nil, ends with the process.
func (r *Runner) attempt(ctx context.Context, permit policy.Grant, p Program, command Command, turn *turn) attempt {
	c := process.Child{
		Path:     command.Path,
		Name:     p.name,
		Args:     command.Args,
		Env:      r.env(p.backend),
		Stdin:    command.Stdin,
		Embedded: p.backend == embeddedBackend,
		Keep:     r.config.MaxKept,
		Capacity: holdOf(ctx).take,
	}
	if turn != nil {
		c.Ended = turn.end
	}
	marker := r.Marker(permit.Secrets())
	if !c.Embedded {
		r.processes.Add(1)
		defer r.processes.Add(-1)
		return classifyEnding(c.Run(ctx), protocol.Reply{}, permit, p, marker)
	}
	c.Env = r.withRules(c.Env, permit, marker)
	if !r.config.Resident || permit.Call().Apart() {
		e, reply := r.once(ctx, c, p.folder, command)
		return classifyEnding(e, reply, permit, p, marker)
	}
	key := r.workerKey(p.folder, permit, marker)
	e, reply := r.pool.run(ctx, c, command, key)
	for range maxAttempts {
		lostToOtherCall := e.Kind == process.Lost && e.How == causeUnfinishedCall
		mayHaveChanged := e.Started && permit.Call().Effect().Mutates()
		if !lostToOtherCall || mayHaveChanged {
			break
		}
		e, reply = r.pool.run(ctx, c, command, key)
	}
	return classifyEnding(e, reply, permit, p, marker)
}

// workerKey returns the key of the worker that answers calls under a permit.
func (r *Runner) workerKey(folder string, permit policy.Grant, marker *guard.Marker) workerKey {
	return workerKey{
		folder: folder,
		access: permit.Access(),
		redact: marker.String() + "\n" + permit.Exceptions(),
		sends:  r.config.Embeddings.Elsewhere && permit.Sends(),
	}
}

// withRules adds to an environment what the embedded program must hide, and where it may send texts.
func (r *Runner) withRules(env []string, permit policy.Grant, marker *guard.Marker) []string {
	env = slices.Grow(slices.Clip(env), 5) // a copy: other calls use the same environment
	if e := r.config.Embeddings; e.Server != "" && (!e.Elsewhere || permit.Sends()) {
		env = append(env, embeddingsVariable+"="+e.Server, embeddingsKeyFile+"="+e.KeyFile)
	}
	if permit.Exceptions() != "" {
		env = append(env, exceptionsVariable+"="+permit.Exceptions())
	}
	if permit.Access() != "" {
		env = append(env, accessVariable+"="+permit.Access())
	}
	if marker != nil {
		env = append(env, guard.Variable+"="+marker.String())
	}
	return env
}

// Ask sends a question about notes to p, which must be the embedded program, and returns the lines of its answer. An
// error means that the answer is unknown. For [protocol.AskNarrowed] words are paths, and each line has a level or
// [protocol.Unread], a tab and a path. For [protocol.AskMarked] words are tags with their "#", and each line is a path.
func (r *Runner) Ask(
	ctx context.Context,
	q policy.Question,
	p Program,
	ask protocol.Ask,
	words []string,
) (lines []string, err error) {
	if p.backend != embeddedBackend {
		return nil, ErrNoProgram
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	marker := r.Marker(q.Secrets())
	key := r.workerKey(p.folder, &q, marker)
	var pending pendingEntry
	if r.config.Resident && ask == protocol.AskNarrowed && len(words) == 0 {
		var ok bool
		lines, ok, pending = r.narrowed.folder(p.folder).answer(key, time.Now())
		if ok {
			return lines, nil
		}
	}
	command := Command{Path: p.path, request: protocol.Request{Ask: ask, Args: words}}
	c := process.Child{
		Path:     p.path,
		Name:     p.name,
		Env:      r.withRules(r.env(p.backend), &q, marker),
		Embedded: true,
		Keep:     r.config.MaxKept,
	}
	var e process.Ending
	if r.config.Resident {
		e, _ = r.pool.run(ctx, c, command, key)
	} else {
		e, _ = r.once(ctx, c, p.folder, command)
	}
	text, _ := e.Stdout.Text()
	if e.Kind != process.Exited || e.Exit != 0 || e.Stdout.Cut() {
		return nil, fmt.Errorf(
			"the embedded program does not answer question %d: %v, exit status %d",
			ask,
			e.Kind,
			e.Exit,
		)
	}
	lines = slices.Collect(strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' }))
	pending.keep(key, lines, time.Now())
	return lines, nil
}

// Marker returns what replaces secrets by marks under a policy, nil if secrets are allowed.
func (r *Runner) Marker(s policy.Secrets) *guard.Marker {
	switch s {
	case policy.SecretsAllow:
		return nil
	case policy.SecretsStrict:
		return r.strict()
	}
	return r.marker()
}

// classifyEnding determines what the answer of a process means.
func classifyEnding(
	e process.Ending,
	reply protocol.Reply,
	permit policy.Grant,
	p Program,
	marker *guard.Marker,
) attempt {
	if e.Kind != process.Exited { // what it reported before it was ended does not count as its answer
		reply = protocol.Reply{}
	}
	a := attempt{Ending: e, path: p.path, embedded: p.backend == embeddedBackend, reply: reply}
	got := answer{exit: a.Exit, cut: a.Stdout.Cut()}
	got.stdout, got.gap = a.Stdout.Text()
	got.stderr, _ = a.Stderr.Text()
	if a.embedded {
		got.reported = reply.Failure
		got.explained = reply.Facts.Notice != ""
	}
	if reply.Panic != "" && a.Kind == process.Exited {
		got.stderr = reply.Panic // the program caught its panic and exited by itself
		a.Kind = process.Crashed
		a.How = "a panic"
	}
	if !a.embedded { // the embedded program redacts secrets itself
		got.stdout = string(marker.Redact([]byte(got.stdout)))
		got.stderr = string(marker.Redact([]byte(got.stderr)))
	}
	a.verdict = verdict{answer: got}
	if a.Kind == process.Exited {
		a.verdict = newQuestion(permit, p).judge(got)
	}
	if name := permit.Call().PrintedProperty(); name != "" && !a.embedded {
		a.verdict.stdout = marker.RedactProperty(name, a.verdict.stdout)
	}
	return a
}

// result converts an attempt into the results of [Runner.Run].
func (a attempt) result(r *Runner, permit policy.Grant) (Outcome, error) {
	if permit.Guarded() && !a.embedded {
		a.withhold(permit)
	}
	out := a.outcome()
	// Such a command runs in a process of its own with a memory limit, which it has reached.
	if a.Kind == process.Crashed && permit.Call().Apart() {
		out.Failure = &Failure{
			fact: fact{
				code:   CodeOutputLimit,
				reason: "to read the file takes too much memory",
				hint:   "ask for a part of it; the user can open it",
			},
		}
		return out, nil
	}
	if err := a.endingError(r.config.Timeout, permit.Call().Effect()); err != nil {
		return out, err
	}
	if a.verdict.unavailable != nil {
		return out, a.verdict.unavailable
	}
	out.Failure = a.verdict.failure
	return out, nil
}

// outcome returns what was collected of the answer, without a failure.
func (a attempt) outcome() Outcome {
	v := a.verdict
	facts := a.reply.Facts
	out := Outcome{
		Stdout:      v.stdout,
		Stderr:      v.stderr,
		ExitCode:    a.Exit,
		Duration:    a.Took,
		Total:       int64(len(v.stdout)),
		Notices:     v.notices,
		Path:        facts.Path,
		Hash:        facts.Hash,
		Change:      facts.Change,
		Part:        facts.Part,
		Added:       facts.Added,
		Removed:     facts.Removed,
		Destructive: facts.Loses,
		Image:       facts.Image,
		State:       facts.State,
		Unchanged:   facts.Unchanged,
		Closed:      facts.Closed,
		Rows:        facts.Rows,
		Unread:      facts.Unread,
		Ambiguous:   facts.Ambiguous,
		Headed:      v.headed,
		Nothing:     facts.Nothing,
		Planned:     facts.Planned,
		Stale:       facts.Stale,
		Partly:      a.reply.Partly,
	}
	if before := facts.Before; before != nil {
		out.Before = *before
	}
	if v.cut {
		out.Cut = true
		out.CutAt = v.gap
		out.Total += a.Stdout.Total - int64(a.Stdout.Kept())
	}
	if facts.Notice != "" {
		out.Notices = append(out.Notices, facts.Notice)
	}
	if facts.LineEnds {
		out.Notices = append(out.Notices, "the note has CRLF line ends, and the text was given the same")
	}
	if facts.Overtaken {
		out.Notices = append(out.Notices, "the change was made, and then somebody else changed the note again")
	}
	if a.Stderr.Cut() {
		out.Notices = append(
			out.Notices,
			fmt.Sprintf("of %d bytes on standard error the middle was dropped", a.Stderr.Total),
		)
	}
	if a.Held {
		name := "Obsidian CLI"
		if a.embedded {
			name = "embedded CLI"
		}
		out.Notices = append(
			out.Notices,
			"another process kept the output of the "+name+" open; what it printed later is not in the answer",
		)
	}
	return out
}

// endingError returns the error for a process that did not exit by itself, nil for one that did.
func (a attempt) endingError(timeout time.Duration, effect tiers.Effect) error {
	mayHaveChanged := effect.Mutates() && a.Started
	switch a.Kind {
	case process.NotStarted:
		return cannotStart(a.path, a.Cause)
	case process.Stopped:
		stopped := stoppedBy(a.Cause, timeout)
		if mayHaveChanged {
			stopped.setOutcomeUnknown()
		}
		if a.embedded {
			stopped.describeEmbedded(timeout)
		}
		return stopped
	case process.Crashed:
		died := crashed(a.path, a.How)
		if a.embedded {
			died.hint = "nothing was changed; this is an error in vaultwicket, which the user can report"
		}
		if effect.Mutates() { // a process that crashed was started
			died.hint = "the change may have been made; " + hintReadBack
		}
		return died
	case process.Lost:
		if mayHaveChanged {
			return &Stopped{
				fact{
					code:   CodeOutcomeUnknown,
					reason: "the worker of the vault " + a.How + " before it answered",
					hint:   "the change may have been made; " + hintReadBack,
				},
			}
		}
		return &Unavailable{
			code:    CodeCrashed,
			program: a.path,
			reason:  "as the worker of the vault it " + a.How + " before it answered",
			hint:    "nothing was changed; the next call starts another worker",
		}
	}
	return nil
}

// stoppedBy returns the error for a call that was ended by cause.
func stoppedBy(cause error, timeout time.Duration) *Stopped {
	switch {
	case errors.Is(cause, process.ErrFlood):
		return &Stopped{
			fact{
				code:   CodeOutputLimit,
				reason: fmt.Sprintf("the Obsidian CLI printed more than %d bytes", process.FloodLimit),
				hint:   "narrow the call with limit=, folder= or path=",
			},
		}
	case errors.Is(cause, context.DeadlineExceeded):
		return &Stopped{
			fact{
				code:   CodeTimeout,
				reason: fmt.Sprintf("the Obsidian CLI did not answer within %v", timeout),
				hint:   "check whether Obsidian shows a dialog or is still starting",
			},
		}
	}
	return &Stopped{
		fact{
			code:   CodeCancelled,
			reason: "the call was cancelled",
			hint:   "nothing was changed; the call can be repeated",
		},
	}
}

// setOutcomeUnknown changes the error to say that the call had begun, so that its outcome is unknown.
func (s *Stopped) setOutcomeUnknown() {
	s.code = CodeOutcomeUnknown
	s.hint = "the app may have made the change, or may still make it; " + hintReadBack
}

// describeEmbedded changes the texts to be about the embedded program: it shows no dialog, and the next call
// completes or undoes what a call may have changed.
func (s *Stopped) describeEmbedded(timeout time.Duration) {
	switch s.code {
	case CodeTimeout:
		s.reason = fmt.Sprintf("the embedded CLI did not answer within %v", timeout)
		s.hint = "nothing was changed; narrow the call with folder= or query=, or the user can raise timeout (up to 55s)"
	case CodeOutputLimit:
		s.reason = fmt.Sprintf("the embedded CLI printed more than %d bytes", process.FloodLimit)
	case CodeOutcomeUnknown:
		s.hint = "the next call completes the change or takes it back; " + hintReadBack
	}
}

// crashed returns the error for a program that was ended by how.
func crashed(path, how string) *Unavailable {
	return &Unavailable{
		code:    CodeCrashed,
		program: path,
		reason:  "died by " + how,
		hint:    "the user can install Obsidian again; installers older than 1.12.7 bring a CLI that dies in a sandbox",
	}
}

// cannotStart returns the error for a program that could not be started. An err that is an [*Unavailable] already is
// returned unchanged.
func cannotStart(path string, err error) *Unavailable {
	if unavailable, ok := errors.AsType[*Unavailable](err); ok {
		return unavailable
	}
	u := &Unavailable{code: CodeUnsuitable, program: path, reason: "cannot be started: " + withoutPath(err), cause: err,
		hint: "the user can check whether this program can be started at all"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		u.code = CodeNotFound
		u.hint = "the file, or the interpreter it names, is gone; the user can install it again"
	case errors.Is(err, errors.ErrUnsupported):
		u.code = CodePlatform
		u.hint = "this system does not let one program start another"
	case errors.Is(err, syscall.EAGAIN),
		errors.Is(err, syscall.ENOMEM),
		errors.Is(err, syscall.EMFILE),
		errors.Is(err, syscall.ENFILE):
		u.hint = "the system has reached a limit on processes, memory or open files; try again later"
	}
	return u
}
