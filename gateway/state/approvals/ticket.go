package approvals

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

type (
	nonce [16]byte
	tag   [sha256.Size]byte
)

// ticket is what a state says: a version, a nonce and an expiry, the tag of the
// call that it is for, and the tag of all of that.
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

// stateText is the one way to write a ticket as text: bits that carry nothing
// are zero.
var stateText = base64.RawURLEncoding.Strict()

// head returns what comes before the tags.
func (t ticket) head() []byte {
	head := append([]byte{ticketVersion}, t.nonce[:]...)
	return binary.BigEndian.AppendUint64(head, uint64(t.expiry))
}

func (t ticket) encode() string {
	data := append(t.head(), t.call[:]...)
	return stateText.EncodeToString(append(data, t.seal[:]...))
}

// decodeTicket reads a state. It reports false for text that encode never
// returns.
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
