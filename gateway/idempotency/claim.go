// Package idempotency decides what an idempotency key means for a call: it gives the first
// answer again, or the right to carry the call out, and settles afterwards what is kept
// under the key. The keys themselves are in the journal of the vault.
package idempotency

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// Digest tells one call of one caller from every other one.
type Digest = [sha256.Size]byte

// Recall returns the answer that is kept under a key for the call with a digest, nil if
// there is none. Why it cannot be told, [Take] will say.
func Recall(kept *journal.Journal, key string, digest Digest) []byte {
	answer, state, err := kept.Keys().Recall(key, digest, time.Now())
	if err != nil || state != journal.KeyAnswered {
		return nil
	}
	return append([]byte{}, answer...) // not nil, whatever it is
}

// Claim is the right to carry out what a key stands for.
type Claim struct {
	ID string // of the entry of the journal that the call is to have

	keys   journal.Keys
	key    string
	digest Digest
}

// Take looks a key up for a caller. It returns the answer of the first time, where there is one, else
// the claim. The error is a [*failure.RequestError]: the key is no key, belongs to another
// call, or to one of which nobody knows whether it was carried out.
func Take(kept *journal.Journal, caller, key string, digest Digest) (c Claim, answer []byte, err error) {
	c = Claim{journal.NewID(time.Now()), kept.Keys().Of(caller), key, digest}
	answer, state, err := c.keys.Recall(key, digest, time.Now())
	switch {
	case err != nil:
		return Claim{}, nil, keyError(err)
	case state == journal.KeyAnswered:
		return Claim{}, append([]byte{}, answer...), nil
	}
	if err := c.keys.Claim(key, digest, c.ID, time.Now()); err != nil {
		return Claim{}, nil, keyError(err)
	}
	return c, nil, nil
}

// Disposition is what becomes of a key behind its call.
type Disposition uint8

const (
	StaysClaimed Disposition = iota // nobody knows what the answer would be
	Forget                          // nothing was done: the same call may be tried again
	Remember                        // the answer is kept
)

// DispositionOf returns what becomes of the key of a call with an error, nil for none, that
// has changed something or not.
func DispositionOf(cause *failure.Error, changed bool) Disposition {
	switch {
	case cause != nil && cause.Code == failure.CodeUnknown:
		return StaysClaimed
	case cause != nil && !changed:
		return Forget
	}
	return Remember
}

// Settle ends a claim. An answer that is remembered is kept as JSON.
func (c Claim) Settle(d Disposition, answer any) error {
	switch d {
	case Forget:
		return c.keys.Forget(c.key, c.ID)
	case Remember:
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return c.keys.Remember(c.key, c.digest, text, time.Now())
	}
	return nil
}

// keyError says in our codes what is wrong with a key.
func keyError(err error) error {
	var reused *journal.KeyReused
	var unfinished *journal.Unfinished
	var invalid *journal.Invalid
	switch {
	case errors.As(err, &reused):
		return failure.New(failure.CodeBadRequest, "use another key", "the idempotency key was used for another call, or by another session")
	case errors.As(err, &unfinished):
		return failure.New(failure.CodeUnknown, "look at the note before you try again with another key", "%v", err)
	case errors.As(err, &invalid):
		return failure.New(failure.CodeBadRequest, "a key is a short text", "%v", err)
	}
	return failure.New(failure.CodeConflict, "try again", "the idempotency key cannot be looked up: %v", err)
}
