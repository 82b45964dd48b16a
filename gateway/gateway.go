// Package gateway carries a request through the corridor: parsed against the
// table, judged by the policy, run by package exec, reported as a [Result].
//
// [Gateway.Plan] goes as far as it can without starting anything, [Gateway.Do]
// goes on from there. A dry run is a plan that is written out: there is no
// second path on which a request could be judged differently.
package gateway

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/gateway/names"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/pages"
	"vaultwicket/gateway/registry"
	"vaultwicket/gateway/semaphore"
	"vaultwicket/gateway/state/paths"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
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

// Served is a vault with what may be done in it.
type Served struct {
	Vault
	Policy policy.Policy
}

// Config is what a [Gateway] is made of.
type Config struct {
	// Policy is that of Vault. Vaults are several vaults in place of the two; the
	// first is the one of a request that names none.
	Policy policy.Policy
	Vault  Vault
	Vaults []Served

	Runner  *exec.Runner
	Backend Backend
	Limits  Limits
	// Disabled refuses every request.
	Disabled bool
	// Session names what this process does, for the audit log and for what a
	// person is asked.
	Session string
	// Getenv finds the app's list of vaults and the place of journal, audit log
	// and approvals; nil means none of them. Without a place for the audit log
	// nothing is changed.
	Getenv func(string) string
	// Log takes our own faults, at [LevelBug], and one line a call at the level
	// info, without anything that a caller sent or a note holds; nil discards them.
	Log *slog.Logger
	// Observe is told of every call; nil is nobody.
	Observe observe.Observer
}

// Gateway runs requests. It is safe for use by several goroutines.
type Gateway struct {
	*shared
	doors []*door
}

// shared is what all vaults of a gateway have in common.
type shared struct {
	runner    *exec.Runner
	backend   Backend
	slots     *semaphore.Semaphore
	admission *admission
	consent   *consent
	records   *records
	shelf     *pages.Shelf[kept]
	session   string
	log       *slog.Logger
	observer  observe.Observer
	waiting   atomic.Int64 // calls that wait for a place
	getenv    func(string) string
}

// door is the way into one vault.
type door struct {
	*shared
	vault   Vault
	policy  atomic.Pointer[policy.Policy]
	writing *semaphore.Semaphore // has the one place of a call that changes something
	target  func() target
	home    func() string // the identity of the folder of the target
	names   *names.Folder // of what is in it
	ruled   atomic.Pointer[ruleNames]
	pin     pin
}

// New returns a gateway. It only allocates: the client is looked for and the
// app's list of vaults is read when the first call needs them.
func New(c Config) *Gateway {
	if c.Backend == "" {
		c.Backend = Auto
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Limits.Parallel <= 0 {
		c.Limits.Parallel = defaultParallel
	}
	if c.Vaults == nil {
		c.Vaults = []Served{{c.Vault, c.Policy}}
	}
	state := stateFolder(c)
	g := &Gateway{shared: &shared{
		runner: c.Runner, backend: c.Backend, slots: semaphore.New(c.Limits.Parallel), session: c.Session, log: c.Log, getenv: c.Getenv,
		observer:  observe.All(c.Observe, observe.NewCallLog(c.Log, c.Session)),
		admission: newAdmission(c.Limits, c.Disabled, paths.State(c.Getenv, "")), consent: newConsent(state), records: newRecords(state, c.Session),
		shelf: pages.NewShelf[kept](keptLimits, time.Now),
	}}
	for _, served := range c.Vaults {
		g.doors = append(g.doors, g.newDoor(served))
	}
	return g
}

func (g *Gateway) newDoor(served Served) *door {
	d := &door{shared: g.shared, vault: served.Vault, writing: semaphore.New(1)}
	d.policy.Store(&served.Policy)
	d.target = sync.OnceValue(func() target { return served.locate(appVaults(g.getenv)) })
	d.home = sync.OnceValue(func() string { return names.Identity(d.target().folder) })
	d.names = names.In(func() (*os.Root, error) { return os.OpenRoot(d.target().folder) })
	return d
}

// stateFolder returns where what must not be lost is kept, "" if there is no
// place outside all vaults.
func stateFolder(c Config) string {
	state := paths.State(c.Getenv, "")
	for _, served := range c.Vaults {
		if served.Folder != "" && paths.State(c.Getenv, served.Folder) == "" {
			return ""
		}
	}
	return state
}

// door returns the vault of a request: the one of that name, id or folder, or
// the first for a request that names none.
func (g *Gateway) door(name string) (*door, error) {
	if name == "" {
		return g.doors[0], nil
	}
	var names []string
	for _, d := range g.doors {
		if name == d.name() || name == d.vault.ID || d.isFolder(name) {
			return d, nil
		}
		names = append(names, d.name())
	}
	hint := "the vaults are " + strings.Join(names, ", ")
	if near := allowlist.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, refuse(codeVaultNotFound, hint, "%q is none of the vaults of this gateway", clip(name))
}

// isFolder reports whether a name is that of the folder of the vault, in whichever
// spelling.
func (g *door) isFolder(name string) bool {
	return filepath.IsAbs(name) && g.vault.Folder != "" && registry.SameFolder(name, g.vault.Folder)
}

// Tighten lays further policies over those in force, for the vaults in their
// order, and stricter limits over the limits. What is in force is never
// loosened. What was kept of answers under the earlier policies is forgotten.
func (g *Gateway) Tighten(policies []policy.Policy, limits Limits, disabled bool) {
	for i, p := range policies[:min(len(policies), len(g.doors))] {
		tightened := g.doors[i].policy.Load().Tighten(p)
		g.doors[i].policy.Store(&tightened)
	}
	g.admission.tighten(limits, disabled)
	g.shelf.Clear()
}

// VaultNames returns the names of the vaults for people, the default one first;
// one of which nothing is known is "".
func (g *Gateway) VaultNames() []string {
	var names []string
	for _, d := range g.doors {
		names = append(names, d.name())
	}
	return names
}

// VaultName returns the name of the default vault for people, "" when the app
// chooses.
func (g *Gateway) VaultName() string { return g.doors[0].name() }

func (g *door) name() string {
	switch v := g.vault; {
	case v.Name != "":
		return v.Name
	case v.Folder != "":
		return filepath.Base(v.Folder)
	default:
		return v.ID
	}
}

// respellAfter is how long the names of rules are believed: a rule that takes
// something away holds in every spelling all the time.
const respellAfter = time.Second

// ruleNames are access rules with the names that the disk has for their paths.
type ruleNames struct {
	written string // the rules that they were made of
	rules   access.Rules
	at      time.Time
}

// pin is whether the app means the vault that was configured.
type pin struct {
	mu   sync.Mutex
	sure bool
}
