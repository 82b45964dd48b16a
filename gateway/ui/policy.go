package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/catalog"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/ui/activity"
	"github.com/vaultwicket/vaultwicket/gateway/vaultview"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
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
	Self        vaultview.Access
	Below       []vaultview.Access
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

// reason is why a call was refused, for the owner of the vault, and how to allow it.
type reason struct {
	Sentence string
	Lines    []string // of the settings file that allow it, none if no setting does
	// Now is the value that is in force, and Origin where it comes from.
	Setting, Now, Origin string
	File                 string // the settings file
}

// why returns why a call was refused. It is told by what applies now.
func (p *Page) why(c activity.Call) reason {
	command, vault := c.Command, c.Vault
	if vault == "" {
		vault = "the vault"
	}
	var r reason
	set := func(setting, value, format string, args ...any) {
		r.Setting, r.Sentence = setting, fmt.Sprintf(format, args...)
		if value != "" {
			r.Lines = []string{setting + " = " + value}
		}
	}
	say := func(format string, args ...any) { r.Sentence = fmt.Sprintf(format, args...) }
	switch {
	case c.Code == policy.CodeTierClosed:
		tier := ""
		if l, err := p.Gateway.Explain(command); err == nil {
			tier = l.Tier.String()
		}
		set("tier", strconv.Quote(tier), "%s needs tier %s, which is more than %s is open for.", command, tier, vault)
	case c.Code == policy.CodeMutationsOff && c.Rule == "publish":
		set("allow-publish", "true", "%s can send text off this machine, and publishing is off.", command)
	case c.Code == policy.CodeMutationsOff:
		set("allow-mutations", "true", "%s changes notes, and %s is read-only.", command, vault)
	case c.Code == policy.CodeDisabled && c.Rule == "ui":
		set("allow-ui", "true", "%s opens a view or moves the focus in the app, which is off.", command)
	case c.Code == policy.CodeDisabled:
		disabled := p.settingValues("disable")
		set("disable", list(slices.DeleteFunc(disabled, func(name string) bool { return name == command })), "%s is disabled by name.", command)
		if only := p.settingValues("enable-only"); len(only) > 0 && !slices.Contains(only, command) {
			set("enable-only", list(append(only, command)), "%s is not in the list of commands that are enabled.", command)
		}
	case c.Code == policy.CodeAccess:
		path := p.names.of(c)
		say("The access rules of %s do not allow it on this note.", vault)
		if path != "" {
			level := access.Write
			if c.Effect == "destructive" {
				level = access.Delete
			}
			if c.Effect == "read" {
				level = access.Read
			}
			say("The access rules of %s do not allow it on %s.", vault, path)
			r.Lines = []string{"[vaults.access]", strconv.Quote(path) + " = " + strconv.Quote(level.String())}
		}
	case c.Code == policy.CodeRestricted:
		say("%s runs code in Obsidian or administers it. No setting allows that.", command)
	case c.Code == policy.CodeTargetRequired:
		say("%s named no note, and would have been about the one that is open in the app.", command)
	case c.Code == policy.CodeUnconfirmed && c.Rule == policy.RuleRemoteLinks:
		set("remote-links", strconv.Quote("allow"), "%s needs your approval because it adds an address with text of a note, and it was not given.", command)
	case c.Code == policy.CodeUnconfirmed && c.Rule == policy.RuleSuspicious:
		set("suspicious", strconv.Quote("notice"), "%s needs your approval after a text that looked like instructions, and it was not given.", command)
	case c.Code == policy.CodeScope:
		say("The client signed in without the right to do this. It has to sign in again with more.")
	case c.Code == failure.CodeSecret:
		set("secrets", strconv.Quote("redact"), "A secret was found, and nothing was passed on.")
	case c.Code == policy.CodeUnconfirmed:
		set("confirm", "", "%s needs your approval, which was not given.", command)
	case c.Code == failure.CodePaused:
		say("Agents were paused.")
	case c.Code == failure.CodeRateLimited:
		now, _ := strconv.Atoi(strings.Join(p.settingValues("rate"), ""))
		set("rate", strconv.Itoa(max(2*now, 60)), "It called more often than the limit allows.")
	case c.Code == policy.CodeAgent:
		say("The agent has no right to call: it is not defined, has expired or was revoked.")
	case c.Code == policy.CodeVersion:
		set("min-cli-version", "", "%s needs a newer Obsidian.", command)
	default:
		say("The call was not a valid one (%s).", c.Code)
	}
	if len(r.Lines) > 0 {
		shown, _ := p.inForce() // without them the line is right all the same
		r.File = shown.File
		for _, row := range shown.Rows {
			if row.Name == r.Setting {
				r.Now, r.Origin = row.Value, row.Origin
			}
		}
	}
	return r
}

// settingValues returns the values of a setting that is a list, nil if it is not known.
func (p *Page) settingValues(name string) []string {
	shown, _ := p.inForce() // an unknown one has no values
	for _, row := range shown.Rows {
		if row.Name == name {
			return strings.FieldsFunc(row.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}

// list is a list as it is in the settings file.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
