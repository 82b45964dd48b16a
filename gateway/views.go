package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []CommandListing { return ListCommands(g.listed()) }

// Mutates reports whether any enabled call can change something.
func (g *Gateway) Mutates() bool { return MutationsEnabled(g.listed()) }

// ListingOf is [Gateway.Listing] for one vault, "" for the default one.
func (g *Gateway) ListingOf(vault string) ([]CommandListing, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, err
	}
	return ListCommands([]CatalogVault{d.listed()}), nil
}

// Explain returns one command. The error is a [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (CommandListing, error) {
	return ExplainCommand(g.listed(), name)
}

// Enabled returns a command with its enabled parameters, see [EnabledCommand].
func (g *Gateway) Enabled(name string) (enabled allowlist.Command, ok bool) {
	return EnabledCommand(g.listed(), name)
}

// Policies returns what is in force for each vault, the default one first.
func (g *Gateway) Policies() []VaultView {
	views := []VaultView{}
	for _, d := range g.vaults {
		p, facts := d.inForce(Fingerprint{})
		views = append(views, VaultViewOf(d.name(), p, facts))
	}
	return views
}

func (g *Gateway) listed() []CatalogVault {
	var vaults []CatalogVault
	for _, d := range g.vaults {
		vaults = append(vaults, d.listed())
	}
	return vaults
}

// listed returns what listings of the commands of the vault depend on.
func (g *vaultGateway) listed() CatalogVault {
	p, facts := g.inForce(Fingerprint{})
	return CatalogVault{Policy: p, Facts: facts, Programs: g.programs()}
}

// inForce returns the policy of the vault and the facts of every call in it, among them whether its agent was
// revoked.
func (g *vaultGateway) inForce(seen Fingerprint) (policy.Policy, policy.Facts) {
	p, facts := g.rules.InForce(seen)
	if g.admission.IsRevoked() {
		facts.Halted = policy.Because(policy.Revoked)
	}
	return p.Under(facts), facts
}

// WhyEnded returns why the agent of the calls has no rights in any vault, "" for one that has some.
func (g *Gateway) WhyEnded() string {
	why := ""
	for _, d := range g.vaults {
		p, _ := d.inForce(Fingerprint{})
		if why = p.Closed; why == "" {
			break
		}
	}
	return why
}

// programs finds the programs that can answer in the vault. With the backend obsidian
// the embedded one answers extensions, if the app is installed.
func (g *vaultGateway) programs() (p Programs) {
	if g.runner == nil {
		return p
	}
	p.Embedded = g.target().Folder != ""
	if g.backend == Embedded {
		return p
	}
	p.App = g.runner.HasApp() && !g.target().Unlisted
	if g.backend == App && !p.App {
		return Programs{}
	}
	return p
}

// AccessOf returns what can be done with the note or folder at a path in a vault, "" for
// the default one. The error is a [*failure.RequestError] or a [*allowlist.ParseError].
func (g *Gateway) AccessOf(vault, path string) (NoteAccess, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return NoteAccess{}, err
	}
	p, facts := d.inForce(Fingerprint{})
	a, err := d.rules.AccessOf(p, facts, path)
	a.Vault = d.name()
	if lineage, known := d.lineage(); err == nil && known {
		for _, origin := range lineage.Of(a.Path) {
			a.MadeOf = append(a.MadeOf, origin.Path)
		}
		slices.Sort(a.MadeOf)
	}
	return a, err
}

// ClearLineage forgets what a note of a vault was made of, or the notes in a folder; "/" is all of them. It returns the
// path as the disk has it. The error is a [*failure.RequestError] if the vault or its journal cannot be used.
func (g *Gateway) ClearLineage(vault, path string) (string, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return "", err
	}
	if path != "/" {
		p, facts := d.inForce(Fingerprint{})
		a, err := d.rules.AccessOf(p, facts, path)
		if err != nil {
			return "", err
		}
		path = a.Path
	}
	kept, err := g.Journal(vault)
	if err != nil {
		return "", err
	}
	if err := kept.ClearLineage(path); err != nil {
		return "", failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700", "%v", err)
	}
	return path, nil
}

// maxBelow bounds the folders that [Gateway.AccessBelow] returns.
const maxBelow = 500

// AccessBelow returns what can be done with the folders that are directly in a folder of a
// vault, "" for its root, sorted by name, and whether there are more. Like [NoteAccess] it is
// for the owner.
func (g *Gateway) AccessBelow(vault, path string) (list []NoteAccess, more bool, err error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, false, err
	}
	names, more, err := ListFolders(d.target().Folder, path, maxBelow)
	if err != nil {
		return nil, false, failure.New(
			failure.CodeNotFound,
			"give the path of a folder in the vault",
			"folder %q: %v",
			excerpt.Short(path),
			err,
		)
	}
	for _, name := range names {
		a, err := g.AccessOf(vault, strings.TrimPrefix(path+"/"+name, "/"))
		if err != nil {
			return nil, false, err
		}
		list = append(list, a)
	}
	return list, more, nil
}

// NoteWithHash returns the text of the note at a path in a vault if it has the SHA-256
// hash, in hexadecimal, and may be seen.
func (g *Gateway) NoteWithHash(vault, path, hash string) (text guard.Unjudged, ok bool) {
	d, err := g.vaultNamed(vault)
	if err != nil || !d.rules.Visible()(path) {
		return guard.Unjudged{}, false
	}
	return TextWithHash(d.target().Folder, path, hash)
}

// Judged returns the text of a note with its secrets masked, as in answers. It is for what the owner looks at, which
// is often on a screen that others see, too. Of a vault that there is not it is no text.
func (g *Gateway) Judged(vault string, text guard.Unjudged) guard.Judged {
	d, err := g.vaultNamed(vault)
	if err != nil || d.runner == nil {
		return guard.Judged{}
	}
	p, _ := d.inForce(Fingerprint{})
	shown, _ := d.runner.Marker(p.Secrets).Judge(text, nil) // nothing is charged
	return shown
}

// EachVisible calls visit with the path of every file of a vault that may be seen, see
// [Gateway.Visible], until it returns false.
func (g *Gateway) EachVisible(vault string, visit func(path string) bool) error {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return err
	}
	sees := d.rules.Visible()
	return EachPath(d.target().Folder, func(path string) bool { return !sees(path) || visit(path) })
}

// Visible returns what tells whether the note at a path in a vault may be seen, see
// [NoteRules.Visible]. Of a vault that the gateway does not have, nothing may.
func (g *Gateway) Visible(vault string) func(path string) bool {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return func(string) bool { return false }
	}
	return d.rules.Visible()
}

// Status is the state of the gateway, found without starting anything. It names no folder and no
// program of the machine: what a model reads may end up anywhere.
type Status struct {
	Enabled bool          `json:"enabled"` // false: every call is refused until the next start
	Paused  bool          `json:"paused"`  // true: every call is refused until the user resumes
	Backend string        `json:"backend"` // the setting: auto, obsidian or embedded
	Vaults  []VaultStatus `json:"vaults"`  // the default one first
	Limits  LimitStatus   `json:"limits"`
}

// VaultStatus says which programs can answer for a vault.
type VaultStatus struct {
	Name     string          `json:"name,omitempty"` // "" where the app chooses
	Backends []BackendStatus `json:"backends"`       // in the order in which they are asked
}

// BackendStatus says whether a program can be started. Only a call tells whether the app runs.
// Code is the error code of a call that needs the program.
type BackendStatus struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Code   string `json:"code,omitempty"`
}

// LimitStatus are the limits in force; 0 means no limit.
type LimitStatus struct {
	Parallel         int `json:"maxParallel"`
	CallsMinute      int `json:"callsPerMinute"`
	MutationsMinute  int `json:"mutationsPerMinute"`
	MutationsPerHour int `json:"mutationsPerHour"`
}

// Status returns the state of the gateway, also while it is paused or disabled.
func (g *Gateway) Status() Status {
	l := g.admission.Limits()
	s := Status{
		Enabled: !g.admission.Disabled(), Paused: g.admission.Paused(), Backend: string(g.backend),
		Limits: LimitStatus{
			Parallel:         l.Parallel,
			CallsMinute:      l.Calls,
			MutationsMinute:  l.Mutations,
			MutationsPerHour: l.MutationsHour,
		},
	}
	for _, d := range g.vaults {
		backends := []BackendStatus{} // that the setting backend permits
		for _, b := range []struct {
			name, unless Backend
			program      func() (exec.Program, error)
		}{{App, Embedded, d.app}, {Embedded, App, d.embedded}} {
			if g.backend == b.unless {
				continue
			}
			status := BackendStatus{Name: string(b.name), Usable: true}
			if _, err := b.program(); err != nil {
				status.Usable, status.Code = false, failure.Of(err).Code
			}
			backends = append(backends, status)
		}
		s.Vaults = append(s.Vaults, VaultStatus{Name: d.name(), Backends: backends})
	}
	return s
}

// Disabled reports whether the setting enabled refuses every call.
func (g *Gateway) Disabled() bool { return g.admission.Disabled() }

// AppVersion returns what the Obsidian CLI answers to version. An error says that there is
// no CLI, that the app is closed, or that the policy disables the command.
func (g *Gateway) AppVersion(ctx context.Context) (string, error) {
	out, err := g.askApp(ctx, func(p policy.Permit) policy.Permit { return p })
	return strings.TrimSpace(out), err
}

// AppHelp returns the help text of the Obsidian CLI, which a caller of help never sees. It
// tells which commands the installed app has.
func (g *Gateway) AppHelp(ctx context.Context) (string, error) {
	return g.askApp(ctx, policy.Permit.Help)
}

// askApp runs the command version on the app, or another one whose permit derived makes from that of version.
func (g *Gateway) askApp(ctx context.Context, derived func(policy.Permit) policy.Permit) (string, error) {
	if err := g.Admits(); err != nil {
		return "", err
	}
	program, err := g.runner.App()
	if err != nil {
		return "", err
	}
	plan, err := g.vaults[0].Plan(Request{Command: "version"})
	if err != nil {
		return "", err
	}
	out, err := g.runner.Run(ctx, derived(plan.routes[0].permit), program)
	switch {
	case err != nil:
		return "", err
	case out.Failure != nil:
		return "", out.Failure
	}
	return out.Stdout, nil
}
