package gateway

import (
	"context"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/state/approvals"
	"vaultwicket/policy"
)

// DryRun is a plan written out: what would run, and what every rule says.
type DryRun struct {
	OK       bool   `json:"ok"` // would be allowed, possibly after approval
	DryRun   bool   `json:"dryRun"`
	Command  string `json:"command"`
	Decision string `json:"decision"` // allow, ask or deny
	Tier     string `json:"tier,omitempty"`
	Effect   string `json:"effect,omitempty"`
	Backend  string `json:"backend,omitempty"`
	Vault    string `json:"vault,omitempty"`
	// Program and Shell, which is the same as one line for a POSIX shell, are there
	// for a user at a terminal alone, see [Request]: an agent could run the program
	// by itself. Argv, without the program, an agent sees of an allowed call, and of
	// the embedded program then without what starts it.
	Program string   `json:"program,omitempty"`
	Argv    []string `json:"argv,omitempty"`
	Stdin   *Stdin   `json:"stdin,omitempty"`
	Shell   string   `json:"shell,omitempty"`
	Rules   []Rule   `json:"rules,omitempty"`
	// Files are those that would change, Diff is how; a long one is cut.
	Files   []consent.PlannedFile `json:"files,omitempty"`
	Diff    string                `json:"diff,omitempty"`
	Shown   []approvals.Line      `json:"-"` // the same for a person, see [consent.Rows]
	Notices []string              `json:"notices,omitempty"`
	Error   *failure.Error        `json:"error,omitempty"`
}

// Stdin says that one value travels on standard input.
type Stdin struct {
	Bytes int `json:"bytes"`
}

// Rule is the verdict of one rule of the policy.
type Rule struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"` // pass, ask or deny
	Why     string `json:"why"`
}

// DryRun plans req and writes the plan out. Of a change that would be made, or
// that the user could approve, it has the embedded program work out the
// difference. Nothing else is started, and nothing is changed.
func (g *Gateway) DryRun(ctx context.Context, req Request) (d DryRun) {
	req = req.withOneLimit()
	ctx, seen := observe.Begin(ctx, g.observer, observe.OnlyPlanned, req.Command, req.Surface)
	defer func() { seen.Planned(d.Decision); seen.Ended(d.OK, d.Error, d.Backend, 0) }()
	fault := g.guard(req.Command, func() {
		at, err := g.vaultNamed(req.Vault)
		if err != nil {
			d = DryRun{DryRun: true, Command: clean.String(quote.Short(req.Command)), Decision: "deny", Error: failure.Of(err)}
			return
		}
		d = at.dryRun(ctx, req)
	})
	if fault != nil {
		d = DryRun{DryRun: true, Command: clean.String(quote.Short(req.Command)), Decision: "deny", Error: failure.Of(fault)}
	}
	return d
}

func (g *vaultGateway) dryRun(ctx context.Context, req Request) DryRun {
	line := g.record(ctx, g.name(), req)
	plan, err := Plan{}, g.admission.Call(req.Caller)
	if err == nil && req.Cursor != "" {
		err = failure.New(failure.CodeBadRequest, "leave the cursor or dryRun out", "a cursor goes on with an answer, and a dry run has none")
	}
	if err == nil {
		plan, err = g.Plan(req)
		line.Described(plan.call, plan.refusal)
		line.HiddenBy(g.rules.HiddenBy(plan.call, plan.policy))
	}
	previewNotice := ""
	if err == nil || needsApproval(err) {
		if len(plan.routes) > 0 && plan.routes[0].changesNotes() && g.embeddedProgram() != nil {
			line.Previewed(plan.backend())
		}
		if failed := g.workOut(ctx, &plan); failed != nil {
			previewNotice = "what would change could not be worked out: " + failed.Error()
		}
		if plan.change != nil {
			if cause := plan.change.failure; cause != nil && cause.Code() != failure.CodeNeedsApp {
				previewNotice = "would fail: " + cause.Error()
			}
			plan, err = plan.withLoss(plan.change.Loss, err)
		}
		observe.CallOf(ctx).Described(plan.call)
	}
	d := DryRun{OK: err == nil || needsApproval(err), DryRun: true, Command: clean.String(quote.Short(req.Command)), Decision: "allow", Notices: plan.notices}
	switch {
	case needsApproval(err):
		d.Decision = "ask"
	case err != nil:
		d.Decision = "deny"
	}
	if err != nil {
		d.Error = failure.Of(err)
	}
	if plan.call.Valid() {
		d.Tier, d.Effect = plan.call.Tier().String(), plan.call.Effect().String()
		d.Rules = rulesOf(plan.policy.Judge(plan.call))
	}
	if len(plan.routes) > 0 {
		d.show(plan.routes[0])
		d.Vault = g.name()
	}
	if err == nil && plan.answer != "" {
		d.Notices = append(d.Notices, "vaultwicket answers this itself; no program is started")
	}
	d.Files, d.Diff = plan.change.files(), plan.change.diff()
	d.Shown = consent.Changes(d.Files, plan.change.changes())
	if plan.change != nil && plan.change.Broken != "" {
		d.Notices = append(d.Notices, "the change "+plan.change.Broken)
	}
	if previewNotice != "" {
		d.Notices = append(d.Notices, previewNotice)
	}
	if d.Decision == "deny" {
		d.Shell = "" // no ready line past the rules
	}
	if !req.AtTerminal {
		d.hideProgram(plan)
	}
	return d.shown()
}

// hideProgram leaves out what would let an agent carry out the call without the
// gateway.
func (d *DryRun) hideProgram(plan Plan) {
	d.Program, d.Shell = "", ""
	if d.Decision != "allow" {
		d.Argv = nil
	}
	if len(plan.routes) > 0 && d.Argv != nil {
		d.Argv = d.Argv[plan.routes[0].command.Prefix:]
	}
}

// shown returns the plan as it may be shown. A line for a shell that would be
// another one then, or would not be one line, is left out.
func (d DryRun) shown() DryRun {
	if clean.String(d.Shell) != d.Shell || strings.ContainsAny(d.Shell, "\r\n") {
		d.Shell = ""
		d.Notices = append(d.Notices, "the arguments contain characters that are shown as escapes here and passed on unchanged")
	}
	d.Argv, d.Notices = clean.Strings(slices.Clone(d.Argv)), failure.Sentences(slices.Clone(d.Notices))
	return d
}

func rulesOf(verdicts []policy.RuleVerdict) []Rule {
	var rules []Rule
	for _, v := range verdicts {
		rules = append(rules, Rule{Rule: v.Rule, Verdict: v.Verdict.String(), Why: v.Why})
	}
	return rules
}

// show fills in what the first route would start. Where a call is carried out
// in steps it shows the first one and names the others.
func (d *DryRun) show(r route) {
	command := r.command
	d.Backend = r.program.Backend()
	d.Shell = shellLine(command)
	for _, s := range r.steps() {
		d.Notices = append(d.Notices, s.notice)
		if s.first == nil {
			continue
		}
		if call, err := s.first(r.call); err == nil {
			if first, err := r.program.Command(call); err == nil {
				command, d.Shell = first, s.shell(first)
			}
		}
	}
	d.Program, d.Argv = command.Path, command.Args
	if command.StdinParam != "" {
		d.Stdin = &Stdin{Bytes: len(command.Stdin)}
	}
}
