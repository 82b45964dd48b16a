package consent

import (
	"time"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/approvals"
	"vaultwicket/gateway/state/audit"
)

// Answer is what the user has decided about a question that they were shown.
type Answer struct {
	Code    string // of the question
	Approve bool   // false denies
	By      string // where they were shown it, such as "terminal" or "page"
	Session string // of the process that shows it
}

// Decide stores an answer in the state folder, for the call that waits for it, and notes it
// in the audit log. The errors are those of [approvals.Store.Approve].
func Decide(state string, a Answer) (approvals.Question, error) {
	store := approvals.OpenAt(Folder(state), time.Now, a.By)
	answer, decision := store.Deny, "deny"
	if a.Approve {
		answer, decision = store.Approve, "approve"
	}
	q, err := answer(a.Code)
	if err != nil {
		return q, err
	}
	// The answer counts without the line: the call itself is not carried out unless its
	// own lines, which say where it was approved, can be written.
	_ = audit.OpenLogs(state).Write(audit.Line{
		Kind: "approval", Decision: decision, By: a.By, Session: a.Session, Client: clean.Line(q.Client),
		Vault: clean.Line(q.Vault), Command: clean.Line(q.Command), Effect: clean.Line(q.Effect),
	}, true, true)
	return q, nil
}
