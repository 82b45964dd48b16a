package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// advised is a settings file, a call that it refuses, and whether a line of it can allow the call.
type advised struct {
	content string
	flags   []string // of the page
	refusal Refusal
}

// advise returns the advice for a call, and the settings file.
func (a advised) advise(t *testing.T) (advice Advice, file string) {
	t.Helper()
	file = writeSettings(t, a.content)
	f := NewFlags("ui")
	_, _, err := f.Load(world(nil), append([]string{"--config=" + file}, a.flags...))
	require.NoError(t, err)
	return require.Value(f.Advise(world(nil), a.refusal))(t), file
}

// follow returns a text with edits made in it, as their reader makes them.
func follow(t *testing.T, content string, edits []Edit) string {
	t.Helper()
	lines := strings.Split(content, "\n")
	for _, edit := range slices.Backward(edits) {
		if edit.Was == "" {
			lines = slices.Insert(lines, edit.Line, edit.Text)
			continue
		}
		require.Equal(t, strings.TrimSpace(lines[edit.Line-1]), edit.Was, "line %d", edit.Line)
		lines[edit.Line-1] = edit.Text
	}
	return strings.Join(lines, "\n")
}

// enabledBy returns the commands that an agent can call in the vault Notes with a settings file, and the policy there.
func enabledBy(t *testing.T, content, agent string) (p policy.Policy, enabled map[string]bool) {
	t.Helper()
	f := NewFlags("serve")
	args := []string{"--config=" + writeSettings(t, content)}
	if agent != "" {
		args = append(args, "--agent="+agent)
	}
	s, _, err := f.Load(world(nil), args)
	require.NoError(t, err)
	enabled = map[string]bool{}
	for command := range allowlist.Commands() {
		if s.Served[0].Policy.Lists(command, policy.ClearFacts(time.Now())) == nil {
			enabled[command.Name] = true
		}
	}
	return s.Served[0].Policy, enabled
}

// narrowing are settings with a value that refuses a call, the call, and one that the value does not refuse.
var narrowing = []struct {
	setting, value, command string
	needs                   access.Level
}{
	{"tier", `"v0"`, "tag:rename", access.Write}, {"tier", `'v1'`, "backlinks", access.Read},
	{"disable", `["read"]`, "read", access.Read}, {"disable", `["tags", 'read']`, "read", access.Read},
	{"disable", "[\n  \"read\", # not this one\n]", "read", access.Read},
	{"enable-only", `["tags"]`, "read", access.Read}, {"allow-mutations", "false", "append", access.Write},
	{"allow-mutations", "false", "delete", access.Delete},
	{"allow-publish", "false", "web", access.None}, {"allow-ui", "false", "open", access.Read},
}

// open are the settings that everything else has.
const open = "tier = \"v3\"\nallow-mutations = true\nallow-publish = true\nallow-ui = true\n"

// withLine returns lines in which a setting has a value, and nothing else of the same name.
func withLine(lines, setting, value string) string {
	var kept strings.Builder
	for line := range strings.Lines(lines) {
		if !strings.HasPrefix(line, setting+" = ") {
			kept.WriteString(line)
		}
	}
	return kept.String() + setting + " = " + value + "\n"
}

// The advice about a call that settings refuse, wherever they are, is followed to the letter: then the call is allowed,
// and what else is enabled is what the advice says.
func TestAnAdviceIsFollowedToTheLetter(t *testing.T) {
	advices := 0
	for _, n := range narrowing {
		for _, places := range [][]string{{"general"}, {"agent"}, {"vault"}, {"profile"}, {"general", "agent"},
			{"agent", "vault"}, {"profile", "agent", "vault"}} {
			for _, agent := range []string{"", "cursor"} {
				isOfNobody := agent == "" && slices.Contains(places, "agent")
				isUnknown := slices.Contains(places, "vault") && !slices.ContainsFunc(DescribeVault(), func(row [2]string) bool { return row[0] == n.setting })
				if isOfNobody || isUnknown {
					continue
				}
				in := func(place string) string {
					if !slices.Contains(places, place) {
						return ""
					}
					return n.setting + " = " + n.value + "\n"
				}
				content := "# the settings\n" + open
				if slices.Contains(places, "general") {
					content = "# the settings\n" + withLine(open, n.setting, n.value)
				}
				if slices.Contains(places, "profile") {
					content += "profile = \"p\"\n[profiles.p]\n" + in("profile")
				}
				content += "\n[[vaults]]\nname = \"Notes\"\n" + in("vault")
				if agent != "" {
					content += "# the agents\n[agents.cursor]\n" + open + "[agents.other]\n" + open
					if slices.Contains(places, "agent") {
						content = strings.Replace(content, "[agents.cursor]\n"+open, "[agents.cursor]\n"+withLine(open, n.setting, n.value), 1)
					}
				}
				call := Refusal{Agent: agent, Vault: "Notes", Command: n.command, Path: "Bread.md", Needs: n.needs}
				what := fmt.Sprintf("%s = %s in %v, agent %q", n.setting, n.value, places, agent)
				_, before := enabledBy(t, content, agent)
				require.That(t, !before[n.command], "%s: it is not refused: %s", what, content)
				advice, file := advised{content, nil, call}.advise(t)
				assert.Equal(t, advice.Setting, n.setting, "%s: the setting", what)
				assert.Equal(t, filepath.Base(advice.File), filepath.Base(file), "%s: the file", what)
				if len(advice.Edits) == 0 {
					t.Errorf("%s: no advice for\n%s", what, content)
					continue
				}
				advices++
				after := follow(t, content, advice.Edits)
				_, now := enabledBy(t, after, agent)
				assert.That(t, now[n.command], "%s: still refused with %+v", what, advice.Edits)
				for _, who := range []string{"cursor", "other", ""} {
					if (who == "") != (agent == "") {
						continue
					}
					_, was := enabledBy(t, content, who)
					_, is := enabledBy(t, after, who)
					more := 0
					for name := range is {
						if !was[name] && !(name == n.command && who == agent) {
							more++
						}
					}
					label := who
					if who == "" {
						label = "every client"
					}
					said := slices.ContainsFunc(advice.Opens, func(text string) bool { return strings.HasPrefix(text, label+": ") })
					assert.Equal(t, said, more > 0, "%s: it says what else is enabled for %s (%d): %q", what, label, more, advice.Opens)
				}
			}
		}
	}
	t.Logf("%d advices were followed", advices)
}

// However a value is written, what is advised changes it and nothing else.
func TestAnAdviceIsForAnyWayToWriteAValue(t *testing.T) {
	call := Refusal{Agent: "cursor", Vault: "Notes", Command: "read", Path: "Bread.md", Needs: access.Read}
	for name, agents := range map[string]string{
		"a table":                  "[agents.cursor]\ndisable = [\"read\"]\ntier = \"v3\"\n",
		"a table of two lines":     "[agents.cursor]\ndisable = [ # these\n  \"tags\", 'read' ] # not now\ntier = \"v3\"\n",
		"an inline table":          "[agents]\ncursor = { tier = \"v3\", disable = [\"tags\", \"read\"], allow-mutations = true } # disable = [\"read\"]\n",
		"a key with dots":          "[agents]\ncursor.disable = [\"read\"]\ncursor.tier = \"v3\"\n",
		"a quoted key":             "[agents.'cursor']\n\"disable\"=[\"read\"]\ntier=\"v3\"\n",
		"a value with other signs": "[agents.cursor]\ndisable = [\"web\", \"read\", ]\t# = \"x\" ]\r\ntier = \"v3\"\n",
	} {
		content := open + "[[vaults]]\nname = \"Notes\"\n" + agents
		advice, _ := advised{content, nil, call}.advise(t)
		if len(advice.Edits) == 0 {
			t.Errorf("%s: no advice for\n%s", name, content)
			continue
		}
		before, _ := enabledBy(t, content, "cursor")
		after, enabled := enabledBy(t, follow(t, content, advice.Edits), "cursor")
		assert.That(t, enabled["read"], "%s: still refused with %+v", name, advice.Edits)
		assert.Equal(t, after.Ceiling, before.Ceiling, "%s: the tier", name)
		assert.Equal(t, enabled["tags"], !strings.Contains(agents, "tags"), "%s: what else is disabled", name)
	}
}

// What a flag, the environment or the machine has set is not lifted by a line of the file, so no line is advised.
func TestNoLineIsAdvisedThatDoesNotHelp(t *testing.T) {
	for _, n := range narrowing {
		if strings.Contains(n.value, "#") {
			continue
		}
		text := strings.Trim(n.value, `"'[]`)
		text = strings.NewReplacer(`"`, "", `'`, "", ", ", ",").Replace(text)
		content := open + "[[vaults]]\nname = \"Notes\"\n[agents.cursor]\n" + open
		call := Refusal{Agent: "cursor", Vault: "Notes", Command: n.command, Path: "Bread.md", Needs: n.needs}
		advice, _ := advised{content, []string{"--" + n.setting + "=" + text}, call}.advise(t)
		assert.Equal(t, len(advice.Edits), 0, "a flag, %s = %s", n.setting, n.value)
		assert.Equal(t, advice.Setting, n.setting, "a flag, %s = %s", n.setting, n.value)
		manage(t, n.setting+" = "+n.value+"\n")
		advice, _ = advised{content, nil, call}.advise(t)
		assert.Equal(t, len(advice.Edits), 0, "managed, %s = %s", n.setting, n.value)
		assert.Equal(t, advice.Setting, n.setting, "managed, %s = %s", n.setting, n.value)
		assert.Contains(t, advice.Origin, "managed", "managed, %s = %s", n.setting, n.value)
		manage(t, "")
	}
}

// hostileNames are names of notes that a line of the file has to quote.
var hostileNames = []string{
	"Bread.md", `Say "so".md`, `a = "b" # c.md`, "[agents.cursor].md", "Ünï 日本語.md", "\u202etxt.md",
	"Work/it's/Deep.md", "nul\u2028line.md", "🥖.md", "tab\tbed.md", `back\slash.md`,
}

// A line of access is advised for a note of any name, in the table that hides it, and about nothing else.
func TestAnAccessLineIsAdvisedForAnyName(t *testing.T) {
	for _, name := range hostileNames {
		isPattern := strings.ContainsAny(name, "[\t\\") // no line can name it, but one of its folder
		for where, tables := range map[string]string{
			"vault":        "[vaults.access]\n\"/\" = \"r\"\n\"Other\" = \"none\"\n",
			"agent":        "[agents.cursor.access]\n\"/\" = \"r\"\n",
			"both":         "[vaults.access]\n\"/\" = \"r\"\n[agents.cursor.access]\n\"/\" = \"none\"\n",
			"line of note": "[agents.cursor.access]\n\"/\" = \"rw\"\n" + quotedKey(name) + " = \"r\" # as it was\n",
		} {
			if isPattern && where == "line of note" {
				continue
			}
			content := open + "[[vaults]]\nname = \"Notes\"\n"
			vault, agents, _ := strings.Cut(tables, "[agents")
			content += vault + "[agents.cursor]\n" + open
			if agents != "" {
				content += "[agents" + agents
			}
			for needs := access.Write; needs <= access.Delete; needs++ {
				what := fmt.Sprintf("%q, %s, %s", name, where, needs)
				advice, _ := advised{content, nil,
					Refusal{Agent: "cursor", Vault: "Notes", Command: "append", Path: name, Code: policy.CodeAccess,
						Needs: needs}}.advise(t)
				if len(advice.Edits) == 0 {
					t.Errorf("%s: no advice: %+v\n%s", what, advice, content)
					continue
				}
				assert.Equal(t, advice.Folder != "", isPattern, "%s: it says that it is about a folder", what)
				p, _ := enabledBy(t, follow(t, content, advice.Edits), "cursor")
				assert.Equal(t, p.Access.Level(name), needs, "%s: the access with %+v", what, advice.Edits)
				assert.That(t, p.Access.Level("Else.md") < access.Write || where == "line of note" || isPattern,
					"%s: another note has %s", what, p.Access.Level("Else.md"))
			}
		}
	}
}

// quotedKey is a key of a TOML file.
func quotedKey(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(name) + `"`
}

// A command that is permanently disabled or does not exist has no advice, whatever the file has.
func TestNothingIsAdvisedForWhatNoSettingAllows(t *testing.T) {
	for _, command := range []string{"eval", "dev:cdp", "no-such-command", ""} {
		advice, file := advised{"tier = \"v0\"\n[[vaults]]\nname = \"Notes\"\n", nil,
			Refusal{Vault: "Notes", Command: command, Path: "Bread.md", Needs: access.Read}}.advise(t)
		assert.Equal(t, len(advice.Edits), 0, "%q: edits", command)
		content := require.Value(os.ReadFile(file))(t)
		assert.Equal(t, string(content), "tier = \"v0\"\n[[vaults]]\nname = \"Notes\"\n", "the file")
	}
}
