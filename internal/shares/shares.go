// Package shares divides what there is of something in one process among those who use it: memory for messages, open
// questions, sessions, places in a line. Each place that gives something out charges a [Pool].
//
// There is one rule. Nobody can have more than a part of what the others leave, so that a newcomer always gets a share:
// of three, the first has half, the second half of the rest, and so on. Who somebody is does not depend on what they say
// of themselves: an agent over all its sessions (see [Agent]), or the address of a stranger (see [Network]).
package shares

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Payer is somebody who has a share. The zero Payer is everybody without a name, as one.
type Payer string

// Agent returns the payer of a caller: its agent, and where it has none the token over HTTP, or the caller itself.
func Agent(caller string) Payer {
	if agent := ownerfiles.AgentOf(caller); agent != "" {
		return Payer("agent " + agent)
	}
	for _, kind := range []string{"session-", "token-"} { // a server without agents has one token
		if strings.HasPrefix(caller, kind) {
			return "token"
		}
	}
	return Payer("caller " + caller)
}

// networkBits is how much of an IPv6 address tells a stranger from others: whoever has one address of a network has all.
const networkBits = 64

// Network returns the payer of a request without credentials by the address that it comes from: that of IPv4, or the /64
// network of IPv6. host may be anything else, too, such as the name of a pipe.
func Network(host string) Payer {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return Payer("address " + host)
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		network, _ := address.Prefix(networkBits) // of an address of that kind
		address = network.Addr()
	}
	return Payer("address " + address.String())
}

type unverifiedKey struct{}

// WithUnverified returns the context of a request whose credentials are not known yet, with who pays for it until they are.
func WithUnverified(ctx context.Context, who Payer) context.Context {
	return context.WithValue(ctx, unverifiedKey{}, who)
}

// UnverifiedOf returns who pays for a request whose credentials are not known yet, "" if nobody was named.
func UnverifiedOf(ctx context.Context) Payer {
	who, _ := ctx.Value(unverifiedKey{}).(Payer)
	return who
}

// Part is which part of what the others leave one payer can have.
type Part struct {
	Of, Parts int64
	Most      int64 // that one payer can have, whatever the others leave; 0 for no such bound
}

// Half is the part for what is given out in many pieces.
var Half = Part{Of: 1, Parts: 2}

// Allows reports whether a payer that has own of limit may have n more, where the others have the rest of used.
func (p Part) Allows(limit, used, own, n int64) bool {
	left := limit - (used - own)
	isBeyond := p.Most > 0 && own+n > p.Most
	return !isBeyond && used+n <= limit && (own+n)*p.Parts <= left*p.Of
}

// Pool is what there is of something. It is safe for concurrent use.
type Pool struct {
	limit int64
	part  Part

	mu   sync.Mutex
	used int64
	own  map[Payer]int64
}

// NewPool returns a pool of limit pieces or bytes.
func NewPool(limit int64, part Part) *Pool {
	return &Pool{limit: limit, part: part, own: map[Payer]int64{}}
}

// Take takes n for a payer, or nothing: then ok is false. What was taken is to be given back.
func (p *Pool) Take(who Payer, n int64) (ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.part.Allows(p.limit, p.used, p.own[who], n) {
		return false
	}
	p.used += n
	p.own[who] += n
	return true
}

// Give gives back n that a payer has taken.
func (p *Pool) Give(who Payer, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
	if p.own[who] -= n; p.own[who] <= 0 {
		delete(p.own, who)
	}
}

// Largest returns the payer that has most, "" if nobody has anything. Of several it is the first by name.
func (p *Pool) Largest() (who Payer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := int64(0)
	for payer, own := range p.own {
		if own > most || own == most && payer < who {
			who = payer
			most = own
		}
	}
	return who
}

// Of returns how much a payer has.
func (p *Pool) Of(who Payer) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.own[who]
}
