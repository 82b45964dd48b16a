package forgery

import (
	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

var someCall allowlist.Call

var permits = []policy.Permit{
	{grant: nil},                    // want "unexported field grant"
	{call: someCall},                // want "unknown field call"
	{minimum: tiers.DefaultMinimum}, // want "unknown field minimum"
	{nil},                           // want "implicit assignment to unexported field"
}

type permitTwin struct {
	call    *allowlist.Call
	minimum tiers.Version
}

var (
	permitConverted = policy.Permit(permitTwin{call: &someCall})               // want "cannot convert"
	permitPointer   = (*policy.Permit)(&permitTwin{call: &someCall})           // want "cannot convert"
	permitUnnamed   = policy.Permit(struct{ call *allowlist.Call }{&someCall}) // want "cannot convert"
	permitFromCall  = policy.Permit(someCall)                                  // want "cannot convert"
)

func changePermit(p policy.Permit) {
	p.grant = nil                         // want "p.grant undefined"
	p.grant.call = someCall               // want "p.grant undefined"
	p.call = someCall                     // want "p.call undefined"
	p.minimum = tiers.Version{}           // want "p.minimum undefined"
	p.step("eval", nil)                   // want "p.step undefined"
	p.Valid = func() bool { return true } // want "cannot assign"
}

type wrapped struct{ policy.Permit }

func useWrapped(take func(policy.Permit)) {
	take(wrapped{}) // want "cannot use wrapped"
}
