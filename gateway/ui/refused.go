package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/ui/activity"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

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
