package approvals

import (
	"maps"
	"time"
)

// maxSpent is how many used states are remembered until they expire. Nobody
// answers so many questions in an hour; a client that does is left without
// answers until the first of them have expired.
const maxSpent = 4096

// spent remembers which tickets were used.
type spent struct {
	used map[nonce]time.Duration // until when
	// void is raised instead of remembering more: tickets that expire up to then
	// count as used.
	void time.Duration
}

func newSpent() spent { return spent{used: map[nonce]time.Duration{}} }

// refuse returns an error unless t is still good.
func (s *spent) refuse(t ticket, now time.Duration) error {
	_, used := s.used[t.nonce]
	switch {
	case now >= t.expiry:
		return &Refused{SealExpired}
	case used:
		return &Refused{SealUsed}
	case t.expiry <= s.void:
		return &Refused{SealFull}
	}
	return nil
}

// isFull forgets what has expired, if it has to, and reports whether there is no
// room for one more.
func (s *spent) isFull(now time.Duration) bool {
	if len(s.used) >= maxSpent {
		maps.DeleteFunc(s.used, func(_ nonce, expiry time.Duration) bool { return now >= expiry })
	}
	return len(s.used) >= maxSpent
}

func (s *spent) add(t ticket) { s.used[t.nonce] = t.expiry }

func (s *spent) voidUntil(expiry time.Duration) { s.void = max(s.void, expiry) }
