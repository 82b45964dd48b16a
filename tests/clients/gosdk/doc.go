// Package gosdk has the official Go SDK be the client of a built vaultwicket, over
// both transports and in both eras of the protocol. It is a module of its own, so
// that the SDK stays out of the main one.
package gosdk
