package streamable

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// wrongGap is the time between two answers to a wrong token. A token of 32
	// random bytes cannot be guessed at any speed; this keeps one who tries from
	// costing much.
	wrongGap = 100 * time.Millisecond

	// wrongWait bounds how long such an answer waits for its turn, and with
	// [wrongGap] how many wait. Past it the answer is 429 at once.
	wrongWait = 2 * time.Second

	// wrongTold is the time between two messages about wrong tokens.
	warnInterval = time.Minute
)

// owner is who a request comes from: the digest of its token.
type owner [sha256.Size]byte

// bearer knows the token. A request with the right one never waits, whatever
// others send: all of the slowing down happens after the comparison.
type bearer struct {
	want owner
	log  *slog.Logger

	mu     sync.Mutex
	turn   time.Time // when the next wrong token may be answered
	told   time.Time
	wrongs int // since told
}

func newBearer(token string, log *slog.Logger) *bearer {
	return &bearer{want: sha256.Sum256([]byte(token)), log: log}
}

// admit returns whose request it is, or answers it. Sums of equal length are
// compared, because a comparison in constant time is that only then.
func (b *bearer) admit(w http.ResponseWriter, r *http.Request) (owner, bool) {
	token, given := bearerToken(r.Header)
	sum := owner(sha256.Sum256([]byte(token)))
	if given && subtle.ConstantTimeCompare(sum[:], b.want[:]) == 1 {
		return sum, true
	}
	// Nothing is said about what was wrong.
	status := http.StatusUnauthorized
	if given && !b.delay(r.Context(), r.RemoteAddr) {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "2")
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Connection", "close")
	refuse(w, status, http.StatusText(status))
	return owner{}, false
}

// bearerToken returns the token of the one Authorization header.
func bearerToken(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// delay waits for the turn of a wrong token. It is false when too many wait.
func (b *bearer) delay(ctx context.Context, remote string) bool {
	wait, ok := b.queue(time.Now(), remote)
	if !ok {
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

// queue takes a turn, and tells of wrong tokens now and then.
func (b *bearer) queue(now time.Time, remote string) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrongs++
	if now.Sub(b.told) >= warnInterval {
		b.log.Warn("invalid bearer token", "from", remote, "times", b.wrongs)
		b.told, b.wrongs = now, 0
	}
	if b.turn.Before(now) {
		b.turn = now
	}
	if b.turn.Sub(now) >= wrongWait {
		return 0, false
	}
	b.turn = b.turn.Add(wrongGap)
	return b.turn.Sub(now), true
}
