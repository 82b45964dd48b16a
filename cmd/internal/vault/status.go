package vault

import (
	"cmp"
	"path/filepath"

	"vaultwicket/gateway/state/paths"
)

// status says how the program would work on a folder: what it is locked into,
// and where it keeps what it knows. It opens the vault, so that one that cannot
// be opened is said.
func (h *host) status(folder string) reply {
	path, err := filepath.Abs(folder)
	if err != nil {
		return explain(errVaultNotFound)
	}
	h.lockIn(path, false)
	if err := h.open(path, &vault{}); err != nil {
		return explain(err)
	}
	table := rows{}
	for _, line := range [][2]string{
		{"folder", path},
		{"sandbox", h.sandbox.String()},
		{"cache", cmp.Or(paths.Cache(h.env, path), "none: no place outside the vault")},
	} {
		table.cells = append(table.cells, line[:])
	}
	return say(table.print(formTSV))
}
