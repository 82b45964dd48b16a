// Package eval evaluates the expressions of bases on the files of a vault.
//
// It reads nothing by itself and never fails as a whole: what goes wrong is a
// value of kind [value.Error] with the app's sentence. The exceptions are the
// limits of a [Session], which end all of it.
package eval

import (
	"context"

	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/budget"
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

// Session is one query: its expressions use the budget of its context. It is to be used by
// one goroutine.
type Session struct {
	Environment
	budget *budget.Budget
	steps  int
	unpaid int // of the steps
	err    error
	depth  int
	files  map[fileKey]value.Entry

	// alive is how many bytes the values have that are being worked with, kept of them those
	// of formulas, and held how many of the budget that takes.
	alive, kept, held int64
}

const (
	maxDepth = 200 // formulas and calls within each other
	// payEvery is how many steps are taken from the budget at once, and holdStep how many
	// bytes.
	payEvery = 256
	holdStep = 64 << 10
)

// NewSession begins a query, which ends with ctx and its budget.
func NewSession(ctx context.Context, env Environment) *Session {
	return &Session{Environment: env, budget: budget.From(ctx), files: map[fileKey]value.Entry{}}
}

// Err returns why the session ended before its time: an error of the budget. What was
// evaluated after that is worthless.
func (s *Session) Err() error { return s.err }

// Steps returns how many steps were taken.
func (s *Session) Steps() int { return s.steps }

// spend takes n steps from the budget, and reports whether there were as many.
func (s *Session) spend(n int) bool {
	s.steps += n
	if s.unpaid += n; s.err == nil && s.unpaid >= payEvery {
		s.err = s.budget.Step(int64(s.unpaid))
		s.unpaid = 0
	}
	return s.err == nil
}

// hold counts what a new value takes, and reports whether there is as much.
func (s *Session) hold(v value.Value) bool {
	if s.alive += int64(v.Shallow()); s.err == nil && s.alive > s.held {
		more := max(holdStep, s.alive-s.held)
		if s.err = s.budget.Hold(more); s.err == nil {
			s.held += more
		}
	}
	return s.err == nil
}

// let says that of what is alive only so many bytes are.
func (s *Session) let(alive int64) {
	s.alive = alive
	if spare := s.held - alive; spare > 16*holdStep {
		s.budget.Release(spare - holdStep)
		s.held -= spare - holdStep
	}
}

// Keep counts a value of which the query keeps the text for its answer.
func (s *Session) Keep(v value.Value) bool {
	if s.err == nil {
		s.err = s.budget.Put(int64(v.Deep()))
	}
	return s.err == nil
}

// Forgetting calls do, and then forgets what formulas it has evaluated, unless it returns
// true.
func (s *Session) Forgetting(do func() (keep bool)) bool {
	alive, kept := s.alive, s.kept
	keep := do()
	if !keep {
		s.kept = kept
		s.let(alive)
	}
	return keep
}

// ended is what everything evaluates to when the budget is used up.
func (s *Session) ended() value.Value { return value.Failure(s.err.Error()) }

// What a step pays for: so many bytes that are looked at, or that a new value takes.
const (
	bytesRead = 64
	bytesMade = 16
)

// made takes what a new value costs.
func (s *Session) made(v value.Value) value.Value {
	if !s.spend(v.Size()/bytesMade) || !s.hold(v) {
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
