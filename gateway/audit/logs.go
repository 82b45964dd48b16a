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

// AuditFolder returns the folder of the lines about changes, approvals and denials by policy,
// which are kept for 90 days.
func AuditFolder(state string) string { return filepath.Join(state, "audit") }

// CallsFolder returns the folder of the other lines: calls that only read, and invalid requests. A
// client can cause any number of them, so they have a log of their own, in which the newest
// replace the oldest.
func CallsFolder(state string) string { return filepath.Join(state, "audit-calls") }

// Lines returns the lines of both parts of the audit log in a state folder, in
// the order of their times. They come as [List] yields them.
func Lines(ctx context.Context, state string, f Filter) iter.Seq2[Line, error] {
	all := merge(List(ctx, AuditFolder(state), f), List(ctx, CallsFolder(state), f))
	if f.Limit <= 0 {
		return all
	}
	return func(yield func(Line, error) bool) {
		for _, it := range newestOf(all, f.Limit) {
			if !yield(it.line, it.err) {
				return
			}
		}
	}
}

// keptFor is how long lines about changes, approvals and refusals by policy stay.
const keptFor = 90 * 24 * time.Hour

// Logs are the two parts of the audit log. The zero value writes nothing.
type Logs struct{ lasting, calls *Log }

// OpenLogs returns the audit log in a state folder, the zero value for "".
func OpenLogs(state string) Logs {
	if state == "" {
		return Logs{}
	}
	l := Logs{
		lasting: Open(AuditFolder(state), Limits{MinAge: keptFor}),
		calls:   Open(CallsFolder(state), Limits{}),
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

// None reports whether nothing is written.
func (l Logs) None() bool { return l.lasting == nil }

// Digest returns the keyed digest of a value, see [Log.Digest].
func (l Logs) Digest(value string) string { return l.lasting.Digest(value) }

// Write writes a line about a call that changes nothing to the part that it belongs to.
func (l Logs) Write(line Line, how Durability) error {
	if isRoutine(line) && !l.None() {
		return l.calls.Write(line, how)
	}
	return l.WriteLasting(line, how)
}

// WriteLasting writes a line to the part with the lines that are not routine, such as that of a call that may
// change something.
func (l Logs) WriteLasting(line Line, how Durability) error {
	if l.None() {
		return nil
	}
	return l.lasting.Write(line, how)
}

// isRoutine reports whether a line about a call that changes nothing is also not about a refusal by the
// policy. An unknown one is not.
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

// policyCodes are the codes of refusals by policy.
var policyCodes = map[string]bool{
	policy.CodeTierClosed: true, policy.CodeRestricted: true, policy.CodeDisabled: true, policy.CodeMutationsOff: true,
	policy.CodeUnconfirmed: true, policy.CodeAccess: true, policy.CodeAgent: true, policy.CodeScope: true,
}

// lateAfter is how long the line of the decision about a read may wait for that of its end, so
// that both are written at once.
const lateAfter = 50 * time.Millisecond

// heldDecision is the line of a decision that is written with the end of its call, or by itself if that
// takes longer than [lateAfter].
type heldDecision struct {
	logs    Logs
	line    Line
	timer   *time.Timer
	written sync.WaitGroup // until the line is in the log by itself
}

// Hold returns a decision made now that waits for its end. [heldDecision.End] must be called.
func (l Logs) Hold(line Line) *heldDecision {
	line.Time = time.Now()
	d := &heldDecision{logs: l, line: line}
	d.written.Add(1)
	d.timer = time.AfterFunc(lateAfter, func() {
		_ = l.Write(d.line, Buffered)
		d.written.Done()
	})
	return d
}

// End writes a decision and the end of its call. It returns false if the decision is in the
// log by itself; the caller then writes the end after it.
func (d *heldDecision) End(end Line) bool {
	switch {
	case !d.timer.Stop():
		d.written.Wait()
		return false
	case d.logs.None():
	case isRoutine(d.line) && isRoutine(end): // at once, because both belong to the same part
		_ = d.logs.calls.WriteAll(Buffered, d.line, end)
	default:
		_ = d.logs.Write(d.line, Buffered)
		_ = d.logs.Write(end, Buffered)
	}
	return true
}

// KindLimited is the kind of a line that counts calls refused for their rate.
const KindLimited = "limited"

const (
	// LimitedPeriod is how long calls that are refused for their rate are counted before a line
	// reports them.
	LimitedPeriod = time.Minute
	// MaxLimited is how many callers are counted separately in a period: they choose their names.
	MaxLimited = 16
)

// Limited counts calls that are refused for their rate. The first one of a period has a line of
// its own, the others share one line a client at its end.
type Limited struct {
	// Write takes the lines that count.
	Write func(Line)

	mu     sync.Mutex
	begun  time.Time
	counts map[limitedBy]uint64 // nil between periods
	end    *time.Timer
}

// limitedBy has the callers of such a line.
type limitedBy struct{ session, agent, client, surface, vault string }

// First reports whether a call is the first one of a period, and counts it if it is not.
func (l *Limited) First(line Line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.begun = time.Now()
		l.counts = map[limitedBy]uint64{}
		l.end = time.AfterFunc(LimitedPeriod, l.Flush)
		return true
	}
	by := limitedBy{line.Session, line.Agent, line.Client, line.Surface, line.Vault}
	if _, known := l.counts[by]; !known && len(l.counts) >= MaxLimited {
		by = limitedBy{session: line.Session, agent: line.Agent}
	}
	l.counts[by]++
	return false
}

// Flush ends the period, if there is one, and writes its counts.
func (l *Limited) Flush() {
	l.mu.Lock()
	counts := l.counts
	begun := l.begun
	if counts != nil {
		l.counts = nil
		l.end.Stop()
	}
	l.mu.Unlock()
	for by, n := range counts {
		l.Write(Line{
			Kind: KindLimited, Session: by.session, Agent: by.agent, Client: by.client, Surface: by.surface, Vault: by.vault,
			Code: failure.CodeRateLimited, Count: n, DurationMs: time.Since(begun).Milliseconds(),
		})
	}
}
