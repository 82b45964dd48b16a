// Package assert reports what is not as a test expects it, and lets the test go on.
// Package require has the same functions for what ends a test.
package assert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// T is a test, a benchmark, or a property of package rapid.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// That reports the message, which says what is wrong, unless ok.
func That(t T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// Await polls for an event that nothing announces, such as one of another process or of a file system. It returns
// whether the event happened within the limit.
func Await(limit time.Duration, happened func() bool) bool {
	const longest = 20 * time.Millisecond
	end := time.Now().Add(limit)
	for pause := time.Millisecond; !happened(); pause = min(2*pause, longest) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause) // between two polls
	}
	return true
}

// The functions below look at what they got. what says what it is: a format and its arguments.

// NoError reports an error.
func NoError(t T, got error, what ...any) {
	t.Helper()
	if got != nil {
		t.Errorf("%s", Message(got, nil, what...))
	}
}

// Equal reports two values that differ.
func Equal[V comparable](t T, got, want V, what ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s", Message(got, want, what...))
	}
}

// EqualSlices reports two slices with different elements.
func EqualSlices[V comparable](t T, got, want []V, what ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s", Message(got, want, what...))
	}
}

// Contains reports a text that does not contain another one.
func Contains(t T, got, want string, what ...any) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s", Message(got, want, what...))
	}
}

// NotContains reports a text that contains another one.
func NotContains(t T, got, unwanted string, what ...any) {
	t.Helper()
	if strings.Contains(got, unwanted) {
		t.Errorf("%s", Unwanted(got, unwanted, what...))
	}
}

// HasPrefix reports a text that does not begin with another one.
func HasPrefix(t T, got, want string, what ...any) {
	t.Helper()
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s", Message(got, want, what...))
	}
}

// ErrorIs reports an error that does not have want in its chain.
func ErrorIs(t T, got, want error, what ...any) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s", Message(got, want, what...))
	}
}

// Message is what is said of a value that is not the one that was expected.
func Message(got, want any, what ...any) string {
	verb := "%+v"
	switch got.(type) {
	case string, []string:
		verb = "%q"
	}
	return about(what, fmt.Sprintf("got "+verb+", want "+verb, got, want))
}

// Unwanted is what is said of a text that contains what it must not contain.
func Unwanted(got, unwanted string, what ...any) string {
	return about(what, fmt.Sprintf("got %q, which contains %q", got, unwanted))
}

// about puts what a message is about before it: a format and its arguments, or nothing.
func about(what []any, message string) string {
	if len(what) == 0 {
		return message
	}
	return fmt.Sprintf(what[0].(string), what[1:]...) + ": " + message
}
