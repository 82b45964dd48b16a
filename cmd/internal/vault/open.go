package vault

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"time"

	"vaultwicket/gateway/registry"
)

// The variables that replace what the machine and the app would say, for tests
// and scripts.
const (
	nowVariable    = "VAULTWICKET_NOW"    // RFC 3339; its offset is the time zone
	activeVariable = "VAULTWICKET_ACTIVE" // the focused note, a path in the vault
)

// vault returns the vault that a command line names, as it is for this one
// call.
func (h *host) vault(ctx context.Context, l line) (*vault, error) {
	env := h.env
	clock, err := clockFrom(env(nowVariable))
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(l.folder)
	if err != nil {
		return nil, errVaultNotFound
	}
	h.lockIn(path, l.command == "vaults" || l.vault != nil && registry.IsID(*l.vault))
	v := &vault{name: filepath.Base(path), path: path, host: h, ctx: ctx, clock: clock, active: env(activeVariable), pick: rand.IntN}
	if l.vault != nil && *l.vault != v.name && !h.isRegistered(*l.vault, path) {
		return nil, errVaultNotFound
	}
	v.rules = h.rules
	if v.disk, v.sight, err = h.open(path); err != nil {
		return nil, err
	}
	return v, nil
}

// errVaultNotFound is the one answer of the app that does not begin with
// "Error:".
var errVaultNotFound error = &fault{status: failed, text: "Vault not found."}

// clockFrom returns the clock that the variable sets, or the machine's.
func clockFrom(now string) (func() time.Time, error) {
	if now == "" {
		return time.Now, nil
	}
	fixed, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, misuse("%s is no time of the form 2006-01-02T15:04:05Z: %q", nowVariable, now)
	}
	return func() time.Time { return fixed }, nil
}
