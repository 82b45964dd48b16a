package gateway

import (
	"context"
	"errors"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// Settle completes or undoes changes of the vaults that were interrupted by the end of a process. It uses the
// embedded program; without one it does nothing. It is a repair for the owner and needs no rights to change notes.
// The error says which vault still has an interrupted change.
func (g *Gateway) Settle(ctx context.Context) error {
	var failed []error
	for _, d := range g.vaults {
		failed = append(failed, d.settle(ctx))
	}
	return errors.Join(failed...)
}

// settle is [Gateway.Settle] for one vault.
func (g *vaultGateway) settle(ctx context.Context) error {
	own := g.embeddedProgram()
	if own == nil {
		return nil
	}
	undoJournal, err := g.journal(g.target().Folder)
	if err != nil || !undoJournal.HasUnfinished() {
		return nil
	}
	call, err := allowlist.Parse("version", nil) // every call settles such changes before it answers
	if err != nil {
		return err
	}
	inForce, facts := g.inForce(Fingerprint{})
	permit, err := inForce.Decide(call, facts).Permit()
	if err == nil {
		_, err = g.runner.Run(ctx, permit, *own)
	}
	unlock, isFree := undoJournal.TryLock() // if it is not free, another process settles the change
	if isFree {
		unlock()
	}
	if !isFree || !undoJournal.HasUnfinished() {
		return nil
	}
	return failure.New(failure.CodeState, "see that the vault can be written; the next call tries again",
		"a change of the vault %q was broken off, and could neither be completed nor be taken back: %v", g.name(), err)
}
