// Package shares divides a resource of one process among those who use it: memory for messages, pending approvals,
// sessions, places in a line. Whatever hands out a part of it charges a [Pool].
//
// There is one rule: nobody can have more than a fraction of what the others leave, so that a newcomer always gets a
// share. Of three payers, the first can have half, the second half of the rest, and so on. The identity of a payer
// does not depend on its own claims: it is the agent, over all its sessions (see [Agent]), or the address of an
// unauthenticated client (see [Network]).
package shares

import (
	"context"
	"net/netip"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Payer is who is charged for a share. The zero Payer stands for all that have no name, together.
type Payer string

// Agent returns the payer for a caller: its agent if it has one, otherwise the HTTP token, otherwise the caller
// itself.
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

// networkBits is the length of the IPv6 prefix that identifies a client: whoever has one address of a /64 network
// has all.
const networkBits = 64

// Network returns the payer for a request without credentials, by its source address: the IPv4 address, or the /64
// network of an IPv6 address. Any other host, such as the name of a pipe, is used as it is.
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

// WithUnverified returns the context of a request whose credentials are not verified yet. who pays for it until then.
func WithUnverified(ctx context.Context, who Payer) context.Context {
	return context.WithValue(ctx, unverifiedKey{}, who)
}

// UnverifiedOf returns who pays for a request whose credentials are not verified yet, "" if nobody was named.
func UnverifiedOf(ctx context.Context) Payer {
	who, _ := ctx.Value(unverifiedKey{}).(Payer)
	return who
}

// Part is the fraction Of/Parts of what the others leave that one payer can have.
type Part struct {
	Of, Parts int64
	Most      int64 // that one payer can have, whatever the others leave; 0 for no such bound
}

// Half is the part for resources that are handed out in many pieces.
var Half = Part{Of: 1, Parts: 2}

// Allows reports whether a payer that has own of the limit may have n more, if used is what all payers have together.
func (p Part) Allows(limit, used, own, n int64) bool {
	left := limit - (used - own)
	isBeyond := p.Most > 0 && own+n > p.Most
	return !isBeyond && used+n <= limit && (own+n)*p.Parts <= left*p.Of
}

// Pool is a limited resource. It is safe for concurrent use.
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

// Take takes n for a payer, or nothing; ok reports which. What was taken must be returned with Give.
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

// Give returns n that a payer has taken.
func (p *Pool) Give(who Payer, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
	if p.own[who] -= n; p.own[who] <= 0 {
		delete(p.own, who)
	}
}

// Largest returns the payer that has the most, "" if none has anything. Among equals it is the first by name.
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
