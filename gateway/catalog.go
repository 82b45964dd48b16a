package gateway

// The catalog describes the commands of the table for one or more vaults: which are enabled and can be answered
// there, with which parameters, and how severe their effects can be. It comes as lists for programs and as text for
// users and models. It makes no decisions; the policy does.

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// CatalogVault is what a list of commands depends on: the policy of a vault, the facts of every call there, and the
// programs that can answer.
type CatalogVault struct {
	Policy   policy.Policy
	Facts    policy.Facts
	Programs Programs
}

// CommandListing is a command with its state in the vaults. It is enabled if it is enabled in one of them.
type CommandListing struct {
	allowlist.Command
	// Denial says why the command without optional parameters is denied, nil if it is enabled.
	Denial *policy.Denial
	// Missing says why no program can answer the command, nil if one can. Calls are not refused for that reason: the
	// program may be installed by then.
	Missing *failure.Error
	vault   *CatalogVault // the vault that Denial is about
	closed  []bool        // for each of Params, whether no policy enables it
	whole   bool          // the signature shows those parameters, too
}

// Enabled reports whether the command is permitted and a program can answer it.
func (l CommandListing) Enabled() bool { return l.Denial == nil && l.Missing == nil }

// ListCommands returns every command of the table, in table order.
func ListCommands(vaults []CatalogVault) []CommandListing {
	listing := make([]CommandListing, 0, len(allowlist.Names())) // of about 400 bytes each
	for c := range allowlist.Commands() {
		listing = append(listing, newListing(vaults, c))
	}
	return listing
}

// Signature returns the signature of the command with its enabled parameters. For a listing of [ExplainCommand] it
// has all.
func (l CommandListing) Signature(form allowlist.SignatureForm) string {
	return l.Command.Signature(func(p allowlist.Param) bool {
		i := slices.IndexFunc(l.Params, func(own allowlist.Param) bool { return own.Name == p.Name })
		return l.whole || i >= 0 && !l.closed[i]
	}, form)
}

// newListing returns the state of a command: that in the first vault in which it is enabled, or else that in the
// default vault.
func newListing(vaults []CatalogVault, c allowlist.Command) CommandListing {
	l := CommandListing{Command: c}
	for i := range vaults {
		v := &vaults[i]
		denial := v.Policy.Lists(c, v.Facts)
		missing := v.Programs.missing(c)
		isBetter := denial == nil && (l.Denial != nil || missing == nil)
		if i == 0 || isBetter {
			l.Denial = denial
			l.Missing = missing
			l.vault = v
		}
	}
	l.closed = make([]bool, len(c.Params))
	for i, p := range c.Params {
		l.closed[i] = !slices.ContainsFunc(vaults, func(v CatalogVault) bool { return v.Policy.Allows(p) })
	}
	return l
}

// ExplainCommand returns the listing of one command. Its signature has all parameters. The error is an
// [*allowlist.ParseError].
func ExplainCommand(vaults []CatalogVault, name string) (CommandListing, error) {
	c, err := allowlist.Describe(name)
	if err != nil {
		return CommandListing{}, err
	}
	l := newListing(vaults, c)
	l.whole = true
	return l, nil
}

// WorstEffect returns the most severe effect that any enabled call can have. Clients need it to decide whether to
// ask their user before calls.
func WorstEffect(listing []CommandListing) tiers.Effect {
	worst := tiers.Reads
	for _, l := range listing {
		if l.Denial != nil {
			continue
		}
		if l.Effect.WorseThan(worst) {
			worst = l.Effect
		}
		for i, p := range l.Params {
			isEnabled := p.Refused == "" && !l.closed[i]
			if isEnabled && p.Effect != tiers.Unknown && p.Effect.WorseThan(worst) {
				worst = p.Effect
			}
		}
	}
	return worst
}

// MutationsEnabled reports whether any enabled call can change something.
func MutationsEnabled(vaults []CatalogVault) bool {
	if !slices.ContainsFunc(vaults, func(v CatalogVault) bool { return v.Policy.Mutations }) {
		return false // without that setting a policy enables no changes
	}
	for c := range allowlist.Commands() {
		if WorstEffect([]CommandListing{newListing(vaults, c)}).Mutates() {
			return true
		}
	}
	return false
}

// EnabledCommand returns a command with the parameters that are enabled in a vault in which the command itself is
// enabled. ok is false for an unknown command, and for one that no vault enables or no program can answer.
func EnabledCommand(vaults []CatalogVault, name string) (enabled allowlist.Command, ok bool) {
	enabled, err := allowlist.Describe(name)
	if err != nil {
		return allowlist.Command{}, false
	}
	vaults = slices.DeleteFunc(
		slices.Clone(vaults),
		func(v CatalogVault) bool { return !newListing([]CatalogVault{v}, enabled).Enabled() },
	)
	enabled.Params = slices.DeleteFunc(enabled.Params, func(p allowlist.Param) bool {
		return p.Refused != "" || !slices.ContainsFunc(vaults, func(v CatalogVault) bool { return v.Policy.Allows(p) })
	})
	return enabled, len(vaults) > 0
}

// Programs tells which programs can be started for a vault. App means that its CLI is installed; only a call shows
// whether the app runs.
type Programs struct{ App, Embedded bool }

// missing returns why no program can answer a command, nil if one can. It also returns nil if there is no program at
// all: then the error of a call is more precise.
func (p Programs) missing(c allowlist.Command) *failure.Error {
	switch {
	case p.App == p.Embedded:
		return nil
	case !p.App && c.NeedsApp:
		return &failure.Error{
			Code:    failure.CodeNeedsApp,
			Message: "requires the Obsidian app, which is not used here",
			Hint:    "the user can install the Obsidian CLI, open the vault in Obsidian and set backend to auto",
		}
	case !p.Embedded && c.EmbeddedOnly:
		return &failure.Error{
			Code:    failure.CodeVaultNotFound,
			Message: "requires the embedded backend, which needs the folder of the vault",
			Hint:    "the user can set vault to the folder of the vault",
		}
	}
	return nil
}

// VaultView is what a policy allows in one vault, in a form for callers.
type VaultView struct {
	Vault    string        `json:"vault,omitempty"` // "" if the app chooses the vault
	Settings []SettingView `json:"settings"`
	Access   AccessView    `json:"access"`
	// Texts are the content rules, for the owner alone: their exceptions are paths.
	Texts []policy.TextRule `json:"-"`
}

// SettingView is the value in force of a setting, and where it was set.
type SettingView struct {
	Name   string `json:"name"`
	Value  any    `json:"value"` // a string, a boolean or a list of strings
	Origin string `json:"origin,omitempty"`
}

// AccessView is what callers may know of the access rules: whether there are any, and the level of the root. It
// contains no path and no counts, not even of readable paths: a rule for a part of a hidden folder contains the name
// of that folder, and a hidden note must look like one that never existed. Root is omitted if the level is none. A
// caller learns the level of another path when it uses the path.
type AccessView struct {
	Rules bool   `json:"rules"`
	Root  string `json:"root,omitempty"` // r, rw or rwd
}

// VaultViewOf returns what a policy allows in a vault with the given facts.
func VaultViewOf(vault string, p policy.Policy, facts policy.Facts) VaultView {
	view := VaultView{
		Vault:  vault,
		Access: AccessView{Rules: p.Access.Restrict() || facts.Ignores.Holds()},
		Texts:  p.TextRules(),
	}
	for _, name := range []string{
		"tier", "disable", "enable-only", "allow-mutations", "allow-publish", "allow-ui", "secrets", "suspicious", "remote-links", "shadow",
		"private-property", "private-tags", "confirm", "min-cli-version", // but not the exceptions, which are paths
	} {
		view.Settings = append(view.Settings, SettingView{Name: name, Value: p.Setting(name), Origin: p.Origins[name]})
	}
	if root := p.Access.Level(""); view.Access.Rules && root > access.None {
		view.Access.Root = root.String()
	}
	return view
}
