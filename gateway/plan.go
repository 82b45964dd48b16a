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

// Plan judges req and chooses the program for it. It starts nothing. The error is an [*allowlist.ParseError], a
// [*policy.Denial], an [*exec.Unavailable] or a [*failure.RequestError]. With a denial, the plan has the routes of
// the call, but no permits for them.
func (g *vaultGateway) Plan(req Request) (Plan, error) {
	call, err := req.parse()
	if err != nil {
		return Plan{}, g.withPathHint(req, err)
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
		place:    g.target(),
		call:     call,
		expect:   req.ExpectHash,
		hidden:   hidden,
		caller:   g.callerOf(req),
		client:   req.Client,
		batch:    req.batch,
		alone:    req.alone,
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
		return plan, plan.refusal // there is no program to show
	}
	if call.OwnAnswer() != allowlist.AnswersNothing {
		err := plan.refusal
		if err == nil {
			// Planning has no context of its own.
			ctx, cancel := context.WithTimeout(context.Background(), g.runner.Timeout())
			var answer ownAnswer
			answer, err = g.ownAnswerTo(ctx, plan, req)
			cancel()
			plan.answer = answer.text
			plan.unread = answer.unread
			if answer.remark != "" {
				plan.notices = append(plan.notices, answer.remark)
			}
		}
		return plan, err
	}
	if err := g.route(&plan); plan.refusal == nil || needsApproval(plan.refusal) && err != nil {
		return plan, err
	}
	return plan, plan.refusal
}

// sessionFacts returns the facts that come from the session and from the notes in reach, and records in the plan
// which content rules apply because of them.
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
	hides, narrowed := g.restrictedNotes(plan.call)
	plan.hidden = plan.hidden || hides
	facts.Narrowed = narrowed
	return facts
}

// factNarrowed is the fact that notes which a call may reach restrict access to themselves.
var factNarrowed = policy.Because("notes in reach restrict access to themselves")

// restrictedNotes returns what notes that restrict access to themselves mean for a call, because the app does not
// know them. hidden means that the call names a hidden note. protected means that only the embedded program may
// carry it out, because it may reach such notes.
func (g *vaultGateway) restrictedNotes(call allowlist.Call) (hidden bool, protected policy.Reason) {
	isNotOfApp := call.EmbeddedOnly() || call.OwnAnswer() != allowlist.AnswersNothing
	if g.backend == Embedded || call.TouchesNoNote() || isNotOfApp {
		return false, policy.None
	}
	if call.HasStep(allowlist.StepReadDaily) { // checked once the path is known, see readDailyAt
		return false, policy.None
	}
	if g.runner == nil || !g.runner.HasApp() {
		return false, policy.None
	}
	var paths []string // none for a call that may reach other notes
	if call.TouchesOneNote() {
		for _, named := range call.NamedPaths() {
			paths = append(paths, named.Path)
		}
	}
	levels, known := g.rules.Narrowing(paths...)
	switch {
	case !known:
		return false, policy.Reason{}
	case len(levels) == 0:
		return false, policy.None
	case len(paths) == 0:
		return false, factNarrowed
	}
	for _, level := range levels {
		hidden = hidden || level == access.None
	}
	if hidden || !call.Effect().Mutates() {
		return hidden, policy.None
	}
	return false, factNarrowed
}

// Changes reports whether req is a call that would change something, whether or not it is allowed.
func (g *Gateway) Changes(req Request) bool { return req.changes() }

func (r Request) changes() bool {
	call, err := r.parse()
	return err == nil && call.Effect().Mutates()
}

// route fills in the routes by which the plan can be carried out.
func (g *vaultGateway) route(plan *Plan) error {
	var appErr, ownErr error
	var program exec.Program
	_, daily := plan.call.Param("daily")
	aboutToday := daily || plan.call.IsDaily()
	// The embedded program can turn the mark of a secret back into the secret, and reports which random note it
	// picked.
	hasMark := plan.call.HasValue(func(value string) bool { return guard.MayHaveMark([]byte(value)) })
	needsEmbedded := plan.call.EmbeddedOnly() || hasMark
	if g.target().Folder != "" {
		searchesRedacted := g.backend == Auto && plan.call.Searches() && plan.policy.Redacts()
		isOfOwnDay := g.ownDay && aboutToday
		needsEmbedded = needsEmbedded || searchesRedacted || isOfOwnDay
		needsEmbedded = needsEmbedded || plan.call.FollowsLinks() || plan.call.DrawsNote()
	}
	// Planned changes are not on the disk yet, where the app would look for them.
	isInBatch := plan.planning != nil && g.backend != App
	needsEmbedded = needsEmbedded || isInBatch && plan.call.VersionsOf() == ""
	if g.backend != Embedded && !needsEmbedded {
		if program, appErr = g.app(); appErr == nil {
			appErr = g.addRoute(plan, program, g.target().App)
		}
	}
	if g.backend != App || needsEmbedded {
		if program, ownErr = g.embedded(); ownErr == nil {
			ownErr = g.addRoute(plan, plan.planning.over(program), filepath.Base(g.target().Folder))
		}
	}
	switch {
	case len(plan.routes) > 0:
		// Report why the app is not used if the reason is the call itself, not the state of the machine.
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
	return ownErr // even if the app is missing: the given folder is what is wrong
}

// addRoute adds the route by which a program can carry out the call in a vault.
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
		// The call may depend on hidden notes. The app can carry it out if the embedded program resolves the note
		// and the app gets its path; if that note is hidden, the answer is that it is missing. With the backend auto
		// the embedded program answers such calls.
		const anyNote = "a.md"
		located, err := call.At(anyNote)
		canBePlaced := err == nil && located.TouchesOneNote()
		isOfOneNote := call.TouchesOneNote() || canBePlaced || call.HasStep(allowlist.StepReadDaily)
		resolves := isOfOneNote && g.target().Folder != ""
		if g.backend != App || !resolves || plan.facts.Ignores.Holds() {
			return g.accessError(call)
		}
	}
	r := route{
		program:  program,
		call:     call,
		command:  command,
		decision: decision,
		expect:   plan.expect,
		policy:   plan.policy,
		facts:    plan.facts,
		caller:   plan.caller,
		client:   plan.client,
		hidden:   plan.hidden,
		batch:    plan.batch,
		alone:    plan.alone,
		planning: plan.planning,
	}
	r, _ = r.permitted() // without a permit it can only be shown
	plan.routes = append(plan.routes, r)
	return nil
}

// accessError returns the error for a call that the app must not be asked, because it does not enforce the access
// rules. To callers a hidden note does not exist.
func (g *vaultGateway) accessError(call allowlist.Call) error {
	if _, facts := g.inForce(Fingerprint{}); call.TouchesOneNote() && !facts.Ignores.Holds() {
		for _, named := range call.NamedPaths() {
			return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(named.Path))
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

// checkPage returns an error for paging options that do not apply to the answer of the call.
func (r Request) checkPage(call allowlist.Call) error {
	hasOptions := r.Fields != nil || r.Limit != 0
	switch {
	case r.Limit < 0:
		return failure.New(failure.CodeBadValue, "give the rows of a page, such as 50", "limit %d is below 1", r.Limit)
	case hasOptions && call.Effect() != tiers.Reads:
		return failure.New(
			failure.CodeBadRequest,
			"leave them out",
			"fields and limit are for calls that only read, and %q does more",
			call.Name(),
		)
	case r.Fields != nil && !call.Reply().JSON:
		hint := "leave fields out; use limit to shorten the answer"
		c, _ := allowlist.Describe(call.Name()) // it exists, because the call does
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

// withPathHint improves the error about an absolute path in place of one relative to the vault: if the file is in
// the vault, the hint has its path there.
func (g *vaultGateway) withPathHint(req Request, err error) error {
	wrong, ok := errors.AsType[*allowlist.ParseError](err)
	folder := g.target().Folder
	if !ok || folder == "" {
		return err
	}
	return wrong.Advised(func(e *allowlist.ParseError) string {
		given := req.Params[e.Param].Text()
		for _, word := range req.Words {
			if value, ok := strings.CutPrefix(word, e.Param+"="); ok {
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

// Permits returns nil if the policy of the vault of req permits the call, possibly after approval. It checks only
// the command table and the policy, not programs, pause or limits. The error is an [*allowlist.ParseError], a
// [*policy.Denial] or a [*failure.RequestError].
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

// Admits returns why every call is refused at the moment, nil if calls are accepted. It is for callers that return
// what an earlier call has read.
func (g *Gateway) Admits() error { return g.admission.Open() }
