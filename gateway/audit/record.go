package audit

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Records creates the record of each call of a session. Without a folder for the log nothing is
// written, and calls that change something are refused.
type Records struct {
	logs    Logs
	limited Limited
	agent   string
	session string
}

// calls counts the calls of this process. It is global because several Records can share a session,
// and the id of a call must be unique.
var calls atomic.Uint64

// NewRecords returns the Records of a session in a state folder. agent is "" if no agents are
// defined; state is "" if there is no folder for the log.
func NewRecords(state, agent, session string) *Records {
	r := &Records{logs: OpenLogs(state), agent: agent, session: session}
	r.limited.Write = func(line Line) { _ = r.logs.Write(line, Buffered) }
	return r
}

// Missed returns how many lines this process could not write.
func (r *Records) Missed() uint64 { return r.logs.Missed() }

// Flush writes the counts of calls that were refused for their rate, see [Limited].
func (r *Records) Flush() { r.limited.Flush() }

// Caller describes the origin of a call. Command is the name that was sent, which may be invalid.
type Caller struct{ Client, Surface, Vault, Command string }

// Begin starts the record of a call. seen is notified of the decisions.
func (r *Records) Begin(c Caller, observers *telemetry.Call) *Record {
	return &Record{records: r, start: time.Now(), observers: observers, line: Line{
		Call:    fmt.Sprintf("%s-%d", r.session, calls.Add(1)),
		Session: r.session, Agent: r.agent, Client: c.Client, Surface: c.Surface, Vault: c.Vault, Command: excerpt.Short(c.Command),
	}}
}

// Record collects what the audit log stores about one call, and writes its lines. Only one
// goroutine at a time may use it.
type Record struct {
	records   *Records
	line      Line
	start     time.Time
	call      allowlist.Call
	refusal   error // the policy's reason to refuse the call, nil if it does not
	observers *telemetry.Call
	held      *heldDecision // the decision, if it waits to be written with the end
	// hidden is the rule that hides the path that the call names, "" if none does; the caller is told
	// that there is no such note. hiddenName is the rule for the name in file=, which may also match
	// a visible note, so it counts only if the call finds nothing.
	hidden, hiddenName string
}

// InBatch continues the record of an operation after its batch was approved. observers is notified of the
// further decisions.
func (r *Record) InBatch(observers *telemetry.Call) { r.observers = observers }

// Skipped ends the record of an operation of a batch that did not run. Observers are not notified:
// they were told the decision about the batch.
func (r *Record) Skipped() {
	r.observers = nil
	r.write(r.decision("skip", nil))
}

// Asked records that the call requires approval, before the user is asked.
func (r *Record) Asked(refusal error) { r.write(r.decision("ask", refusal)) }

// AskedIn sets the id of the approval request for the call. All later lines include it.
func (r *Record) AskedIn(question string) { r.line.Question = question }

// Previewed records that a backend is asked what the call would change, without making the change.
func (r *Record) Previewed(backend string) {
	line := r.decision("plan", nil)
	line.Backend = backend
	r.write(line)
}

// Described records the command and the parameters of the call, without their values, and the
// policy's reason to refuse it, nil if it does not. For an invalid call the name that was sent
// remains.
func (r *Record) Described(call allowlist.Call, refusal error) {
	r.call = call
	r.refusal = refusal
	r.observers.Described(call)
	if !call.Valid() {
		return
	}
	r.line.Command = call.Name()
	r.line.Effect = call.Effect().String()
	r.line.Params = nil
	r.line.Note = ""
	if r.records.logs.None() {
		return
	}
	params := call.Params()
	for _, name := range params.Names() {
		value, _ := call.Param(name)
		p := Param{Name: name, Bytes: len(value)}
		if value != "" {
			p.Digest = r.records.logs.Digest(value)
		}
		r.line.Params = append(r.line.Params, p)
	}
	for _, named := range call.NamedPaths() {
		if !named.Folder && !named.To {
			r.line.Note = r.digestOf(named.Path)
		}
	}
}

// Found records the findings of content rules in the change, and the rules in test mode, which only
// log it.
func (r *Record) Found(found, shadow []string) {
	r.line.Found = found
	r.line.Shadow = shadow
}

// Because records the path of a note that was read and made a flow rule apply to the call.
func (r *Record) Because(note string) {
	if !r.records.logs.None() {
		r.line.Because = append(r.line.Because, r.digestOf(note))
	}
}

// Granted records that a grant of the owner approved the call.
func (r *Record) Granted(id string) {
	r.line.Grant = id
	r.Approved(ByGrant)
}

// OfProposal sets the id of the proposal that the call is part of. All later lines include it.
func (r *Record) OfProposal(id string) { r.line.Proposal = id }

// ByGrant is the value of [Line.By] for a call that a grant approved in advance.
const ByGrant = "grant"

// HiddenBy records which rule hides the path that the call names, and which hides a note of the name
// in file=; "" for none. The first rule recorded counts.
func (r *Record) HiddenBy(rule, ofName string) {
	r.hidden = cmp.Or(r.hidden, rule)
	r.hiddenName = cmp.Or(r.hiddenName, ofName)
}

// digestOf returns the digest of a path. It reuses the digest of a parameter with the same value,
// which usually exists.
func (r *Record) digestOf(path string) string {
	for _, p := range r.line.Params {
		if value, _ := r.call.Param(p.Name); value == path && p.Digest != "" {
			return p.Digest
		}
	}
	return r.records.logs.Digest(path)
}

// Redact removes the length and the digest of parameters whose values will come from the results of
// earlier calls.
func (r *Record) Redact(params []string) {
	for i, p := range r.line.Params {
		if slices.Contains(params, p.Name) {
			r.line.Params[i] = Param{Name: p.Name}
			r.line.Note = "" // one of these parameters may name the note
		}
	}
}

// Approved records that the user approved the call, and where, see [Line.By].
func (r *Record) Approved(by string) {
	line := r.decision("reply", nil)
	line.Rule = "confirm"
	line.Code = ""
	line.By = by
	r.write(line)
}

// Allowed records that the call is passed to a backend, "" for none. For a call that changes
// something it returns an error if this cannot be logged; the call must then not run.
func (r *Record) Allowed(call allowlist.Call, backend string) error {
	r.call = call
	r.refusal = nil
	mutates := call.Effect().Mutates()
	if r.records.logs.None() {
		if mutates {
			return failure.New(
				failure.CodeState,
				"the user can set XDG_STATE_HOME to a folder outside of the vault",
				"changes require an audit log, and there is no folder for it outside the vaults",
			)
		}
		r.observers.Decided(telemetry.Decision{Decision: "allow"})
		return nil
	}
	line := r.decision("allow", nil)
	line.Backend = backend
	if !mutates {
		r.held = r.records.logs.Hold(r.forOwner(line))
	} else if err := r.records.logs.WriteLasting(r.forOwner(line), Durable); err != nil {
		return failure.New(failure.CodeState, `the user can see more with "vaultwicket audit verify"`, "nothing was changed, because the audit log cannot be written: %s", excerpt.Reason(err))
	}
	r.observers.Decided(telemetry.Decision{Decision: line.Decision})
	return nil
}

// forOwner returns a line as the owner of the vault may see it: access to a hidden note was denied.
// The caller, and observers, whose reports others may read, are told instead that the note does not
// exist.
func (r *Record) forOwner(line Line) Line {
	if r.hidden == "" {
		return line
	}
	line.Rule = r.hidden
	line.Code = policy.CodeAccess
	if line.Decision == "allow" {
		line.Decision = "deny"
	}
	return line
}

// Refused ends the record of a call that was denied with err.
func (r *Record) Refused(err error) {
	line := r.decision("deny", nil)
	line.Code = failure.Of(err).Code
	line.Declined = failure.IsDeclined(err)
	line.DurationMs = time.Since(r.start).Milliseconds()
	if r.refusal != nil {
		line.Rule = failure.RuleOf(r.refusal)
	}
	if line.Code == failure.CodeRateLimited && !r.records.limited.First(line) {
		r.observers.Decided(telemetry.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
		return
	}
	r.write(line)
}

// End is the outcome of a call.
type End struct {
	Backend  string
	ExitCode int
	Code     string // code of the failure, "" for success
	// Found has the findings of content rules, Shadow the rules in test mode, see [Line].
	Found, Shadow []string
	Lost          bool // the change removed so much that it counts as destructive
	// Change is the id of the change, Before and After are the hashes of the call's note. A call that
	// changes nothing has only After.
	Change, Before, After string
}

// Ended ends the record of a call that ran.
func (r *Record) Ended(end End) {
	line := r.line
	line.Kind = "end"
	line.Params = nil
	line.Note = ""
	line.Backend = end.Backend
	line.DurationMs = time.Since(r.start).Milliseconds()
	line.Exit = &end.ExitCode
	line.Code = end.Code
	line.Change = end.Change
	line.Before = end.Before
	line.After = end.After
	for _, hash := range []*string{&line.Before, &line.After} {
		if !isHex(*hash, digestLength, digestLength) {
			*hash = ""
		}
	}
	line.Found = slices.Concat(line.Found, end.Found)
	line.Shadow = slices.Concat(line.Shadow, end.Shadow)
	r.observers.Found(line.Found, line.Shadow)
	if end.Lost {
		line.Effect = tiers.Destroys.String()
	}
	if line.Code == failure.CodeNotFound && r.hidden == "" {
		r.hidden = r.hiddenName
	}
	if r.held == nil || !r.held.End(r.forOwner(line)) {
		r.write(line)
	}
}

func (r *Record) decision(outcome string, err error) Line {
	line := r.line
	line.Kind = "decision"
	line.Decision = outcome
	line.Rule = failure.RuleOf(err)
	if err != nil {
		line.Code = failure.Of(err).Code
	}
	return line
}

// write writes a line that no change depends on: if it cannot be written, the call continues.
func (r *Record) write(line Line) {
	if line.Kind == "decision" {
		r.observers.Decided(telemetry.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
	}
	write := r.records.logs.Write
	if r.call.Valid() && r.call.Effect().Mutates() {
		write = r.records.logs.WriteLasting
	}
	_ = write(r.forOwner(line), Buffered)
}
