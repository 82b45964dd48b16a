package streamable

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/mcpserver/wire"
)

// newHosts returns the hosts of an address and a list of further names.
func newHosts(addr string, more []string, leaf *x509.Certificate) (httpguard.Hosts, error) {
	var names []string
	if name, ok := httpguard.HostName(addr); ok && !httpguard.Unspecified(name) {
		names = append(names, name)
	}
	for _, entry := range more {
		name, err := parseHost(entry)
		if err != nil {
			return httpguard.Hosts{}, err
		}
		names = append(names, name)
	}
	return httpguard.NewHosts(names, leaf), nil
}

// parseHost reads an entry of Config.Hosts. The error is a *SettingError.
func parseHost(entry string) (string, error) {
	name, ok := httpguard.HostName(httpguard.Bracketed(entry))
	_, notIP := netip.ParseAddr(entry)
	if !ok || notIP != nil && !strings.HasSuffix(entry, "]") && strings.Contains(entry, ":") { // the last is a port
		return "", &SettingError{Setting: "allow-host", Value: entry, Reason: "is not a host name", hint: `use a name or an address without a port, such as "notes.example"`}
	}
	return name, nil
}

// parseOrigin reads an entry of Config.Origins. The error is a *SettingError.
func parseOrigin(entry string) (string, error) {
	origin, ok := httpguard.CanonicalOrigin(entry)
	if !ok {
		return "", &SettingError{Setting: "allow-origin", Value: entry, Reason: "is not a web origin", hint: `use a scheme and a host without a path, such as "https://app.example" or "http://localhost:3000"`}
	}
	return origin, nil
}

const (
	// wrongGap is the time between two answers to a wrong token. A token of 32 random bytes
	// cannot be guessed at any rate; the limit keeps attempts cheap for the server.
	wrongGap = 100 * time.Millisecond

	// wrongWait is the maximum delay of such an answer, and with [wrongGap] limits how many
	// wait. Beyond it the answer is 429 at once.
	wrongWait = 2 * time.Second

	// warnInterval is the minimum time between two messages about wrong tokens.
	warnInterval = time.Minute
)

// owner is the digest of the token of a request, or the [Holder.Identity] of the token.
type owner [sha256.Size]byte

// bearer checks the token. A request with the right one never waits for others: the delay of
// wrong ones comes after the comparison.
type bearer struct {
	want     owner
	holder   func(ctx context.Context, token string) (Holder, error) // see [Config.HolderOf]
	resource *Resource
	log      *slog.Logger

	mu     sync.Mutex
	turn   time.Time // when the next wrong token may be answered
	told   time.Time
	wrongs int // since told
}

func newBearer(token string, log *slog.Logger) *bearer {
	return &bearer{want: sha256.Sum256([]byte(token)), log: log}
}

// admit returns the owner of a request and the server of its agent, nil for the token of no agent,
// or answers it. It compares digests, because a comparison in constant time needs equal lengths.
func (b *bearer) admit(w http.ResponseWriter, r *http.Request) (owner, *wire.Server, bool) {
	scheme, token, given := "", "", false
	if values := r.Header["Authorization"]; len(values) == 1 { // there must be one
		scheme, token, _ = strings.Cut(values[0], " ")
		token = strings.TrimLeft(token, " ")
		given = strings.EqualFold(scheme, "Bearer") && token != ""
	}
	sum := owner(sha256.Sum256([]byte(token)))
	if given && subtle.ConstantTimeCompare(sum[:], b.want[:]) == 1 {
		return sum, nil, true
	}
	problem, scopes, text := "", "", ""
	if b.resource != nil {
		scopes = strings.Join(b.resource.Scopes, " ") // with which a client begins
	}
	status := http.StatusUnauthorized
	if given && b.holder != nil {
		holder, err := b.holder(r.Context(), token)
		var refused *Refusal
		switch {
		case errors.As(err, &refused):
			status, scopes, text = refused.Status, refused.Scopes, refused.Reason
		case err == nil && holder.Server != nil && holder.Identity != [sha256.Size]byte{}:
			return holder.Identity, holder.Server, true
		case err == nil && holder.Server != nil:
			return sum, holder.Server, true
		}
	}
	if given && !b.delay(r.Context(), r.RemoteAddr) {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "2")
	}
	switch {
	case status == http.StatusForbidden && scopes != "":
		problem = insufficientScope
	case status == http.StatusUnauthorized && given:
		problem = "invalid_token"
	}
	b.resource.challenge(w.Header(), problem, scopes)
	w.Header().Set("Connection", "close")
	refuse(w, status, cmp.Or(text, http.StatusText(status)))
	return owner{}, nil, false
}

// delay waits for the turn of a wrong token, and logs wrong tokens, at most one message a minute. It is
// false, at once, if too many wait.
func (b *bearer) delay(ctx context.Context, remote string) bool {
	now := time.Now()
	b.mu.Lock()
	b.wrongs++
	if now.Sub(b.told) >= warnInterval {
		b.log.Warn("invalid bearer token", "from", remote, "times", b.wrongs)
		b.told, b.wrongs = now, 0
	}
	if b.turn.Before(now) {
		b.turn = now
	}
	full := b.turn.Sub(now) >= wrongWait
	if !full {
		b.turn = b.turn.Add(wrongGap)
	}
	wait := b.turn.Sub(now)
	b.mu.Unlock()
	if full {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}
