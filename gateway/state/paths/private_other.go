//go:build !unix

package paths

// writable cannot be told before something is made.
func writable(string) error { return nil }
