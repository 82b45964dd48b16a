package forgery

import (
	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
)

var previews = []policy.Preview{
	{grant: nil},      // want "unexported field grant"
	{struct{}{}, nil}, // want "implicit assignment to unexported field"
}

type previewTwin struct{ call *allowlist.Call }

var (
	previewConverted  = policy.Preview(previewTwin{})           // want "cannot convert"
	previewOfPermit   = policy.Preview(policy.Permit{})         // want "cannot convert"
	permitOfPreview   = policy.Permit(policy.Preview{})         // want "cannot convert"
	permitAsPointer   = (*policy.Permit)(&policy.Preview{})     // want "cannot convert"
	decisionForged    = policy.Decision{call: allowlist.Call{}} // want "unexported field call"
	decisionConverted = policy.Decision(previewTwin{})          // want "cannot convert"
)

type grantTwin struct{}

func (grantTwin) Valid() bool             { return true }
func (grantTwin) Call() allowlist.Call    { return allowlist.Call{} }
func (grantTwin) Access() string          { return "" }
func (grantTwin) Confined() bool          { return false }
func (grantTwin) Guarded() bool           { return false }
func (grantTwin) Secrets() policy.Secrets { return 0 }
func (grantTwin) Exceptions() string      { return "" }
func (grantTwin) Sends() bool             { return true }
func (grantTwin) sealed()                 {}

var grantForged policy.Grant = grantTwin{} // want "unexported method sealed"

func usePreview(p policy.Preview, d policy.Decision, take func(policy.Permit)) {
	take(p)                  // want "cannot use p"
	p.Probe()                // want "p.Probe undefined"
	p.VaultPath()            // want "p.VaultPath undefined"
	p.DailyPath()            // want "p.DailyPath undefined"
	p.ReadDaily("A.md")      // want "p.ReadDaily undefined"
	p.Exists("path", "A.md") // want "p.Exists undefined"
	p.Locate()               // want "p.Locate undefined"
	p.grant = nil            // want "p.grant undefined"
	d.grant = nil            // want "d.grant undefined"
	d.denial = nil           // want "d.denial undefined"
	take(policy.Permit(d))   // want "cannot convert"
	take(p.(policy.Permit))  // want "not an interface"
}
