package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/shares"
)

const (
	// The budget is divided into parts, of which one sender can have ownParts: a message of the maximum
	// size needs all of these, a large answer needs one.
	parts    = 4
	ownParts = 3
	// stalledAfter is how long a message may take for its next progress bytes while others need memory.
	stalledAfter = time.Second
	progress     = 8 << 10
	memoryWait   = stalledAfter / 4 // how long a read waits for memory
	// A sender always gets 1/ofNewcomer of the budget, from a reserve on top of it that is large enough for
	// some newcomers. For a budget of 16 MiB that is 64 KiB, more than most messages need.
	ofNewcomer = 256
	newcomers  = 16
)

var (
	errMemoryFull = errors.New("too much is being worked on")
	errNoShare    = errors.New("too much of one client is being worked on")
	errDropped    = errors.New("the message was dropped while it came")
)

// messageBudget limits the memory of messages that are being read or answered. It counts only bytes
// that were received, so that a slow message does not reserve more. A message that has stalled is
// dropped if others need its memory.
type messageBudget struct {
	limit, share int64 // maximum bytes of all senders, without the reserve for newcomers, and of one sender
	now          func() time.Time

	mu       sync.Mutex
	used     int64
	freed    chan struct{} // closed and replaced when memory is released
	bySender map[string]int64
	byPayer  map[shares.Payer]int64
	incoming map[*reservation]struct{}
}

// partOfAgent is the share of the memory not used by others that one agent can have, over all its sessions. If there
// are no others, that is a message of the maximum size.
var partOfAgent = shares.Part{Of: ownParts, Parts: parts}

// reservation is the part of the budget that one message uses.
type reservation struct {
	budget *messageBudget
	sender string       // the session or the address, combined with the payer
	payer  shares.Payer // the agent, "" if the token is not that of an agent
	cut    func()       // interrupts reading the message

	// The fields below are protected by the mutex of all.
	size         int64
	lastProgress time.Time // when the last progress bytes were complete
	sinceLast    int64     // bytes received since last
	isDropped    bool
	isReleased   bool
}

// newMessageBudget returns a budget for messages of up to largest bytes. Decoded messages need several
// times as much memory.
func newMessageBudget(largest int64) *messageBudget {
	part := (largest + ownParts - 1) / ownParts
	return &messageBudget{
		limit:    parts * part,
		share:    ownParts * part,
		now:      time.Now,
		freed:    make(chan struct{}),
		bySender: map[string]int64{},
		byPayer:  map[shares.Payer]int64{},
		incoming: map[*reservation]struct{}{},
	}
}

// begin opens a reservation for a message, which the caller must end. cut may be called until end
// returns. Two agents with the same address are different senders, because they can be behind one proxy.
func (a *messageBudget) begin(payer shares.Payer, sender string, cut func()) *reservation {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := &reservation{budget: a, payer: payer, sender: fmt.Sprintf("%s\x00%s", payer, sender), cut: cut, lastProgress: a.now()}
	a.incoming[p] = struct{}{}
	return p
}

// add counts n received bytes. It drops stalled messages if necessary. The error is errNoShare or
// errMemoryFull if there is no memory, or errDropped if this message was dropped.
func (p *reservation) add(n int64) error {
	a := p.budget
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.isDropped {
		return errDropped
	}
	p.sinceLast += n
	if p.sinceLast >= progress {
		p.lastProgress = a.now()
		p.sinceLast = 0
	}
	for a.bySender[p.sender]+n > a.share {
		if !a.dropStalled(func(other *reservation) bool { return other.sender == p.sender && other != p }) {
			return errNoShare
		}
	}
	own := a.bySender[p.sender]
	if p.payer != "" {
		own = a.byPayer[p.payer]
	}
	limit := a.limit
	isNew := own+n <= a.limit/ofNewcomer
	if isNew {
		limit += newcomers * a.limit / ofNewcomer
	}
	for p.payer != "" && !isNew && !partOfAgent.Allows(a.limit, a.used, a.byPayer[p.payer], n) {
		if !a.dropStalled(func(other *reservation) bool { return other.payer == p.payer && other != p }) {
			return errNoShare
		}
	}
	for a.used+n > limit {
		if !a.dropStalled(func(other *reservation) bool { return other != p }) {
			return errMemoryFull
		}
	}
	p.size += n
	a.used += n
	a.bySender[p.sender] += n
	a.byPayer[p.payer] += n
	return nil
}

// awaitLarge reserves memory for a large answer: one part of the budget, or less if the sender's share
// is smaller. It waits until there is memory. The error is that of [reservation.await].
func (p *reservation) awaitLarge(ctx context.Context) error {
	p.budget.mu.Lock()
	part := min(p.budget.limit/parts, p.budget.share-p.size)
	if p.payer != "" { // do not wait for memory that others may hold for long, as in calls with an open question
		own := p.budget.byPayer[p.payer]
		left := p.budget.limit - (p.budget.used - own)
		part = min(part, max(0, left*partOfAgent.Of/partOfAgent.Parts-p.size))
	}
	p.budget.mu.Unlock()
	return p.await(ctx, part)
}

// await is like add, but waits for memory until ctx is done.
func (p *reservation) await(ctx context.Context, n int64) error {
	for {
		p.budget.mu.Lock()
		freed := p.budget.freed
		p.budget.mu.Unlock()
		err := p.add(n)
		if !errors.Is(err, errNoShare) && !errors.Is(err, errMemoryFull) {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return err
		}
	}
}

// dropStalled drops the message that has stalled for longest, among those for which may returns true. It
// returns false if there is none. The caller holds mu.
func (a *messageBudget) dropStalled(mayDrop func(*reservation) bool) bool {
	var oldest *reservation
	for p := range a.incoming {
		isStalled := p.size > 0 && a.now().Sub(p.lastProgress) >= stalledAfter
		isOldest := oldest == nil || p.lastProgress.Before(oldest.lastProgress)
		if isStalled && isOldest && mayDrop(p) {
			oldest = p
		}
	}
	if oldest == nil {
		return false
	}
	oldest.isDropped = true
	oldest.release()
	oldest.cut()
	return true
}

// arrived records that the message is complete, so that it can no longer be dropped.
func (p *reservation) arrived() {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	delete(p.budget.incoming, p)
}

func (p *reservation) wasDropped() bool {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	return p.isDropped
}

// end returns the reservation to the budget.
func (p *reservation) end() {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	p.release()
}

func (p *reservation) release() {
	a := p.budget
	delete(a.incoming, p)
	if p.isReleased {
		return
	}
	p.isReleased = true
	close(a.freed)
	a.freed = make(chan struct{})
	a.used -= p.size
	a.bySender[p.sender] -= p.size
	if a.bySender[p.sender] == 0 {
		delete(a.bySender, p.sender)
	}
	a.byPayer[p.payer] -= p.size
	if a.byPayer[p.payer] == 0 {
		delete(a.byPayer, p.payer)
	}
}

// countingReader is a reader that counts the bytes of a message in the budget. It waits briefly for memory,
// because messages that were just answered are about to release theirs.
type countingReader struct {
	ctx context.Context
	in  io.Reader
	*reservation
}

func (c countingReader) Read(buf []byte) (int, error) {
	n, err := c.in.Read(buf)
	if n > 0 {
		limited, cancel := context.WithTimeout(c.ctx, memoryWait)
		defer cancel()
		if budgetErr := c.await(limited, int64(n)); budgetErr != nil {
			return 0, budgetErr
		}
	}
	return n, err
}
