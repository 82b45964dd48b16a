package gateway

import (
	"crypto/sha256"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/pages"
)

// storeLimits bound what is kept of answers that were shown in part: a whole one of
// the largest kind, while another one is read, is what a gateway has memory for.
var storeLimits = pages.Limits{PerSession: 16, Total: 512, Bytes: 17 << 20, Age: 10 * time.Minute}

// maxKeptCall bounds the bytes of a call whose answer is kept: its parameters are
// kept with it.
const maxKeptCall = 64 << 10

// storedAnswer is what is known of an answer whose rest is kept: everything but its text.
type storedAnswer struct {
	request Request // as it came, without the way to ask
	call    allowlist.Call
	answer  Result
	whole   [sha256.Size]byte // of the text before fields were chosen
	note    notes.Stamp       // of the one note that the text is, where that is known
}

// sumOf is the digest of a text, which is not copied as a whole for it.
func sumOf(text string) [sha256.Size]byte {
	hash := sha256.New()
	chunk := make([]byte, 0, 32<<10)
	for len(text) > 0 {
		n := min(len(text), cap(chunk))
		hash.Write(append(chunk, text[:n]...))
		text = text[n:]
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
