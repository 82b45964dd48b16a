package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/state/audit"
	"vaultwicket/gateway/trail"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// record is what the audit log is told of one call.
type record struct {
	*records
	line  audit.Line
	begun time.Time
	plan  Plan
	seen  *observe.Call
	// userTime is how long the user was asked.
	userTime time.Duration
	held     *trail.Decision // nil unless the decision waits for the end
	// hidden is the rule that hides what the call names, "" if none does. The
	// caller is told that it is missing. hiddenName is the same for what file=
	// spells, which may also mean another note; it counts where nothing is found.
	hidden, hiddenName string
}

// begin starts the record of a request. Who observes it is told of the decisions.
func (r *records) begin(vault string, req Request, seen *observe.Call) *record {
	return &record{records: r, begun: time.Now(), seen: seen, line: audit.Line{
		Call:    fmt.Sprintf("%s-%d", r.session, r.count.Add(1)),
		Session: r.session, Client: req.Client, Surface: req.Surface, Vault: vault, Command: quote.Short(req.Command),
	}}
}

// asked notes that the call requires approval, before the user is asked.
func (r *record) asked(refusal error) { r.write(r.decision("ask", refusal), false) }

// previewed notes that a program is started to work out what a call would change,
// and nothing more.
func (r *record) previewed(own exec.Program) {
	line := r.decision("plan", nil)
	line.Backend = own.Backend()
	r.write(line, false)
}

// described notes what the call is, without its values.
func (r *record) described(plan Plan) {
	r.plan = plan
	r.seen.Described(plan.call)
	if !plan.call.Valid() {
		return
	}
	r.line.Command, r.line.Effect = plan.call.Name(), plan.call.Effect().String()
	if r.logs.None() {
		return
	}
	params := plan.call.Params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := plan.call.Param(name)
		p := audit.Param{Name: name, Bytes: len(value)}
		if value != "" {
			p.Digest = r.logs.Digest(value)
		}
		r.line.Params = append(r.line.Params, p)
	}
	for _, s := range plan.call.NamedPaths() {
		if !s.Folder && !s.To {
			r.line.Note = r.digestOf(s.Path)
		}
	}
}

// digestOf returns the digest of a path, which mostly is that of a parameter.
func (r *record) digestOf(path string) string {
	for _, p := range r.line.Params {
		if value, _ := r.plan.call.Param(p.Name); value == path && p.Digest != "" {
			return p.Digest
		}
	}
	return r.logs.Digest(path)
}

// redactReferenced notes which parameters get their values from results: before that there is
// nothing to say of these.
func (r *record) redactReferenced(from map[string]Reference) {
	for i, p := range r.line.Params {
		if _, taken := from[p.Name]; taken {
			r.line.Params[i] = audit.Param{Name: p.Name}
			r.line.Note = "" // it may be one of them that names it
		}
	}
}

// answered notes that the user approved, and where: "" for the client.
func (r *record) answered(by string) {
	line := r.decision("reply", nil)
	line.Rule, line.Code, line.By = "confirm", "", by
	r.write(line, false)
}

// allowed notes that a call is let through. A call that changes something is not,
// unless that is in the log.
func (r *record) allowed(plan Plan) error {
	r.plan = plan
	mutates := plan.call.Effect().Mutates()
	if r.logs.None() {
		if mutates {
			return failure.New(failure.CodeState, "the user can set XDG_STATE_HOME to a folder outside of the vault", "changes require an audit log, and there is no folder for it outside the vaults")
		}
		r.seen.Decided(observe.Decision{Decision: "allow"})
		return nil
	}
	line := r.decision("allow", nil)
	if len(plan.routes) > 0 {
		line.Backend = plan.routes[0].program.Backend()
	}
	if !mutates {
		r.held = r.late.Hold(r.truly(line))
	} else if err := r.logs.Write(r.truly(line), true, true); err != nil {
		return failure.New(failure.CodeState, `the user can see more with "vaultwicket audit verify"`, "nothing was changed, because the audit log cannot be written: %v", err)
	}
	r.seen.Decided(observe.Decision{Decision: line.Decision})
	return nil
}

// truly is a line as the owner is to read it. The caller of a call that names what
// is hidden is told that it is missing, and so are observers, whose reports may be
// read by anybody.
func (r *record) truly(line audit.Line) audit.Line {
	if r.hidden == "" {
		return line
	}
	line.Rule, line.Code = r.hidden, policy.CodeAccess
	if line.Decision == "allow" {
		line.Decision = "deny"
	}
	return line
}

// refused ends the record of a call that was not let through.
func (r *record) refused(result Result) Result {
	line := r.decision("deny", nil)
	line.Code = result.Error.Code
	line.DurationMs = time.Since(r.begun).Milliseconds()
	if r.plan.refusal != nil {
		line.Rule = failure.RuleOf(r.plan.refusal)
	}
	if line.Code == failure.CodeRateLimited && !r.limited.First(line) {
		r.seen.Decided(observe.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
		return result
	}
	r.write(line, false)
	return result
}

// ended ends the record of a call that was let through.
func (r *record) ended(result Result) Result {
	line := r.line
	line.Kind, line.Params, line.Note = "end", nil, ""
	line.Backend, line.DurationMs = result.Backend, time.Since(r.begun).Milliseconds()
	line.Exit = &result.ExitCode
	if result.Error != nil {
		line.Code = result.Error.Code
	}
	if result.lost {
		line.Effect = tiers.Destroys.String()
	}
	if line.Code == failure.CodeNotFound && r.hidden == "" {
		r.hidden = r.hiddenName
	}
	if result.Change != nil {
		line.Change, line.Before, line.After = result.Change.ID, hashOrNothing(result.Change.Before), hashOrNothing(result.Change.After)
	} else {
		line.After = hashOrNothing(result.Hash)
	}
	if r.held == nil || !r.late.End(r.held, r.truly(line)) {
		r.write(line, false)
	}
	return result
}

func hashOrNothing(hash string) string {
	if len(hash) != 16 || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	return hash
}

func (r *record) decision(what string, err error) audit.Line {
	line := r.line
	line.Kind, line.Decision, line.Rule = "decision", what, failure.RuleOf(err)
	if err != nil {
		line.Code = failure.Of(err).Code
	}
	return line
}

// write writes a line of a call that changes nothing by itself: such a call is
// not stopped by a log that cannot be written.
func (r *record) write(line audit.Line, durable bool) {
	if line.Kind == "decision" {
		r.seen.Decided(observe.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
	}
	_ = r.logs.Write(r.truly(line), r.mutates(), durable)
}

// mutates reports whether the call could change something. What is no call runs
// nothing.
func (r *record) mutates() bool { return r.plan.call.Valid() && r.plan.call.Effect().Mutates() }

// records writes the audit log. It has none where there is no place for it; then
// nothing is changed.
type records struct {
	logs    trail.Logs
	limited trail.Limited
	late    trail.Late
	session string
	count   atomic.Uint64
}

func newRecords(state, session string) *records {
	r := &records{logs: trail.Open(state), session: session}
	r.late.Logs = r.logs
	r.limited.Write = func(line audit.Line) { _ = r.logs.Write(line, false, false) }
	return r
}
