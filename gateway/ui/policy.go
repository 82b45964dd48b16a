package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// policyData is the data of the view of the policy.
type policyData struct {
	Vaults []string
	Vault  string
	View   gateway.VaultView
	Tiers  []tierOfMatrix
	Counts map[string]int // number of commands by state, see commandOfMatrix
	Texts  []textDay
}

// tierOfMatrix has the commands of a tier.
type tierOfMatrix struct {
	Tier     string
	Commands []commandOfMatrix
	Enabled  int
}

// commandOfMatrix is a command and its policy. State is enabled, approval or disabled.
type commandOfMatrix struct {
	gateway.ExplainedCommand
	State string
}

// vaultOf returns the vault that a request names, or the default one.
func (p *Page) vaultOf(r request) string {
	if vault := r.FormValue("vault"); vault != "" {
		return vault
	}
	return p.Gateway.VaultName()
}

// policy shows the policy of a vault for every command, with the deciding rule.
func (p *Page) policy(r request) view {
	v := view{template: "policy", title: "Policy"}
	_, logErr := p.calls.Update()
	data := policyData{
		Vaults: p.Gateway.VaultNames(),
		Vault:  p.vaultOf(r),
		Counts: map[string]int{},
		Texts:  p.calls.TextDays(p.Now().AddDate(0, 0, -6)),
	}
	list, err := p.Gateway.ListingOf(data.Vault)
	if err != nil {
		v.data = data
		return v.failed(err)
	}
	for _, vaultView := range p.Gateway.Policies() {
		if vaultView.Vault == data.Vault {
			data.View = vaultView
		}
	}
	var confirm any // nil if unknown: then every call may require approval
	for _, s := range data.View.Settings {
		if s.Name == "confirm" {
			confirm = s.Value
		}
	}
	for _, listed := range list { // ordered by tier
		c := commandOfMatrix{listed.Explained(), "disabled"}
		switch {
		case listed.Enabled() && mayRequireApproval(confirm, listed.Effect):
			c.State = "approval"
		case listed.Enabled():
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

// tryData is the data of the view that previews a command.
type tryData struct {
	Vaults, Commands, Agents []string
	Vault, Command, Agent    string // Agent is "" for the owner
	Params                   string
	Plan                     *gateway.DryRun
}

const tryTitle = "Try a command"

// tryDataOf returns the data of a preview that a request describes.
func (p *Page) tryDataOf(r request) tryData {
	data := tryData{
		Vaults:  p.Gateway.VaultNames(),
		Vault:   p.vaultOf(r),
		Command: r.FormValue("command"),
		Agent:   r.FormValue("agent"),
		Params:  r.FormValue("params"),
	}
	for _, c := range p.Gateway.Listing() {
		data.Commands = append(data.Commands, c.Name)
	}
	defined, _ := p.Agents() // after an error, no agent can be chosen
	for _, a := range defined {
		if a.State != "undefined" {
			data.Agents = append(data.Agents, a.Name)
		}
	}
	return data
}

// maxParams is the maximum number of parameters in a form: more than twice as many as any command has.
const maxParams = 64

// try shows what a command would do. It changes nothing.
func (p *Page) try(r request) view {
	data := p.tryDataOf(r)
	v := view{template: "try", title: tryTitle, data: data, goTo: "policy/try"}
	words := []string{}
	for line := range strings.Lines(data.Params) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" {
			words = append(words, line)
		}
	}
	if len(words) > maxParams {
		return v.failed(failure.New(
			failure.CodeBadRequest,
			"write one parameter a line",
			"%d parameters, the maximum is %d",
			len(words),
			maxParams,
		))
	}
	g, err := p.gatewayOf(data)
	if err != nil {
		return v.failed(err)
	}
	plan := g.DryRun(r.Context(), gateway.Request{
		Command: data.Command,
		Words:   words,
		Vault:   data.Vault,
		Caller:  Surface,
		Client:  Surface,
		Surface: Surface,
		Owner:   data.Agent == "",
	})
	data.Plan = &plan
	v.data = data
	return v
}

// gatewayOf returns a gateway with the rights of the chosen caller.
func (p *Page) gatewayOf(data tryData) (*gateway.Gateway, error) {
	if data.Agent == "" {
		return p.Gateway, nil
	}
	if !slices.Contains(data.Agents, data.Agent) {
		return nil, failure.New(failure.CodeNotFound, "the view of agents lists them", "no such agent")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.ofAgents[data.Agent]; known != nil {
		return known, nil
	}
	g, err := p.OfAgent(data.Agent)
	if err == nil {
		p.ofAgents[data.Agent] = g
	}
	return g, err
}

// accessData is the data of the view of the access tree.
type accessData struct {
	Vaults      []string
	Vault, Path string
	Parents     []parent
	Self        gateway.NoteAccess
	Below       []gateway.NoteAccess
	More        bool
	Hidden      bool // the folder itself is hidden, so nothing below it is listed
}

// parent is a folder above the displayed one.
type parent struct{ Name, Path string }

// access shows the access to a note or folder, and to the folders in it.
func (p *Page) access(r request) view {
	data := accessData{
		Vaults: p.Gateway.VaultNames(),
		Vault:  p.vaultOf(r),
		Path:   strings.Trim(strings.TrimSpace(r.FormValue("path")), "/"),
	}
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
		if err != nil && data.Self.Path != "" { // not a folder: its own access is known nevertheless
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

// reason is the reason for a refusal, for the owner of the vault, and how to allow the call.
type reason struct {
	Sentence string
	// IsSetting is set if settings decide; Advice is then how to change them.
	IsSetting bool
	Advice    Advice
}

// Lines returns the lines that the advice adds or changes, each after the header of its table.
func (r reason) Lines() (lines []string) {
	table := ""
	for _, edit := range r.Advice.Edits {
		if edit.Table != table && strings.HasPrefix(edit.Table, "[") {
			table = edit.Table
			lines = append(lines, table)
		}
		if edit.Text != "" { // not a removal
			lines = append(lines, edit.Text)
		}
	}
	return lines
}

// reasonWithAdvice returns why a call was refused, and how to allow it.
func (p *Page) reasonWithAdvice(c loggedCall) reason {
	r := p.why(c)
	if !r.IsSetting || p.Advise == nil {
		return reason{Sentence: r.Sentence}
	}
	advice, err := p.Advise(Refusal{
		Agent:   c.Agent,
		Vault:   c.Vault,
		Command: c.Command,
		Path:    p.names.pathOf(c),
		Code:    c.Code,
		Rule:    c.Rule,
		Needs:   neededBy(c),
	})
	if err != nil {
		p.Log.Warn("no advice about a refused call", "error", err.Error())
		return reason{Sentence: r.Sentence}
	}
	if advice.File != "" {
		advice.Origin = strings.ReplaceAll(advice.Origin, advice.File, filepath.Base(advice.File))
		advice.File = filepath.Base(advice.File)
	}
	r.Advice = advice
	return r
}

// neededBy returns the access to its note that a call needs.
func neededBy(c loggedCall) access.Level {
	switch c.Effect {
	case tiers.Reads.String():
		return access.Read
	case tiers.Destroys.String():
		return access.Delete
	}
	return access.Write
}

// why returns why a call was refused.
func (p *Page) why(c loggedCall) (r reason) {
	vault := cmp.Or(c.Vault, "the vault")
	does := wants(c.Command)
	// bySetting sets a reason that depends on settings, byCall any other.
	bySetting := func(format string, args ...any) {
		r = reason{Sentence: fmt.Sprintf(format, args...), IsSetting: true}
	}
	byCall := func(format string, args ...any) { r = reason{Sentence: fmt.Sprintf(format, args...)} }
	switch {
	case c.Code == policy.CodeTierClosed:
		tier := ""
		if l, err := p.Gateway.Explain(c.Command); err == nil {
			tier = l.Tier.String()
		}
		bySetting("It may not %s: needs tier %s.", does, tier)
	case c.Code == policy.CodeMutationsOff && c.Rule == "publish":
		bySetting("It may not %s: this can send text off this machine, and publishing is off.", does)
	case c.Code == policy.CodeMutationsOff:
		bySetting("It may not %s: it may not change notes in %s.", does, vault)
	case c.Code == policy.CodeDisabled && c.Rule == "ui":
		bySetting("It may not %s: this opens a view or moves the focus in the app, which is off.", does)
	case c.Code == policy.CodeDisabled:
		bySetting("It may not %s: the command %s is disabled.", does, c.Command)
	case c.Code == policy.CodeAccess && c.Rule == policy.RulePrivate:
		where := "The note"
		if path := p.names.pathOf(c); path != "" {
			where = path
		}
		byCall("%s is marked as private: its properties or tags allow less. Change the note to allow more.", where)
	case c.Code == policy.CodeAccess:
		where := "this note"
		if path := p.names.pathOf(c); path != "" {
			where = path
		}
		bySetting("The access rules of %s do not allow it on %s.", vault, where)
	case c.Code == policy.CodeRestricted:
		byCall("%s runs code in Obsidian or administers it. No setting allows that.", c.Command)
	case c.Code == policy.CodeTargetRequired:
		byCall("%s named no note, and would have been about the one that is open in the app.", c.Command)
	case c.Code == policy.CodeUnconfirmed && c.Declined:
		byCall("You declined it. The same call is not asked about again for ten minutes.")
	case c.Code == policy.CodeUnconfirmed && c.Rule == policy.RuleRemoteLinks:
		bySetting("It needs your approval because it adds an address with text of a note, and it was not given.")
	case c.Code == policy.CodeUnconfirmed && c.Rule == policy.RuleSuspicious:
		bySetting("It needs your approval after a text that looked like instructions, and it was not given.")
	case c.Code == policy.CodeScope:
		byCall("The client signed in without the right to do this. It has to sign in again with more.")
	case c.Code == failure.CodeSecret:
		bySetting("A secret was found, and nothing was passed on.")
	case c.Code == policy.CodeUnconfirmed:
		byCall("It needs your approval, which was not given.")
	case c.Code == failure.CodePaused:
		byCall("Agents were paused.")
	case c.Code == failure.CodeRateLimited:
		byCall("It called more often than the limit allows.")
	case c.Code == policy.CodeAgent:
		byCall("The agent has no right to call: it is not defined, has expired or was revoked.")
	case c.Code == policy.CodeVersion:
		byCall("%s needs a newer Obsidian.", c.Command)
	default:
		byCall("The call was not a valid one (%s).", c.Code)
	}
	return r
}

// mayRequireApproval reports whether calls with an effect may require approval under a value of the setting confirm,
// which is nil if unknown.
func mayRequireApproval(confirm any, effect tiers.Effect) bool {
	switch confirm {
	case nil:
		return true
	case "writes":
		return effect.Mutates()
	case "destructive":
		return effect.WorseThan(tiers.Writes)
	}
	return false
}
