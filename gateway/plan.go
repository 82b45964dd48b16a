package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Plan judges req and picks the program for it. It starts nothing. The error
// is a [*allowlist.ParseError], a [*policy.Denial], an [*exec.Unavailable] or a
// [*failure.RequestError]. The plan returned with a denial has the routes of the call, but no
// permit for them.
func (g *vaultGateway) Plan(req Request) (Plan, error) {
	call, err := req.parse()
	if err != nil {
		return Plan{}, g.relativePath(req, err)
	}
	switch {
	case req.ExpectHash != "" && (len(req.ExpectHash) != 16 || strings.Trim(req.ExpectHash, "0123456789abcdef") != ""):
		return Plan{}, failure.New(
			failure.CodeBadRequest,
			"give the hash of an earlier result",
			"invalid expectHash %q: want 16 digits of 0-9 and a-f",
			excerpt.Short(req.ExpectHash),
		)
	case req.ExpectHash != "" && !call.Effect().Mutates():
		return Plan{}, failure.New(
			failure.CodeBadRequest,
			"leave it out",
			"expectHash is for calls that change a note, which %q does not",
			call.Name(),
		)
	}
	if err := req.checkPage(call); err != nil {
		return Plan{}, err
	}
	call, hidden := g.rules.Named(call)
	plan := Plan{
		place:  g.target(),
		call:   call,
		expect: req.ExpectHash,
		hidden: hidden,
		caller: g.callerOf(req),
		client: req.Client,
		batch:  req.batch,
		alone:  req.alone,

		planning: req.planning,
	}
	plan.policy, plan.facts = g.inForce(req.visibility)
	plan.facts = plan.facts.Meet(g.sessionFacts(&plan, req))
	plan.decision = plan.policy.Decide(call, plan.facts)
	plan.refusal = plan.decision.Err()
	isRefused := plan.refusal != nil && !needsApproval(plan.refusal)
	if req.ReadsOnly && !call.OnlyReads() && !isRefused {
		return plan, failure.New(
			failure.CodeBadRequest,
			"send it with the tool obsidianCli",
			"this tool only reads, and this call of %q does more",
			call.Name(),
		)
	}
	if call.Tier() == tiers.Restricted {
		return plan, plan.refusal // there is no way to show
	}
	if call.OwnAnswer() != allowlist.AnswersNothing {
		err := plan.refusal
		if err == nil {
			ctx, cancel := context.WithTimeout(
				context.Background(),
				g.runner.Timeout(),
			) // a plan is made for no call in particular
			plan.answer, err = g.ownAnswerTo(ctx, plan, req)
			cancel()
		}
		return plan, err
	}
	if err := g.route(&plan); plan.refusal == nil || needsApproval(plan.refusal) && err != nil {
		return plan, err
	}
	return plan, plan.refusal
}

// sessionFacts returns what the session and the notes in reach bring to a plan, and notes in it what of that
// rules about texts act on.
func (g *vaultGateway) sessionFacts(plan *Plan, req Request) policy.Facts {
	facts := policy.ClearFacts(plan.facts.At)
	if read := g.hasRead(plan.caller); read != "" && plan.policy.Suspicious == policy.SuspiciousAsk &&
		plan.call.Effect().Mutates() {
		plan.findings.apply(plan.policy, policy.RuleSuspicious)
		facts.Suspected = policy.Because(read)
	}
	plan.because = g.applicableFlows(plan.policy, plan.call, req.reads)
	for _, read := range plan.because {
		plan.findings.apply(plan.policy, policy.RuleFlow, read.rule.Action())
		facts.Flowing = facts.Flowing.With(read.rule)
	}
	hides, narrowed := g.narrowed(plan.call)
	plan.hidden = plan.hidden || hides
	facts.Narrowed = narrowed
	return facts
}

// notesNarrow is the fact that notes which a call may reach narrow access to themselves.
var notesNarrow = policy.Because("notes in reach restrict access to themselves")

// narrowed says what notes that narrow access to themselves, which the app does not know, mean for a
// call: hidden, that one that it names is hidden, and protected, that only the embedded program may
// carry it out, because it may reach others.
func (g *vaultGateway) narrowed(call allowlist.Call) (hidden bool, protected policy.Reason) {
	isNotOfApp := call.EmbeddedOnly() || call.OwnAnswer() != allowlist.AnswersNothing
	if g.backend == Embedded || call.TouchesNoNote() || isNotOfApp {
		return false, policy.None
	}
	if call.HasStep(allowlist.StepReadDaily) { // the note is looked at once its path is known, see readDailyAt
		return false, policy.None
	}
	if g.runner == nil || !g.runner.HasApp() {
		return false, policy.None
	}
	var paths []string // of a call that may reach other notes there are none
	if call.TouchesOneNote() {
		for _, s := range call.NamedPaths() {
			paths = append(paths, s.Path)
		}
	}
	levels, known := g.rules.Narrowing(paths...)
	switch {
	case !known:
		return false, policy.Reason{}
	case len(levels) == 0:
		return false, policy.None
	case len(paths) == 0:
		return false, notesNarrow
	}
	for _, level := range levels {
		hidden = hidden || level == access.None
	}
	if hidden || !call.Effect().Mutates() {
		return hidden, policy.None
	}
	return false, notesNarrow
}

// Changes reports whether req is a call that would change something, whether it is allowed or not.
func (g *Gateway) Changes(req Request) bool { return req.changes() }

func (r Request) changes() bool {
	call, err := r.parse()
	return err == nil && call.Effect().Mutates()
}

// route fills in the ways to carry out the plan.
func (g *vaultGateway) route(plan *Plan) error {
	var appErr, ownErr error
	var program exec.Program
	_, daily := plan.call.Param("daily")
	aboutToday := daily || plan.call.IsDaily()
	// The embedded program turns the mark of a secret back into the secret, and says which random note it has drawn.
	hasMark := plan.call.HasValue(func(value string) bool { return guard.MayHaveMark([]byte(value)) })
	own := plan.call.EmbeddedOnly() || hasMark
	if g.target().Folder != "" {
		searchesRedacted := g.backend == Auto && plan.call.Searches() && plan.policy.Redacts()
		isOfOwnDay := g.ownDay && aboutToday
		own = own || searchesRedacted || isOfOwnDay
		own = own || plan.call.FollowsLinks() || plan.call.DrawsNote()
	}
	// What is planned before it is made is not on the disk, where the app would look for it.
	isInBatch := plan.planning != nil && g.backend != App
	own = own || isInBatch && plan.call.VersionsOf() == ""
	if g.backend != Embedded && !own {
		if program, appErr = g.app(); appErr == nil {
			appErr = g.addRoute(plan, program, g.target().App)
		}
	}
	if g.backend != App || own {
		if program, ownErr = g.embedded(); ownErr == nil {
			ownErr = g.addRoute(plan, plan.planning.over(program), filepath.Base(g.target().Folder))
		}
	}
	switch {
	case len(plan.routes) > 0:
		// The result says why the app was not asked where that is about this call, not
		// about the machine as a whole.
		if unsafe, ok := errors.AsType[*allowlist.ParseError](appErr); ok && g.backend == Auto {
			plan.notices = append(
				plan.notices,
				"carried out by the embedded backend, because the client cannot carry it: "+unsafe.Reason,
			)
		}
		return nil
	case appErr != nil && (ownErr == nil || g.target().Folder == ""):
		return appErr
	}
	return ownErr // also where the app is missing: the folder that was given is what is wrong
}

// addRoute adds the way to carry out the call in a vault, as it was decided.
func (g *vaultGateway) addRoute(plan *Plan, program exec.Program, vault string) error {
	decision, err := inVault(plan.decision, vault)
	if err != nil {
		return err
	}
	call := decision.Call()
	command, err := program.Command(call)
	if err != nil {
		return err
	}
	if program.Backend() != string(Embedded) && (plan.hidden || decision.Preview().Confined()) {
		// The call may depend on hidden notes. The app can carry it out if the embedded program resolves the note and the
		// app gets its path, or if that note is hidden, and answered as if it were missing. With the backend auto the
		// embedded program answers such calls.
		const anyNote = "a.md"
		at, err := call.At(anyNote)
		canBePlaced := err == nil && at.TouchesOneNote()
		isOfOneNote := call.TouchesOneNote() || canBePlaced || call.HasStep(allowlist.StepReadDaily)
		resolves := isOfOneNote && g.target().Folder != ""
		if g.backend != App || !resolves || plan.facts.Ignores.Holds() {
			return g.accessError(call)
		}
	}
	r := route{
		program: program, call: call, command: command, decision: decision, expect: plan.expect, policy: plan.policy, facts: plan.facts,
		caller: plan.caller, client: plan.client, hidden: plan.hidden, batch: plan.batch, alone: plan.alone, planning: plan.planning,
	}
	r, _ = r.permitted() // without a permit it is only shown
	plan.routes = append(plan.routes, r)
	return nil
}

// accessError says that the app cannot be asked, because it does not enforce the access
// rules. A hidden note is missing for every caller.
func (g *vaultGateway) accessError(call allowlist.Call) error {
	if _, facts := g.inForce(Fingerprint{}); call.TouchesOneNote() && !facts.Ignores.Holds() {
		for _, s := range call.NamedPaths() {
			return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(s.Path))
		}
	}
	hint := ""
	switch {
	case g.target().Folder == "":
		hint = "the user can set vault to the folder of the vault, which the embedded backend needs"
	case g.backend == App:
		hint = "the user can set backend to auto"
	}
	return failure.New(
		policy.CodeAccess,
		hint,
		"command %q could reach notes that the access rules hide or protect; only the embedded backend enforces them",
		call.Name(),
	)
}

// checkPage refuses options that mean nothing for the answer to the call.
func (r Request) checkPage(call allowlist.Call) error {
	chosen := r.Fields != nil || r.Limit != 0
	switch {
	case r.Limit < 0:
		return failure.New(failure.CodeBadValue, "give the rows of a page, such as 50", "limit %d is below 1", r.Limit)
	case chosen && call.Effect() != tiers.Reads:
		return failure.New(
			failure.CodeBadRequest,
			"leave them out",
			"fields and limit are for calls that only read, and %q does more",
			call.Name(),
		)
	case r.Fields != nil && !call.Reply().JSON:
		hint := "leave fields out; use limit to shorten the answer"
		c, _ := allowlist.Describe(call.Name()) // it exists, or there were no call
		format, _ := call.Param("format")
		if format != "json" &&
			slices.ContainsFunc(
				c.Params,
				func(p allowlist.Param) bool { return p.Name == "format" && slices.Contains(p.Choices, "json") },
			) {
			hint = "add the parameter format=json"
		}
		return failure.New(
			failure.CodeBadRequest,
			hint,
			"fields requires an answer in JSON, which this call of %q does not give",
			call.Name(),
		)
	}
	return nil
}

// relativePath is the error about a path of the machine in place of one of the vault. Where the file is
// in the vault, the hint has its path there.
func (g *vaultGateway) relativePath(req Request, err error) error {
	wrong, ok := errors.AsType[*allowlist.ParseError](err)
	folder := g.target().Folder
	if !ok || folder == "" {
		return err
	}
	return wrong.Advised(func(e *allowlist.ParseError) string {
		given := req.Params[e.Param].Text()
		for _, word := range req.Words {
			if value, found := strings.CutPrefix(word, e.Param+"="); found {
				given = value
			}
		}
		isAbsolute := filepath.IsAbs(filepath.FromSlash(given))
		inside, err := filepath.Rel(folder, filepath.FromSlash(given))
		isInVault := isAbsolute && err == nil && filepath.IsLocal(inside)
		if e.Code() != allowlist.CodeBadValue || !isInVault {
			return ""
		}
		return fmt.Sprintf("did you mean %q?", excerpt.Short(filepath.ToSlash(inside)))
	})
}

// Permits returns nil if the policy of the vault of req permits the call, possibly after
// approval. It regards only the table and the policy: no program, no pause, no limit. The error
// is a [*allowlist.ParseError], a [*policy.Denial] or a [*failure.RequestError].
func (g *Gateway) Permits(req Request) error {
	d, err := g.vaultNamed(req.Vault)
	if err != nil {
		return err
	}
	call, err := req.parse()
	if err != nil {
		return err
	}
	call, _ = d.rules.Named(call)
	p, facts := d.inForce(Fingerprint{})
	_, err = p.Decide(call, facts).Approved()
	return err
}

// Admits returns why every call is refused, nil where calls are not. It is for callers that
// return what an earlier call has read.
func (g *Gateway) Admits() error { return g.admission.Open() }
