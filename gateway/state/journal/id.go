package journal

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"vaultwicket/gateway/state/journal/object"
)

// An id is a moment in UTC and something random behind it, so that ids sort by
// time and two processes do not make the same.
const (
	idTime   = "20060102T150405.000000000Z"
	idRandom = 4 // hexadecimal digits
	idLength = len(idTime) + len("-") + idRandom
)

// NewID makes the id of an entry that begins now.
func NewID(now time.Time) string {
	var random [idRandom / 2]byte
	_, _ = rand.Read(random[:]) // it never fails
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[:])
}

// ParseID returns the time in an id. It takes nothing but what [NewID] makes, so
// an id can be part of a file name.
func ParseID(id string) (time.Time, error) {
	if len(id) != idLength {
		return time.Time{}, &Invalid{"id", id, "is not the id of an entry"}
	}
	moment, random := id[:len(idTime)], id[len(idTime):]
	t, err := time.Parse(idTime, moment)
	if err != nil || t.Format(idTime) != moment || random[0] != '-' || !object.IsHex(random[1:]) {
		return time.Time{}, &Invalid{"id", id, "is not the id of an entry"}
	}
	return t, nil
}
