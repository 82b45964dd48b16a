// Package policy decides whether a session may make a call.
//
// [Policy.Decide] checks a call against an ordered list of rules. The first denial is the
// answer. If there is none and no approval is required, the answer is a [Permit], without which
// package exec starts no process. Nothing else makes a Permit, and the zero Policy grants none.
package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Policy is what the settings of one or more sources allow. It is plain data. Policies are combined only by
// [Policy.Meet]; what is known of a session or a call is in [Facts]. The zero value enables nothing and requires
// approval for every change.
type Policy struct {
	Ceiling   tiers.Tier // the highest enabled tier
	Mutations bool       // enables calls that change something
	Publish   bool       // enables, together with Mutations, calls that can send data off the machine
	UI        bool       // enables calls that move the focus or open a view
	Confirm   Confirm    // which changes require approval
	Asking    Asking     // how the user is asked for it
	// MinAnswer is the minimum time between a form and its answer: no person answers faster, so an earlier answer does
	// not count. The zero value stands for [DefaultMinAnswer].
	MinAnswer   time.Duration
	MaxGrant    time.Duration // the maximum duration of a grant of the owner; zero allows no grants
	Secrets     Secrets       // what happens to keys, tokens and passwords in answers
	Suspicious  Suspicious    // what follows from suspected prompt injection in answers
	RemoteLinks bool          // allows changes that add a web address with text of another note
	// Shadow names the rules about texts that are judged and logged, but not enforced, see [TextRules]. Exceptions are
	// folders and notes to which these rules do not apply. AnyShadow and AnyException belong to sources without the
	// setting, such as the rights of an agent: for each rule that such a source does not state itself, it accepts
	// the shadow or the exceptions of other sources, and for the others it accepts none.
	Shadow       []string
	AnyShadow    bool
	Exceptions   access.Exceptions
	AnyException bool
	Flows        []Flow         // the rules about where text may go
	Private      access.Private // the properties and tags with which a note restricts access to itself
	// Disable disables single commands. EnableOnly disables all commands that it does not contain: nil disables none,
	// and an empty list disables all. Neither enables anything.
	Disable, EnableOnly []string
	Access              access.Rules      // what may be done with which note
	Rates               Rates             // how often calls may be made
	Disabled            bool              // refuses every call
	Marks               bool              // text of notes in answers is enclosed in delimiters
	Origins             map[string]string // where a setting comes from, by its name, for messages
	// MinVersion is the oldest app that may run calls; below tiers.MinimumFloor the policy grants nothing.
	MinVersion tiers.Version
	// Agent is the agent whose rights are in the policy, "" if no agent is defined. Until is when they expire, zero
	// for never, see [Policy.At]. Closed says why nothing is allowed; it is "" if something may be.
	Agent  string
	Until  time.Time
	Closed string
}

// Rates limit how often calls are made. 0 is no limit.
type Rates struct {
	Calls                    int // of one caller, per minute
	Mutations, MutationsHour int // of all callers together, per minute and per hour
}

// Confirm says which changes require approval.
type Confirm uint8

const (
	ConfirmWrites      Confirm = iota // the zero value: every change
	ConfirmDestructive                // a change that removes, replaces or publishes
	ConfirmNever                      // no change
)

var confirmNames = [...]string{ConfirmWrites: "writes", ConfirmDestructive: "destructive", ConfirmNever: "never"}

// String returns the name used in settings.
func (c Confirm) String() string {
	if int(c) < len(confirmNames) {
		return confirmNames[c]
	}
	return fmt.Sprintf("confirm(%d)", uint8(c))
}

// Asking says in which ways approval questions reach the user. Each value includes those before it, so a terminal is
// always possible.
type Asking uint8

const (
	AskTerminal Asking = iota // the zero value: only "vaultwicket approve"
	AskPage                   // the page of vaultwicket, which a client may open
	AskAuto                   // a form of the client, if it shows the whole question and the call is not destructive
	AskClient                 // a form of the client, for destructive calls, too
)

var askingNames = [...]string{AskTerminal: "terminal", AskPage: "page", AskAuto: "auto", AskClient: "client"}

// String returns the value of the setting ask.
func (a Asking) String() string { return askingNames[Policy{Asking: a}.asking()] }

// ParseAsking reads "terminal", "page", "auto" or "client".
func ParseAsking(s string) (Asking, error) {
	return parseNamed[Asking](askingNames[:], s, "ask: want auto, page, terminal or client")
}

const (
	// DefaultMinAnswer is less than a person needs to read a question. Programs have been seen to answer within 200 ms.
	DefaultMinAnswer = time.Second
	// NoMinAnswer lets every answer count.
	NoMinAnswer time.Duration = -1
)

// MinAnswerTime returns the minimum time between a form and an answer that counts.
func (p Policy) MinAnswerTime() time.Duration {
	switch {
	case p.MinAnswer == 0:
		return DefaultMinAnswer
	case p.MinAnswer < 0:
		return 0
	}
	return p.MinAnswer
}

// minAnswerOf returns the value of [Policy.MinAnswer] for a minimum time.
func minAnswerOf(d time.Duration) time.Duration {
	if d <= 0 {
		return NoMinAnswer
	}
	return d
}

// ParseMinAnswer reads a time such as "1s", from 0s to 60s.
func ParseMinAnswer(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > time.Minute {
		return 0, fmt.Errorf("invalid value %.40q for min-answer-time: want 0s to 60s", s)
	}
	return minAnswerOf(d), nil
}

// LongestGrant is the maximum duration of a grant and the default of the setting max-grant: after a month, nobody
// remembers what they have granted.
const LongestGrant = 31 * 24 * time.Hour

const noGrants = "none"

// ParseMaxGrant reads "none", or a time such as "2h" from 1m to 744h.
func ParseMaxGrant(s string) (time.Duration, error) {
	if s == noGrants {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Minute || d > LongestGrant {
		return 0, fmt.Errorf("invalid value %.40q for max-grant: want none, or 1m to 744h", s)
	}
	return d, nil
}

// MaxGrantTime returns the maximum duration of a grant, 0 if grants are not allowed.
func (p Policy) MaxGrantTime() time.Duration { return min(max(p.MaxGrant, 0), LongestGrant) }

// shownMaxGrant returns the value of the setting max-grant.
func (p Policy) shownMaxGrant() string {
	if p.MaxGrantTime() == 0 {
		return noGrants
	}
	return p.MaxGrantTime().String()
}

// Secrets says what happens to keys, tokens and passwords in answers.
type Secrets uint8

const (
	SecretsBlock  Secrets = iota // the zero value: a call whose answer contains some fails
	SecretsStrict                // they are redacted, and so are card and account numbers
	SecretsRedact                // they are redacted
	SecretsAllow                 // they stay as they are
)

var secretsNames = [...]string{
	SecretsBlock:  "block",
	SecretsStrict: "strict",
	SecretsRedact: "redact",
	SecretsAllow:  "allow",
}

// String returns the value of the setting secrets.
func (s Secrets) String() string { return secretsNames[Policy{Secrets: s}.secrets()] }

// ParseSecrets reads "block", "strict", "redact" or "allow".
func ParseSecrets(s string) (Secrets, error) {
	return parseNamed[Secrets](secretsNames[:], s, "secrets: want redact, strict, block or allow")
}

// Suspicious says what follows from suspected prompt injection in answers.
type Suspicious uint8

const (
	// SuspiciousAsk is the zero value: a notice, and from then on every change of the session requires approval.
	SuspiciousAsk    Suspicious = iota
	SuspiciousNotice            // a notice
	SuspiciousOff               // nothing: answers are not searched for it
)

var suspiciousNames = [...]string{SuspiciousAsk: "ask", SuspiciousNotice: "notice", SuspiciousOff: "off"}

// String returns the value of the setting suspicious.
func (s Suspicious) String() string { return suspiciousNames[Policy{Suspicious: s}.suspicious()] }

// ParseSuspicious reads "ask", "notice" or "off".
func ParseSuspicious(s string) (Suspicious, error) {
	return parseNamed[Suspicious](suspiciousNames[:], s, "suspicious: want notice, ask or off")
}

// ParseConfirm reads "never", "destructive" or "writes".
func ParseConfirm(s string) (Confirm, error) {
	return parseNamed[Confirm](confirmNames[:], s, "confirm: want never, destructive or writes")
}

// parseNamed returns the value with the name text. For another text it returns an error, and the zero value, which
// is the strictest. setting is the end of the message: the setting and its valid values.
func parseNamed[T ~uint8](names []string, text, setting string) (T, error) {
	if i := slices.Index(names, text); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("invalid value %q for %s", text, setting)
}

// valid returns value if it is at most last, otherwise the zero value, which is the strictest.
func valid[T ~uint8](value, last T) T {
	if value > last {
		return 0
	}
	return value
}

// Judge returns the verdict of every rule, in order, including the rules after a denial: a dry run
// shows them all. The rules about the agent and the access token are left out if there is none, and
// those about texts if they are off or do not apply to the call.
func (p Policy) Judge(call allowlist.Call, facts Facts) []RuleVerdict {
	p = p.Under(facts)
	s := subjectOf(call, facts)
	verdicts := make([]RuleVerdict, 0, len(rules))
	for _, rule := range rules {
		v := RuleVerdict{Rule: rule.name, Verdict: Deny, denial: rule.refuse(p, s)}
		if v.denial == nil && !rule.concerns(p, s) {
			continue
		}
		switch {
		case v.denial == nil && rule.state != nil:
			v.Verdict = Pass
			v.Why = rule.text(p).String()
		case v.denial == nil:
			v.Verdict = Pass
			v.Why = rule.pass(p, s)
		case v.denial.NeedsApproval():
			v.Verdict = Ask
			v.Why = v.denial.Reason
		default:
			v.Why = v.denial.Reason
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// Lists returns why a command without optional parameters is denied, nil if it is enabled or
// requires approval. It is for lists of commands; it grants nothing.
func (p Policy) Lists(command allowlist.Command, facts Facts) *Denial {
	p = p.Under(facts)
	s := plainForm(command, facts)
	for _, rule := range rules {
		if denial := rule.refuse(p, s); denial != nil && !denial.NeedsApproval() {
			return denial
		}
	}
	return nil
}

// Obstacles returns every denial of a command without optional parameters, in the order of the rules: the first is
// that of [Policy.Lists]. A denial that no setting can lift is the last one.
func (p Policy) Obstacles(command allowlist.Command, facts Facts) (all []*Denial) {
	p = p.Under(facts)
	s := plainForm(command, facts)
	for _, rule := range rules {
		denial := rule.refuse(p, s)
		if denial == nil || denial.NeedsApproval() {
			continue
		}
		all = append(all, denial)
		if denial.Setting == "" {
			break
		}
	}
	return all
}

// plainForm returns the subject for a command without optional parameters.
func plainForm(command allowlist.Command, facts Facts) subject {
	return subject{
		facts:  facts,
		valid:  true,
		name:   command.Name,
		tier:   command.Tier,
		effect: command.Effect,
		shows:  command.Shows,
		sends:  command.Sends,
		notes:  command.Notes,
		since:  command.Since,
	}
}

// Allows reports whether a parameter of a listed command is enabled.
func (p Policy) Allows(param allowlist.Param) bool {
	changes := param.Effect != tiers.Unknown && param.Effect.Mutates()
	if changes && !p.Mutations {
		return false
	}
	return !param.Shows || p.UI
}

// subject is what the rules look at: a call, or a command without optional parameters, with the facts about it.
type subject struct {
	facts                   Facts
	valid                   bool
	name                    string
	tier                    tiers.Tier
	effect                  tiers.Effect
	loses                   string // what the call would remove, if that makes it destructive
	shows, sends, fallsBack bool
	notes                   bool // it may read or change notes
	since                   tiers.Version
	spells                  []allowlist.NamedPath
	access                  allowlist.PathAccess // the access that the paths need
}

func subjectOf(call allowlist.Call, facts Facts) subject {
	return subject{
		facts:     facts,
		valid:     call.Valid(),
		name:      call.Name(),
		tier:      call.Tier(),
		effect:    call.Effect(),
		loses:     call.Loss(),
		shows:     call.Shows(),
		sends:     call.Sends(),
		fallsBack: call.UsesOpenNote(),
		notes:     !call.TouchesNoNote(),
		since:     call.Since(),
		spells:    call.NamedPaths(),
		access:    call.PathAccess(),
	}
}

// Sends reports whether text may be sent off the machine.
func (p Policy) Sends() bool { return p.Mutations && p.Publish }

// EnforcedAccess returns the access rules, including the properties and tags with which notes restrict access to
// themselves unless that rule is in shadow.
func (p Policy) EnforcedAccess() access.Rules {
	if p.Shadows(RulePrivate) {
		return p.Access
	}
	return p.Access.WithPrivate(p.Private)
}

func (p Policy) secrets() Secrets       { return valid(p.Secrets, SecretsAllow) }
func (p Policy) suspicious() Suspicious { return valid(p.Suspicious, SuspiciousOff) }
func (p Policy) confirm() Confirm       { return valid(p.Confirm, ConfirmNever) }
func (p Policy) asking() Asking         { return valid(p.Asking, AskClient) }

// Redacts reports whether secrets in notes are redacted.
func (p Policy) Redacts() bool { return p.secrets() != SecretsAllow && !p.Shadows(RuleSecrets) }

func (p Policy) remoteLinks() string {
	if p.RemoteLinks {
		return "allow"
	}
	return "ask"
}
