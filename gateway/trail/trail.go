// Package trail is the audit log of the gateway in its two parts: lines that must not be
// lost, and lines about calls that change nothing, which are many.
package trail

import (
	"errors"
	"iter"
	"path/filepath"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/policy"
)

// AuditFolder returns the folder of the audit log in the state folder: the lines
// about changes, approvals and denials by policy, which are kept for 90 days.
func AuditFolder(state string) string { return filepath.Join(state, "audit") }

// CallsFolder returns the folder of the other lines of the audit log in the state
// folder: about calls that only read, and about invalid requests. A client can cause any
// number of them, so they have a log of their own, in which the newest replace the
// oldest.
func CallsFolder(state string) string { return filepath.Join(state, "audit-calls") }

// Lines returns the lines of both parts of the audit log in a state folder, in
// the order of their times. They come as [audit.List] yields them.
func Lines(state string, f audit.Filter) iter.Seq2[audit.Line, error] {
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

// Logs are the two parts of the audit log. The zero value writes nothing.
type Logs struct{ lasting, calls *audit.Log }

// Open returns the audit log in a state folder, the zero value for "".
func Open(state string) Logs {
	if state == "" {
		return Logs{}
	}
	return Logs{
		lasting: audit.Open(AuditFolder(state), audit.Limits{MinAge: keptFor}),
		calls:   audit.Open(CallsFolder(state), audit.Limits{}),
	}
}

// None reports whether nothing is written.
func (l Logs) None() bool { return l.lasting == nil }

// Digest returns the keyed digest of a value, see [audit.Log.Digest].
func (l Logs) Digest(value string) string { return l.lasting.Digest(value) }

// Write writes a line to the part that it belongs to. mutates says that its call may
// change something, durable that the line is on the disk when write returns.
func (l Logs) Write(line audit.Line, mutates, durable bool) error {
	if l.None() {
		return nil
	}
	if isRoutine(line, mutates) {
		return l.calls.Write(line, durable)
	}
	return l.lasting.Write(line, durable)
}

// WritePair writes the decision about a call that changes nothing and the end of it, at once
// if they belong to the same part.
func (l Logs) WritePair(decision, end audit.Line) error {
	if l.None() {
		return nil
	}
	if isRoutine(decision, false) && isRoutine(end, false) {
		return l.calls.WriteAll(false, decision, end)
	}
	return errors.Join(l.Write(decision, false, false), l.Write(end, false, false))
}

// isRoutine reports whether a line is about a call that changes nothing and was
// not refused by the policy. Whatever is not known to be one is not.
func isRoutine(line audit.Line, mutates bool) bool {
	switch {
	case line.Kind == KindLimited:
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
