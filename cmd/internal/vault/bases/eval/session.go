// Package eval evaluates the expressions of bases on the files of a vault.
//
// It reads nothing by itself and never fails as a whole: what goes wrong is a
// value of kind [value.Error] with the app's sentence. The exceptions are the
// limits of a [Session], which end all of it.
package eval

import (
	"context"
	"errors"

	"vaultwicket/cmd/internal/vault/bases/value"
)

// Environment is the vault and the moment in which expressions are evaluated.
type Environment struct {
	value.World
	// Backlinks returns the list of links to the files that link to one, in the order
	// of listings, each shown by its name without the extension.
	Backlinks func(value.Entry) value.Value
	// Leads reports whether a link or an embed of one file leads to another.
	Leads func(from, to value.Entry) bool
	// Dangles reports whether a file may have a link that leads nowhere and is written
	// like path, without regard to case. It may say so of one that has none.
	Dangles func(from value.Entry, path string) bool
	// Random returns a number from 0 to below 1.
	Random func() float64
	// This is the file for which this stands, nil if there is none.
	This value.Entry
	// Formulas are those of the base, by name.
	Formulas map[string]*Program
}

// Session is one query: its expressions share a budget. It is to be used by one
// goroutine.
type Session struct {
	Environment
	ctx   context.Context
	steps int
	err   error
	depth int
	files map[fileKey]value.Entry
}

// Limits of a session. A query of everything in a vault of 100,000 notes stays
// far below them.
const (
	maxSteps = 20_000_000
	maxDepth = 200 // formulas and calls within each other
	// checkEvery is how many steps may pass before the context is looked at.
	checkEvery = 1024
)

// ErrTooMuch ends a session whose expressions take too many steps or too much
// memory.
var ErrTooMuch = errors.New("the expressions take too many steps; narrow the filter or make the formulas simpler")

// NewSession begins a query, which ends with ctx.
func NewSession(ctx context.Context, env Environment) *Session {
	return &Session{Environment: env, ctx: ctx, files: map[fileKey]value.Entry{}}
}

// Err returns why the session ended before its time: [ErrTooMuch], or the error
// of its context. What was evaluated after that is worthless.
func (s *Session) Err() error { return s.err }

// Steps returns how many steps were taken.
func (s *Session) Steps() int { return s.steps }

// spend takes n steps from the budget, and reports whether there were as many.
func (s *Session) spend(n int) bool {
	before := s.steps
	s.steps += n
	if s.err == nil && before/checkEvery != s.steps/checkEvery {
		s.err = s.ctx.Err()
	}
	if s.err == nil && s.steps > maxSteps {
		s.err = ErrTooMuch
	}
	return s.err == nil
}

// ended is what everything evaluates to when the budget is used up.
func (s *Session) ended() value.Value { return value.Failure(s.err.Error()) }

// What a step pays for: so many bytes that are looked at, or that a new value takes.
const (
	bytesRead = 64
	bytesMade = 16
)

// spendText takes what a new value costs.
func (s *Session) spendText(v value.Value) value.Value {
	if !s.spend(v.Size() / bytesMade) {
		return s.ended()
	}
	return v
}

// fileKey is a name of a file and from where it counts.
type fileKey struct{ name, from string }

// resolve finds the file that a name means, and remembers it.
func (s *Session) resolve(name, from string) value.Entry {
	if s.Resolve == nil {
		return nil
	}
	key := fileKey{name, from}
	e, known := s.files[key]
	if !known {
		if len(s.files) >= maxFiles {
			clear(s.files)
		}
		e = s.Resolve(name, from)
		s.files[key] = e
	}
	return e
}

// maxFiles bounds the names that are remembered.
const maxFiles = 4096
