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

// MinVersion returns the oldest app that may run the call.
func (p Permit) MinVersion() tiers.Version { return p.minimum }
