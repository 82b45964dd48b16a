package catalog

import (
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// View is what may be done in one vault, for a caller that wants to know
// it before it asks.
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

// AccessView tells of the access rules no more than callers may know: whether
// there are any, and what may be done where no rule for a folder or a note says
// otherwise, if there are. It names no path and counts none, not even those that may be read:
// a rule for a part of a hidden folder has the name of that folder in it, and a
// hidden note has to be like one that was never there. Root is left out where it
// is none. What a path allows a caller learns when it asks for that path.
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
