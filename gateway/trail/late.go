package trail

import (
	"slices"
	"sync"
	"time"

	"vaultwicket/gateway/state/audit"
)

// LateAfter is how long the line of a decision to let a read through may wait for that of
// its end, so that both are written at once.
const LateAfter = 50 * time.Millisecond

// Late holds lines of decisions until the calls end, at most for [LateAfter]. One timer
// serves all of them, and runs on while calls come: a timer for each call would wake a
// thread that waits for messages.
type Late struct {
	// Logs takes the lines. It must be set before use.
	Logs Logs

	mu      sync.Mutex
	held    []*Decision // oldest first
	timer   *time.Timer
	running bool // the timer will run due
}

// Decision is the line of a decision that is written with the end of its call, or by itself
// if that takes long.
type Decision struct {
	line    audit.Line
	begun   time.Time
	written chan struct{} // closed once the line is in the log by itself, nil while it is held
}

// Hold returns a decision made now that waits for its end. [Late.End] must be called.
func (l *Late) Hold(line audit.Line) *Decision {
	line.Time = time.Now()
	d := &Decision{line: line, begun: line.Time}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, d)
	if !l.running {
		l.start(LateAfter)
	}
	return d
}

// start has due run after a time. The caller has mu.
func (l *Late) start(after time.Duration) {
	l.running = true
	if l.timer == nil {
		l.timer = time.AfterFunc(after, l.due)
		return
	}
	l.timer.Reset(after)
}

// due writes the decisions that have waited long enough.
func (l *Late) due() {
	l.mu.Lock()
	now, old := time.Now(), 0
	for old < len(l.held) && now.Sub(l.held[old].begun) >= LateAfter {
		l.held[old].written = make(chan struct{})
		old++
	}
	due := slices.Clone(l.held[:old])
	l.held = slices.Delete(l.held, 0, old)
	l.running = false
	if len(l.held) > 0 {
		l.start(LateAfter - now.Sub(l.held[0].begun))
	}
	l.mu.Unlock()
	for _, d := range due {
		_ = l.Logs.Write(d.line, false, false)
		close(d.written)
	}
}

// End writes a decision and the end of its call. It returns false if the decision is in the
// log by itself; the caller then writes the end behind it.
func (l *Late) End(d *Decision, end audit.Line) bool {
	l.mu.Lock()
	i := slices.Index(l.held, d)
	if i >= 0 {
		l.held = slices.Delete(l.held, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 {
		<-d.written
		return false
	}
	_ = l.Logs.WritePair(d.line, end)
	return true
}
