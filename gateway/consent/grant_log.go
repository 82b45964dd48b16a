package consent

import (
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// GrantDecision is what the owner has decided about a grant.
type GrantDecision string

// The decisions, as the audit log names them.
const (
	GrantGiven GrantDecision = "approve"
	GrantEnded GrantDecision = "withdraw"
)

// LogGrant writes to the audit log of a state folder what the owner has decided, where ("terminal", "page" or "sign-in"), and
// by which process. The decision counts without the line: what is made under the grant has lines of its own.
func LogGrant(state string, g Grant, what GrantDecision, by, session string) {
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind: "grant", Decision: string(what), By: by, Session: session, Agent: sanitize.Line(g.Agent),
		Vault: sanitize.Line(g.Vault), Grant: g.ID,
	}, audit.Durable)
}
