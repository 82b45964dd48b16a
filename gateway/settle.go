package gateway

import (
	"context"
	"errors"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// Settle has the embedded program complete or take back changes of the vaults that were broken off by the end of a process. Where
// there is none it starts nothing. It is a repair for the owner, and needs no rights to change notes. The error says which
// vault still has such a change.
func (g *Gateway) Settle(ctx context.Context) error {
	var failed []error
	for _, d := range g.vaults {
		failed = append(failed, d.settle(ctx))
	}
	return errors.Join(failed...)
}

func (g *vaultGateway) settle(ctx context.Context) error {
	own := g.embeddedProgram()
	if own == nil {
		return nil
	}
	kept, err := g.journal(g.target().Folder)
	if err != nil || !kept.HasUnfinished() {
		return nil
	}
	call, err := allowlist.Parse("version", nil) // any call settles before it answers
	if err != nil {
		return err
	}
	inForce, facts := g.inForce(Fingerprint{})
	permit, err := inForce.Decide(call, facts).Permit()
	if err == nil {
		_, err = g.runner.Run(ctx, permit, *own)
	}
	unlock, isFree := kept.TryLock() // else another process makes it
	if isFree {
		unlock()
	}
	if !isFree || !kept.HasUnfinished() {
		return nil
	}
	return failure.New(failure.CodeState, "see that the vault can be written; the next call tries again",
		"a change of the vault %q was broken off, and could neither be completed nor be taken back: %v", g.name(), err)
}
