package transport

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestOneSenderLeavesRoomForOthers(t *testing.T) {
	now := time.Now()
	a := newMessageBudget(ownParts * 100 << 10)
	a.now = func() time.Time { return now }
	cuts := 0
	begin := func(sender string) *reservation { return a.begin("", sender, func() { cuts++ }) }
	var mine []*reservation
	for range ownParts {
		p := begin("a")
		require.NoError(t, p.add(100<<10))
		p.arrived()
		mine = append(mine, p)
	}
	now = now.Add(time.Hour) // what is worked on is never dropped
	assert.ErrorIs(t, begin("a").add(1), errNoShare, "more than a share")
	slow := begin("b")
	assert.NoError(t, slow.add(60<<10), "another sender")
	now = now.Add(stalledAfter - 1)
	err := begin("c").add(50 << 10)
	assert.ErrorIs(t, err, errMemoryFull, "while nothing has stalled: %v, %d were dropped", err, cuts)
	assert.Equal(t, cuts, 0, "while nothing has stalled: %v, %d were dropped", err, cuts)
	if err := slow.add(progress - 1); err != nil { // too little to count
		t.Error(err)
	}
	now = now.Add(1)
	other := begin("c")
	err = other.add(50 << 10)
	require.Equal(t, err, nil, "one has stalled: %v, %d were dropped", err, cuts)
	require.Equal(t, cuts, 1, "one has stalled: %v, %d were dropped", err, cuts)
	assert.That(t, slow.wasDropped(), "one has stalled: %v, %d were dropped", err, cuts)
	assert.ErrorIs(t, slow.add(1), errDropped, "after it was dropped")
	for _, p := range append(mine, slow, other) {
		p.end()
		p.end()
	}
	if a.budget() != 0 || len(a.bySender) != 0 {
		t.Errorf("%d bytes are held, %v", a.budget(), a.bySender)
	}
}

// A sender whose own messages stall can still send others.
func TestAStalledMessageGoesForAnotherOfItsSender(t *testing.T) {
	now := time.Now()
	a := newMessageBudget(ownParts * 100 << 10)
	a.now = func() time.Time { return now }
	for range ownParts {
		require.NoError(t, a.begin("", "a", func() {}).add(99<<10))
	}
	now = now.Add(stalledAfter)
	assert.NoError(t, a.begin("", "a", func() {}).add(10<<10))
}

// budget returns how many bytes are counted.
func (a *messageBudget) budget() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

func TestLargeAnswersWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newMessageBudget(ownParts * 64 << 10)
		begin := func(sender string) *reservation {
			p := all.begin("", sender, func() {})
			p.arrived()
			return p
		}
		var held []*reservation
		for range ownParts {
			held = append(held, begin("a"))
			require.NoError(t, held[len(held)-1].awaitLarge(t.Context()))
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.ErrorIs(t, begin("a").awaitLarge(short), errNoShare, "one client has more than its share")
		assert.NoError(t, begin("b").awaitLarge(t.Context()), "another client")
		waits := make(chan error, 1)
		go func() { waits <- begin("c").awaitLarge(t.Context()) }()
		synctest.Wait()
		if len(waits) > 0 {
			t.Errorf("more than all of the memory is used: %v", <-waits)
		}
		held[0].end()
		assert.NoError(t, <-waits)
	})
}

// TestTheMemoryForMessagesIsSharedByAgents: what an agent holds over all its sessions, such as calls with an open question,
// leaves memory to another agent, also for a large answer.
func TestTheMemoryForMessagesIsSharedByAgents(t *testing.T) {
	const largest = 12 << 20
	a := newMessageBudget(largest)
	held := int64(0)
	for session := range 40 { // calls of a megabyte whose questions nobody answers
		p := a.begin("agent loud", fmt.Sprint("session ", session), func() {})
		if p.add(1<<20) == nil {
			held += 1 << 20
		}
		p.arrived()
	}
	assert.Equal(t, held, int64(largest), "what one agent holds")
	p := a.begin("agent quiet", "another", func() {})
	require.NoError(t, p.add(1<<20))
	require.NoError(t, p.awaitLarge(t.Context()))
	p.end()
	require.NoError(t, a.begin("agent quiet", "another", func() {}).add(2<<20))
	require.NoError(t, a.begin("agent third", "x", func() {}).add(1<<10))
}

// TestANewcomersMessageHasMemory: whatever many agents send, a message of usual length of one that comes last is taken.
func TestANewcomersMessageHasMemory(t *testing.T) {
	a := newMessageBudget(12 << 20)
	for agent := range 12 {
		for p := a.begin(shares.Payer(fmt.Sprint("agent ", agent)), fmt.Sprint(agent), func() {}); p.add(64<<10) == nil; {
			p.arrived()
		}
	}
	require.NoError(t, a.begin("agent new", "new", func() {}).add(40<<10))
	require.NoError(t, a.begin("", "127.0.0.1", func() {}).add(40<<10))
}

// TestAgentsOfOneAddressHaveTheirOwnMemory: what agents without sessions send comes from one address, as behind a proxy.
func TestAgentsOfOneAddressHaveTheirOwnMemory(t *testing.T) {
	const largest = 12 << 20
	a := newMessageBudget(largest)
	loud := a.begin("agent loud", "127.0.0.1", func() {})
	require.NoError(t, loud.add(largest))
	loud.arrived()
	assert.NoError(t, a.begin("agent quiet", "127.0.0.1", func() {}).add(1<<20))
	assert.ErrorIs(t, a.begin("agent loud", "127.0.0.1", func() {}).add(1<<20), errNoShare, "more of the same agent")
}
