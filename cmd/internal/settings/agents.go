package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
)

// agentPattern matches the names of agents. They appear in log lines, as labels of metrics and as names of TOML
// tables, and must not differ only in capital letters.
const agentPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var agentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(agentPattern) })

// maxAgents is the maximum number of tables agents.NAME in a file.
const maxAgents = 1000

// CheckAgentName returns an error if name is not a valid name of an agent.
func CheckAgentName(name string) error {
	if !agentName().MatchString(name) {
		return fmt.Errorf(
			"invalid agent name %q: use 1–64 lower-case letters, digits, \".\", \"-\", \"_\", starting with a letter or digit",
			excerpt.Short(name),
		)
	}
	return nil
}

// agentKeys returns the keys of a table agents.NAME.
func agentKeys() []tableKey[policy.Agent] {
	return append(settingKeys(policy.SettingNames(), setAgentSetting), []tableKey[policy.Agent]{
		{
			"vaults",
			"names, ids or folders of the vaults that the agent may use (default: all)",
			listSchema(),
			nameList(func(t *policy.Agent) *[]string { return &t.Vaults }, "names, ids or folders of vaults"),
		},
		{"access", accessDescription, accessSchema(), func(r *reading, t *policy.Agent, value any, at []string) (err error) {
			_, t.Rights.Access, err = r.access(value, at, "[agents.NAME.access]")
			return err
		}},
		{
			"expires",
			"first day, in local time, or time at which the agent has no rights any more (default: never)",
			object{},
			func(_ *reading, t *policy.Agent, value any, _ []string) (err error) {
				t.Expires, err = expiry(value)
				return err
			},
		},
		{
			"oauth",
			"values of the claim oauth-claim: access tokens with one of them are the agent's (default: none)",
			listSchema(),
			nameList(func(t *policy.Agent) *[]string { return &t.Subjects }, "values of the claim oauth-claim"),
		},
		{"flow", flowDescription, flowSchema(), func(r *reading, t *policy.Agent, value any, at []string) error {
			t.Rights.Flows = r.flows(value, at)
			return nil
		}},
	}...)
}

// setAgentSetting sets a setting of the rights of an agent.
func setAgentSetting(t *policy.Agent, row setting, text string) error {
	s := Settings{Policy: t.Rights}
	err := row.set(&s, text)
	t.Rights = s.Policy
	return err
}

// agents reads the tables agents.NAME.
func (r *reading) agents(value any) policy.Agents {
	if value == nil {
		return nil
	}
	tables, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"agents"}, "%q is %s, want tables such as [agents.cursor]", "agents", typeName(value))
		return nil
	}
	agents := policy.Agents{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := []string{"agents", name}
		values, ok := tables[name].(map[string]any)
		switch err := CheckAgentName(name); {
		case err != nil:
			r.report(at, "%v", err)
		case !ok:
			r.report(at, "%q is %s, want a table [agents.%s]", strings.Join(at, "."), typeName(tables[name]), name)
		case len(agents) == maxAgents:
			r.report(at, "more than %d agents", maxAgents)
			return agents
		default:
			agent := policy.Agent{Rights: policy.Unlimited()}
			readKeys(r, agentKeys(), &agent, values, at, "setting %q", strings.Join(at, ".")+".", "unknown key")
			agent.Rights = agent.Rights.From("agent " + name)
			agents[name] = agent
		}
	}
	return agents
}

// expiry reads the time at which rights end: a time, or a date, which means its beginning in local time.
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

// forAgent returns the policy that the settings, the vault and the agent in s.Agent all allow. known are the names
// of the vault. Without an agent, the owner of the notes acts.
func (f *Flags) forAgent(s Settings, vault policy.Policy, vaultNames ...string) policy.Policy {
	if s.Agent == "" {
		return s.Policy.Meet(vault)
	}
	name := s.Agent
	if name == policy.DefaultAgent && f.raws[settingIndex("agent")].text == "" {
		name = "" // the default agent was not selected by the user
	}
	return s.Agents.InForce(name, s.Policy, vault, vaultNames...)
}

// checkAgent returns an error for an agent that is not defined, and removes the vaults that the agent may not use from
// s.Served. If it may not use any, the first one stays, whose policy then allows nothing.
func (f *Flags) checkAgent(s *Settings) error {
	r := f.raws[settingIndex("agent")]
	agent, defined := s.Agents[s.Agent]
	isGiven := r.text != "" && r.text == s.Agent
	isDefault := r.text == policy.DefaultAgent && len(s.Agents) == 0
	isUnknown := isGiven && !defined && !isDefault
	switch {
	case isUnknown && !f.Reviews:
		return &terminal.UsageError{
			Reason: fmt.Sprintf(
				"setting %q (%s): unknown agent %q%s",
				"agent",
				r.origin,
				r.text,
				excerpt.DidYouMean(r.text, slices.Collect(maps.Keys(s.Agents))),
			),
			Advice: fmt.Sprintf("define it in the settings file as a table [agents.%s]", r.text),
		}
	case !defined || agent.Vaults == nil:
		return nil
	}
	var usable []Served
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

// DefineAgent appends a table for an agent with these lines to the settings file, which is created if it is missing,
// and returns the path of the file. If the agent is already defined, the file is not changed and added is false.
// Existing content of the file is kept byte for byte.
func (f *Flags) DefineAgent(std terminal.Streams, name string, lines []string) (file string, added bool, err error) {
	if err := CheckAgentName(name); err != nil {
		return "", false, &terminal.UsageError{Reason: err.Error()}
	}
	if f.file.name == "" {
		return "", false, place{}.missing()
	}
	if _, defined := f.file.agents[name]; defined {
		return f.file.name, false, nil
	}
	target := f.file.name
	content := fmt.Sprintf("[agents.%s]\n%s\n", agentTableKey(name), strings.Join(lines, "\n"))
	if f.file.info != nil {
		var before []byte
		if target, err = filepath.EvalSymlinks(f.file.name); err == nil {
			before, err = os.ReadFile(target)
		}
		if err != nil {
			return "", false, cannotWrite(f.file.name, err)
		}
		if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
			before = append(before, '\n')
		}
		content = string(before) + "\n" + content
	}
	if _, problems := parseDocument([]byte(content)); len(problems) > 0 {
		return "", false, &wrongFile{f.file.name, problems}
	}
	if f.file.info == nil {
		return f.file.name, true, writeNew(f.file.name, []byte(content))
	}
	if err := writeAside(target, []byte(content), f.file.info.Mode().Perm(), os.Rename); err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	return f.file.name, true, nil
}

// agentTableKey returns the name of an agent as part of a TOML table header.
func agentTableKey(name string) string {
	if strings.Contains(name, ".") {
		return strconv.Quote(name)
	}
	return name
}

// AccessTable returns the lines of the table [agents.NAME.access] for rules of the form PATH=LEVEL; nil without
// rules.
func AccessTable(agent string, rules []string) (lines []string, err error) {
	for _, rule := range rules {
		separator := strings.LastIndexByte(rule, '=')
		if separator < 1 {
			return nil, fmt.Errorf("invalid value %q: want PATH=LEVEL, such as Work=rw", excerpt.Short(rule))
		}
		if _, err := accessLevel(rule[:separator], rule[separator+1:]); err != nil {
			return nil, fmt.Errorf("access of %q: %w", excerpt.Short(rule[:separator]), err)
		}
		key, _ := json.Marshal(rule[:separator]) // a JSON string is a valid TOML string
		lines = append(lines, fmt.Sprintf("%s = %q", key, rule[separator+1:]))
	}
	if lines != nil {
		lines = append([]string{"[agents." + agentTableKey(agent) + ".access]"}, lines...)
	}
	return lines, nil
}
