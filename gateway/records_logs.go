package gateway

import (
	"iter"
	"path/filepath"
	"sync/atomic"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/policy"
)

// AuditFolder returns where the audit log lies in the state folder: the lines
// about changes, approvals and refusals by policy, which are kept for 90 days.
func AuditFolder(state string) string { return filepath.Join(state, "audit") }

// CallsFolder returns where the other lines of the audit log lie in the state
// folder: about calls that only read, and about requests that are wrong. They are
// as many as callers like, so that they have a log of their own, in which the
// newest replace the oldest.
func CallsFolder(state string) string { return filepath.Join(state, "audit-calls") }

// AuditLines returns the lines of both parts of the audit log in a state folder, in
// the order of their times. They come as [audit.List] yields them.
func AuditLines(state string, f audit.Filter) iter.Seq2[audit.Line, error] {
	all := audit.Merge(audit.List(AuditFolder(state), f), audit.List(CallsFolder(state), f))
	if f.Limit <= 0 {
		return all
	}
	return newest(all, f.Limit)
}

// newest yields the last of some lines, and the errors among them.
func newest(all iter.Seq2[audit.Line, error], limit int) iter.Seq2[audit.Line, error] {
	type item struct {
		line audit.Line
		err  error
	}
	return func(yield func(audit.Line, error) bool) {
		var last []item // of both parts no more than twice the limit
		for line, err := range all {
			last = append(last, item{line, err})
		}
		for _, it := range last[max(0, len(last)-limit):] {
			if !yield(it.line, it.err) {
				return
			}
		}
	}
}

// keptFor is how long lines about changes, approvals and refusals by policy stay.
const keptFor = 90 * 24 * time.Hour

// logs are the two parts of the audit log. The zero logs take nothing.
type logs struct{ lasting, calls *audit.Log }

func openLogs(state string) logs {
	if state == "" {
		return logs{}
	}
	return logs{
		lasting: audit.Open(AuditFolder(state), audit.Limits{MinAge: keptFor}),
		calls:   audit.Open(CallsFolder(state), audit.Limits{}),
	}
}

func (l logs) none() bool { return l.lasting == nil }

// write writes a line to the part that it belongs to.
func (l logs) write(line audit.Line, mutates, durable bool) error {
	if l.none() {
		return nil
	}
	if isRoutine(line, mutates) {
		return l.calls.Write(line, durable)
	}
	return l.lasting.Write(line, durable)
}

// isRoutine reports whether a line is about a call that changes nothing and was
// not refused by the policy. Whatever is not known to be one is not.
func isRoutine(line audit.Line, mutates bool) bool {
	switch {
	case line.Kind == kindLimited:
		return true
	case mutates || policyCodes[line.Code] || line.Rule != "":
		return false
	case line.Kind == "end":
		return true
	}
	return line.Decision == "allow" || line.Decision == "plan" || line.Decision == "deny"
}

// policyCodes are the codes of refusals by policy.
var policyCodes = map[string]bool{
	policy.CodeTierClosed: true, policy.CodeRestricted: true, policy.CodeDisabled: true, policy.CodeMutationsOff: true,
	policy.CodeUnconfirmed: true, policy.CodeAccess: true,
}

// records writes the audit log. It has none where there is no place for it; then
// nothing is changed.
type records struct {
	logs
	limited limited
	session string
	count   atomic.Uint64
}

func newRecords(state, session string) *records {
	r := &records{logs: openLogs(state), session: session}
	r.limited.write = func(line audit.Line) { _ = r.logs.write(line, false, false) }
	return r
}
