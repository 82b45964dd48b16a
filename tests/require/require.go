// Package require ends a test where something is not as the test expects it.
package require

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// T is a test, a benchmark, or a property of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// NoError ends the test at the first of the errors that is not nil.
func NoError(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Value is the first result of a call whose second one is nil; an error ends the test:
//
//	text := require.Value(os.ReadFile(name))(t)
func Value[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// That ends the test with the message, which says what is wrong, unless ok.
func That(t T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

// Within ends the test if an event that nothing announces does not happen within the limit. It polls for it.
func Within(t T, limit time.Duration, what string, happened func() bool) {
	t.Helper()
	That(t, assert.Await(limit, happened), "not within %v: %s", limit, what)
}

// Equal ends the test if got and want differ. what says what they are of: a format and
// its arguments.
func Equal[V comparable](t T, got, want V, what ...any) {
	t.Helper()
	if got != want {
		t.Fatal(assert.Message(got, want, what...))
	}
}

// Contains ends the test at a text that does not contain another one.
func Contains(t T, got, want string, what ...any) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Fatal(assert.Message(got, want, what...))
	}
}

// NotContains ends the test at a text that contains another one.
func NotContains(t T, got, unwanted string, what ...any) {
	t.Helper()
	if strings.Contains(got, unwanted) {
		t.Fatal(assert.Unwanted(got, unwanted, what...))
	}
}

// HasPrefix ends the test at a text that does not begin with another one.
func HasPrefix(t T, got, want string, what ...any) {
	t.Helper()
	if !strings.HasPrefix(got, want) {
		t.Fatal(assert.Message(got, want, what...))
	}
}

// ErrorIs ends the test at an error that does not have want in its chain.
func ErrorIs(t T, got, want error, what ...any) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatal(assert.Message(got, want, what...))
	}
}

// EqualSlices ends the test at two slices with different elements.
func EqualSlices[V comparable](t T, got, want []V, what ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatal(assert.Message(got, want, what...))
	}
}
