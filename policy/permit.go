package policy

import (
	"vaultwicket/allowlist"
	"vaultwicket/tiers"
)

// Permit is the authority to run one call. Only a [Decision] grants one, and the
// methods in steps.go derive one from another. The zero Permit grants nothing.
type Permit struct{ *grant }

// Preview is the authority to have the embedded program work out what one call would
// change, and nothing else: no step can be derived from it, and package exec runs
// nothing else with it. Only a [Decision] grants one. The zero Preview grants nothing.
type Preview struct {
	_ struct{} // otherwise a Preview could be converted into a Permit
	*grant
}

// Grant is a [Permit] or a [Preview]: what is common to both. It is for reading; what
// may be started is decided by which of the two it is.
type Grant interface {
	Valid() bool
	Call() allowlist.Call
	Access() string
	Confined() bool
	Guarded() bool
	sealed()
}

// grant is what a policy says about how one call may be run. It is not changed after
// it is made. Its methods return the zero value for nil.
type grant struct {
	call    allowlist.Call
	minimum tiers.Version
	// access are the rules that the embedded program enforces for the call. A confined
	// call may not be run by a program that does not know them.
	access   string
	confined bool
	// by is the policy that granted it, which also judges the steps of the call.
	// separate says that the call has nothing to do with any note, and that nobody is
	// shown what else is answered.
	by       Policy
	separate bool
}

// Valid reports whether a policy granted it.
func (g *grant) Valid() bool { return g != nil && g.call.Valid() }

// Call returns what may be run: exactly this and nothing else. It is the zero
// Call if nothing is granted.
func (g *grant) Call() allowlist.Call {
	if g == nil {
		return allowlist.Call{}
	}
	return g.call
}

// Access returns the rules under which the call is to be run, as package access
// writes them, "" for none. The embedded program is always given them.
func (g *grant) Access() string {
	if g == nil {
		return ""
	}
	return g.access
}

// Confined reports whether only a program that enforces the rules of Access may run
// the call: its answer may depend on notes that are hidden, or it may change more
// notes than it names.
func (g *grant) Confined() bool { return g != nil && g.confined }

// Guarded reports whether some notes of the vault are hidden from the caller. Then of
// what a program that does not enforce the rules prints, only the answer to the call
// itself is passed on.
func (g *grant) Guarded() bool {
	return g != nil && !g.separate && (g.by.Access.Hide() || g.by.Ignores)
}

// MinVersion returns the oldest app that may run the call.
func (g *grant) MinVersion() tiers.Version {
	if g == nil {
		return tiers.Version{}
	}
	return g.minimum
}

func (g *grant) sealed() {}
