package policy

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// needsApprovalByConfirm describes for each value of the setting confirm which changes require approval.
var needsApprovalByConfirm = [...]string{"every change", "deleting, overwriting, publishing", "nothing"}

// rules are all rules, in the order in which they apply: the first denial is the answer.
var rules = [...]rule{
	{
		name: "known",
		denial: Denial{
			code:   CodeRestricted,
			Reason: "not a call of a known command",
		}, // the zero call has no row in the table
		denies: func(_ Policy, s subject) bool { return !s.valid },
		pass:   func(Policy, subject) string { return "known command" },
	},
	// Commands that run code, administer the app or show its screen are denied whatever the settings say, so that
	// no mistake in a setting can enable them.
	{
		name: "restricted",
		denial: Denial{
			code:   CodeRestricted,
			Reason: "runs code in or administers Obsidian; permanently disabled",
			hint:   "the user can do this in the Obsidian app",
		},
		denies: func(_ Policy, s subject) bool { return s.tier == tiers.Restricted },
		pass:   func(Policy, subject) string { return "not permanently restricted" },
	},
	{name: agentRule, check: denyAgent, pass: func(p Policy, _ subject) string {
		if p.Until.IsZero() {
			return "agent " + p.Agent
		}
		return "agent " + p.Agent + ", expires at " + p.Until.Format(time.DateTime)
	}},
	{name: "tier", check: denyTier, pass: explainTier},
	{name: "enabled", check: denyDisabled, pass: func(Policy, subject) string { return "not disabled" }},
	{
		name: "mutations",
		denial: Denial{
			code:    CodeMutationsOff,
			Setting: "allow-mutations",
			Reason:  "changes are disabled (read-only mode)",
			hint:    "the user can set allow-mutations to true",
		},
		denies: func(p Policy, s subject) bool { return !p.Mutations && s.effect.Mutates() },
		pass: func(p Policy, s subject) string {
			return "effect " + s.effect.String() + ", mutations are " + onOff[p.Mutations]
		},
	},
	// Not only the effect counts: opening a web address changes nothing, but the address can contain text of a note.
	{
		name: "publish",
		denial: Denial{
			code:    CodeMutationsOff,
			Setting: "allow-publish",
			Reason:  "can send text off this machine; publishing is disabled",
			hint:    "the user can set allow-publish to true",
		},
		denies: func(p Policy, s subject) bool { return !p.Publish && canSendData(s) },
		pass: func(p Policy, s subject) string {
			if canSendData(s) {
				return "publishing is " + onOff[p.Publish]
			}
			return "publishing is " + onOff[p.Publish] + ", and nothing leaves the machine"
		},
	},
	{
		name:  "target",
		check: denyOpenNote,
		pass:  func(Policy, subject) string { return "names its note, or needs none" },
	},
	{name: "access", check: denyAccess, pass: explainAccess},
	{
		name: "ui",
		denial: Denial{
			code:    CodeDisabled,
			Setting: "allow-ui",
			Reason:  "opens a view or moves the focus; disabled by allow-ui",
			hint:    "the user can set allow-ui to true",
		},
		denies: func(p Policy, s subject) bool { return !p.UI && s.shows },
		pass: func(p Policy, _ subject) string {
			return "opening notes and switching panes in the app is " + onOff[p.UI]
		},
	},
	{name: "version", check: denyVersion, pass: func(p Policy, s subject) string {
		return "requires Obsidian " + tiers.Later(p.MinVersion, s.since).String() + " or newer"
	}},
	{
		name:  scopeRule,
		check: denyScope,
		pass:  func(_ Policy, s subject) string { return "access token with the scope " + s.facts.Scope.String() },
	},
	{name: RuleFlow, check: denyFlow, looks: "what the session has read", settings: []string{"flow"},
		about: func(s subject) bool { return s.effect.Mutates() || s.sends },
		state: func(p Policy) string {
			var names []string
			for _, f := range p.Flows {
				names = append(names, f.Name)
			}
			return strings.Join(names, ", ")
		}},
	{name: RuleConfirm, check: denyUnconfirmed, pass: func(p Policy, s subject) string {
		loss := "" // why the effect is worse than that of the command
		if s.loses != "" {
			loss = " (it " + s.loses + ")"
		}
		if !s.effect.Mutates() && !canSendData(s) {
			return "no approval needed: it changes nothing"
		}
		return "no approval needed for this change (effect " + s.effect.String() + loss + "); required for: " + needsApprovalByConfirm[p.confirm()]
	}},
	{
		name:     RulePrivate,
		looks:    "properties and tags of private notes",
		settings: []string{"private-property", "private-tags"},
		about:    func(s subject) bool { return s.notes },
		state: func(p Policy) string {
			marks := slices.Clone(p.Private.Properties)
			for _, tag := range p.Private.Tags {
				marks = append(marks, "#"+tag)
			}
			return strings.Join(marks, ", ")
		},
	},
	{name: RuleSecrets, looks: "keys, tokens and passwords", settings: []string{RuleSecrets},
		about: func(s subject) bool { return s.notes },
		state: func(p Policy) string { return p.Secrets.String() }},
	{
		name:     RuleRemoteLinks,
		check:    denyNoteTextInLinks,
		looks:    "new links that contain note text",
		settings: []string{RuleRemoteLinks},
		about:    func(s subject) bool { return s.notes && s.effect.Mutates() },
		state:    Policy.remoteLinks,
	},
	{name: RuleSuspicious, check: denySuspected, looks: "suspected prompt injection", settings: []string{RuleSuspicious},
		about: func(s subject) bool { return s.notes },
		state: func(p Policy) string { return p.Suspicious.String() }},
}

// rule is one reason for a denial. pass is its message in a dry run for a call that it passes; a rule
// about texts has a state instead, see [TextRule].
type rule struct {
	name string
	// check returns the denial, nil for a call that it passes. It is nil if the rule has denies instead, or refuses no
	// call before it is run.
	check  func(Policy, subject) *Denial
	denies func(Policy, subject) bool // whether the call is refused with denial
	denial Denial
	pass   func(Policy, subject) string

	looks    string              // what it looks for in texts, in words
	settings []string            // the settings that decide
	about    func(subject) bool  // whether it looks at texts in a call
	state    func(Policy) string // the value of the settings
}

func (r rule) refuse(p Policy, s subject) (denial *Denial) {
	if r.check != nil {
		denial = r.check(p, s)
	} else if r.denies != nil && r.denies(p, s) {
		d := r.denial
		denial = &d
	}
	if denial != nil {
		denial.Rule = r.name
		denial.Command = s.name
		denial.origin = p.Origins[denial.Setting]
	}
	return denial
}

const agentRule = "agent"

// concerns reports whether a dry run shows the rule even if it does not refuse s.
func (r rule) concerns(p Policy, s subject) bool {
	switch {
	case r.name == agentRule:
		return p.Agent != ""
	case r.name == scopeRule:
		return s.facts.Scope != ScopeAll
	case r.state != nil:
		return r.looksAt(p, s)
	}
	return true
}

func denyAgent(p Policy, _ subject) *Denial {
	if p.Closed == "" {
		return nil
	}
	named := ""
	if p.Agent != "" {
		named = "agent \"" + p.Agent + "\": "
	}
	hint := "the user can change the tables [agents] of the settings file"
	if p.Closed == Revoked {
		hint = `the user can give it a new token with "vaultwicket agent rotate"`
	}
	return deny(CodeAgent, "agent", named+p.Closed, hint)
}

func denyTier(p Policy, s subject) *Denial {
	if p.Ceiling.Opens(s.tier) {
		return nil
	}
	hint := ""
	if tiers.V3.Opens(s.tier) {
		hint = "the user can set tier to " + s.tier.String()
	}
	return deny(CodeTierClosed, "tier", explainTier(p, s), hint)
}

// explainTier returns a message with the tier that s requires and the one that is enabled.
func explainTier(p Policy, s subject) string {
	return "requires tier " + s.tier.String() + " (current: " + p.Ceiling.String() + ")"
}

func denyDisabled(p Policy, s subject) *Denial {
	if p.Disabled {
		return deny(
			CodeDisabled,
			"enabled",
			"vaultwicket is disabled by the setting enabled",
			"the user can set enabled to true and restart",
		)
	}
	if slices.Contains(p.Disable, s.name) {
		return deny(
			CodeDisabled,
			"disable",
			"disabled by the setting disable",
			"the user can remove it from the setting disable",
		)
	}
	if p.EnableOnly != nil && !slices.Contains(p.EnableOnly, s.name) {
		return deny(
			CodeDisabled,
			"enable-only",
			"not in the list of enabled commands",
			"the user can add it to the setting enable-only",
		)
	}
	return nil
}

// canSendData reports whether s can send data off the machine. Publishing can, and every worse effect
// except administering: saving a layout of panes sends nothing.
func canSendData(s subject) bool {
	return s.sends || s.effect.WorseThan(tiers.Destroys) && s.effect != tiers.Administers
}

// denyOpenNote denies a change to the note that is open in the app: the caller cannot know which one it is.
func denyOpenNote(_ Policy, s subject) *Denial {
	if !s.fallsBack || !s.effect.Mutates() {
		return nil
	}
	hint := "name the note with path= or file="
	if allowlist.Takes(s.name, "daily") {
		hint += ", or give daily for the daily note of today"
	}
	return deny(CodeTargetRequired, "", "requires a target; it would change the note that is open in the app", hint)
}

// denyVersion denies the call if the minimum version is too low. Package exec later compares the
// installed version with the minimum of the permit.
func denyVersion(p Policy, s subject) *Denial {
	if !p.MinVersion.Before(tiers.MinimumFloor) {
		return nil
	}
	return deny(
		CodeVersion,
		"min-cli-version",
		"min-cli-version is "+p.MinVersion.String()+", want at least "+tiers.MinimumFloor.String(),
		"the user can set min-cli-version to "+tiers.DefaultMinimum.String(),
	)
}

func denyUnconfirmed(p Policy, s subject) *Denial {
	switch p.Confirm {
	case ConfirmNever:
		return nil
	case ConfirmDestructive:
		if !s.effect.WorseThan(tiers.Writes) {
			return nil
		}
	default:
		if !s.effect.Mutates() {
			return nil
		}
	}
	return deny(
		CodeUnconfirmed,
		"confirm",
		describeChange(s)+"; requires user approval",
		"the user can change with the setting confirm which calls need approval",
	)
}

// denySuspected requires approval for every change of a session that has read suspected prompt injection.
func denySuspected(p Policy, s subject) *Denial {
	asks := p.suspicious() == SuspiciousAsk && !p.Shadows(RuleSuspicious)
	if !asks || !s.facts.Suspected.Holds() || !s.effect.Mutates() {
		return nil
	}
	return deny(
		CodeUnconfirmed,
		RuleSuspicious,
		describeChange(s)+", and the session has read "+s.facts.Suspected.or("what is not known")+"; requires user approval",
		"the user can set suspicious to notice",
	)
}

// denyNoteTextInLinks requires approval for a change that adds a web address with text of another note, whatever the
// setting confirm says.
func denyNoteTextInLinks(p Policy, s subject) *Denial {
	asks := !p.RemoteLinks && !p.Shadows(RuleRemoteLinks)
	if !asks || !s.facts.Carries.Holds() || !s.effect.Mutates() {
		return nil
	}
	return deny(
		CodeUnconfirmed,
		RuleRemoteLinks,
		s.facts.Carries.or("may add an address with text of another note")+"; requires user approval",
		"the user can set remote-links to allow",
	)
}

// describeChange describes the change that s makes, for a message.
func describeChange(s subject) string {
	if s.loses != "" {
		return s.loses
	}
	switch s.effect {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "deletes or overwrites notes"
	case tiers.Publishes:
		return "changes what is published"
	case tiers.Administers:
		return "changes app settings"
	}
	return "has the effect " + s.effect.String()
}

var onOff = map[bool]string{true: "on", false: "off"}

// denyAccess checks the paths that a call names against the access rules.
//
// A note of level none is not denied here: the call goes to the embedded program,
// which enforces the rules and answers as if the note did not exist. Other notes
// that a call touches are judged there, too.
func denyAccess(p Policy, s subject) *Denial {
	if !p.Access.Restrict() && !s.facts.Ignores.Holds() {
		return nil
	}
	if s.fallsBack {
		return deny(
			CodeTargetRequired,
			"access",
			"requires a target because there are access rules",
			"name the note with path= or file=",
		)
	}
	for _, spelled := range s.spells {
		has := p.Access.Level(spelled.Path)
		if has == access.None || has >= s.needs(spelled) {
			continue
		}
		raise := "the user can raise it in the table [vaults.access] of the settings file"
		if p.Agent != "" {
			raise = "the user can raise it in the tables [vaults.access] and [agents." + p.Agent + ".access] of the settings file"
		}
		return deny(
			CodeAccess,
			"access",
			insufficientAccess(spelled.Path, s.name, has, s.needs(spelled)),
			raise,
		)
	}
	return nil
}

// insufficientAccess returns a message that a path has a lower level of access than command needs.
func insufficientAccess(path, command string, has, needs access.Level) string {
	levels := "access " + has.String() + "; " + command + " needs " + needs.String()
	if has == access.Read {
		return excerpt.Quoted(path) + " is read-only (" + levels + ")"
	}
	return excerpt.Quoted(path) + " may not be deleted or replaced (" + levels + ")"
}

func explainAccess(p Policy, s subject) string {
	if !p.Access.Restrict() && !s.facts.Ignores.Holds() {
		return "no access rules"
	}
	return "the given paths are allowed; other notes are checked when they are reached"
}

// needs returns the access that s needs for a path that it names.
func (s subject) needs(spelled allowlist.NamedPath) access.Level {
	switch {
	case spelled.To:
		return access.Write
	case spelled.Folder:
		return access.None // the notes in the folder are judged, not the folder itself
	}
	if s.loses != "" && s.access != allowlist.AccessToRead {
		return access.Delete
	}
	switch {
	case s.access == allowlist.AccessToWrite, s.access == allowlist.AccessToMove && !s.leavesFolder(spelled.Path):
		return access.Write
	case s.access == allowlist.AccessToMove:
		return access.Delete
	}
	switch s.effect {
	case tiers.Writes:
		if s.access == allowlist.AccessToRead {
			return access.Read
		}
		return access.Write
	case tiers.Destroys:
		return access.Delete
	}
	return access.Read
}

// leavesFolder reports whether a move takes the note out of its folder.
func (s subject) leavesFolder(from string) bool {
	for _, spelled := range s.spells {
		if !spelled.To {
			continue
		}
		to := spelled.Path
		if !spelled.Folder {
			to = path.Dir(to)
		}
		return path.Clean("/"+to) != path.Dir("/"+from)
	}
	return true
}

// confines reports whether only a program that enforces the access rules may run the call,
// because it could reveal hidden notes or change more than the rules allow.
func (p Policy) confines(call allowlist.Call, facts Facts) bool {
	ignores := facts.Ignores.Holds()
	isMoreThanRead := call.UsesOpenNote() || call.Effect().Mutates()
	mayReachOthers := !call.TouchesOneNote() || isMoreThanRead
	switch {
	case facts.Narrowed.Holds() && mayReachOthers:
		return true
	case !p.Access.Restrict() && !ignores, call.TouchesNoNote():
		return false
	case !call.TouchesOneNote():
		return ignores || p.Access.Hide() || isMoreThanRead
	case ignores:
		return true
	}
	for _, spelled := range call.NamedPaths() {
		if p.Access.Level(spelled.Path) == access.None {
			return true
		}
	}
	return false
}

// The rules about texts look at the text of notes, the other rules at the call. Each is a row of the table of
// rules, and has the same name everywhere: in the settings shadow and exceptions, in dry runs and
// explanations, in the audit log, in metrics and on the page.
const (
	RuleFlow        = "flow"
	RulePrivate     = "private"
	RuleSecrets     = "secrets"
	RuleRemoteLinks = "remote-links"
	RuleSuspicious  = "suspicious"
)

// RuleConfirm is the name of the rule for the setting confirm, which says which changes require approval.
const RuleConfirm = "confirm"

// TextRules returns the names of the rules about texts.
func TextRules() (names []string) {
	for i := range rules {
		if rules[i].state != nil {
			names = append(names, rules[i].name)
		}
	}
	return names
}

// TextRule is a rule about texts with its state in a policy.
type TextRule struct {
	Name          string
	Looks         string            // what it looks for
	Settings      []string          // the settings that decide
	State, Origin string            // their value, and where that of the first setting comes from
	Shadow        bool              // it is judged and logged, but not enforced
	Exceptions    access.Exceptions // the folders and notes to which it does not apply
}

// String returns the rule for people, without its name.
func (r TextRule) String() string {
	parts := []string{r.Looks + ": " + r.State}
	if r.Shadow {
		parts = append(parts, "in shadow, without effect")
	}
	for _, e := range r.Exceptions {
		parts = append(parts, "not for "+e.Path+" ("+e.Comment+")")
	}
	return strings.Join(parts, "; ")
}

// TextRules returns every rule about texts, in the order in which they are judged.
func (p Policy) TextRules() (all []TextRule) {
	for _, r := range rules {
		if r.state != nil {
			all = append(all, r.text(p))
		}
	}
	return all
}

// TextRulesOf returns the rules that are on and look at texts of a command; none if the command cannot be enabled.
func (p Policy) TextRulesOf(command allowlist.Command) (all []TextRule) {
	for _, r := range rules {
		if r.state != nil && command.Tier != tiers.Restricted && r.looksAt(p, plainForm(command, Facts{})) {
			all = append(all, r.text(p))
		}
	}
	return all
}

func (r rule) looksAt(p Policy, s subject) bool { return p.states(r.name) && r.about(s) }

func (r rule) text(p Policy) TextRule {
	return TextRule{
		Name:       r.name,
		Looks:      r.looks,
		Settings:   r.settings,
		State:      r.state(p),
		Origin:     p.Origins[r.settings[0]],
		Shadow:     p.Shadows(r.name),
		Exceptions: p.Exceptions.Of(r.name),
	}
}

// Shadows reports whether a rule about texts is in shadow: judged and logged, but not enforced.
func (p Policy) Shadows(rule string) bool {
	return slices.Contains(p.Shadow, rule) || p.AnyShadow && !p.states(rule)
}

// states reports whether a rule about texts is on in the policy.
func (p Policy) states(rule string) bool {
	switch rule {
	case RuleFlow:
		return len(p.Flows) > 0
	case RulePrivate:
		return !p.Private.IsZero()
	case RuleSecrets:
		return p.secrets() != SecretsAllow
	case RuleRemoteLinks:
		return !p.RemoteLinks
	case RuleSuspicious:
		return p.suspicious() != SuspiciousOff
	}
	return false
}
