// Package regex compiles regular expressions of JavaScript for an engine that
// backtracks, with bounds for the time and the memory of a match.
//
// It refuses what other dialects know and JavaScript does not. The engine sees
// characters, where JavaScript sees halves of those outside of the basic plane.
package regex

import (
	"time"

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
