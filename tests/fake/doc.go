// Package fake stands in for what the code under test deals with: a client on pipes, the embedded program, a disk that
// fails, a log, whole vaults, and secrets that are none of anyone. Whatever it draws comes from fixed seeds.
//
// It imports of the module only what it stands in for (internal/protocol and internal/ownerfiles), so that the tests of
// all packages above these two can import it. No program imports it.
package fake
