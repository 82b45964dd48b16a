package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/gateway/registry"
)

// NowVariable sets the clock, for tests and scripts: a moment in the form of RFC
// 3339, whose offset is the time zone.
const NowVariable = "VAULTWICKET_NOW"

// ActiveVariable says which note is focused, by its path in the vault.
const ActiveVariable = "VAULTWICKET_ACTIVE"

// Open returns the vault that a command line names, as it is for this one
// call.
func (h *Host) Open(ctx context.Context, l grammar.Line) (*Vault, error) {
	env := h.Env
	clock, err := Clock(env(NowVariable))
	if err != nil {
		return nil, answer.Misuse("%v", err)
	}
	begins, err := dayStart(env(DayStartVariable))
	if err != nil {
		return nil, answer.Misuse("%v", err)
	}
	path, err := filepath.Abs(l.Folder)
	if err != nil {
		return nil, answer.ErrVaultNotFound
	}
	h.Confine(path, l.Command == "vaults" || l.Vault != nil && registry.IsID(*l.Vault))
	v := &Vault{Name: h.nameOfVault(path), Path: path, Host: h, Ctx: ctx, ForGateway: l.Facts, Clock: clock, DayStart: begins, active: env(ActiveVariable), RandomIndex: rand.IntN}
	if l.Vault != nil && *l.Vault != v.Name && *l.Vault != filepath.Base(path) && !h.isRegistered(*l.Vault, path) {
		return nil, answer.ErrVaultNotFound
	}
	return v, h.OpenFolder(path, v)
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
		return nil, fmt.Errorf("%s is not a time of the form 2006-01-02T15:04:05Z: %q", NowVariable, now)
	}
	return func() time.Time { return fixed }, nil
}
