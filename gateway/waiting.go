package gateway

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
)

// waitingCalls returns the calls of a caller that wait for the user's approval, one a line:
// id, command, vault, and how long they wait yet. The id is not the code with which the
// user approves. With withdraw those that it names are taken back.
func (g *vaultGateway) waitingCalls(plan Plan, caller string) (string, error) {
	list, err := g.consent.Waiting(caller)
	if err != nil {
		return "", failure.New(failure.CodeState, `the user can see more with "vaultwicket doctor"`, "the questions to the user cannot be read: %v", err)
	}
	wanted, withdraws := plan.call.Param("withdraw")
	var b strings.Builder
	for _, q := range list {
		id := hex.EncodeToString(q.Digest[:4])
		switch {
		case !withdraws:
			fmt.Fprintf(&b, "%s\t%s\t%s\tuntil %s\n", id, q.Command, q.Vault, q.Expires.Local().Format(time.TimeOnly))
		case wanted == id || wanted == "all":
			if err := g.consent.Withdraw(q); err != nil {
				return "", failure.New(failure.CodeNotFound, "list them again", "the call %s cannot be withdrawn: %v", id, err)
			}
			fmt.Fprintf(&b, "Withdrawn: %s\t%s\t%s\n", id, q.Command, q.Vault)
		}
	}
	if withdraws && wanted != "all" && b.Len() == 0 {
		return "", failure.New(failure.CodeNotFound, "call approvals without withdraw: it lists their ids", "no call of yours with the id %q waits for approval", quote.Short(wanted))
	}
	return cmp.Or(b.String(), "No call of yours waits for approval.\n"), nil
}
