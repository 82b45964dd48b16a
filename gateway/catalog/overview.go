package catalog

import (
	"fmt"
	"strings"
)

// Overview returns the enabled commands as text for a user at a terminal, with their
// signatures and summaries.
func Overview(v Vault) string {
	var b strings.Builder
	for _, c := range List([]Vault{v}) {
		if c.Enabled() {
			fmt.Fprintf(&b, "%s\n  %s\n", c.Signature(), c.Summary)
		}
	}
	return b.String()
}

// agentRules are what a caller of a tool has to know about every command.
const agentRules = `Put a command's parameters into params by name: {"command":"daily:read","params":{"offset":-1}}.
A flag is true. Values are literal text: no quotes, no key=value, no escapes.
Name a note with path (as in results) or file (its name, as in a link). help with params {"command":"NAME"} explains one command.
`

// AgentOverview returns the enabled commands as text for an agent, in one line each. It
// has their parameters in the description of the tool.
func AgentOverview(v Vault) string {
	var b strings.Builder
	b.WriteString(agentRules + "Enabled commands:\n")
	for _, c := range List([]Vault{v}) {
		if c.Enabled() {
			fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Summary)
		}
	}
	return b.String()
}
