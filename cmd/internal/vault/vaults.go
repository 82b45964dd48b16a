package vault

import (
	"strconv"

	"vaultwicket/gateway/registry"
)

func vaultsCommands() []command {
	return []command{{
		name: "vaults", about: "List the vaults that the app knows, the last opened first",
		params: []param{
			{name: "total", kind: flag, about: "Only how many there are"},
			{name: "verbose", kind: flag, about: "Add the folder of each"},
		},
		run: listVaults,
	}}
}

// listVaults answers from the app's own list. On a machine without one this
// vault is all there is.
func listVaults(v *vault, p params) (reply, error) {
	known := v.host.listed()
	if len(known) == 0 {
		known = []registry.Vault{{Folder: v.path}}
	}
	if p.has("total") {
		return say(strconv.Itoa(len(known))), nil
	}
	table := rows{}
	for _, r := range known {
		table.add(p.has("verbose"), r.Name(), r.Folder)
	}
	return say(table.print(formTSV)), nil
}
