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

// agentPattern takes the names of agents: they are parts of lines of logs, labels of metrics and
// names of tables, and two of them never differ only in capitals.
const agentPattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var agentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(agentPattern) })

// maxAgents bounds the tables "agents.NAME" of a file.
const maxAgents = 1000

// CheckAgentName says what is wrong with the name of an agent.
func CheckAgentName(name string) error {
	if !agentName().MatchString(name) {
		return fmt.Errorf(
			"invalid agent name %q: use 1–64 lower-case letters, digits, \".\", \"-\", \"_\", starting with a letter or digit",
			excerpt.Short(name),
		)
	}
	return nil
}

// agentKeys are the keys of the table of an agent.
func agentKeys() []tableKey[policy.Agent] {
	return append(settingKeys(policy.SettingNames(), setOfAgent), []tableKey[policy.Agent]{
		{
			"vaults",
			"names, ids or folders of the vaults that the agent may use (default: all)",
			listForm(),
			nameList(func(t *policy.Agent) *[]string { return &t.Vaults }, "names, ids or folders of vaults"),
		},
		{"access", accessAbout, accessForm(), func(r *reading, t *policy.Agent, value any, at []string) (err error) {
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
			listForm(),
			nameList(func(t *policy.Agent) *[]string { return &t.Subjects }, "values of the claim oauth-claim"),
		},
		{"flow", flowAbout, flowForm(), func(r *reading, t *policy.Agent, value any, at []string) error {
			t.Rights.Flows = r.flows(value, at)
			return nil
		}},
	}...)
}

func setOfAgent(t *policy.Agent, row setting, text string) error {
	s := Settings{Policy: t.Rights}
	err := row.set(&s, text)
	t.Rights = s.Policy
	return err
}

func (r *reading) agents(value any) policy.Agents {
	if value == nil {
		return nil
	}
	all, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"agents"}, "%q is %s, want tables such as [agents.cursor]", "agents", typeName(value))
		return nil
	}
	read := policy.Agents{}
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
			t := policy.Agent{Rights: policy.Unlimited()}
			readKeys(r, agentKeys(), &t, values, at, "setting %q", strings.Join(at, ".")+".", "unknown key")
			t.Rights = t.Rights.From("agent " + name)
			read[name] = t
		}
	}
	return read
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
		return s.Policy.Meet(vault)
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

// DefineAgent adds the table of an agent with these lines to the end of the settings file, which
// is created if it is missing, and returns the file. An agent that is defined already keeps its
// table; added is false then. The rest of the file stays as it is, byte for byte.
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
	content := fmt.Sprintf("[agents.%s]\n%s\n", keyOfAgent(name), strings.Join(lines, "\n"))
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

// keyOfAgent returns the name of an agent as a header of a table has it.
func keyOfAgent(name string) string {
	if strings.Contains(name, ".") {
		return strconv.Quote(name)
	}
	return name
}

// AccessTable returns the lines of the access rules of an agent, given as PATH=LEVEL; none without any.
func AccessTable(agent string, given []string) (lines []string, err error) {
	for _, one := range given {
		at := strings.LastIndexByte(one, '=')
		if at < 1 {
			return nil, fmt.Errorf("invalid value %q: want PATH=LEVEL, such as Work=rw", excerpt.Short(one))
		}
		if _, err := accessLevel(one[:at], one[at+1:]); err != nil {
			return nil, fmt.Errorf("access of %q: %w", excerpt.Short(one[:at]), err)
		}
		key, _ := json.Marshal(one[:at]) // a string of JSON is one of TOML
		lines = append(lines, fmt.Sprintf("%s = %q", key, one[at+1:]))
	}
	if lines != nil {
		lines = append([]string{"[agents." + keyOfAgent(agent) + ".access]"}, lines...)
	}
	return lines, nil
}
