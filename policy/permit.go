package policy

import (
	"vaultwicket/allowlist"
	"vaultwicket/tiers"
)

// Permit is the authority to run one call. Only [Policy.Decide] and the methods
// of this file grant one; the zero Permit is worthless.
type Permit struct {
	call    *allowlist.Call
	minimum tiers.Version
	preview bool
	// access are the rules that the embedded program holds for the call; confined
	// says that no program may run it that does not know them.
	access   string
	confined bool
	// by is the policy that granted the permit: a step of the call is judged by it.
	by *Policy
}

// Valid reports whether p was granted by a policy.
func (p Permit) Valid() bool { return p.call != nil && p.call.Valid() }

// Call returns what may be run: exactly this and nothing else. It is the zero
// Call for the zero Permit.
func (p Permit) Call() allowlist.Call {
	if p.call == nil {
		return allowlist.Call{}
	}
	return *p.call
}

// OnlyPreviews reports whether p is good for nothing but to have worked out what
// the call would change.
func (p Permit) OnlyPreviews() bool { return p.preview }

// Access returns the rules under which the call is to be run, as package access
// writes them, "" for none. The embedded program is always given them.
func (p Permit) Access() string { return p.access }

// Confined reports whether only a program that holds the rules of Access may run
// the call: its answer may depend on notes that are hidden, or it may touch more
// notes than it names.
func (p Permit) Confined() bool { return p.confined }

// Guarded reports whether something of the vault is hidden from whoever makes the
// call. Then a program that does not hold the rules is trusted with what it was
// asked for and with nothing else that it prints.
func (p Permit) Guarded() bool { return p.by != nil && (p.by.Access.Hide() || p.by.Ignores) }

// MinVersion returns the oldest app that may run the call.
func (p Permit) MinVersion() tiers.Version { return p.minimum }
