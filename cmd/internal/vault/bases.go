package vault

import (
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

func baseCommands() []command {
	return []command{{name: "bases", about: "List the base files of the vault", run: listBases}}
}

// listBases has a sentence for nothing that ends without a full stop.
func listBases(v *vault, _ params) (reply, error) {
	found, err := v.below("", func(e disk.Entry) bool { return !e.IsDir && e.Path.Ext() == "base" })
	if err != nil {
		return reply{}, err
	}
	if len(found) == 0 {
		return say("No base files found in vault"), nil
	}
	order.Sort(found)
	return say(strings.Join(found, "\n")), nil
}
