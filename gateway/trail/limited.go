package trail

import (
	"sync"
	"time"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/audit"
)

// KindLimited is the kind of a line that counts calls refused for their rate.
const KindLimited = "limited"

const (
	// LimitedPeriod is how long calls that are refused for their rate are counted
	// before a line tells of them.
	LimitedPeriod = time.Minute
	// MaxLimited bounds the callers that are counted apart in a period: they choose
	// their names.
	MaxLimited = 16
)

// Limited counts calls that are refused for their rate. The first one of a period
// has a line of its own; the others are told of in one line a client when the
// period is over.
type Limited struct {
	// Write takes the lines that count.
	Write func(audit.Line)

	mu     sync.Mutex
	begun  time.Time
	counts map[limitedBy]uint64 // nil between periods
	end    *time.Timer
}

// limitedBy is what such a line says of the callers.
type limitedBy struct{ session, client, surface, vault string }

// First reports whether a call is the first one of a period, and counts it if it
// is not.
func (l *Limited) First(line audit.Line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.begun, l.counts = time.Now(), map[limitedBy]uint64{}
		l.end = time.AfterFunc(LimitedPeriod, l.Flush)
		return true
	}
	by := limitedBy{line.Session, line.Client, line.Surface, line.Vault}
	if _, known := l.counts[by]; !known && len(l.counts) >= MaxLimited {
		by = limitedBy{session: line.Session}
	}
	l.counts[by]++
	return false
}

// Flush ends the period, if there is one, and writes what was counted.
func (l *Limited) Flush() {
	l.mu.Lock()
	counts, begun := l.counts, l.begun
	if counts != nil {
		l.counts = nil
		l.end.Stop()
	}
	l.mu.Unlock()
	for by, n := range counts {
		l.Write(audit.Line{
			Kind: KindLimited, Session: by.session, Client: by.client, Surface: by.surface, Vault: by.vault,
			Code: failure.CodeRateLimited, Count: n, DurationMs: time.Since(begun).Milliseconds(),
		})
	}
}
