package ui

import (
	"net/http"
	"slices"
	"strings"

	"vaultwicket/gateway"
	"vaultwicket/gateway/catalog"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/ui/activity"
	"vaultwicket/tiers"
)

// policyData is what the view of the policy shows.
type policyData struct {
	Vaults []string
	Vault  string
	View   catalog.View
	Tiers  []tierOfMatrix
	Counts map[string]int // commands: enabled, approval, disabled
	Texts  []activity.TextDay
}

// tierOfMatrix are the commands of a tier.
type tierOfMatrix struct {
	Tier     string
	Commands []commandOfMatrix
	Enabled  int
}

// commandOfMatrix is a command with what applies to it. State is enabled, approval or disabled.
type commandOfMatrix struct {
	catalog.Explained
	State string
}

// vaultOf returns the vault of a request, the default one if it names none.
func (p *Page) vaultOf(r request) string {
	if vault := r.FormValue("vault"); vault != "" {
		return vault
	}
	return p.Gateway.VaultName()
}

// policy shows every command with what applies to it in a vault, and which rule says so.
func (p *Page) policy(r request) view {
	v := view{template: "policy", title: "Policy"}
	_, logErr := p.calls.Update()
	data := policyData{Vaults: p.Gateway.VaultNames(), Vault: p.vaultOf(r), Counts: map[string]int{}, Texts: p.calls.TextDays(p.Now().AddDate(0, 0, -6))}
	list, err := p.Gateway.ListingOf(data.Vault)
	if err != nil {
		v.data = data
		return v.failed(err)
	}
	for _, one := range p.Gateway.Policies() {
		if one.Vault == data.Vault {
			data.View = one
		}
	}
	var confirm any // nil if it is not known: then every call may require approval
	for _, s := range data.View.Settings {
		if s.Name == "confirm" {
			confirm = s.Value
		}
	}
	for _, l := range list { // in the order of tiers
		c := commandOfMatrix{l.Explained(), "disabled"}
		switch {
		case l.Enabled() && (confirm == nil || confirm == "writes" && l.Effect.Mutates() || confirm == "destructive" && l.Effect.WorseThan(tiers.Writes)):
			c.State = "approval"
		case l.Enabled():
			c.State = "enabled"
		}
		data.Counts[c.State]++
		at := slices.IndexFunc(data.Tiers, func(t tierOfMatrix) bool { return t.Tier == c.Tier })
		if at < 0 {
			at = len(data.Tiers)
			data.Tiers = append(data.Tiers, tierOfMatrix{Tier: c.Tier})
		}
		data.Tiers[at].Commands = append(data.Tiers[at].Commands, c)
		if c.State != "disabled" {
			data.Tiers[at].Enabled++
		}
	}
	v.data = data
	return v.failed(logErr)
}

// tryData is what the view of a preview shows.
type tryData struct {
	Vaults, Commands []string
	Vault, Command   string
	Params           string
	Plan             *gateway.DryRun
}

const tryTitle = "Try a command"

func (p *Page) tryDataOf(r request) tryData {
	data := tryData{Vaults: p.Gateway.VaultNames(), Vault: p.vaultOf(r), Command: r.FormValue("command"), Params: r.FormValue("params")}
	for _, c := range p.Gateway.Listing() {
		data.Commands = append(data.Commands, c.Name)
	}
	return data
}

// maxParams bounds the lines of a form: no command takes half as many.
const maxParams = 64

// try shows what a command would do. Nothing is changed.
func (p *Page) try(r request) view {
	data := p.tryDataOf(r)
	v := view{template: "try", title: tryTitle, data: data, goTo: "policy/try"}
	words := []string{}
	for line := range strings.Lines(data.Params) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			words = append(words, line)
		}
	}
	if len(words) > maxParams {
		return v.failed(failure.New(failure.CodeBadRequest, "write one parameter a line", "%d parameters, the maximum is %d", len(words), maxParams))
	}
	plan := p.Gateway.DryRun(r.Context(), gateway.Request{Command: data.Command, Words: words, Vault: data.Vault, Caller: Surface, Client: Surface, Surface: Surface, Owner: true})
	data.Plan = &plan
	v.data = data
	return v
}

// accessData is what the view of the access tree shows.
type accessData struct {
	Vaults      []string
	Vault, Path string
	Parents     []parent
	Self        notes.Access
	Below       []notes.Access
	More        bool
	Hidden      bool // the folder itself, so nothing below it is listed
}

// parent is a folder above the one that is shown.
type parent struct{ Name, Path string }

// access shows what can be done with a note or folder and with the folders in it.
func (p *Page) access(r request) view {
	data := accessData{Vaults: p.Gateway.VaultNames(), Vault: p.vaultOf(r), Path: strings.Trim(strings.TrimSpace(r.FormValue("path")), "/")}
	v := view{template: "access", title: "Access"}
	parts := strings.Split(data.Path, "/")
	for i, name := range parts[:max(0, len(parts)-1)] {
		data.Parents = append(data.Parents, parent{name, strings.Join(parts[:i+1], "/")})
	}
	var err error
	if data.Path != "" {
		data.Self, err = p.Gateway.AccessOf(data.Vault, data.Path)
		data.Hidden = err == nil && data.Self.Ignored != nil
	}
	if err == nil && !data.Hidden {
		data.Below, data.More, err = p.Gateway.AccessBelow(data.Vault, data.Path)
		if err != nil && data.Self.Path != "" { // it is a note, or does not exist: what applies is known all the same
			err = nil
		}
	}
	v.data = data
	if err != nil {
		v.status = http.StatusUnprocessableEntity
		return v.failed(err)
	}
	return v
}
