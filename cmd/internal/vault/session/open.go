package session

import (
	"context"
	"math/rand/v2"
	"path/filepath"

	"vaultwicket/allowlist/day"
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/gateway/registry"
)

// ActiveVariable says which note is focused, by its path in the vault.
const ActiveVariable = "VAULTWICKET_ACTIVE"

// Open returns the vault that a command line names, as it is for this one
// call.
func (h *Host) Open(ctx context.Context, l grammar.Line) (*Vault, error) {
	env := h.Env
	clock, err := day.Clock(env(day.NowVariable))
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
