// Package gateway carries out requests: each is parsed by package allowlist, decided
// about by package policy, run by package exec and reported as a [Result].
//
// [Gateway.Do] runs one request, [Gateway.DoBatch] several. [Gateway.DryRun] makes the
// same plan and writes it out in place of running it: there is no second path on which
// a request could be decided differently. The stages of a request are in process.go.
package gateway

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/names"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/pages"
	"vaultwicket/gateway/records"
	"vaultwicket/gateway/registry"
	"vaultwicket/gateway/state/paths"
	"vaultwicket/policy"
)

// Vault is the vault all calls go to. The zero Vault is the one the app
// chooses.
type Vault struct {
	Name   string // as the app knows it
	ID     string // the app's id, 16 hex digits
	Folder string // absolute; lets the embedded program serve the vault
	// Pinned has the app say where its vault of that name or id lies, before
	// anything else is asked of it, and refuses when that is not Folder.
	Pinned bool
}

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
	Limits  admission.Limits
	// Disabled refuses every request.
	Disabled bool
	// OwnDay says that a day begins at another hour than that of the app, so that calls
	// about today's note are carried out by the embedded backend where it can.
	OwnDay bool
	// Session names what this process does, for the audit log and for what a
	// person is asked.
	Session string
	// Getenv finds the app's list of vaults and the place of journal, audit log
	// and approvals; nil means none of them. Without a place for the audit log
	// nothing is changed.
	Getenv func(string) string
	// Log takes our own faults, at [observe.LevelBug], and one line a call at the level
	// info, without anything that a caller sent or a note holds; nil discards them.
	Log *slog.Logger
	// Observe is told of every call; nil is nobody.
	Observe observe.Observer
}

// Gateway runs requests. It is safe for use by several goroutines.
type Gateway struct {
	*shared
	vaults []*vaultGateway
}

// shared is what all vaults of a gateway have in common.
type shared struct {
	runner    *exec.Runner
	backend   Backend
	ownDay    bool
	running   *admission.Semaphore
	admission *admission.Controller
	consent   *consent.Approvals
	records   *records.Records
	answers   *pages.Store[storedAnswer]
	session   string
	log       *slog.Logger
	observer  observe.Observer
	getenv    func(string) string
}

// vaultGateway carries out the requests for one vault.
type vaultGateway struct {
	*shared
	vault          Vault
	rules          *notes.Rules
	writing        *admission.Semaphore // has the one place of a call that changes something
	target         func() registry.Place
	folderIdentity func() string // the identity of the folder of the target
	pin            pin
	today          dailyPath
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
		c.Limits.Parallel = admission.DefaultParallel
	}
	if c.Vaults == nil {
		c.Vaults = []Served{{c.Vault, c.Policy}}
	}
	state := stateFolder(c)
	g := &Gateway{shared: &shared{
		runner: c.Runner, backend: c.Backend, ownDay: c.OwnDay, running: admission.NewSemaphore(c.Limits.Parallel), session: c.Session, log: c.Log, getenv: c.Getenv,
		observer:  observe.All(c.Observe, observe.NewCallLog(c.Log, c.Session)),
		admission: admission.New(c.Limits, c.Disabled, paths.State(c.Getenv, ""), c.Runner.Timeout), consent: consent.New(state), records: records.New(state, c.Session),
		answers: pages.NewStore[storedAnswer](storeLimits, time.Now),
	}}
	for _, served := range c.Vaults {
		g.vaults = append(g.vaults, g.newVault(served))
	}
	return g
}

func (g *Gateway) newVault(served Served) *vaultGateway {
	d := &vaultGateway{shared: g.shared, vault: served.Vault, writing: admission.NewSemaphore(1)}
	d.target = sync.OnceValue(func() registry.Place {
		return registry.Locate(registry.Read(g.getenv), registry.Wanted{Name: served.Name, ID: served.ID, Folder: served.Folder})
	})
	d.folderIdentity = sync.OnceValue(func() string { return names.Identity(d.target().Folder) })
	d.rules = notes.NewRules(served.Policy, func() string { return d.target().Folder })
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

// vaultNamed returns the vault of a request: the one of that name, id or folder, or
// the first for a request that names none.
func (g *Gateway) vaultNamed(name string) (*vaultGateway, error) {
	if name == "" {
		return g.vaults[0], nil
	}
	var names []string
	for _, d := range g.vaults {
		if name == d.name() || name == d.vault.ID || d.isFolder(name) {
			return d, nil
		}
		names = append(names, d.name())
	}
	hint := "the vaults are " + strings.Join(names, ", ")
	if near := quote.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, failure.New(failure.CodeVaultNotFound, hint, "unknown vault %q", quote.Short(name))
}

// isFolder reports whether a name is that of the folder of the vault, in whichever
// spelling.
func (g *vaultGateway) isFolder(name string) bool {
	return filepath.IsAbs(name) && g.vault.Folder != "" && registry.SameFolder(name, g.vault.Folder)
}

// Tighten lays further policies over those in force, for the vaults in their
// order, and stricter limits over the limits. What is in force is never
// loosened. What was kept of answers under the earlier policies is forgotten.
func (g *Gateway) Tighten(policies []policy.Policy, limits admission.Limits, disabled bool) {
	for i, p := range policies[:min(len(policies), len(g.vaults))] {
		g.vaults[i].rules.Tighten(p)
	}
	g.admission.Tighten(limits, disabled)
	g.answers.Clear()
}

// Load counts the calls. Those that wait for approval are neither
// running nor waiting.
func (g *Gateway) Load() observe.Load {
	load := observe.Load{Running: g.running.Running(), Waiting: g.running.Waiting()}
	for _, v := range g.vaults {
		load.Waiting += v.writing.Waiting()
	}
	return load
}

// Flush writes to the audit log what was only counted until then. It is for the end
// of a program; the gateway can be used afterwards.
func (g *Gateway) Flush() { g.records.Flush() }

// VaultNames returns the names of the vaults for people, the default one first;
// one of which nothing is known is "".
func (g *Gateway) VaultNames() []string {
	var names []string
	for _, d := range g.vaults {
		names = append(names, d.name())
	}
	return names
}

// VaultName returns the name of the default vault for people, "" when the app
// chooses.
func (g *Gateway) VaultName() string { return g.vaults[0].name() }

func (g *vaultGateway) name() string {
	switch v := g.vault; {
	case v.Name != "":
		return v.Name
	case v.Folder != "":
		return filepath.Base(v.Folder)
	default:
		return v.ID
	}
}

// identity tells the vault from every other one, also from one of the same name.
func (g *vaultGateway) identity() string {
	at := g.target()
	if at.Folder == "" {
		return "app:" + at.App
	}
	return "folder:" + g.folderIdentity()
}

// callerOf names who asks, also for the journal: the caller, or this process where
// that has only one.
func (g *vaultGateway) callerOf(req Request) string { return cmp.Or(req.Caller, g.session, "gateway") }

// pin is whether the app means the vault that was configured.
type pin struct {
	mu   sync.Mutex
	sure bool
}
