package streamable

import (
	"crypto/sha256"
	"encoding/hex"
)

// callerOf names a caller by what it has: kind and its secret. The text is stable, short, safe
// for logs, and no credential. The kind is part of the digest, so that the digest of one kind
// is never that of another.
//
// Until protocol 2025-11-25 a client opens a session, and the caller is a digest of
// its id: two agents are two callers although they share a token, and a caller ends
// with its session. Since 2026-07-28 there are no sessions, and a client says
// nothing about itself that it could not choose as it likes. A name that one client
// can choose to be another's must not decide anything, and a connection means
// nothing, so the caller is a digest of the token: all clients of that protocol that
// share a token are one caller.
func callerOf(kind string, secret []byte) string {
	sum := sha256.Sum256(append([]byte("vaultwicket "+kind+"\x00"), secret...))
	return kind + "-" + hex.EncodeToString(sum[:8])
}
