package consent

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"sync"
	"time"
)

// Bound is what an approval is bound to. All fields are required.
type Bound struct {
	Vault  string
	Digest Digest // of the exact call
	Caller string // the session, or its principal
}

func (b Bound) check() error {
	switch {
	case b.Vault == "":
		return &Invalid{"vault", "is empty"}
	case b.Digest == Digest{}:
		return &Invalid{"digest", "is empty"}
	case b.Caller == "":
		return &Invalid{"caller", "is empty"}
	}
	return nil
}

// Sealer makes states that prove, when they return, that they were made here for exactly this call
// and have not been used. Its key is in memory only, so states are invalid after the process ends.
// It is safe for concurrent use. The zero Sealer makes and opens nothing.
type Sealer struct {
	key [sha256.Size]byte

	mu    sync.Mutex
	watch stopwatch
	used  map[nonce]time.Duration // expiry of each used ticket; nil in the zero Sealer
	// void is raised if no more tickets can be remembered: those that expire up to it count as used.
	void time.Duration
}

// NewSealer makes a Sealer with a new key. With a nil now, the system clock is used.
func NewSealer(now func() time.Time) *Sealer {
	s := &Sealer{watch: newStopwatch(now), used: map[nonce]time.Duration{}}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// Seal makes the state for a question about b that may be answered for ttl, at most an hour. It is
// URL-safe text of less than 256 bytes, and reveals nothing about b.
//
// Its errors are *[Invalid] for an invalid ttl or Bound, and a plain one while the Sealer is full.
func (s *Sealer) Seal(b Bound, ttl time.Duration) (string, error) {
	if err := b.check(); err != nil {
		return "", err
	}
	if ttl <= 0 || ttl > maxLife {
		return "", &Invalid{"ttl", "is not within an hour"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		return "", &Invalid{"sealer", "was not made by NewSealer"}
	}
	now := s.watch.elapsed()
	t := ticket{expiry: now + ttl}
	if s.isFull(now) || t.expiry <= s.void {
		return "", errFull
	}
	_, _ = rand.Read(t.nonce[:]) // never fails
	t.call = s.callTag(t, b)
	t.seal = s.sealTag(t)
	return t.encode(), nil
}

// Open uses up the state of an approved question. It returns nil if the state was made here for b,
// has not expired and was not used before, so at most once for each state.
//
// Every error means that there is no approval, and that the state was not used up.
func (s *Sealer) Open(state string, b Bound) error {
	t, err := s.authentic(state)
	if err != nil {
		return err
	}
	if call := s.callTag(t, b); !hmac.Equal(t.call[:], call[:]) {
		return errOtherCall
	}
	return s.use(t)
}

// Age returns how long ago a state was sealed for ttl, or 0 if it was not made here.
func (s *Sealer) Age(state string, ttl time.Duration) time.Duration {
	t, err := s.authentic(state)
	if err != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch.elapsed() - (t.expiry - ttl)
}

// Spend uses up a state whose question was not approved, so that it cannot return with another
// answer. The state may belong to any call.
//
// Its errors are those of Open, except for the one about another call. Open would refuse such a
// state, too.
func (s *Sealer) Spend(state string) error {
	t, err := s.authentic(state)
	if err != nil {
		return err
	}
	return s.discard(t)
}

// use uses up a valid ticket. It fails while no more tickets can be remembered.
func (s *Sealer) use(t ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.watch.elapsed()
	if err := s.checkUnused(t, now); err != nil {
		return err
	}
	if s.isFull(now) {
		return errFull
	}
	s.used[t.nonce] = t.expiry
	return nil
}

// discard uses up a valid ticket, even while no more tickets can be remembered.
func (s *Sealer) discard(t ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.watch.elapsed()
	if err := s.checkUnused(t, now); err != nil {
		return err
	}
	if s.isFull(now) {
		s.void = max(s.void, t.expiry)
		return nil
	}
	s.used[t.nonce] = t.expiry
	return nil
}

// checkUnused refuses a ticket that has expired or was used. The caller has mu.
func (s *Sealer) checkUnused(t ticket, now time.Duration) error {
	_, used := s.used[t.nonce]
	switch {
	case now >= t.expiry:
		return errExpired
	case used:
		return errUsed
	case t.expiry <= s.void:
		return errFull
	}
	return nil
}

// authentic returns the ticket of a state, and an error unless it was made here.
func (s *Sealer) authentic(state string) (ticket, error) {
	t, ok := decodeTicket(state)
	if !ok || s.used == nil {
		return ticket{}, errForged
	}
	if seal := s.sealTag(t); !hmac.Equal(t.seal[:], seal[:]) {
		return ticket{}, errChanged
	}
	return t, nil
}

// callTag binds a ticket to a call. Without the key, it reveals nothing.
func (s *Sealer) callTag(t ticket, b Bound) tag {
	text := append([]byte("call"), t.head()...)
	text = append(text, b.Digest[:]...)
	for _, part := range []string{b.Vault, b.Caller} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return s.mac(text)
}

// sealTag authenticates the whole ticket.
func (s *Sealer) sealTag(t ticket) tag {
	text := append([]byte("seal"), t.head()...)
	return s.mac(append(text, t.call[:]...))
}

func (s *Sealer) mac(text []byte) tag {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(text)
	return tag(mac.Sum(nil))
}

type (
	nonce [16]byte
	tag   [sha256.Size]byte
)

// ticket is the content of a state: a version, a nonce, an expiry, the tag of its
// call, and the tag of all of these.
type ticket struct {
	nonce  nonce
	expiry time.Duration // by the stopwatch of the Sealer
	call   tag
	seal   tag
}

const (
	ticketVersion = 1
	headBytes     = 1 + len(nonce{}) + 8
	ticketBytes   = headBytes + 2*sha256.Size
)

// stateText is the text encoding of a ticket. It is strict, so that each ticket has one spelling: unused bits are zero.
var stateText = base64.RawURLEncoding.Strict()

// head returns the part of the encoded ticket before the tags.
func (t ticket) head() []byte {
	head := append([]byte{ticketVersion}, t.nonce[:]...)
	return binary.BigEndian.AppendUint64(head, uint64(t.expiry))
}

func (t ticket) encode() string {
	data := append(t.head(), t.call[:]...)
	return stateText.EncodeToString(append(data, t.seal[:]...))
}

// decodeTicket decodes a state. ok is false for text that encode never returns.
func decodeTicket(state string) (t ticket, ok bool) {
	if len(state) != stateText.EncodedLen(ticketBytes) {
		return ticket{}, false
	}
	// The decoder skips line ends, so the length tells whether there were any.
	data, err := stateText.DecodeString(state)
	if err != nil || len(data) != ticketBytes || data[0] != ticketVersion {
		return ticket{}, false
	}
	rest := data[1:]
	rest = rest[copy(t.nonce[:], rest):]
	t.expiry = time.Duration(binary.BigEndian.Uint64(rest))
	rest = rest[8:]
	rest = rest[copy(t.call[:], rest):]
	copy(t.seal[:], rest)
	return t, true
}

// maxSpent limits the used states that are remembered until they expire. A client that exceeds it
// gets no approvals until the first of them have expired.
const maxSpent = 4096

// isFull removes expired states if necessary, and reports whether no more can be remembered.
func (s *Sealer) isFull(now time.Duration) bool {
	if len(s.used) >= maxSpent {
		maps.DeleteFunc(s.used, func(_ nonce, expiry time.Duration) bool { return now >= expiry })
	}
	return len(s.used) >= maxSpent
}
