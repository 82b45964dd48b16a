package gateway

import (
	"sync"
	"time"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/audit"
)

// kindLimited is the kind of a line that counts calls refused for their rate.
const kindLimited = "limited"

const (
	// limitedPeriod is how long calls that are refused for their rate are counted
	// before a line tells of them.
	limitedPeriod = time.Minute
	// maxLimited bounds the callers that are counted apart in a period: they choose
	// their names.
	maxLimited = 16
)

// withDeadline counts calls that are refused for their rate. The first one of a period
// has a line of its own; the others are told of in one line a client when the
// period is over.
type limited struct {
	write func(audit.Line)

	mu     sync.Mutex
	begun  time.Time
	counts map[limitedBy]uint64 // nil between periods
	end    *time.Timer
}

// limitedBy is what such a line says of the callers.
type limitedBy struct{ session, client, surface, vault string }

// first reports whether a call is the first one of a period, and counts it if it
// is not.
func (l *limited) first(line audit.Line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.begun, l.counts = time.Now(), map[limitedBy]uint64{}
		l.end = time.AfterFunc(limitedPeriod, l.flush)
		return true
	}
	by := limitedBy{line.Session, line.Client, line.Surface, line.Vault}
	if _, known := l.counts[by]; !known && len(l.counts) >= maxLimited {
		by = limitedBy{session: line.Session}
	}
	l.counts[by]++
	return false
}

// flush ends the period, if there is one, and writes what was counted.
func (l *limited) flush() {
	l.mu.Lock()
	counts, begun := l.counts, l.begun
	if counts != nil {
		l.counts = nil
		l.end.Stop()
	}
	l.mu.Unlock()
	for by, n := range counts {
		l.write(audit.Line{
			Kind: kindLimited, Session: by.session, Client: by.client, Surface: by.surface, Vault: by.vault,
			Code: failure.CodeRateLimited, Count: n, DurationMs: time.Since(begun).Milliseconds(),
		})
	}
}

// Flush writes to the audit log what was only counted until then. It is for the end
// of a program; the gateway can be used afterwards.
func (g *Gateway) Flush() { g.records.limited.flush() }
