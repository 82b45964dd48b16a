package gateway

import (
	"bytes"
	"context"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	own "github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// noChanges are the plans of the calls of a test.
var noChanges = []string{
	`--plan --facts vault=Work create path=a.md => {"files":[]}`, `--plan --facts vault=Work delete path=a.md => {"files":[]}`,
	`--stdin content --plan --facts vault=Work daily:append => {"files":[]}`,
}

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                                   string
		change                                 func(*Config)
		request                                Request
		ok                                     bool
		decision, code, backend, argv, notices string
	}{
		{"a read on the app", nil, Request{Command: "tags"}, true, "allow", "", "obsidian", "vault=Work tags", ""},
		{"the daily note on the app is read in steps", nil, Request{Command: "daily:read"}, true, "allow", "", "obsidian",
			"vault=Work daily:path", "daily:read itself would make a missing note"},
		{"create on the app asks first", nil, Request{Command: "create", Params: params("path", "a.md")}, true, "allow", "", "obsidian",
			"vault=Work create path=a.md", "first asks whether the note exists"},
		{"delicate text on standard input", nil, Request{Command: "daily:append", Params: params("content", `\n`)}, true, "allow", "", "embedded",
			"--stdin content --write --facts vault=Work daily:append", "cannot carry it"},
		{"a person would be asked", func(c *Config) { c.Policy.Confirm = 1 },
			Request{Command: "delete", Params: params("path", "a.md")}, true, "ask", "unconfirmed", "obsidian",
			"vault=Work delete path=a.md", ""},
		{"a closed tier shows the way all the same", func(c *Config) { c.Policy.Ceiling = 1 }, Request{Command: "tabs"},
			false, "deny", "tier_closed", "obsidian", "vault=Work tabs", ""},
		{"daily notes of a closed tier too", func(c *Config) { c.Policy.Ceiling = 0 }, Request{Command: "daily:read"},
			false, "deny", "tier_closed", "obsidian", "vault=Work daily:path", ""},
		{"there is no way for a restricted command", nil, Request{Command: "eval"}, false, "deny", "restricted_command", "", "", ""},
		{"no call at all", nil, Request{Command: "tab"}, false, "deny", "unknown_command", "", "", ""},
		{"no program", func(c *Config) { c.Backend, c.Vault.Folder = Embedded, "" }, Request{Command: "daily:path"},
			false, "allow", "vault_not_found", "", "daily:path", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.change).embedded(noChanges...)
			tt.request.AtTerminal = true
			got := f.gateway.DryRun(t.Context(), tt.request)
			assert.Equal(t, got.OK, tt.ok)
			assert.That(t, got.DryRun, "got %+v", got)
			assert.Equal(t, got.Decision, tt.decision)
			assert.Equal(t, got.Backend, tt.backend)
			if (got.Error != nil) != (tt.code != "") || got.Error != nil && got.Error.Code != tt.code {
				t.Errorf("error %+v, want code %q", got.Error, tt.code)
			}
			assert.That(t, strings.HasSuffix(strings.Join(got.Argv, " "), tt.argv), "argv %q, want %q", got.Argv, tt.argv)
			assert.That(t, strings.Contains(strings.Join(got.Notices, " "), tt.notices), "notices %q, want %q", got.Notices, tt.notices)
			runs := got.Backend != "" && got.Decision != "deny"
			assert.Equal(t, got.Shell != "", runs, "the line to paste is %q", got.Shell)
			app, embedded := f.called()
			asksOnly := func(line string) bool {
				return strings.Contains(line, "--plan ") || strings.HasSuffix(line, " daily:path")
			}
			if len(app) > 0 || slices.ContainsFunc(embedded, func(line string) bool { return !asksOnly(line) }) {
				t.Errorf("started %q and %q", app, embedded)
			}
		})
	}
}

// The steps of a call are shown in the order in which a run takes them, with what each is for.
func TestDryRunShowsTheSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, command string
		params        []string
		embedded      string
		want          []string
	}{
		{"the path of the daily note is asked for", "daily:read", nil, "",
			[]string{"vault=Work daily:path", "vault=Work read path=<path>"}},
		{"the settings tell the path", "daily:read", nil, "--facts vault=Work daily:path => D/2026-11-22.md",
			[]string{"vault=Work read path=D/2026-11-22.md", "vault=Work daily:path"}},
		{"a name", "read", []string{"file", "Plan"}, "", []string{"vault=Work file file=Plan", "vault=Work read path=<path>"}},
		{"a new note", "create", []string{"path", "a"}, "", []string{"vault=Work file path=a", "vault=Work file path=a.md", "vault=Work create path=a"}},
		{"one step", "tags", nil, "", nil},
	} {
		f := newFixture(t, nil).embedded(test.embedded)
		got := f.gateway.DryRun(t.Context(), Request{Command: test.command, Params: params(test.params...)})
		var steps []string
		for _, step := range got.Steps {
			assert.That(t, step.For != "", "%s: %+v", test.name, got.Steps)
			steps = append(steps, strings.Join(step.Argv, " "))
		}
		assert.That(t, slices.Equal(steps, test.want), "%s: %q, want %q", test.name, steps, test.want)
	}
}

// A difference that is not shown has its reason, and a restricted command the one that is true whatever is set.
func TestDryRunSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Vault.Folder = "" }).app(versionLine)
	got := f.gateway.DryRun(t.Context(), Request{Command: "append", Params: params("path", "a.md", "content", "x")})
	assert.Contains(t, strings.Join(got.Notices, "\n"), "the folder of the vault is not known", "the notices")
	restricted := f.gateway.DryRun(t.Context(), Request{Command: "eval"})
	denied := 0
	for _, r := range restricted.Rules {
		if r.Verdict == "deny" {
			denied++
		}
	}
	assert.Equal(t, denied, 1, "%+v", restricted.Rules)
}

func TestDryRunShowsEveryRule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Policy.Mutations = false })
	got := f.gateway.DryRun(t.Context(), Request{Command: "delete", Params: params("path", "a.md")})
	verdicts := map[string]string{}
	for _, r := range got.Rules {
		verdicts[r.Rule] = r.Verdict
		assert.That(t, r.Why != "", "rule %s says nothing", r.Rule)
	}
	for rule, want := range map[string]string{"restricted": "pass", "tier": "pass", "mutations": "deny", "target": "pass", "confirm": "pass"} {
		assert.Equal(t, verdicts[rule], want, "rule %s says", rule)
	}
}

// An agent is not shown how the program is started, and of a call that is not
// allowed not what it would be given.
func TestADryRunForAnAgentShowsNoProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		change  func(*Config)
		request Request
		argv    string
	}{
		{"allowed, on the app", nil, Request{Command: "tags"}, "vault=Work tags"},
		{"allowed, on the embedded program", func(c *Config) { c.Backend = Embedded },
			Request{Command: "daily:append", Params: params("content", "x")}, "vault=Work daily:append content=x"},
		{"asked about", func(c *Config) { c.Policy.Confirm = 1 }, Request{Command: "delete", Params: params("path", "a.md")}, ""},
		{"a closed tier", func(c *Config) { c.Policy.Ceiling = 1 }, Request{Command: "tabs"}, ""},
		{"daily notes of a closed tier", func(c *Config) { c.Policy.Ceiling = 0 }, Request{Command: "daily:read"}, ""},
		{"mutations are off", func(c *Config) { c.Policy.Mutations = false }, Request{Command: "create", Params: params("path", "a.md")}, ""},
	} {
		got := newFixture(t, test.change).gateway.DryRun(t.Context(), test.request)
		if got.Program != "" || got.Shell != "" || strings.Join(got.Argv, " ") != test.argv {
			t.Errorf("%s: program %q, shell %q, argv %q", test.name, got.Program, got.Shell, got.Argv)
		}
	}
}

// A line break in a value begins no line in what is pasted.
func TestALineToPasteIsOneLine(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend = Embedded })
	for _, value := range []string{"a\nb", "\n", "a\r\nrm -rf /", "x\u2028y", "a\u0085b"} {
		got := f.gateway.DryRun(t.Context(), Request{Command: "property:set", Params: params("path", "a.md", "name", "k", "value", value), AtTerminal: true})
		assert.Equal(t, got.Decision, "allow", "%q: %q, %+v", value, got.Shell, got.Error)
		assert.That(t, !strings.ContainsAny(got.Shell, "\r\n\u2028\u2029\u0085"), "%q: %q, %+v", value, got.Shell, got.Error)
	}
}

func TestADryRunGoesOnWithNothing(t *testing.T) {
	t.Parallel()
	plan := newFixture(t, nil).gateway.DryRun(context.Background(), Request{Command: "files", Cursor: "x"})
	require.That(t, !plan.OK, "got %+v", plan)
	require.Equal(t, plan.Decision, "deny")
	require.That(t, plan.Error != nil, "got %+v", plan)
	assert.Equal(t, plan.Error.Code, "bad_request")
}

// TestTheShellReadsBackWhatWasQuoted asks a real shell, with a program in front
// that prints its arguments.
func TestTheShellReadsBackWhatWasQuoted(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune("a'\"\\ $`!*?[]{}()<>|&;#~=\n\té-")), 0, 20, -1), rapid.StringN(0, 20, -1),
		).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "word")
		out, err := exec.Command(shell, "-c", withNewline("printf '%s|' "+shellWords([]string{word, "end"}))).Output()
		require.Equal(t, err, nil, "%q became %q (%v)", word, out, err)
		require.Equal(t, string(out), word+"|end|", "%q became %q (%v)", word, out, err)
	})
}

func TestAPastedLineSendsStandardInputToo(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	line := withNewline(pipeline(own.Command{Path: "cat", Args: []string{"-"}, StdinParam: "content", Stdin: "100%\n'x' \\n"}))
	var out bytes.Buffer
	c := exec.Command(shell, "-c", line)
	c.Stdout = &out
	err = c.Run()
	require.Equal(t, err, nil, "%s gave %q (%v)", line, out.String(), err)
	require.Equal(t, out.String(), "100%\n'x' \\n", "%s gave %q (%v)", line, out.String(), err)
	assert.That(t, !strings.Contains(line, "\n"), "%s gave %q (%v)", line, out.String(), err)
}

func TestTheLineForTheDailyNoteAsksForThePath(t *testing.T) {
	t.Parallel()
	got := shellReadLine(own.Command{Path: "/bin/obsidian", Args: []string{"vault=My Work", "daily:path"}})
	want := `/bin/obsidian 'vault=My Work' read path="$(/bin/obsidian 'vault=My Work' daily:path)"`
	assert.That(t, got == want, "got %s, want %s", got, want)
}
