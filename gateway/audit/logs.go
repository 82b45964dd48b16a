package audit

import (
	"context"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/policy"
)

// AuditFolder returns the folder of the log of changes, approvals and denials by policy, whose lines
// are kept for at least 90 days.
func AuditFolder(state string) string { return filepath.Join(state, "audit") }

// CallsFolder returns the folder of the log of all other lines: calls that only read, and invalid
// requests. A client can cause any number of them, so they have a log of their own, in which the
// newest replace the oldest.
func CallsFolder(state string) string { return filepath.Join(state, "audit-calls") }

// Lines returns the lines of both parts of the audit log in a state folder, in the order of their
// times. Errors are those of [List].
func Lines(ctx context.Context, state string, f Filter) iter.Seq2[Line, error] {
	merged := merge(List(ctx, AuditFolder(state), f), List(ctx, CallsFolder(state), f))
	if f.Limit <= 0 {
		return merged
	}
	return func(yield func(Line, error) bool) {
		for _, item := range newestOf(merged, f.Limit) {
			if !yield(item.line, item.err) {
				return
			}
		}
	}
}

// keptFor is the minimum time for which lines about changes, approvals and denials by policy are kept.
const keptFor = 90 * 24 * time.Hour

// Logs has the two parts of the audit log. The zero value writes nothing.
type Logs struct {
	lasting, calls *Log
	reserves       *sync.Once // see [Logs.makeReserves]; nil if the parts have none
}

// OpenLogs returns the audit log in a state folder, or the zero Logs if state is "".
func OpenLogs(state string) Logs {
	if state == "" {
		return Logs{}
	}
	l := Logs{
		lasting: Open(AuditFolder(state), Limits{MinAge: keptFor}),
		calls:   Open(CallsFolder(state), Limits{}),

		reserves: &sync.Once{},
	}
	l.lasting.hasReserve = true
	l.calls.hasReserve = true
	return l
}

// Missed returns how many lines this process could not write to either part.
func (l Logs) Missed() uint64 {
	if l.None() {
		return 0
	}
	return l.lasting.Missed() + l.calls.Missed()
}

// None reports whether l is the zero Logs, which writes nothing.
func (l Logs) None() bool { return l.lasting == nil }

// Digest returns the keyed digest of a value, see [Log.Digest].
func (l Logs) Digest(value string) string { return l.lasting.Digest(value) }

// Write writes a line about a call that changes nothing to the part where it belongs.
func (l Logs) Write(line Line, how Durability) error {
	if isRoutine(line) && !l.None() {
		l.makeReserves()
		return l.calls.Write(line, how)
	}
	return l.WriteLasting(line, how)
}

// WriteLasting writes a line to the part that is kept for longer, for example the line of a call that
// may change something.
func (l Logs) WriteLasting(line Line, how Durability) error {
	if l.None() {
		return nil
	}
	l.makeReserves()
	return l.lasting.Write(line, how)
}

// makeReserves creates the reserves of both parts before the first line of the process in either: once the disk is full,
// the part that has no line yet could not have one.
func (l Logs) makeReserves() {
	if l.reserves == nil {
		return
	}
	l.reserves.Do(func() {
		l.lasting.ensureReserve()
		l.calls.ensureReserve()
	})
}

// isRoutine reports whether a line about a call that changes nothing belongs to the calls part: it
// records no denial by policy and no approval. Unknown lines are not routine.
func isRoutine(line Line) bool {
	switch {
	case line.Kind == KindLimited:
		return true
	case policyCodes[line.Code] || line.Rule != "":
		return false
	case line.Kind == "end":
		return true
	}
	return line.Decision == "allow" || line.Decision == "plan" || line.Decision == "deny"
}

// policyCodes are the codes of denials by policy.
var policyCodes = map[string]bool{
	policy.CodeTierClosed: true, policy.CodeRestricted: true, policy.CodeDisabled: true, policy.CodeMutationsOff: true,
	policy.CodeUnconfirmed: true, policy.CodeAccess: true, policy.CodeAgent: true, policy.CodeScope: true,
}

// maxHold is how long the decision about a read waits for the end of the call, so that both lines
// are written together.
const maxHold = 50 * time.Millisecond

// heldDecision is the line of a decision that is written together with the end of its call, or
// alone if the call takes longer than maxHold.
type heldDecision struct {
	logs         Logs
	line         Line
	timer        *time.Timer
	writtenAlone sync.WaitGroup // done once the line was written alone
}

// Hold returns a decision, made now, that waits for the end of its call. The caller must call
// [heldDecision.End].
func (l Logs) Hold(line Line) *heldDecision {
	line.Time = time.Now()
	d := &heldDecision{logs: l, line: line}
	d.writtenAlone.Add(1)
	d.timer = time.AfterFunc(maxHold, func() {
		_ = l.Write(d.line, Buffered)
		d.writtenAlone.Done()
	})
	return d
}

// End writes the decision and the end of its call. It returns false if the decision was already
// written alone; the caller must then write the end.
func (d *heldDecision) End(end Line) bool {
	switch {
	case !d.timer.Stop():
		d.writtenAlone.Wait()
		return false
	case d.logs.None():
	case isRoutine(d.line) && isRoutine(end): // together, because both belong to the same part
		d.logs.makeReserves()
		_ = d.logs.calls.WriteAll(Buffered, d.line, end)
	default:
		_ = d.logs.Write(d.line, Buffered)
		_ = d.logs.Write(end, Buffered)
	}
	return true
}

// KindLimited is the kind of a line with a count of calls that were refused for their rate.
const KindLimited = "limited"

const (
	// LimitedPeriod is how long calls refused for their rate are counted before a line reports them.
	LimitedPeriod = time.Minute
	// MaxLimited is how many callers are counted separately in a period. It is bounded because
	// callers choose their own names.
	MaxLimited = 16
)

// Limited counts calls that are refused for their rate. The first one of a period gets a line of its
// own; for the others, one line per caller is written at the end of the period.
type Limited struct {
	// Write writes the lines with the counts.
	Write func(Line)

	mu     sync.Mutex
	start  time.Time
	counts map[limitedCaller]uint64 // nil between periods
	end    *time.Timer
}

// limitedCaller identifies the caller in a line of the kind [KindLimited].
type limitedCaller struct{ session, agent, client, surface, vault string }

// First reports whether the call of a line is the first one of a period. Otherwise it counts the call.
func (l *Limited) First(line Line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.start = time.Now()
		l.counts = map[limitedCaller]uint64{}
		l.end = time.AfterFunc(LimitedPeriod, l.Flush)
		return true
	}
	caller := limitedCaller{line.Session, line.Agent, line.Client, line.Surface, line.Vault}
	if _, isCounted := l.counts[caller]; !isCounted && len(l.counts) >= MaxLimited {
		caller = limitedCaller{session: line.Session, agent: line.Agent}
	}
	l.counts[caller]++
	return false
}

// Flush ends the current period, if any, and writes its counts.
func (l *Limited) Flush() {
	l.mu.Lock()
	counts := l.counts
	start := l.start
	if counts != nil {
		l.counts = nil
		l.end.Stop()
	}
	l.mu.Unlock()
	for caller, count := range counts {
		l.Write(Line{
			Kind: KindLimited, Session: caller.session, Agent: caller.agent, Client: caller.client, Surface: caller.surface, Vault: caller.vault,
			Code: failure.CodeRateLimited, Count: count, DurationMs: time.Since(start).Milliseconds(),
		})
	}
}
