package gateway

import (
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/policy"
)

// Opened returns a command with those of its parameters that are open in at
// least one of the vaults in which the command is. ok is false for a command
// that is closed in all of them, and for one that does not exist.
func (g *Gateway) Opened(name string) (open allowlist.Command, ok bool) {
	open, err := allowlist.Describe(name)
	if err != nil {
		return allowlist.Command{}, false
	}
	policies := slices.DeleteFunc(g.policies(), func(p policy.Policy) bool { return p.Lists(open) != nil })
	open.Params = slices.DeleteFunc(open.Params, func(p allowlist.Param) bool {
		return p.Refused != "" || !allowedBy(policies, p)
	})
	return open, len(policies) > 0
}
