package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// textRules are the rules about texts, each as every source can state it: lines of TOML, and for all
// but tables a flag.
var textRules = []struct{ rule, lines, flag string }{
	{"secrets", "secrets = \"block\"\n", "--secrets=block"},
	{"private", "private-tags = [\"staff\"]\n", "--private-tags=staff"},
	{"private", "private-property = [\"hidden\"]\n", "--private-property=hidden"},
	{"suspicious", "suspicious = \"ask\"\n", "--suspicious=ask"},
	{"remote-links", "remote-links = \"ask\"\n", "--remote-links=ask"},
	{"flow", "[[flow]]\nname = \"staff\"\nfrom = [\"Staff\"]\n", ""},
}

// switchesOff are the settings that take the effect from a rule, as TOML and as a flag.
func switchesOff(rule string) map[string][2]string {
	exception := rule + " Docs # samples"
	return map[string][2]string{
		"shadow":     {fmt.Sprintf("shadow = [%q]\n", rule), "--shadow=" + rule},
		"exceptions": {fmt.Sprintf("exceptions = [%q]\n", exception), "--exceptions=" + exception},
	}
}

// weakened reports whether a rule is without effect, everywhere or for some notes.
func weakened(p policy.Policy, rule string) bool {
	return p.Shadows(rule) || len(p.Exceptions.Of(rule)) > 0
}

// loadSources reads settings of which each source says something.
func loadSources(t *testing.T, managed, file string, env map[string]string, args ...string) policy.Policy {
	t.Helper()
	manage(t, managed)
	f := NewFlags("serve")
	s, _, err := f.Load(world(env), append([]string{"--config=" + writeSettings(t, file)}, args...))
	require.That(t, err == nil, "managed %q, file %q, %v, %q: %v", managed, file, env, args, err)
	return s.Served[0].Policy
}

// variable returns a flag as the variable of the environment that says the same.
func variable(flag string) map[string]string {
	name, text, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return map[string]string{VariableOf(name): text}
}

func TestNoSwitchOfTheUserWeakensAManagedRule(t *testing.T) {
	for _, stated := range textRules {
		for name, off := range switchesOff(stated.rule) {
			agent := "[agents.cursor]\n"
			for source, load := range map[string]func(managed string) policy.Policy{
				"a flag":     func(managed string) policy.Policy { return loadSources(t, managed, "", nil, off[1]) },
				"a variable": func(managed string) policy.Policy { return loadSources(t, managed, "", variable(off[1])) },
				"the file":   func(managed string) policy.Policy { return loadSources(t, managed, off[0], nil) },
				"a profile": func(managed string) policy.Policy {
					return loadSources(t, managed, "[profiles.p]\n"+off[0], nil, "--profile=p")
				},
				"the file, of an agent": func(managed string) policy.Policy {
					return loadSources(t, managed, off[0]+agent, nil, "--agent=cursor")
				},
				"the file and an agent": func(managed string) policy.Policy {
					return loadSources(t, managed, off[0]+agent+off[0], nil, "--agent=cursor")
				},
			} {
				what := fmt.Sprintf("managed %s, and %s of %s", strings.TrimSpace(stated.lines), name, source)
				assert.That(t, weakened(load(""), stated.rule), "%s: has no effect without a managed rule", what)
				assert.That(t, weakened(load("tier = \"v1\"\n"), stated.rule), "%s: has no effect under other managed settings", what)
				assert.That(t, weakened(load(off[0]+stated.lines), stated.rule), "%s: has no effect where the machine states it too", what)
				assert.That(t, !weakened(load(stated.lines), stated.rule), "%s: the managed rule is weakened", what)
			}
		}
	}
}

// An agent's rule is only weakened by what its table and the file say.
func TestNoSwitchOfTheFileWeakensTheRuleOfAnAgent(t *testing.T) {
	for _, stated := range textRules {
		for name, off := range switchesOff(stated.rule) {
			rule := stated.lines
			if stated.rule == "flow" {
				rule = strings.ReplaceAll(rule, "[[flow]]", "[[agents.cursor.flow]]")
			}
			for _, test := range []struct {
				agent string
				want  bool
			}{{"", true}, {rule, false}, {off[0] + rule, true}} {
				p := loadSources(t, "", off[0]+"[agents.cursor]\n"+test.agent, nil, "--agent=cursor")
				assert.Equal(t, weakened(p, stated.rule), test.want, "%s of the file weakens the rule of an agent with %q", name, test.agent)
			}
			p := loadSources(t, "", "[agents.cursor]\n"+off[0]+rule, nil, "--agent=cursor")
			assert.That(t, !weakened(p, stated.rule), "%s of an agent weakens %q without the file", name, stated.lines)
		}
	}
}

// A switch counts for a rule that its own source states, or one of lower priority, and not for what a source of
// higher priority says.
func TestNoSwitchOfLowerPriorityWeakensARule(t *testing.T) {
	type said struct {
		lines, profile string
		env            map[string]string
		flag           string
	}
	priorities := []string{"file", "profile", "variable", "flag"}
	say := func(s said, source, lines, flag string) said {
		switch source {
		case "file":
			s.lines += lines
		case "profile":
			s.profile += lines
		case "variable":
			env := variable(flag)
			for name, text := range s.env {
				env[name] = text
			}
			s.env = env
		case "flag":
			s.flag += " " + strings.ReplaceAll(flag, " ", "\x00")
		}
		return s
	}
	for _, stated := range textRules {
		if stated.flag == "" {
			continue // tables are in the file only
		}
		for name, off := range switchesOff(stated.rule) {
			for i, of := range priorities {
				for j, by := range priorities {
					s := say(say(said{}, of, stated.lines, stated.flag), by, off[0], off[1])
					args := []string{}
					for arg := range strings.FieldsSeq(s.flag) {
						args = append(args, strings.ReplaceAll(arg, "\x00", " "))
					}
					if s.profile != "" {
						args = append(args, "--profile=p")
					}
					p := loadSources(t, "", s.lines+"[profiles.p]\n"+s.profile, s.env, args...)
					assert.Equal(t, weakened(p, stated.rule), j >= i, "%s of the %s weakens %q of the %s", name, by, stated.flag, of)
				}
			}
		}
	}
}

// What a switch does for other rules stays.
func TestASwitchKeepsItsOtherRules(t *testing.T) {
	both := "shadow = [\"secrets\", \"suspicious\"]\nexceptions = [\"secrets Docs # samples\", \"suspicious Docs # slides\"]\n"
	p := loadSources(t, "secrets = \"block\"\n", both, nil)
	assert.That(t, !weakened(p, "secrets"), "%v, %v", p.Shadow, p.Exceptions)
	assert.That(t, p.Shadows("suspicious"), "%v, %v", p.Shadow, p.Exceptions)
	assert.Equal(t, len(p.Exceptions), 1, "%v", p.Shadow)
	assert.That(t, slices.Equal(p.Shadow, []string{"suspicious"}), "shadow is %q", p.Shadow)
	assert.That(t, strings.HasPrefix(p.Origins["shadow"], policy.OriginManaged), "shadow is from %q", p.Origins["shadow"])
}

// Text of notes is marked where the machine or the user says so.
func TestNobodyTurnsOffTheMarksOfTheMachine(t *testing.T) {
	for _, test := range []struct {
		managed, file string
		args          []string
		want          bool
	}{
		{"", "", nil, false}, {"mark-untrusted = false\n", "", nil, false}, {"mark-untrusted = false\n", "mark-untrusted = true\n", nil, true},
		{"mark-untrusted = true\n", "", nil, true}, {"mark-untrusted = true\n", "mark-untrusted = false\n", nil, true},
		{"mark-untrusted = true\n", "", []string{"--mark-untrusted=false"}, true},
	} {
		manage(t, test.managed)
		f := NewFlags("serve")
		s, _, err := f.Load(world(nil), append([]string{"--config=" + writeSettings(t, test.file)}, test.args...))
		require.NoError(t, err)
		assert.Equal(t, s.MarkUntrusted, test.want)
		decides := strings.HasPrefix(f.raws[settingIndex("mark-untrusted")].origin, policy.OriginManaged)
		assert.Equal(t, decides, strings.Contains(test.managed, "true"), "%+v: the machine is said to decide", test)
	}
}

// What is shown of the settings is what is in force.
func TestConfigShowHasNoSwitchWithoutEffect(t *testing.T) {
	manage(t, "")
	f := NewFlags("serve")
	_, _, err := f.Load(world(nil), []string{"--config=" + writeSettings(t, "shadow = [\"secrets\", \"flow\"]\n"), "--secrets=block"})
	require.NoError(t, err)
	assert.Equal(t, f.raws[settingIndex("shadow")].text, "flow")
}
