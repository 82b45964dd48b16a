package budget

import (
	"context"
	"time"

	"vaultwicket/exec/frame"
)

// The ceiling of a process, for what all its calls have alive together. Each has a little of its
// own, so that short calls never wait. Beyond that calls take of a common part while it lasts,
// and where it does not, wait for the reserve, which one call has at a time and which is enough
// for the largest: so the call that has it can always end, and the others after it.
const (
	ownShare    = 1 << 20
	commonShare = 32 << 20
	commonStep  = 1 << 20 // taken at once
	maxWait     = 5 * time.Second
)

// ceiling is that of a process. An element in a channel is a part that is taken.
type ceiling struct{ common, reserve chan struct{} }

func newCeiling() *ceiling {
	return &ceiling{common: make(chan struct{}, commonShare/commonStep), reserve: make(chan struct{}, 1)}
}

var ofProcess = newCeiling()

// share makes sure that so many bytes of a call can be alive. It is called under the lock.
func (b *Budget) share(alive int64) error {
	for !b.reserved && alive > ownShare+b.shared {
		if b.shared == 0 {
			context.AfterFunc(b.ctx, b.giveBack)
		}
		select {
		case b.ceiling.common <- struct{}{}:
			b.shared += commonStep
			continue
		default:
		}
		patience := time.NewTimer(maxWait)
		select {
		case b.ceiling.reserve <- struct{}{}:
			b.reserved = true
		case <-b.ctx.Done():
		case <-patience.C:
			_ = b.end(frame.CodeTimeout, "try again in a moment, or ask for less", "other calls use the memory that there is for all of them")
		}
		patience.Stop()
		if err := b.Err(); err != nil {
			return err
		}
	}
	return nil
}

// giveBack ends the share of a call in the ceiling.
func (b *Budget) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; b.shared > 0; b.shared -= commonStep {
		<-b.ceiling.common
	}
	if b.reserved {
		b.reserved = false
		<-b.ceiling.reserve
	}
}
