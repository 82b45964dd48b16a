package gateway

import (
	"errors"
	"path/filepath"
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Plan is a request that went through every door but the last: it is parsed,
// judged, and has a program that will run it.
type Plan struct {
	call     allowlist.Call
	decision policy.Decision // about call
	refusal  error           // of decision, nil once the user approved
	routes   []route         // the first is taken; the next one when nothing ran on it
	notices  []string
	answer   string // of the gateway itself; then there are no routes
	hidden   bool   // a path leads to what may not be seen, see [door.spelled]
	expect   string
	policy   policy.Policy // by which it was judged
	// caller is on whose behalf it is carried out, batch what it is part of.
	caller, batch string
}

// route is one way to carry out a call. Without a valid permit it is only good
// for being looked at.
type route struct {
	program  exec.Program
	call     allowlist.Call
	command  exec.Command
	decision policy.Decision // about call
	permit   policy.Permit   // that the call is run with
	expect   string          // the hash that the note must have
	entry    string          // of the journal, "" for a new one
	policy   policy.Policy
	agreed   bool    // a person said yes
	shown    binding // to what
	// caller and batch are those of the plan, for the journal.
	caller, batch string
	hidden        bool // a path leads to what may not be seen, see [door.spelled]
}

// replaced returns the route with another call in place of its own, which the policy
// judges: what was judged is what is run. The error is a [*policy.Denial].
func (r route) replaced(call allowlist.Call) (route, error) {
	r.call, r.decision = call, r.policy.Decide(call)
	return r.permitted()
}

// permitted returns the route with the permit that its decision grants.
func (r route) permitted() (permitted route, err error) {
	if r.agreed {
		r.permit, err = r.decision.Approved()
	} else {
		r.permit, err = r.decision.Permit()
	}
	return r, err
}

// Plan judges req and picks the program for it. It starts nothing. The error
// is a [*allowlist.ParseError], a [*policy.Denial], an [*exec.Unavailable] or a
// [*RequestError]. The plan beside a denial still shows the way that the call
// would take, but holds no permit for it.
func (g *door) Plan(req Request) (Plan, error) {
	call, err := req.parse()
	if err != nil {
		return Plan{}, err
	}
	if err := req.check(call); err != nil {
		return Plan{}, err
	}
	call, hidden := g.spelled(call)
	plan := Plan{call: call, expect: req.ExpectHash, policy: g.rules(), hidden: hidden, caller: g.callerOf(req), batch: req.batch}
	plan.decision = plan.policy.Decide(call)
	plan.refusal = plan.decision.Err()
	if err := req.promised(call, plan.refusal); err != nil {
		return plan, err
	}
	if call.Tier() == tiers.Restricted {
		return plan, plan.refusal // there is no way to show
	}
	if plan.answer = plan.explains(); plan.answer != "" {
		return plan, plan.refusal
	}
	if err := g.route(&plan); plan.refusal == nil || asks(plan.refusal) && err != nil {
		return plan, err
	}
	return plan, plan.refusal
}

// Changes reports whether req is a call that would change something, whether
// it is allowed or not.
func (g *Gateway) Changes(req Request) bool {
	call, err := req.parse()
	return err == nil && call.Effect().Mutates()
}

// asks reports whether a person's yes would lift a refusal.
func asks(err error) bool {
	var denial *policy.Denial
	return errors.As(err, &denial) && denial.NeedsApproval()
}

// route fills in the ways to carry out the plan.
func (g *door) route(plan *Plan) error {
	var appErr, ownErr error
	if g.backend != Embedded && !plan.call.Ours() {
		appErr = g.routeToApp(plan)
	}
	if g.backend != App || plan.call.Ours() {
		ownErr = g.routeToEmbedded(plan)
	}
	switch {
	case len(plan.routes) > 0:
		if appErr != nil && g.backend == Auto {
			plan.explainDetour(appErr)
		}
		return nil
	case appErr != nil && (ownErr == nil || g.target().folder == ""):
		return appErr
	}
	return ownErr // also where the app is missing: the folder that was given is what is wrong
}

func (g *door) routeToApp(plan *Plan) error {
	program, err := g.runner.App()
	if err != nil {
		return err
	}
	target := g.target()
	if target.appErr != nil {
		return target.appErr
	}
	return g.addRoute(plan, program, target.app)
}

var errNoFolder = refuse(codeVaultNotFound, "the user can set vault to the folder of the vault", "the embedded backend needs the folder of the vault")

func (g *door) routeToEmbedded(plan *Plan) error {
	folder := g.target().folder
	if folder == "" {
		return errNoFolder
	}
	program, err := g.runner.Embedded(folder)
	if err != nil {
		return err
	}
	return g.addRoute(plan, program, filepath.Base(folder))
}

// addRoute adds the way to carry out the call in a vault. What was decided about the
// call is what is run there.
func (g *door) addRoute(plan *Plan, program exec.Program, vault string) error {
	decision, err := inVault(plan.decision, vault)
	if err != nil {
		return err
	}
	call := decision.Call()
	command, err := program.Command(call)
	if err != nil {
		return err
	}
	if program.Backend() != string(Embedded) && (plan.hidden || decision.Preview().Confined()) && !g.resolves(plan, call) {
		return g.confinedTo(call)
	}
	r := route{
		program: program, call: call, command: command, decision: decision, expect: plan.expect, policy: plan.policy,
		caller: plan.caller, hidden: plan.hidden, batch: plan.batch,
	}
	r, _ = r.permitted() // without a permit it is only shown
	plan.routes = append(plan.routes, r)
	return nil
}

// inVault returns a decision about its call in a vault, "" for the app's choice.
func inVault(d policy.Decision, vault string) (policy.Decision, error) {
	if vault == "" {
		return d, nil
	}
	return d.In(vault)
}

// resolves reports whether a call that may depend on hidden notes can be carried
// out by the app all the same: the embedded program says which note it names, and
// the app is asked for that note alone, by its path. With the backend auto the
// embedded program answers such calls by itself.
func (g *door) resolves(plan *Plan, call allowlist.Call) bool {
	if g.backend != App || g.target().folder == "" || plan.policy.Ignores {
		return false
	}
	const anyNote = "a.md"
	if call.Alone() {
		return true // it is hidden, and answered as if it were missing
	}
	at, err := call.At(anyNote)
	if _, made := call.NamesNew(); made {
		at, err = call.MadeAt(anyNote)
	}
	return err == nil && at.Alone() || call.Takes(allowlist.StepReadDaily)
}

// confinedTo says that the app cannot be asked, because it knows nothing of the
// access rules. A note that is hidden is missing for whoever asks.
func (g *door) confinedTo(call allowlist.Call) error {
	if call.Alone() && !g.rules().Ignores {
		for _, s := range call.Spells() {
			return refuse(codeNotFound, "", "file %q not found", clip(s.Path))
		}
	}
	return refuse(policy.CodeAccess, g.confinedHint(),
		"command %q could tell of notes that are hidden here, or touch more than the access rules allow; only the embedded backend holds the rules", call.Name())
}

// confinedHint says what the user can change so that the embedded backend answers.
func (g *door) confinedHint() string {
	switch {
	case g.target().folder == "":
		return "the user can set vault to the folder of the vault, which the embedded backend needs"
	case g.backend == App:
		return "the user can set backend to auto"
	}
	return ""
}

// explainDetour says in the result why the app was not asked, where that is
// about this call and not about the machine as a whole.
func (plan *Plan) explainDetour(appErr error) {
	var unsafe *allowlist.ParseError
	if errors.As(appErr, &unsafe) {
		plan.notices = append(plan.notices, "carried out by the embedded backend, because the client cannot carry it: "+unsafe.Reason)
	}
}

// detours are the codes with which a program says that it did not start on the
// call at all, so that another one may.
var detours = []string{"cli_not_found", "cli_unsuitable", "cli_too_old", "cli_disabled", "app_not_running"}

func detourable(err error) bool {
	var away *exec.Unavailable
	return errors.As(err, &away) && slices.Contains(detours, away.Code())
}
