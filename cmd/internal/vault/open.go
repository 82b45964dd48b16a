package vault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"vaultwicket/gateway/registry"
)

// NowVariable sets the clock, for tests and scripts: a moment in the form of RFC
// 3339, whose offset is the time zone.
const NowVariable = "VAULTWICKET_NOW"

// activeVariable says which note is focused, by its path in the vault.
const activeVariable = "VAULTWICKET_ACTIVE"

// vault returns the vault that a command line names, as it is for this one
// call.
func (h *host) vault(ctx context.Context, l line) (*vault, error) {
	env := h.env
	clock, err := Clock(env(NowVariable))
	if err != nil {
		return nil, misuse("%v", err)
	}
	path, err := filepath.Abs(l.folder)
	if err != nil {
		return nil, errVaultNotFound
	}
	h.lockIn(path, l.command == "vaults" || l.vault != nil && registry.IsID(*l.vault))
	v := &vault{name: h.nameOfVault(path), path: path, host: h, ctx: ctx, forGateway: l.facts, clock: clock, active: env(activeVariable), pick: rand.IntN}
	if l.vault != nil && *l.vault != v.name && *l.vault != filepath.Base(path) && !h.isRegistered(*l.vault, path) {
		return nil, errVaultNotFound
	}
	return v, h.open(path, v)
}

// Clock returns the clock that a value of [NowVariable] sets: the machine's if it
// is empty, else one that stands still. What is built on the day that the embedded
// CLI takes for today has to ask this clock.
func Clock(now string) (func() time.Time, error) {
	if now == "" {
		return time.Now, nil
	}
	fixed, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, fmt.Errorf("%s is no time of the form 2006-01-02T15:04:05Z: %q", NowVariable, now)
	}
	return func() time.Time { return fixed }, nil
}
