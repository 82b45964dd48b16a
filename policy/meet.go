package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// row describes one part of a policy, and how two values of it are combined: join sets the part in to to the
// combination of those in p and q. No source of settings can widen another one, because every source is a policy,
// and policies are only combined by [Policy.Meet], which applies these rows.
type row struct {
	name   string   // of the setting, or of a part that is not a setting
	fields []string // the fields of [Policy] that it covers
	bounds bool     // whether it is a setting of agents and managed settings
	meets  string   // how two values are combined, for people
	value  func(p Policy) any
	join   func(to *Policy, p, q Policy)
	same   func(p, q Policy) bool
}

// rows are all parts of a policy except for those in messages. The settings of agents are in the order in
// which they are listed everywhere.
var rows = [...]row{
	least("tier", "Ceiling", "the lower tier", func(p *Policy) *tiers.Tier { return &p.Ceiling }, tiers.V3,
		func(p Policy) any { return p.Ceiling.String() }),
	{
		name: "disable", fields: []string{"Disable"}, bounds: true, meets: "the commands of both",
		value: func(p Policy) any { return p.Disable },
		join:  func(to *Policy, p, q Policy) { to.Disable = unionOfNames(p.Disable, q.Disable) },
		same:  func(p, q Policy) bool { return sameNames(p.Disable, q.Disable) },
	},
	{
		name: "enable-only", fields: []string{"EnableOnly"}, bounds: true, meets: "the commands in both lists; a source without a list enables all",
		value: func(p Policy) any { return p.EnableOnly },
		join:  func(to *Policy, p, q Policy) { to.EnableOnly = enabledInBoth(p.EnableOnly, q.EnableOnly) },
		same: func(p, q Policy) bool {
			return (p.EnableOnly == nil) == (q.EnableOnly == nil) && sameNames(p.EnableOnly, q.EnableOnly)
		},
	},
	gate("allow-mutations", "Mutations", func(p *Policy) *bool { return &p.Mutations }),
	gate("allow-publish", "Publish", func(p *Policy) *bool { return &p.Publish }),
	gate("allow-ui", "UI", func(p *Policy) *bool { return &p.UI }),
	least(
		"confirm",
		"Confirm",
		"the one that requires more approval: writes, destructive, never",
		func(p *Policy) *Confirm { return &p.Confirm },
		ConfirmNever,
		func(p Policy) any { return p.Confirm.String() },
	),
	least(
		"ask",
		"Asking",
		"the one with fewer ways: terminal, page, auto, client",
		func(p *Policy) *Asking { return &p.Asking },
		AskClient,
		func(p Policy) any { return p.Asking.String() },
	),
	{
		name: "min-answer-time", fields: []string{"MinAnswer"}, bounds: true, meets: "the longer time",
		value: func(p Policy) any { return p.MinAnswerTime().String() },
		join:  func(to *Policy, p, q Policy) { to.MinAnswer = minAnswerOf(max(p.MinAnswerTime(), q.MinAnswerTime())) },
		same:  func(p, q Policy) bool { return p.MinAnswerTime() == q.MinAnswerTime() },
	},
	{
		name: "max-grant", fields: []string{"MaxGrant"}, bounds: true, meets: "the shorter time; none, if one says so",
		value: func(p Policy) any { return p.shownMaxGrant() },
		join:  func(to *Policy, p, q Policy) { to.MaxGrant = min(p.MaxGrantTime(), q.MaxGrantTime()) },
		same:  func(p, q Policy) bool { return p.MaxGrantTime() == q.MaxGrantTime() },
	},
	least(
		"secrets",
		"Secrets",
		"the stricter one: block, strict, redact, allow",
		func(p *Policy) *Secrets { return &p.Secrets },
		SecretsAllow,
		func(p Policy) any { return p.Secrets.String() },
	),
	least(
		"suspicious",
		"Suspicious",
		"the stricter one: ask, notice, off",
		func(p *Policy) *Suspicious { return &p.Suspicious },
		SuspiciousOff,
		func(p Policy) any { return p.Suspicious.String() },
	),
	{
		name: "remote-links", fields: []string{"RemoteLinks"}, bounds: true, meets: "ask, if one says so",
		value: func(p Policy) any { return p.remoteLinks() },
		join:  func(to *Policy, p, q Policy) { to.RemoteLinks = p.RemoteLinks && q.RemoteLinks },
		same:  func(p, q Policy) bool { return p.RemoteLinks == q.RemoteLinks },
	},
	{
		name: "shadow", fields: []string{"Shadow", "AnyShadow"}, bounds: true,
		meets: "a rule is in shadow only if both put it there; a source without the setting agrees for the rules that it does not state itself",
		value: func(p Policy) any { return p.Shadow },
		join: func(to *Policy, p, q Policy) {
			to.AnyShadow = p.AnyShadow && q.AnyShadow
			for _, rule := range TextRules() {
				if p.Shadows(rule) && q.Shadows(rule) && !to.AnyShadow {
					to.Shadow = append(to.Shadow, rule)
				}
			}
		},
		same: func(p, q Policy) bool {
			return !slices.ContainsFunc(
				TextRules(),
				func(rule string) bool { return p.Shadows(rule) != q.Shadows(rule) },
			)
		},
	},
	names("private-property", "the properties of both", func(p *Policy) *[]string { return &p.Private.Properties }),
	names("private-tags", "the tags of both", func(p *Policy) *[]string { return &p.Private.Tags }),
	{
		name: "exceptions", fields: []string{"Exceptions", "AnyException"}, bounds: true,
		meets: "an exception counts only if both have it; a source without the setting agrees for the rules that it does not state itself",
		value: func(p Policy) any { return p.Exceptions.Lines() },
		join: func(to *Policy, p, q Policy) {
			to.AnyException = p.AnyException && q.AnyException
			to.Exceptions = p.exceptionsIn(q)
			for _, e := range q.exceptionsIn(p) {
				if !to.Exceptions.Has(e.Rule, e.Path) {
					to.Exceptions = append(to.Exceptions, e)
				}
			}
		},
		same: func(p, q Policy) bool { return p.exemptsAllOf(q) && q.exemptsAllOf(p) },
	},
	{
		name: "min-cli-version", fields: []string{"MinVersion"}, bounds: true, meets: "the later version",
		value: func(p Policy) any { return p.MinVersion.String() },
		join: func(to *Policy, p, q Policy) {
			to.MinVersion = tiers.Later(p.MinVersion, q.MinVersion)
			if !p.hasVersion() || !q.hasVersion() {
				to.MinVersion = tiers.Version{} // one of the two grants nothing
			}
		},
		same: func(p, q Policy) bool {
			return p.MinVersion == q.MinVersion || !p.hasVersion() && !q.hasVersion()
		},
	},
	{
		name: accessSetting, fields: []string{"Access"}, meets: "for each note the lower level",
		join: func(to *Policy, p, q Policy) { to.Access = p.Access.Meet(q.Access) },
		same: func(p, q Policy) bool {
			paths := p.Access.Meet(q.Access).Paths()
			return !slices.ContainsFunc(
				paths,
				func(path string) bool { return p.Access.Level(path) != q.Access.Level(path) },
			)
		},
	},
	{
		name: RuleFlow, fields: []string{"Flows"}, meets: "the rules of both",
		join: func(to *Policy, p, q Policy) { to.Flows = unionOfFlows(p.Flows, q.Flows) },
		same: func(p, q Policy) bool { return flowsWithin(p.Flows, q.Flows) && flowsWithin(q.Flows, p.Flows) },
	},
	rate("rate", func(p *Policy) *int { return &p.Rates.Calls }),
	rate("rate-mutations", func(p *Policy) *int { return &p.Rates.Mutations }),
	rate("rate-mutations-hour", func(p *Policy) *int { return &p.Rates.MutationsHour }),
	{
		name: "enabled", fields: []string{"Disabled"}, meets: "false, if one says so",
		value: func(p Policy) any { return !p.Disabled },
		join:  func(to *Policy, p, q Policy) { to.Disabled = p.Disabled || q.Disabled },
		same:  func(p, q Policy) bool { return p.Disabled == q.Disabled },
	},
	{
		name: "mark-untrusted", fields: []string{"Marks"}, meets: "true, if one says so",
		value: func(p Policy) any { return p.Marks },
		join:  func(to *Policy, p, q Policy) { to.Marks = p.Marks || q.Marks },
		same:  func(p, q Policy) bool { return p.Marks == q.Marks },
	},
	{
		name: "expires", fields: []string{"Until"}, meets: "the earlier time",
		join: func(to *Policy, p, q Policy) { to.Until = earlier(p.Until, q.Until) },
		same: func(p, q Policy) bool { return p.Until.Equal(q.Until) },
	},
	{
		name: "agent", fields: []string{"Agent", "Closed"}, meets: "the agent of either; nothing is allowed to an agent that is not defined, may not use the vault or has ended, nor to two agents at once",
		join: func(to *Policy, p, q Policy) {
			to.Agent = cmp.Or(p.Agent, q.Agent)
			to.Closed = cmp.Or(p.Closed, q.Closed)
			if p.Agent != "" && q.Agent != "" && p.Agent != q.Agent {
				to.Agent = min(p.Agent, q.Agent)
				to.Closed = cmp.Or(to.Closed, "two agents have no rights together")
			}
		},
		same: func(p, q Policy) bool { return p.Agent == q.Agent && (p.Closed == "") == (q.Closed == "") },
	},
}

// messages are the fields of [Policy] that decide nothing.
var messages = []string{"Origins"}

// least returns the row of a part of which the lower value is the stricter one. last is the loosest value; values
// beyond it count as the strictest.
func least[T ~uint8](name, field, meets string, of func(*Policy) *T, last T, value func(Policy) any) row {
	known := func(p Policy) T { return valid(*of(&p), last) }
	return row{
		name: name, fields: []string{field}, bounds: true, meets: meets, value: value,
		join: func(to *Policy, p, q Policy) { *of(to) = min(known(p), known(q)) },
		same: func(p, q Policy) bool { return known(p) == known(q) },
	}
}

// gate returns the row of a part that is enabled only if both policies enable it.
func gate(name, field string, of func(*Policy) *bool) row {
	return row{
		name: name, fields: []string{field}, bounds: true, meets: "true, if both say so",
		value: func(p Policy) any { return *of(&p) },
		join:  func(to *Policy, p, q Policy) { *of(to) = *of(&p) && *of(&q) },
		same:  func(p, q Policy) bool { return *of(&p) == *of(&q) },
	}
}

// names returns the row of a list of names with which notes restrict access to themselves.
func names(name, meets string, of func(*Policy) *[]string) row {
	return row{
		name: name, fields: []string{"Private"}, bounds: true, meets: meets,
		value: func(p Policy) any { return *of(&p) },
		join:  func(to *Policy, p, q Policy) { *of(to) = unionOfNames(*of(&p), *of(&q)) },
		same:  func(p, q Policy) bool { return sameNames(*of(&p), *of(&q)) },
	}
}

// rate returns the row of a rate limit; 0 is no limit.
func rate(name string, of func(*Policy) *int) row {
	limit := func(p Policy) int { return max(0, *of(&p)) }
	return row{
		name: name, fields: []string{"Rates"}, bounds: true, meets: "the lower rate (0: no limit)",
		value: func(p Policy) any { return *of(&p) },
		join: func(to *Policy, p, q Policy) {
			*of(to) = LowerRate(limit(p), limit(q))
		},
		same: func(p, q Policy) bool { return limit(p) == limit(q) },
	}
}

// LowerRate returns the stricter of two rate limits; 0 and negative numbers are no limit.
func LowerRate(a, b int) int {
	switch {
	case a <= 0:
		return max(0, b)
	case b <= 0:
		return a
	}
	return min(a, b)
}

// Meet returns the policy that allows what both p and q allow, and requires approval if one of them does. It is the
// only way to combine the settings of several sources. The origin of a setting is that of q if q is stricter,
// otherwise that of p.
func (p Policy) Meet(q Policy) Policy {
	met := p.meet(q)
	met.Origins = maps.Clone(p.Origins)
	if met.Origins == nil {
		met.Origins = map[string]string{}
	}
	for _, r := range rows {
		if r.bounds && !r.same(met, p) {
			met.Origins[r.name] = q.Origins[r.name]
		}
	}
	if met.Access.String() != p.Access.String() {
		met.Origins[accessSetting] = originOfBoth(p, q)
	}
	return met
}

// originOfBoth returns the origin of the combined access rules of p and q.
func originOfBoth(p, q Policy) string {
	first := p.Origins[accessSetting]
	second := q.Origins[accessSetting]
	switch {
	case !p.Access.Restrict():
		return second
	case slices.Contains(strings.Split(first, " and "), second):
		return first
	}
	return first + " and " + second
}

// From returns the policy with one origin for all of its settings and access rules.
func (p Policy) From(origin string) Policy {
	p.Origins = map[string]string{accessSetting: origin}
	for _, name := range SettingNames() {
		p.Origins[name] = origin
	}
	return p
}

// meet is [Policy.Meet] without origins.
func (p Policy) meet(q Policy) (met Policy) {
	for _, r := range rows {
		r.join(&met, p, q)
	}
	if met.EnableOnly != nil && len(met.EnableOnly) == 0 {
		met.Ceiling = tiers.None // shows that no command is enabled
	}
	return met
}

// Stricter returns the names of the parts of which q allows less than p, in the order of [Meetings].
func (p Policy) Stricter(q Policy) (stricter []string) {
	met := p.meet(q)
	for _, r := range rows {
		if !r.same(met, p) {
			stricter = append(stricter, r.name)
		}
	}
	return stricter
}

// Meeting says how two values of a part of a policy, or of a fact, are combined.
type Meeting struct {
	Name, Meets string
	Fact        bool
}

// Meetings returns all parts of a policy, followed by the facts of a call.
func Meetings() (all []Meeting) {
	for _, r := range rows {
		all = append(all, Meeting{Name: r.name, Meets: r.meets})
	}
	for _, r := range factRows {
		all = append(all, Meeting{Name: r.name, Meets: r.meets, Fact: true})
	}
	return all
}

// SettingNames returns the names of the settings that agents and managed settings can have, except for tables.
func SettingNames() (all []string) {
	for _, r := range rows {
		if r.bounds {
			all = append(all, r.name)
		}
	}
	return all
}

// Setting returns the value of a setting: a string, a boolean, a number or a list of strings. It returns nil for the
// access rules and for other names.
func (p Policy) Setting(name string) any {
	for _, r := range rows {
		if r.name != name || r.value == nil {
			continue
		}
		if list, ok := r.value(p).([]string); ok {
			return append([]string{}, list...)
		}
		return r.value(p)
	}
	return nil
}

// accessSetting is the name of the access rules among the origins.
const accessSetting = "access"

func (p Policy) hasVersion() bool { return !p.MinVersion.Before(tiers.MinimumFloor) }

// unionOfNames returns the names of both, sorted.
func unionOfNames(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func sameNames(a, b []string) bool { return within(a, b) && within(b, a) }

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// enabledInBoth returns the commands that both lists enable. A nil list enables all commands, an empty one none.
func enabledInBoth(a, b []string) []string {
	switch {
	case a == nil:
		return slices.Clone(b)
	case b == nil:
		return slices.Clone(a)
	}
	both := []string{}
	for _, name := range a {
		if slices.Contains(b, name) {
			both = append(both, name)
		}
	}
	return both
}

// exceptionsIn returns the exceptions of p that q accepts, too.
func (p Policy) exceptionsIn(q Policy) access.Exceptions {
	return slices.DeleteFunc(
		slices.Clone(p.Exceptions),
		func(e access.Exception) bool { return !q.exempts(e.Rule, e.Path) },
	)
}

// exempts reports whether the policy exempts the file at path from a rule about texts, or accepts any exception.
func (p Policy) exempts(rule, path string) bool {
	return p.Exceptions.Has(rule, path) || p.exemptsAll(rule)
}

// exemptsAll reports whether the policy accepts any exception of other policies to a rule.
func (p Policy) exemptsAll(rule string) bool { return p.AnyException && !p.states(rule) }

// exemptsAllOf reports whether p accepts every exception that q accepts.
func (p Policy) exemptsAllOf(q Policy) bool {
	for _, rule := range TextRules() {
		if q.exemptsAll(rule) && !p.exemptsAll(rule) {
			return false
		}
	}
	return len(q.exceptionsIn(p)) == len(q.Exceptions)
}

// Overlaid returns the policy without the shadow and the exceptions of rules that a source with a higher priority
// states: a source does not weaken the rules of a source that takes precedence. priority returns the priority of
// the source of a setting.
func (p Policy) Overlaid(priority func(setting string) int) Policy {
	highestPriority := func(rule string) (highest int) {
		for _, r := range rules {
			if r.name != rule {
				continue
			}
			for _, setting := range r.settings {
				highest = max(highest, priority(setting))
			}
		}
		return highest
	}
	p.Shadow = slices.DeleteFunc(
		slices.Clone(p.Shadow),
		func(rule string) bool { return priority("shadow") < highestPriority(rule) },
	)
	p.Exceptions = slices.DeleteFunc(
		slices.Clone(p.Exceptions),
		func(e access.Exception) bool { return priority("exceptions") < highestPriority(e.Rule) },
	)
	return p
}

// earlier returns the earlier of two times; zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
