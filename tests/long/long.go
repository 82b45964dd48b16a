// Package long tells tests how much of their work to do. Soaks and loops over every
// byte of a file take most of the time of all tests, and find something seldom: by
// default they do a part of the work, another one each day. Where the variable
// VAULTWICKET_LONG_TESTS is not empty, as in .ci/run, they do all of it.
package long

import (
	"os"
	"testing"
	"time"
)

// Enabled reports whether tests do all of their work.
func Enabled() bool { return os.Getenv("VAULTWICKET_LONG_TESTS") != "" }

// Count is how often a test repeats what it does: all times, or as often as usual.
func Count(usual, all int) int {
	if Enabled() {
		return all
	}
	return usual
}

// Shard reports which items of a loop a test does: all of them, or those of the shard
// of today, one of so many. The shard is in the log of the test.
func Shard(t *testing.T, shards int) (mine func(item int) bool) {
	t.Helper()
	if Enabled() {
		return func(int) bool { return true }
	}
	today := time.Now().UTC().YearDay() % shards
	t.Logf("shard %d of %d; VAULTWICKET_LONG_TESTS=1 does all", today, shards)
	return func(item int) bool { return item%shards == today }
}
