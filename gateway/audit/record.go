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

// Records begins the record of each call. It has no log if there is no folder for one; then a call that
// changes something is refused.
type Records struct {
	logs    Logs
	limited Limited
	agent   string
	session string
}

// calls counts the calls of this process: a session can have several records, and the id of a call is its own.
var calls atomic.Uint64

// NewRecords returns the records of a session of an agent, "" for none, in a state folder, ""
// for none.
func NewRecords(state, agent, session string) *Records {
	r := &Records{logs: OpenLogs(state), agent: agent, session: session}
	r.limited.Write = func(line Line) { _ = r.logs.Write(line, Buffered) }
	return r
}

// Missed returns how many lines this process could not write.
func (r *Records) Missed() uint64 { return r.logs.Missed() }

// Flush writes what was only counted until then.
func (r *Records) Flush() { r.limited.Flush() }

// Caller is what is known of a call at its beginning. Command is as it was sent.
type Caller struct{ Client, Surface, Vault, Command string }

// Begin starts the record of a call. seen receives the decisions.
func (r *Records) Begin(c Caller, seen *telemetry.Call) *Record {
	return &Record{records: r, begun: time.Now(), seen: seen, line: Line{
		Call:    fmt.Sprintf("%s-%d", r.session, calls.Add(1)),
		Session: r.session, Agent: r.agent, Client: c.Client, Surface: c.Surface, Vault: c.Vault, Command: excerpt.Short(c.Command),
	}}
}

// Record is what the audit log is told of one call. It is used by one goroutine at a time.
type Record struct {
	records *Records
	line    Line
	begun   time.Time
	call    allowlist.Call
	refusal error // of the policy
	seen    *telemetry.Call
	held    *heldDecision // nil unless the decision waits for the end
	// hidden is the rule that hides what the call names, "" if none does; the caller is answered
	// that it is missing. hiddenName is the same for the name in file=, which may also mean
	// another note; it counts if nothing is found.
	hidden, hiddenName string
}

// InBatch continues the record of an operation whose batch was approved. seen receives the decisions.
func (r *Record) InBatch(seen *telemetry.Call) { r.seen = seen }

// Skipped ends the record of an operation of a batch that did not run. It is no decision about the batch, of which
// observers know.
func (r *Record) Skipped() {
	r.seen = nil
	r.write(r.decision("skip", nil))
}

// Asked notes that the call requires approval, before the user is asked.
func (r *Record) Asked(refusal error) { r.write(r.decision("ask", refusal)) }

// AskedIn notes the id of the question that the user is asked about the call. All lines after that have it.
func (r *Record) AskedIn(question string) { r.line.Question = question }

// Previewed notes that a backend is asked what a call would change, and nothing more.
func (r *Record) Previewed(backend string) {
	line := r.decision("plan", nil)
	line.Backend = backend
	r.write(line)
}

// Described notes what the call is, without its values, and why the policy refuses it, nil
// if it does not. An invalid call stays as it was sent.
func (r *Record) Described(call allowlist.Call, refusal error) {
	r.call = call
	r.refusal = refusal
	r.seen.Described(call)
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
	for _, s := range call.NamedPaths() {
		if !s.Folder && !s.To {
			r.line.Note = r.digestOf(s.Path)
		}
	}
}

// Found notes what the rules about texts found in the change, and which of them only log it.
func (r *Record) Found(found, shadow []string) {
	r.line.Found = found
	r.line.Shadow = shadow
}

// Because notes a note that was read, where a flow rule is about the call for that.
func (r *Record) Because(note string) {
	if !r.records.logs.None() {
		r.line.Because = append(r.line.Because, r.digestOf(note))
	}
}

// Granted notes that a grant of the owner has answered the question about the call.
func (r *Record) Granted(id string) {
	r.line.Grant = id
	r.Approved(ByGrant)
}

// OfProposal notes the proposal that the call is of. All lines after that have it.
func (r *Record) OfProposal(id string) { r.line.Proposal = id }

// ByGrant is where a call was approved in advance.
const ByGrant = "grant"

// HiddenBy notes which rule hides what the call names: as a path, and by its name alone. The first rule
// counts.
func (r *Record) HiddenBy(rule, ofName string) {
	r.hidden = cmp.Or(r.hidden, rule)
	r.hiddenName = cmp.Or(r.hiddenName, ofName)
}

// digestOf returns the digest of a path, which mostly is that of a parameter.
func (r *Record) digestOf(path string) string {
	for _, p := range r.line.Params {
		if value, _ := r.call.Param(p.Name); value == path && p.Digest != "" {
			return p.Digest
		}
	}
	return r.records.logs.Digest(path)
}

// Redact notes which parameters get their values from results: before that there is
// nothing to say of these.
func (r *Record) Redact(params []string) {
	for i, p := range r.line.Params {
		if slices.Contains(params, p.Name) {
			r.line.Params[i] = Param{Name: p.Name}
			r.line.Note = "" // it may be one of them that names it
		}
	}
}

// Approved notes that the user approved, and where: "" for the client.
func (r *Record) Approved(by string) {
	line := r.decision("reply", nil)
	line.Rule = "confirm"
	line.Code = ""
	line.By = by
	r.write(line)
}

// Allowed records that a call is passed to a backend, "" for none. A call that changes something
// is refused unless that is in the log.
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
		r.seen.Decided(telemetry.Decision{Decision: "allow"})
		return nil
	}
	line := r.decision("allow", nil)
	line.Backend = backend
	if !mutates {
		r.held = r.records.logs.Hold(r.forOwner(line))
	} else if err := r.records.logs.WriteLasting(r.forOwner(line), Durable); err != nil {
		return failure.New(failure.CodeState, `the user can see more with "vaultwicket audit verify"`, "nothing was changed, because the audit log cannot be written: %s", excerpt.Reason(err))
	}
	r.seen.Decided(telemetry.Decision{Decision: line.Decision})
	return nil
}

// forOwner returns a line as the owner of the vault may read it: a hidden note was denied. The caller is told that the
// note does not exist, and so are observers, whose reports others may read.
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

// Refused ends the record of a call that was not let through.
func (r *Record) Refused(err error) {
	line := r.decision("deny", nil)
	line.Code = failure.Of(err).Code
	line.Declined = failure.IsDeclined(err)
	line.DurationMs = time.Since(r.begun).Milliseconds()
	if r.refusal != nil {
		line.Rule = failure.RuleOf(r.refusal)
	}
	if line.Code == failure.CodeRateLimited && !r.records.limited.First(line) {
		r.seen.Decided(telemetry.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
		return
	}
	r.write(line)
}

// End is what came of a call.
type End struct {
	Backend  string
	ExitCode int
	Code     string // of the failure, "" for none
	// Found are what the rules about texts found, Shadow those that had no effect, see [Line].
	Found, Shadow []string
	Lost          bool // the change removed so much that it was destructive
	// Change is the id of a change, Before and After are the hashes of the note of the call. A
	// call that changes nothing has only After.
	Change, Before, After string
}

// Ended ends the record of a call that was let through.
func (r *Record) Ended(end End) {
	line := r.line
	line.Kind = "end"
	line.Params = nil
	line.Note = ""
	line.Backend = end.Backend
	line.DurationMs = time.Since(r.begun).Milliseconds()
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
	r.seen.Found(line.Found, line.Shadow)
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

func (r *Record) decision(what string, err error) Line {
	line := r.line
	line.Kind = "decision"
	line.Decision = what
	line.Rule = failure.RuleOf(err)
	if err != nil {
		line.Code = failure.Of(err).Code
	}
	return line
}

// write writes a line that no change depends on: a log that cannot be written does not stop the call.
func (r *Record) write(line Line) {
	if line.Kind == "decision" {
		r.seen.Decided(telemetry.Decision{Decision: line.Decision, Rule: line.Rule, Code: line.Code})
	}
	write := r.records.logs.Write
	if r.call.Valid() && r.call.Effect().Mutates() {
		write = r.records.logs.WriteLasting
	}
	_ = write(r.forOwner(line), Buffered)
}
