package catalog

import (
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// View is what a policy allows in one vault, for callers.
type View struct {
	Vault    string        `json:"vault,omitempty"` // "" where the app chooses
	Settings []SettingView `json:"settings"`
	Access   AccessView    `json:"access"`
}

// SettingView is the value of a setting that is in force, and where it comes
// from.
type SettingView struct {
	Name   string `json:"name"`
	Value  any    `json:"value"` // a string, a boolean or a list of strings
	Origin string `json:"origin,omitempty"`
}

// AccessView is what callers may know of the access rules: whether there are any, and the level
// of the root. It names no path and counts none, not even those that may be read: a rule for a
// part of a hidden folder contains the name of that folder, and a hidden note must look like
// one that never existed. Root is left out if it is none. A caller learns the level of a path
// when it uses the path.
type AccessView struct {
	Rules bool   `json:"rules"`
	Root  string `json:"root,omitempty"` // r, rw or rwd
}

// ViewOf returns what a policy allows in a vault.
func ViewOf(vault string, p policy.Policy) View {
	view := View{Vault: vault, Access: AccessView{Rules: p.Access.Restrict() || p.Ignores}}
	for _, s := range []SettingView{
		{Name: "tier", Value: p.Ceiling.String()},
		{Name: "disable", Value: append([]string{}, p.Disable...)},
		{Name: "enable-only", Value: append([]string{}, p.EnableOnly...)},
		{Name: "allow-mutations", Value: p.Mutations},
		{Name: "allow-publish", Value: p.Publish},
		{Name: "allow-ui", Value: p.UI},
		{Name: "confirm", Value: p.Confirm.String()},
		{Name: "min-cli-version", Value: p.MinVersion.String()},
	} {
		s.Origin = p.Origins[s.Name]
		view.Settings = append(view.Settings, s)
	}
	if root := p.Access.Level(""); view.Access.Rules && root > access.None {
		view.Access.Root = root.String()
	}
	return view
}
