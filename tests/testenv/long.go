package testenv

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Long reports whether tests do all of their work.
func Long() bool { return os.Getenv("LONG_TESTS") != "" }

// OnlyLong skips a test that is all of the long work.
func OnlyLong(t *testing.T) {
	t.Helper()
	if !Long() {
		t.Skip("takes long; LONG_TESTS=1 runs it")
	}
}

// Count is how often a test repeats what it does: all times, or as often as usual.
func Count(usual, all int) int {
	if Long() {
		return all
	}
	return usual
}

// Shard reports which items of a loop a test does: all of them, or every n-th one from
// the first.
func Shard(t *testing.T, n int) (mine func(item int) bool) {
	t.Helper()
	if Long() {
		return func(int) bool { return true }
	}
	t.Logf("every %dth item; LONG_TESTS=1 does all", n)
	return func(item int) bool { return item%n == 0 }
}

// Cases is a property that is checked on so many drawn cases: on all that rapid draws, or
// on the usual number of them, with the others passing unseen. From a failure on every
// case runs, since rapid looks for a smaller one that fails.
func Cases(usual int, property func(*rapid.T)) func(*rapid.T) {
	passed := 0
	inside := false
	failed := Long()
	return func(t *rapid.T) {
		failed = failed || inside
		if !failed && passed == usual {
			return
		}
		inside = true
		property(t)
		inside = false
		passed = passed + 1
	}
}

// WaitTogether is [AtOnce] for four tests: most of the time they wait for processes and limits.
func WaitTogether() { AtOnce(4) }

// AtOnce runs so many parallel tests of a package at once even where there are fewer
// processors, unless the flag -parallel says how many, or programs start slowly: then tests
// wait for processors. TestMain calls it; the first call counts.
func AtOnce(atOnce int) {
	flag.Parse()
	if ProgramsStartSlowly() {
		return
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue && runtime.GOMAXPROCS(0) < atOnce {
		_ = f.Value.Set(strconv.Itoa(atOnce))
	}
}
