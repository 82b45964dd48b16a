// Package regex compiles regular expressions of JavaScript for an engine that
// backtracks, with bounds for the time and the memory of a match.
//
// It refuses what other dialects know and JavaScript does not. The engine sees
// characters, where JavaScript sees halves of those outside of the basic plane.
package regex

import (
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a compiled regular expression. A match that takes too long, or too
// much memory, is an error.
type Regexp = regexp2.Regexp

// Match is a match of one, its groups and their places.
type Match = regexp2.Match

// Flags of a regular expression; those that only concern how often it is applied
// mean nothing here.
type Flags struct {
	IgnoreCase, Multiline, DotAll, Unicode bool
}

// The engine has one clock for all matches, which goes forward in these steps while there are
// any: so much later than it has to a match may end.
func init() { regexp2.SetTimeoutCheckPeriod(10 * time.Millisecond) }

// maxStack bounds the memory of a match, in integers: 32 MiB.
const maxStack = 4 << 20

// Compile compiles source. limit bounds the time of one match; it is not exact.
func Compile(source string, flags Flags, limit time.Duration) (*Regexp, error) {
	if err := check(source); err != nil {
		return nil, err
	}
	options := regexp2.ECMAScript
	if flags.Multiline {
		options |= regexp2.Multiline
	}
	if flags.DotAll {
		options |= regexp2.Singleline
	}
	if flags.Unicode {
		options |= regexp2.Unicode
	}
	if flags.IgnoreCase {
		options |= regexp2.IgnoreCase
		source = cheapSpelling(source, flags.DotAll)
	}
	compiled, err := regexp2.Compile(source, options, regexp2.OptionMaxBacktrackingStackSize(maxStack))
	if err != nil {
		return nil, err
	}
	compiled.MatchTimeout = limit
	return compiled, nil
}

// Within returns the same expression with a shorter limit for the time of one match.
func Within(re *Regexp, limit time.Duration) *Regexp {
	if limit >= re.MatchTimeout {
		return re
	}
	limited := *re
	limited.MatchTimeout = limit
	return &limited
}

// EachPlace visits the places of an expression in a text, in bytes, until visit returns false. The
// limit of the expression is that of all matches together.
func EachPlace(re *Regexp, text string, visit func(start, end int) bool) error {
	begun, limit := time.Now(), re.MatchTimeout
	left := *re
	at, last := 0, 0 // the same place, in bytes and in characters
	behind := -1     // the place before
	offset := func(char int) int {
		for ; last < char; last++ {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		return at
	}
	return left.FindRunesMatches([]rune(text), 0, func(m regexp2.MatchView) bool {
		char, length, _ := m.GroupRange(0)
		left.MatchTimeout = max(limit-time.Since(begun), 0)
		if length == 0 && char == behind {
			return true
		}
		behind = char + length
		start := offset(char)
		return visit(start, offset(behind))
	})
}
