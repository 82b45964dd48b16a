package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// DryRun is a plan for people and programs: what would run, and the verdict of every rule.
type DryRun struct {
	OK       bool   `json:"ok"` // the call would be carried out, possibly after approval; otherwise see Error
	DryRun   bool   `json:"dryRun"`
	Command  string `json:"command"`
	Decision string `json:"decision"` // of the policy: "allow", "ask" or "deny"
	Tier     string `json:"tier,omitempty"`
	Effect   string `json:"effect,omitempty"`
	Backend  string `json:"backend,omitempty"`
	Vault    string `json:"vault,omitempty"`
	// Program and Shell, the same as one line for a POSIX shell, are only set for a user at a terminal, see
	// [Request]: an agent could run the program itself. An agent sees Argv of an allowed call, without the program
	// and the arguments that start the embedded program.
	Program string   `json:"program,omitempty"`
	Argv    []string `json:"argv,omitempty"`
	Stdin   *Stdin   `json:"stdin,omitempty"`
	Shell   string   `json:"shell,omitempty"`
	// Steps are the commands of all programs, in order, for a call that needs several.
	Steps []StepShown `json:"steps,omitempty"`
	Rules []Rule      `json:"rules,omitempty"`
	// Files are the files that would change, and Diff is how; a long Diff is truncated.
	Files   []consent.PlannedFile `json:"files,omitempty"`
	Diff    string                `json:"diff,omitempty"`
	Shown   []consent.Line        `json:"-"` // the difference in the form for people, see [consent.Changes]
	Notices []string              `json:"notices,omitempty"`
	Error   *failure.Error        `json:"error,omitempty"`
}

// StepShown is one step of a call.
type StepShown struct {
	For  string   `json:"for"`            // the purpose of the step
	Argv []string `json:"argv,omitempty"` // like [DryRun.Argv]; the answer of an earlier step is in angle brackets
}

// Stdin describes a value that is passed on standard input.
type Stdin struct {
	Bytes int `json:"bytes"`
}

// Rule is the verdict of one rule of the policy.
type Rule struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"` // pass, ask or deny
	Why     string `json:"why"`
}

// DryRun plans req and returns the plan. The embedded program works out the difference of a change that is allowed
// or could be approved. Nothing else is started, and nothing is changed.
func (g *Gateway) DryRun(ctx context.Context, req Request) (d DryRun) {
	req.Caller = g.ofAgent(req.Caller)
	req = req.withOneLimit()
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.OnlyPlanned, req.Command, req.Surface, g.agent)
	defer func() {
		observed.Planned(d.Decision)
		observed.Ended(telemetry.CallOutcome{OK: d.OK, Error: d.Error, Backend: d.Backend})
	}()
	var err error
	fault := g.guard(req.Command, func() {
		var at *vaultGateway
		if at, err = g.vaultNamed(req.Vault); err != nil {
			return
		}
		d = at.dryRun(ctx, req)
		d.sanitize()
	})
	if err = cmp.Or(fault, err); err != nil {
		d = DryRun{
			DryRun:   true,
			Command:  sanitize.String(excerpt.Short(req.Command)),
			Decision: "deny",
			Error:    failure.Of(err),
		}
	}
	return d
}

// sanitize makes the plan safe to print on a terminal.
func (d *DryRun) sanitize() {
	// Leave out a shell line that sanitizing would change, or that is not a single line.
	if sanitize.String(d.Shell) != d.Shell || strings.ContainsAny(d.Shell, "\r\n") {
		d.Shell = ""
		d.Notices = append(
			d.Notices,
			"the arguments contain characters that are shown as escapes here and passed on unchanged",
		)
	}
	d.Notices = failure.Sentences(slices.Clone(d.Notices))
	d.Argv = slices.Clone(d.Argv)
	for i, arg := range d.Argv {
		d.Argv[i] = sanitize.String(arg)
	}
}

func (g *vaultGateway) dryRun(ctx context.Context, req Request) DryRun {
	line := g.record(ctx, g.name(), req)
	plan := Plan{}
	err := g.admission.Call(g.accountOf(req.Caller))
	if err == nil && req.Cursor != "" {
		err = failure.New(
			failure.CodeBadRequest,
			"leave the cursor or dryRun out",
			"a cursor goes on with an answer, and a dry run has none",
		)
	}
	if err == nil {
		plan, err = g.planWithFolder(ctx, req)
		line.Described(plan.call, plan.refusal)
		line.HiddenBy(g.rules.HiddenBy(plan.call, plan.policy, plan.facts))
	}
	o := outlook{}
	if err == nil || needsApproval(err) {
		if plan.changesNotes() && g.embeddedProgram() != nil {
			line.Previewed(plan.backend())
		}
		failed := g.workOut(ctx, &plan)
		if unreadable, ok := errors.AsType[*unreadablePlan](failed); ok {
			err = unreadable
		} else if failed != nil {
			o.notice = "what would change could not be worked out: " + failed.Error()
		}
		if plan.change != nil {
			g.recordDisclosure(plan)
			plan, err = g.withChange(plan, err)
		}
		telemetry.CallOf(ctx).Described(plan.call)
	}
	o.plan = plan
	o.err = err
	return g.describe(ctx, req, o, difference.Extent{Rows: maxDiffLines, Bytes: maxDiff, Line: maxDiffLine})
}

// outlook is a plan with what is known about it before it is carried out.
type outlook struct {
	plan   Plan
	err    error  // the error that came with the plan
	notice string // why it is not known what would change, "" if it is
}

// describe describes what would be done. most limits the difference.
func (g *vaultGateway) describe(ctx context.Context, req Request, o outlook, most difference.Extent) DryRun {
	plan := o.plan
	err := o.err
	var fails error // the error that the call would end with although the policy permits it
	if plan.change != nil {
		if cause := plan.change.failure; cause != nil && cause.Code() != failure.CodeNeedsApp {
			fails = cause
		}
	}
	if isMissingProgram(err) && plan.call.Valid() {
		fails = err
		err = plan.refusal
	}
	isPermitted := err == nil || needsApproval(err)
	d := DryRun{
		OK:       fails == nil && isPermitted,
		DryRun:   true,
		Command:  sanitize.String(excerpt.Short(req.Command)),
		Decision: "allow",
		Notices:  plan.notices,
	}
	switch {
	case needsApproval(err):
		d.Decision = "ask"
	case err != nil:
		d.Decision = "deny"
	}
	if cause := cmp.Or(fails, err); cause != nil {
		d.Error = failure.Of(cause)
	}
	if plan.call.Valid() {
		d.Tier = plan.call.Tier().String()
		d.Effect = plan.call.Effect().String()
		owner := req.AtTerminal || req.Owner
		for _, v := range plan.policy.Judge(plan.call, plan.facts) {
			if !owner && v.Verdict == policy.Pass && slices.Contains(policy.TextRules(), v.Rule) {
				continue // paths of exceptions may be hidden from the caller
			}
			d.Rules = append(d.Rules, Rule{Rule: v.Rule, Verdict: v.Verdict.String(), Why: v.Why})
			if plan.call.Tier() == tiers.Restricted && v.Verdict == policy.Deny {
				break // it is permanently disabled, so the verdicts of the remaining rules do not matter
			}
		}
	}
	if len(plan.routes) > 0 {
		g.show(ctx, &d, plan.routes[0])
		d.Vault = g.name()
	} else if fails != nil && req.AtTerminal {
		d.showWithoutProgram(plan)
	}
	if why := g.noDifference(plan, err); why != "" && fails == nil && o.notice == "" {
		d.Notices = append(d.Notices, "what would change is not shown, because "+why)
	}
	if err == nil && plan.answer != "" {
		d.Notices = append(d.Notices, "vaultwicket answers this itself; no program is started")
	}
	d.showChange(plan.change, req, most)
	if len(plan.routes) > 0 && plan.policy.Suspicious != policy.SuspiciousOff {
		if notice, _ := plan.routes[0].findSigns(d.Diff, ""); notice != "" {
			d.Notices = append(d.Notices, notice)
		}
	}
	if o.notice != "" {
		d.Notices = append(d.Notices, o.notice)
	}
	if d.Decision == "deny" {
		d.Shell = "" // no line to run that bypasses the rules
	}
	if !req.AtTerminal { // an agent must not learn how to carry out the call without the gateway
		d.Program = ""
		d.Shell = ""
		if d.Decision != "allow" {
			d.Argv = nil
			d.Steps = nil
		}
		if len(plan.routes) > 0 && d.Argv != nil {
			d.Argv = d.Argv[plan.routes[0].command.Prefix:] // for the embedded program, whose calls have no steps
		}
	}
	return d
}

// maxFilesOfAgent is the maximum number of files of a change that are listed for an agent. Nobody reads a hundred
// thousand of them in a message.
const maxFilesOfAgent = 1000

// showChange fills in what would change; change is nil if that is not known. most limits the difference, and, for an
// agent, in the same proportion the number of listed files.
func (d *DryRun) showChange(change *plannedChange, req Request, most difference.Extent) {
	if change == nil {
		return
	}
	files := change.files()
	count := len(files)
	if !req.AtTerminal && !req.Owner {
		count = min(count, max(1, maxFilesOfAgent*most.Rows/maxDiffLines))
	}
	d.Diff = change.diff(most)
	d.Shown = consent.Changes(files, change.changes(), change.Rest)
	d.Files = files[:count]
	if total := len(files) + change.Rest.Files(); total > len(d.Files) {
		d.Notices = append(d.Notices, fmt.Sprintf("the first %d of %s are listed", len(d.Files), sanitize.Counted(total, "file")))
	}
	if change.Links != "" {
		d.Notices = append(d.Notices, "the change "+change.Links)
	}
}

// recordDisclosure records for the flow rules that an answer shows text of the files that a plan changes.
func (g *vaultGateway) recordDisclosure(plan Plan) {
	for _, file := range plan.change.files() {
		answer := Result{Stdout: file.Path, raw: file.Path, Path: file.Path}
		g.flows.add(g.flowReads(plan.policy, plan.call, readsAnswer, answer))
	}
}

// isMissingProgram reports whether an error says that something needed for the call is missing: a program, the app,
// or the vault.
func isMissingProgram(err error) bool {
	if _, ok := errors.AsType[*exec.Unavailable](err); ok {
		return true
	}
	cause, ok := errors.AsType[*failure.RequestError](err)
	return ok && cause.Code() == failure.CodeVaultNotFound
}

// showWithoutProgram fills in the arguments for a program that is missing on this machine.
func (d *DryRun) showWithoutProgram(plan Plan) {
	encoding := allowlist.ToApp(runtime.GOOS)
	if plan.call.EmbeddedOnly() {
		encoding = allowlist.ToEmbedded(runtime.GOOS)
	}
	if line, err := plan.call.Line(encoding); err == nil {
		d.Argv = line.Argv
	}
}

// noDifference says why the difference of a change is not shown, "" if it is shown or there is none. err is the
// error that came with the plan.
func (g *vaultGateway) noDifference(plan Plan, err error) string {
	isPlanned := plan.change != nil && plan.change.failure == nil
	isRefused := err != nil && !needsApproval(err)
	if !plan.changesNotes() || isPlanned || isRefused {
		return ""
	}
	if g.embeddedProgram() == nil {
		return "the folder of the vault is not known"
	}
	if plan.change != nil {
		return "only the app knows what it changes"
	}
	return "it could not be worked out"
}

// show fills in the program of the first route, and all steps of a call that needs several.
func (g *vaultGateway) show(ctx context.Context, d *DryRun, r route) {
	command := r.command
	steps := []StepShown{{For: "carries out the call", Argv: command.Args}}
	for _, s := range r.steps() {
		d.Notices = append(d.Notices, s.notice)
		steps = s.shows(g, ctx, r, steps)
	}
	d.Backend = r.program.Backend()
	d.Shell = withNewline(pipeline(command))
	if d.Backend == string(App) && r.call.HasStep(allowlist.StepReadDaily) { // the step is run in place of the call
		command.Args = steps[0].Argv
		d.Shell = withNewline(pipeline(command))
		if len(steps) > 1 && slices.Contains(steps[1].Argv, pathOfAnswer) {
			d.Shell = shellReadLine(command)
		}
	}
	if len(steps) > 1 {
		d.Steps = steps
	}
	d.Program = command.Path
	d.Argv = command.Args
	if command.StdinParam != "" {
		d.Stdin = &Stdin{Bytes: len(command.Stdin)}
	}
}

// pipeline returns a command as one line that a POSIX shell parses into exactly the same arguments, see
// [withNewline]. A value on standard input is piped in from printf. The line is for users to paste; the gateway
// itself uses no shell.
func pipeline(c exec.Command) string {
	line := shellWords(append([]string{c.Path}, c.Args...))
	if c.StdinParam == "" {
		return line
	}
	return "printf %s " + shellQuote(c.Stdin) + " | " + line
}

// shellReadLine returns the shell line that reads the note whose path is the answer to the command asking.
func shellReadLine(asking exec.Command) string {
	read := append([]string{asking.Path}, asking.Args[:len(asking.Args)-1]...)
	return withNewline(shellWords(append(read, "read")) + ` path="$(` + pipeline(asking) + `)"`)
}

// shellWords quotes words for a POSIX shell and joins them with blanks.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}

// shellQuote returns a word as a POSIX shell needs it. Plain words stay as they are, others are put into single
// quotes, in which the shell changes nothing. A single quote itself is put outside of them. A line break becomes the
// variable that [withNewline] sets: within quotes it would start a new line.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, plainInShell) == "" {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'`+shellNewline+`'`).Replace(word) + "'"
}

// shellNewline refers to the variable that contains a line break, from within a single-quoted word. Nowhere else in
// a line is a dollar sign outside of single quotes followed by "nl".
const shellNewline = `"$nl"`

// withNewline puts the assignment of the variable for line breaks before a line that uses it. The dot protects the
// line break, because a command substitution drops line breaks at its end.
func withNewline(line string) string {
	if !strings.Contains(line, shellNewline) {
		return line
	}
	return `nl="$(printf '\n.')"; nl="${nl%.}"; ` + line
}

// plainInShell are the characters without a special meaning in a shell. "=" has none except in the first word of a
// line, which is always the program.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
