// Package gateway carries a request through the corridor: parsed against the
// table, judged by the policy, run by package exec, reported as a [Result].
//
// [Gateway.Plan] goes as far as it can without starting anything, [Gateway.Do]
// goes on from there. A dry run is a plan that is written out: there is no
// second path on which a request could be judged differently.
package gateway

import (
	"io"
	"path/filepath"
	"sync"

	"vaultwicket/exec"
	"vaultwicket/policy"
)

// Backend says which program is to answer.
type Backend string

const (
	// Auto is the official CLI where it is usable, else the embedded program
	// where the folder of the vault is known. The zero value means the same.
	Auto Backend = "auto"
	// App is the official CLI and nothing else.
	App Backend = "obsidian"
	// Embedded is this binary's own vault CLI and nothing else.
	Embedded Backend = "embedded"
)

// Vault is the vault all calls go to. The zero Vault is the one the app
// chooses.
type Vault struct {
	Name   string // as the app knows it
	ID     string // the app's id, 16 hex digits
	Folder string // absolute; lets the embedded program serve the vault
}

// Config is what a [Gateway] is made of.
type Config struct {
	Policy  policy.Policy
	Runner  *exec.Runner
	Backend Backend
	Vault   Vault
	// MaxParallel bounds the calls that run at once; 0 means 4.
	MaxParallel int
	// Getenv finds the app's list of vaults and the place of the journal; nil
	// means neither.
	Getenv func(string) string
	// Log takes the details of our own faults, which no caller sees; nil
	// discards them.
	Log io.Writer
}

const defaultParallel = 4 // more calls at once only wait for the app, which answers one at a time

// Gateway runs requests. It is safe for use by several goroutines.
type Gateway struct {
	policy  policy.Policy
	runner  *exec.Runner
	backend Backend
	vault   Vault
	slots   chan struct{}
	writing chan struct{} // holds the one call that changes something
	log     io.Writer
	getenv  func(string) string
	target  func() target
}

// New returns a gateway. It only allocates: the client is looked for and the
// app's list of vaults is read when the first call needs them.
func New(c Config) *Gateway {
	if c.MaxParallel <= 0 {
		c.MaxParallel = defaultParallel
	}
	if c.Backend == "" {
		c.Backend = Auto
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	return &Gateway{
		getenv: c.Getenv,
		policy: c.Policy, runner: c.Runner, backend: c.Backend, vault: c.Vault,
		slots: make(chan struct{}, c.MaxParallel), writing: make(chan struct{}, 1), log: c.Log,
		target: sync.OnceValue(func() target { return c.Vault.locate(appVaults(c.Getenv)) }),
	}
}

// VaultName returns the name of the vault for people, "" when the app chooses.
func (g *Gateway) VaultName() string {
	switch v := g.vault; {
	case v.Name != "":
		return v.Name
	case v.Folder != "":
		return filepath.Base(v.Folder)
	default:
		return v.ID
	}
}
