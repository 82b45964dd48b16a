// Package vault compares the answers of the embedded CLI with a second, slow
// implementation of its reads and with what the app says of the same notes.
package vault
