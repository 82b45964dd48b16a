package streamable

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// bodies is how many messages of the greatest size may be worked on at once.
	// Decoded, each costs several times its bytes.
	bodies = 4
	// ownBodies is how many of them one sender may have.
	ownBodies = 3
	// stalled is how long a message may take for the next progress bytes of it while
	// others need room.
	stalled  = time.Second
	progress = 8 << 10
)

var (
	errMemoryFull = errors.New("too much is being worked on")
	errNoShare    = errors.New("too much of one client is being worked on")
	errDropped    = errors.New("the message was dropped while it came")
)

// parcels are the messages that are coming in or being worked on. They count the
// bytes that have come, so that a slow message costs what it has sent and no more;
// one that has stalled makes room for others.
type messageBudget struct {
	limit, share int64 // in bytes, of all and of one sender
	now          func() time.Time

	mu       sync.Mutex
	used     int64
	bySender map[string]int64
	coming   map[*reservation]struct{}
}

// parcel is one message.
type reservation struct {
	all    *messageBudget
	sender string
	cut    func() // ends the reading of it

	// The rest is under the lock of all.
	size    int64
	last    time.Time // when enough of it had come
	since   int64     // how much has come since
	dropped bool
	over    bool
}

func newMessageBudget(largest int64) *messageBudget {
	return &messageBudget{limit: bodies * largest, share: ownBodies * largest, now: time.Now, bySender: map[string]int64{}, coming: map[*reservation]struct{}{}}
}

// begin notes a message that is going to come. cut is called, if at all, before end
// returns. The caller calls end.
func (a *messageBudget) begin(sender string, cut func()) *reservation {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := &reservation{all: a, sender: sender, cut: cut, last: a.now()}
	a.coming[p] = struct{}{}
	return p
}

// add counts bytes that have come. The error says that there is no room for them.
func (p *reservation) add(n int64) error {
	a := p.all
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.dropped {
		return errDropped
	}
	if p.since += n; p.since >= progress {
		p.last, p.since = a.now(), 0
	}
	for a.bySender[p.sender]+n > a.share {
		if !a.dropStalled(func(other *reservation) bool { return other.sender == p.sender && other != p }) {
			return errNoShare
		}
	}
	for a.used+n > a.limit {
		if !a.dropStalled(func(other *reservation) bool { return other != p }) {
			return errMemoryFull
		}
	}
	p.size += n
	a.used += n
	a.bySender[p.sender] += n
	return nil
}

// dropStalled drops one of the messages that may go: that of which nothing came for
// longest, if that is long enough.
func (a *messageBudget) dropStalled(may func(*reservation) bool) bool {
	var out *reservation
	for p := range a.coming {
		if p.size > 0 && may(p) && a.now().Sub(p.last) >= stalled && (out == nil || p.last.Before(out.last)) {
			out = p
		}
	}
	if out == nil {
		return false
	}
	out.dropped = true
	out.release()
	out.cut()
	return true
}

// arrived notes that all of the message is there.
func (p *reservation) arrived() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	delete(p.all.coming, p)
}

func (p *reservation) wasDropped() bool {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	return p.dropped
}

// end gives the room of a message back.
func (p *reservation) end() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.release()
}

func (p *reservation) release() {
	a := p.all
	delete(a.coming, p)
	if p.over {
		return
	}
	p.over = true
	a.used -= p.size
	if a.bySender[p.sender] -= p.size; a.bySender[p.sender] == 0 {
		delete(a.bySender, p.sender)
	}
}

// counted counts what is read of a message.
type counted struct {
	from io.Reader
	*reservation
}

func (c counted) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	if n > 0 {
		if full := c.add(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}
