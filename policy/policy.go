// Package policy decides whether a session may make a call.
//
// [Policy.Decide] checks a call against an ordered list of rules. The first denial is the
// answer; if there is none and no approval is required, the answer is a [Permit], without which
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

// Policy is what the settings of one or more sources allow. It is plain data, and policies come together in
// [Policy.Meet] alone; what a session or a call brings is in [Facts]. The zero value enables nothing and requires
// approval of every change.
type Policy struct {
	Ceiling   tiers.Tier // the highest enabled tier
	Mutations bool       // enables calls that change something
	Publish   bool       // enables, together with Mutations, what leaves the machine
	UI        bool       // enables calls that move the focus or open a view
	Confirm   Confirm    // which changes require approval
	Asking    Asking     // how the user is asked for it
	// MinAnswer is how long a client has had a form at least when an answer comes that counts: what comes sooner no
	// person has given. The zero value is [DefaultMinAnswer].
	MinAnswer   time.Duration
	MaxGrant    time.Duration // the longest that a grant of the owner counts; the zero value is for none
	Secrets     Secrets       // what is done with keys, tokens and passwords in answers
	Suspicious  Suspicious    // what follows from suspected prompt injection in answers
	RemoteLinks bool          // allows changes that add an address with text of another note
	// Shadow has the names of rules about texts that decide and have no effect, see [TextRules]. Exceptions are
	// folders and notes for which these rules do not apply. AnyShadow and AnyException are for rights that say
	// nothing of the one or the other, such as those of an agent: they leave both to others for the rules that
	// they do not state either, and to nobody for those that they state.
	Shadow       []string
	AnyShadow    bool
	Exceptions   access.Exceptions
	AnyException bool
	Flows        []Flow         // the rules about where text may go
	Private      access.Private // names what narrows the access to a note in the note itself
	// Disable disables single commands. EnableOnly disables all others; nil is for every command, and an empty list
	// for none. Neither enables anything.
	Disable, EnableOnly []string
	Access              access.Rules      // what may be done with which note
	Rates               Rates             // how often calls may be made
	Disabled            bool              // refuses every call
	Marks               bool              // text of notes in answers is between marks
	Origins             map[string]string // where a setting comes from, by its name, for messages
	MinVersion          tiers.Version     // the oldest app that is used. Below tiers.MinimumFloor the policy grants nothing.
	// Agent is the agent whose rights are in the policy, "" where no agent is defined. Until is when they end,
	// zero for never; see [Policy.At]. Closed says why nothing is allowed, "" where something may be.
	Agent  string
	Until  time.Time
	Closed string
}

// Rates bound how often calls are made. 0 is no limit.
type Rates struct {
	Calls                    int // of one caller in a minute
	Mutations, MutationsHour int // of all callers together, in a minute and in an hour
}

// Confirm says which changes require approval.
type Confirm uint8

const (
	ConfirmWrites      Confirm = iota // every change. It is the zero value.
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

// Asking says in which ways questions reach the user. Each has those before it, too: a terminal is always one.
type Asking uint8

const (
	AskTerminal Asking = iota // "vaultwicket approve" alone. It is the zero value.
	AskPage                   // the page of vaultwicket, which a client may open
	AskAuto                   // a form of the client, where it shows all of the question, and nothing is destroyed
	AskClient                 // a form of the client also for what is destructive
)

var askingNames = [...]string{AskTerminal: "terminal", AskPage: "page", AskAuto: "auto", AskClient: "client"}

// String returns the value of the setting ask.
func (a Asking) String() string { return askingNames[Policy{Asking: a}.asking()] }

// ParseAsking reads "terminal", "page", "auto" or "client".
func ParseAsking(s string) (Asking, error) {
	return parseNamed[Asking](askingNames[:], s, "ask: want auto, page, terminal or client")
}

const (
	// DefaultMinAnswer is less than a person needs to read a question. Programs have answered within 200 ms.
	DefaultMinAnswer = time.Second
	// NoMinAnswer lets every answer count.
	NoMinAnswer time.Duration = -1
)

// MinAnswerTime returns how long a client has had a form at least when an answer comes that counts.
func (p Policy) MinAnswerTime() time.Duration {
	switch {
	case p.MinAnswer == 0:
		return DefaultMinAnswer
	case p.MinAnswer < 0:
		return 0
	}
	return p.MinAnswer
}

// minAnswerOf returns the field for a time.
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

// LongestGrant is the longest time of a grant, and the default of the setting max-grant: nobody knows for longer what
// they have given.
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

// MaxGrantTime returns the longest that a grant counts, 0 for no grant.
func (p Policy) MaxGrantTime() time.Duration { return min(max(p.MaxGrant, 0), LongestGrant) }

// shownMaxGrant returns the value of the setting max-grant.
func (p Policy) shownMaxGrant() string {
	if p.MaxGrantTime() == 0 {
		return noGrants
	}
	return p.MaxGrantTime().String()
}

// Secrets says what is done with keys, tokens and passwords in answers.
type Secrets uint8

const (
	SecretsBlock  Secrets = iota // ends a call whose answer has some. It is the zero value.
	SecretsStrict                // replaces them by marks, as well as numbers of cards and accounts
	SecretsRedact                // replaces them by marks
	SecretsAllow                 // leaves them as they are
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
	SuspiciousAsk    Suspicious = iota // a notice, and then every change of the session requires approval. It is the zero value.
	SuspiciousNotice                   // a notice
	SuspiciousOff                      // nothing: they are not looked for
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

// parseNamed returns the value of a setting with a name, the zero value, which is the strictest, with
// an error for another text.
func parseNamed[T ~uint8](names []string, text, setting string) (T, error) {
	if i := slices.Index(names, text); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("invalid value %q for %s", text, setting)
}

// valid returns a value up to the last one of its type, for another the zero value, the strictest.
func valid[T ~uint8](value, last T) T {
	if value > last {
		return 0
	}
	return value
}

// Judge returns the verdict of every rule, in order, also of those after a denial: a dry run
// shows them all. The rules about the agent and about the access token are left out where there is
// none, and those about texts where they are off or not about the call.
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
			v.Verdict, v.Why = Pass, rule.text(p).String()
		case v.denial == nil:
			v.Verdict, v.Why = Pass, rule.pass(p, s)
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

// Lists returns why the plain form of a command is denied, nil if it is enabled or requires
// approval. It is for lists of commands; it grants nothing.
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

// Obstacles returns all that denies the plain form of a command, in the order of the rules: the first is that of
// [Policy.Lists]. Where no setting lifts one of them, it is the last.
func (p Policy) Obstacles(command allowlist.Command, facts Facts) (all []*Denial) {
	p = p.Under(facts)
	s := plainForm(command, facts)
	for _, rule := range rules {
		denial := rule.refuse(p, s)
		if denial == nil || denial.NeedsApproval() {
			continue
		}
		if all = append(all, denial); denial.Setting == "" {
			break
		}
	}
	return all
}

// plainForm returns a command as the rules see it.
func plainForm(command allowlist.Command, facts Facts) subject {
	return subject{
		facts: facts,
		valid: true, name: command.Name, tier: command.Tier, effect: command.Effect,
		shows: command.Shows, sends: command.Sends, notes: command.Notes, since: command.Since,
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

// subject is what the rules look at: a call, or the plain form of a command, with what is known of it.
type subject struct {
	facts                   Facts
	valid                   bool
	name                    string
	tier                    tiers.Tier
	effect                  tiers.Effect
	loses                   string // what the call would remove, where that makes it destructive
	shows, sends, fallsBack bool
	notes                   bool // it may read or change notes
	since                   tiers.Version
	spells                  []allowlist.NamedPath
	access                  allowlist.PathAccess // that the paths need
}

func subjectOf(call allowlist.Call, facts Facts) subject {
	return subject{
		facts: facts,
		valid: call.Valid(), name: call.Name(), tier: call.Tier(), effect: call.Effect(), loses: call.Loss(),
		shows: call.Shows(), sends: call.Sends(), fallsBack: call.UsesOpenNote(), notes: !call.TouchesNoNote(), since: call.Since(),
		spells: call.NamedPaths(), access: call.PathAccess(),
	}
}

// Sends reports whether texts may leave the machine.
func (p Policy) Sends() bool { return p.Mutations && p.Publish }

// EnforcedAccess returns the access rules with what notes narrow access to themselves by, unless that has no effect.
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

// Redacts reports whether notes are read with marks in place of their secrets.
func (p Policy) Redacts() bool { return p.secrets() != SecretsAllow && !p.Shadows(RuleSecrets) }

func (p Policy) remoteLinks() string {
	if p.RemoteLinks {
		return "allow"
	}
	return "ask"
}
