package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []CommandListing { return ListCommands(g.catalog()) }

// Mutates reports whether any enabled call can change something.
func (g *Gateway) Mutates() bool { return MutationsEnabled(g.catalog()) }

// ListingOf is like [Gateway.Listing], for one vault, "" meaning the default one.
func (g *Gateway) ListingOf(vault string) ([]CommandListing, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, err
	}
	return ListCommands([]CatalogVault{d.catalog()}), nil
}

// Explain returns the listing of one command. The error is an [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (CommandListing, error) {
	return ExplainCommand(g.catalog(), name)
}

// Enabled returns a command with its enabled parameters, see [EnabledCommand].
func (g *Gateway) Enabled(name string) (enabled allowlist.Command, ok bool) {
	return EnabledCommand(g.catalog(), name)
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

// catalog returns what listings of commands in the vaults depend on.
func (g *Gateway) catalog() []CatalogVault {
	var vaults []CatalogVault
	for _, d := range g.vaults {
		vaults = append(vaults, d.catalog())
	}
	return vaults
}

// catalog returns what listings of commands in the vault depend on.
func (g *vaultGateway) catalog() CatalogVault {
	p, facts := g.inForce(Fingerprint{})
	return CatalogVault{Policy: p, Facts: facts, Programs: g.programs()}
}

// inForce returns the policy of the vault and the facts of every call in it, including whether its agent was revoked.
func (g *vaultGateway) inForce(seen Fingerprint) (policy.Policy, policy.Facts) {
	p, facts := g.rules.InForce(seen)
	if g.admission.IsRevoked() {
		facts.Halted = policy.Because(policy.Revoked)
	}
	return p.Under(facts), facts
}

// WhyEnded returns why the agent of the calls has no rights in any vault, "" if it has some.
func (g *Gateway) WhyEnded() string {
	why := ""
	for _, d := range g.vaults {
		p, _ := d.inForce(Fingerprint{})
		if p.Closed == "" {
			return ""
		}
		why = p.Closed
	}
	return why
}

// programs returns the programs that can answer in the vault. With the backend obsidian, the embedded program
// answers extensions if the app is installed.
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

// AccessOf returns what can be done with the note or folder at a path in a vault, "" meaning the default one. The
// error is a [*failure.RequestError] or an [*allowlist.ParseError].
func (g *Gateway) AccessOf(vault, path string) (NoteAccess, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return NoteAccess{}, err
	}
	p, facts := d.inForce(Fingerprint{})
	a, err := d.rules.AccessOf(p, facts, path)
	a.Vault = d.name()
	if err != nil {
		return a, err
	}
	if lineage, known := d.lineage(); known {
		for _, origin := range lineage.Of(a.Path) {
			a.MadeOf = append(a.MadeOf, origin.Path)
		}
		slices.Sort(a.MadeOf)
	}
	return a, nil
}

// ClearLineage forgets from which notes a note of a vault was made, or all notes in a folder; "/" means all notes.
// It returns the path as spelled on the disk. The error is a [*failure.RequestError] if the vault or its journal
// cannot be used.
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
	undoJournal, err := g.Journal(vault)
	if err != nil {
		return "", err
	}
	if err := undoJournal.ClearLineage(path); err != nil {
		return "", failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700", "%v", err)
	}
	return path, nil
}

// maxSubfolders is the maximum number of folders that [Gateway.AccessBelow] returns.
const maxSubfolders = 500

// AccessBelow returns what can be done with the direct subfolders of a folder of a vault, "" meaning its root. They
// are sorted by name; more tells whether there are further ones. Like [NoteAccess] this is only for the owner.
func (g *Gateway) AccessBelow(vault, path string) (list []NoteAccess, more bool, err error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, false, err
	}
	names, more, err := ListFolders(d.target().Folder, path, maxSubfolders)
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

// NoteWithHash returns the text of the note at a path in a vault if it has the given SHA-256 hash, in hexadecimal,
// and may be seen.
func (g *Gateway) NoteWithHash(vault, path, hash string) (text guard.Unjudged, ok bool) {
	d, err := g.vaultNamed(vault)
	if err != nil || !d.rules.Visible()(path) {
		return guard.Unjudged{}, false
	}
	return TextWithHash(d.target().Folder, path, hash)
}

// Judged returns the text of a note with its secrets masked, as in answers. It is for the owner, who often looks at
// it on a screen that others see, too. If the vault is unknown, it returns no text.
func (g *Gateway) Judged(vault string, text guard.Unjudged) guard.Judged {
	d, err := g.vaultNamed(vault)
	if err != nil || d.runner == nil {
		return guard.Judged{}
	}
	p, _ := d.inForce(Fingerprint{})
	shown, _ := d.runner.Marker(p.Secrets).Judge(text, nil) // without a budget
	return shown
}

// EachVisible calls visit with the path of every file of a vault that may be seen, see [Gateway.Visible], until
// visit returns false.
func (g *Gateway) EachVisible(vault string, visit func(path string) bool) error {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return err
	}
	isVisible := d.rules.Visible()
	return EachPath(d.target().Folder, func(path string) bool {
		if !isVisible(path) {
			return true
		}
		return visit(path)
	})
}

// Sight returns which notes of a vault may be seen now. For an unknown vault, nothing may.
func (g *Gateway) Sight(vault string) *Sight {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return blind()
	}
	return d.rules.Sight()
}

// Visible returns [Sight.Sees] of the current sight of a vault.
func (g *Gateway) Visible(vault string) func(path string) bool { return g.Sight(vault).Sees }

// Status is the state of the gateway, determined without starting anything. It names no folder and no program of the
// machine, because what a model reads may end up anywhere.
type Status struct {
	Enabled bool          `json:"enabled"` // if false, every call is refused until the next start
	Paused  bool          `json:"paused"`  // if true, every call is refused until the user resumes
	Backend string        `json:"backend"` // the setting: auto, obsidian or embedded
	Vaults  []VaultStatus `json:"vaults"`  // the default one first
	Limits  LimitStatus   `json:"limits"`
}

// VaultStatus tells which programs can answer for a vault.
type VaultStatus struct {
	Name     string          `json:"name,omitempty"` // "" if the app chooses the vault
	Backends []BackendStatus `json:"backends"`       // in the order in which they are tried
}

// BackendStatus tells whether a program can be started. Only a call shows whether the app runs. Code is the error
// code of a call that needs the program.
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

// Status returns the state of the gateway, even while it is paused or disabled.
func (g *Gateway) Status() Status {
	l := g.admission.Limits()
	s := Status{
		Enabled: !g.admission.Disabled(),
		Paused:  g.admission.Paused(),
		Backend: string(g.backend),
		Limits: LimitStatus{
			Parallel:         l.Parallel,
			CallsMinute:      l.Calls,
			MutationsMinute:  l.Mutations,
			MutationsPerHour: l.MutationsHour,
		},
	}
	for _, d := range g.vaults {
		backends := []BackendStatus{} // those that the setting backend permits
		if g.backend != Embedded {
			_, err := d.app()
			backends = append(backends, backendStatus(App, err))
		}
		if g.backend != App {
			_, err := d.embedded()
			backends = append(backends, backendStatus(Embedded, err))
		}
		s.Vaults = append(s.Vaults, VaultStatus{Name: d.name(), Backends: backends})
	}
	return s
}

// backendStatus returns the status of a program. err is the error of looking for it.
func backendStatus(name Backend, err error) BackendStatus {
	if err != nil {
		return BackendStatus{Name: string(name), Code: failure.Of(err).Code}
	}
	return BackendStatus{Name: string(name), Usable: true}
}

// Disabled reports whether every call is refused because of the setting enabled.
func (g *Gateway) Disabled() bool { return g.admission.Disabled() }

// AppVersion returns the answer of the Obsidian CLI to version. The error says that there is no CLI, that the app is
// closed, or that the policy disables the command.
func (g *Gateway) AppVersion(ctx context.Context) (string, error) {
	out, err := g.askApp(ctx, func(p policy.Permit) policy.Permit { return p })
	return strings.TrimSpace(out), err
}

// AppHelp returns the help text of the Obsidian CLI, which lists the commands of the installed app. Callers of help
// never see it.
func (g *Gateway) AppHelp(ctx context.Context) (string, error) {
	return g.askApp(ctx, policy.Permit.Help)
}

// askApp runs the command version on the app, or another command whose permit derive makes from that of version.
func (g *Gateway) askApp(ctx context.Context, derive func(policy.Permit) policy.Permit) (string, error) {
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
	out, err := g.runner.Run(ctx, derive(plan.routes[0].permit), program)
	switch {
	case err != nil:
		return "", err
	case out.Failure != nil:
		return "", out.Failure
	}
	return out.Stdout, nil
}
