package consent

import (
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// GrantDecision is a decision of the owner about a grant.
type GrantDecision string

// The decisions, as the audit log names them.
const (
	GrantGiven GrantDecision = "approve"
	GrantEnded GrantDecision = "withdraw"
)

// LogGrant records a decision of the owner in the audit log of a state folder. by is where it was made: "terminal",
// "page" or "sign-in"; session identifies the process. The decision is valid even if the line cannot be written: changes
// under the grant have lines of their own.
func LogGrant(state string, g Grant, decision GrantDecision, by, session string) {
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind:     "grant",
		Decision: string(decision),
		By:       by,
		Session:  session,
		Agent:    sanitize.Line(g.Agent),
		Vault:    sanitize.Line(g.Vault),
		Grant:    g.ID,
	}, audit.Durable)
}
