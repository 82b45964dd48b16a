package settings

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// agentPattern takes the names of agents: they are parts of lines of logs, labels of metrics and
// names of tables, and two of them never differ only in capitals.
const agentPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var agentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(agentPattern) })

// maxAgents bounds the tables "agents.NAME" of a file.
const maxAgents = 1000

// CheckAgentName says what is wrong with the name of an agent.
func CheckAgentName(name string) error {
	if !agentName().MatchString(name) {
		return fmt.Errorf("invalid agent name %q: want 1 to 64 of a to z, 0 to 9, dot, dash and underscore, not beginning with a sign", quote.Short(name))
	}
	return nil
}

// setAgent takes any name of an agent, and "" for none: which ones there are is known where
// the file is read.
func setAgent(s *Settings, text string) error {
	s.Agent = text
	if text == "" {
		return nil
	}
	return CheckAgentName(text)
}

// agentTable is one of the tables "agents.NAME" of the file.
type agentTable struct {
	policy.Agent
	limits admission.Limits        // 0 for those that are not written
	levels map[string]access.Level // as written, nil if there are none
}

// agentTables are the tables by their names.
type agentTables map[string]agentTable

// rights returns what the gateway has to know of the agents.
func (t agentTables) rights() policy.Agents {
	agents := policy.Agents{}
	for name, table := range t {
		agents[name] = table.Agent
	}
	return agents
}

// agentSettings are the settings that a table of an agent can have, agentKeys its other keys.
var (
	agentSettings = append(policy.SettingNames(), "rate", "rate-mutations", "rate-mutations-hour")
	agentKeys     = []string{"vaults", "access", "expires", "oauth", "flow"}
)

// agents reads the tables "agents.NAME".
func (r *reading) agents(value any) agentTables {
	if value == nil {
		return nil
	}
	all, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"agents"}, "%q is %s, want tables such as [agents.cursor]", "agents", typeName(value))
		return nil
	}
	read := agentTables{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := []string{"agents", name}
		values, ok := all[name].(map[string]any)
		switch err := CheckAgentName(name); {
		case err != nil:
			r.report(at, "%v", err)
		case !ok:
			r.report(at, "%q is %s, want a table [agents.%s]", strings.Join(at, "."), typeName(all[name]), name)
		case len(read) == maxAgents:
			r.report(at, "more than %d agents", maxAgents)
			return read
		default:
			read[name] = r.agent(name, values, at)
		}
	}
	return read
}

func (r *reading) agent(name string, values map[string]any, at []string) agentTable {
	s := Settings{Policy: policy.Unlimited()}
	var t agentTable
	t.levels = nil
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := r.agentKey(&t, &s, key, values[key], append(slices.Clone(at), key)); err != nil {
			r.report(append(at, key), "setting %q: %v", strings.Join(append(at, quote.Short(key)), "."), err)
		}
	}
	rules, flows := t.Rights.Access, t.Rights.Flows
	t.Rights, t.limits = s.Policy, s.Limits
	t.Rights.Access, t.Rights.Flows = rules, flows
	t.Rights.Origins = map[string]string{}
	for _, part := range append(policy.SettingNames(), "access") {
		t.Rights.Origins[part] = "agent " + name
	}
	return t
}

func (r *reading) agentKey(t *agentTable, s *Settings, key string, value any, at []string) (err error) {
	switch {
	case slices.Contains(agentSettings, key):
		row, _ := settingOf(key)
		text, err := row.read(value)
		if err != nil {
			return err
		}
		return row.set(s, text)
	case key == "access":
		t.levels, t.Rights.Access, err = r.access(value, at, "[agents.NAME.access]")
		return err
	case key == "flow":
		t.Rights.Flows = r.flows(value, at)
		return nil
	case key == "vaults":
		t.Vaults, err = nameList(value, "names, ids or folders of vaults")
		return err
	case key == "oauth":
		t.Subjects, err = nameList(value, "values of the claim oauth-claim")
		return err
	case key == "expires":
		t.Expires, err = expiry(value)
		return err
	}
	return fmt.Errorf("unknown key%s", quote.DidYouMean(key, append(slices.Clone(agentSettings), agentKeys...)))
}

// nameList reads a list of what is described. An empty list is none of them.
func nameList(value any, what string) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf(`is %s, want a list of %s such as ["one", "two"]`, typeName(value), what)
	}
	names := []string{}
	for _, item := range list {
		name, ok := item.(string)
		if !ok || name == "" {
			return nil, fmt.Errorf(`contains %s, want %s`, typeName(item), what)
		}
		names = append(names, name)
	}
	return names, nil
}

// expiry reads a date, which is the first one without rights in local time, or a time.
func expiry(value any) (time.Time, error) {
	var at time.Time
	switch v := value.(type) {
	case toml.LocalDate:
		at = v.AsTime(time.Local)
	case toml.LocalDateTime:
		at = v.AsTime(time.Local)
	case time.Time:
		at = v
	default:
		return at, fmt.Errorf("is %s, want a date such as 2027-03-01 or a time such as 2027-03-01T18:00:00Z, without quotes", typeName(value))
	}
	if at.IsZero() {
		return at, fmt.Errorf("is not a date")
	}
	return at, nil
}

// forAgent returns what the settings, a vault and the agent of the settings all allow. known are
// the names of the vault. Where no agent is named, the owner of the notes acts.
func (f *Flags) forAgent(s Settings, vault policy.Policy, known ...string) policy.Policy {
	if s.Agent == "" {
		return s.Policy.Narrow(vault)
	}
	name := s.Agent
	if name == policy.DefaultAgent && f.raws[settingIndex("agent")].text == "" {
		name = "" // it was not asked for
	}
	return s.Agents.InForce(name, s.Policy, vault, known...)
}

// pickAgent refuses an agent that is not defined, and leaves out the vaults that the agent may
// not use. Where it may use none, one stays, in which nothing is allowed.
func (f *Flags) pickAgent(s *Settings) error {
	r := f.raws[settingIndex("agent")]
	agent, defined := s.Agents[s.Agent]
	switch {
	case !defined && !f.Reviews && r.text != "" && r.text == s.Agent && (r.text != policy.DefaultAgent || len(s.Agents) > 0):
		return &terminal.UsageError{
			Reason: fmt.Sprintf("setting %q (%s): unknown agent %q%s", "agent", r.origin, r.text, quote.DidYouMean(r.text, slices.Collect(maps.Keys(s.Agents)))),
			Advice: fmt.Sprintf("define it in the settings file as a table [agents.%s]", r.text),
		}
	case !defined || agent.Vaults == nil:
		return nil
	}
	var usable []gateway.Served
	for _, served := range s.Served {
		if v := served.Vault; agent.MayUse(vaultTable{Vault: v}.label(), v.Name, v.ID, v.Folder) {
			usable = append(usable, served)
		}
	}
	if usable == nil {
		usable = s.Served[:1]
	}
	s.Served = usable
	return nil
}

// agentName returns the agent that requests are of, "" where no agent is defined.
func (s Settings) agentName() string {
	if len(s.Agents) == 0 {
		return ""
	}
	return s.Agent
}

// DescribeAgent returns the keys of a table "agents.NAME", each with what it means.
func DescribeAgent() (list [][2]string) {
	properties := agentSchema()["properties"].(object)
	for _, name := range agentSettings {
		row, _ := settingOf(name)
		list = append(list, [2]string{name, row.usage})
	}
	for _, key := range agentKeys {
		list = append(list, [2]string{key, properties[key].(object)["description"].(string)})
	}
	return list
}

// agentSchema describes a table "agents.NAME".
func agentSchema() object {
	properties := object{
		"vaults":  object{"type": "array", "description": "names, ids or folders of the vaults that the agent may use (default: all)", "items": object{"type": "string", "minLength": 1}},
		"access":  accessSchema(),
		"flow":    flowSchema(),
		"oauth":   object{"type": "array", "description": "values of the claim oauth-claim: access tokens with one of them are the agent's (default: none)", "items": object{"type": "string", "minLength": 1}},
		"expires": object{"description": "first day, in local time, or time at which the agent has no rights any more (default: never)"},
	}
	for _, name := range agentSettings {
		properties[name] = object{"$ref": "#/$defs/" + name}
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}
