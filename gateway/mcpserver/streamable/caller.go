package streamable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

type callerKey struct{}

// Caller returns who sent the request of a handler, "" if it did not come through
// this package. The text is stable, short, safe for logs, and no credential.
//
// Until protocol 2025-11-25 a client opens a session, and the caller is a digest of
// its id: two agents are two callers although they share a token, and a caller ends
// with its session. Since 2026-07-28 there are no sessions, and a client says
// nothing about itself that it could not choose as it likes. A name that one client
// can choose to be another's must not decide anything, and a connection means
// nothing, so the caller is a digest of the token: all clients of that protocol that
// share a token are one caller.
func Caller(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// Stateless reports whether the caller is all who hold a token, and not a session.
func Stateless(ctx context.Context) bool { return strings.HasPrefix(Caller(ctx), byToken+"-") }

// The kinds of callers.
const (
	bySession = "session"
	byToken   = "token"
)

func withCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// callerOf names a caller by what it has. The kind is part of the digest, so that
// a digest of the one is never that of the other.
func callerOf(kind string, secret []byte) string {
	sum := sha256.Sum256(append([]byte("vaultwicket "+kind+"\x00"), secret...))
	return kind + "-" + hex.EncodeToString(sum[:8])
}
