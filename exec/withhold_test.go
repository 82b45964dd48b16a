package exec

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// guarded grants a call under rules that hide a folder.
func guarded(t testing.TB, name string, given params) policy.Permit {
	t.Helper()
	rules := require.Value(access.New(map[string]access.Level{"/": access.Delete, "Private": access.None}))(t)
	call := require.Value(allowlist.Parse(name, wordsOf(given)))(t)
	p := everything
	p.Access = rules
	return require.Value(p.Decide(call, policy.ClearFacts(time.Now())).Permit())(t)
}

// anyAppRunner is appRunner with parts that are played any number of times.
func anyAppRunner(t testing.TB, parts ...part) (*Runner, Program, string) {
	t.Helper()
	path := fakeCLI(t, "obsidian", script{Parts: parts, Any: true})
	r, p := runnerFor(t, Config{}, path)
	return r, p, path
}

const secret = "Private/Secret.md"

// What the app prints besides the answer may name any note of the vault.
func TestUnderRulesTheAppSaysOnlyWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, call             string
		params                 params
		out, err               string
		exit                   int
		stdout, failure, broke string
	}{
		{name: "a read with a suggestion", call: "read", params: note,
			out: "Error: File \"a.md\" not found. Did you mean \"" + secret + "\"?\n", failure: "not_found"},
		{name: "facts with a suggestion", call: "file", params: note,
			out: "Error: File \"a.md\" not found. Did you mean \"" + secret + "\"?\n", failure: "not_found"},
		{name: "an error of two lines", call: "outline", params: note,
			out: "Error: View not found: x\nAvailable views: " + secret + "\n", failure: "not_found"},
		{name: "an exception", call: "append", params: params{"path": "a.md", "content": "x"}, out: "TypeError: " + secret + "\n", failure: "outcome_unknown"},
		{name: "no confirmation", call: "append", params: params{"path": "a.md", "content": "x"},
			out: "Merged into " + secret + "\n", failure: "outcome_unknown"},
		{name: "the confirmation of another note", call: "append", params: params{"path": "a.md", "content": "x"},
			out: "Appended to: " + secret + "\n", stdout: "Appended to\n"},
		{name: "a confirmation with more lines", call: "append", params: params{"path": "a.md", "content": "x"},
			out: "Appended to: a.md\nalso " + secret + "\n", failure: "outcome_unknown"},
		{name: "standard error of a success", call: "read", params: note, out: "text\n", err: "while indexing " + secret + "\n", stdout: "text\n"},
		{name: "noise", call: "read", params: note, out: "Loading updated app package " + secret + "\ntext\n",
			err: "Ignored: Error: " + secret + "\n", stdout: "text\n"},
		{name: "a status and standard error", call: "read", params: note, err: "cannot open " + secret + "\n", exit: 1, failure: "cli_error"},
		{name: "an unknown command", call: "outline", params: note, out: cold("outline", " Did you mean: "+secret+"?"), failure: "cli_error"},
		{name: "an app that is away", call: "read", params: note, err: textNotRunning + "\n" + secret + "\n", exit: 1, broke: "app_not_running"},
		{name: "the plain sentence about the note", call: "read", params: note,
			out: "Error: File \"a.md\" not found.\n", stdout: "Error: File \"a.md\" not found.\n",
			failure: "not_found"},
		{name: "an empty answer in other words", call: "properties", params: note, out: "No properties found in " + secret + "\n"},
		{name: "the text of the note", call: "read", params: note, out: "about " + "Private things\n", stdout: "about Private things\n"},
		{name: "a property that is set", call: "property:set",
			params: params{"path": "a.md", "name": "x", "value": "y"}, out: "Set x: y\n", stdout: "Set x: y\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			permit := guarded(t, tt.call, tt.params)
			line := require.Value(permit.Call().Line(allowlist.ToApp("linux")))(t)
			answers := part{Argv: line.Argv, Out: []byte(tt.out), Err: []byte(tt.err), Exit: tt.exit}
			r, p, _ := anyAppRunner(t, probed, answers)
			out, err := r.Run(t.Context(), permit, p)
			if codeOf(err) != tt.broke || failureCode(out) != tt.failure || out.Stdout != tt.stdout || out.Stderr != "" {
				t.Errorf("stdout %q, stderr %q, failure %v, error %v; want %q, %q, %q", out.Stdout, out.Stderr,
					out.Failure, err, tt.stdout, tt.failure, tt.broke)
			}
			said := strings.Join(out.Notices, "\n")
			for _, told := range []error{err, failureOf(out)} {
				if told != nil {
					said += told.Error() + hintOf(told)
				}
			}
			assert.That(t, !strings.Contains(said, "Secret"), "it says %q", said)
			// Without rules the same answer is passed on.
			open, err := r.Run(t.Context(), mustPermit(tt.call, tt.params), p)
			if tt.err != "" && codeOf(err) == "" && !strings.Contains(open.Stderr+strings.Join(open.Notices, ""), "Secret") {
				t.Errorf("without rules standard error is %q", open.Stderr)
			}
		})
	}
}

func failureOf(out Outcome) error {
	if out.Failure == nil {
		return nil
	}
	return out.Failure
}

// A timeout leaves what was printed until then.
func TestUnderRulesNothingIsLeftOfABrokenCall(t *testing.T) {
	r, p, _ := appRunner(t, Config{}, probed, part{Argv: []string{"read", "path=a.md"}, Out: []byte(secret), Err: []byte(secret), Do: "crash"})
	out, err := r.Run(t.Context(), guarded(t, "read", note), p)
	assert.Equal(t, codeOf(err), CodeCrashed, "stdout %q, stderr %q, error %v", out.Stdout, out.Stderr, err)
	assert.Equal(t, out.Stdout, "", "stdout %q, stderr %q, error %v", out.Stdout, out.Stderr, err)
	assert.Equal(t, out.Stderr, "", "stdout %q, stderr %q, error %v", out.Stdout, out.Stderr, err)
}

func TestUnderRulesAnotherProgramIsNotQuoted(t *testing.T) {
	r, p, _ := anyAppRunner(t, part{Argv: []string{"version"}, Out: []byte(secret + "\n")})
	_, err := r.Run(t.Context(), guarded(t, "read", note), p)
	assert.Equal(t, codeOf(err), CodeUnsuitable)
	assert.That(t, !strings.Contains(err.Error(), "Secret"), "got %v", err)
}

// JSON is whole, or there is an error: a half of an answer looks like all of it.
func TestJSONIsOneWholeValue(t *testing.T) {
	for text, want := range map[string]string{
		`["a.md"]` + "\n":                   "",
		"[\n  {\"file\": \"a.md\"}\n]\n":    "",
		"No matches found.\n":               "",
		`["a.md","b`:                        CodeCLIError,
		`["a.md"]` + "\n" + `["a.md"]`:      CodeCLIError,
		`["a.md"]trailing` + "\n":           CodeCLIError,
		"a.md\nb.md\n":                      CodeCLIError,
		"Loading main app package\n[\"a\"]": "",
	} {
		v := asked(t, "search", params{"query": "x", "format": "json"}).judge(answer{stdout: text})
		assert.Equal(t, codeOfVerdict(v), want, "%q", text)
	}
	v := asked(t, "search", params{"query": "x", "format": "json"}).judge(answer{stdout: `["a.md","b`, cut: true})
	assert.Equal(t, codeOfVerdict(v), "", "an answer that was truncated here")
}

func TestAVersionIsAVersionLine(t *testing.T) {
	ask := func(text string) part { return part{Argv: []string{"version"}, Out: []byte(text)} }
	coldVersion := cold("version", tailPlugin)
	for _, tt := range []struct {
		name  string
		parts []part
		want  string
	}{
		{"a version", []part{ask(goodVersion)}, ""},
		{"the sentence of a cold start, then a version", []part{ask(coldVersion), ask(goodVersion)}, ""},
		{"the sentence of a cold start of another command", []part{ask(cold("help", "")), ask(goodVersion)}, ""},
		{"any text, then a version", []part{ask("Loading plugins, please wait\n"), ask(goodVersion)}, ""},
		{"the sentence of a cold start twice", []part{ask(coldVersion), ask(coldVersion)}, CodeVaultStarting},
		{"any text twice", []part{ask("Loading plugins, please wait\n"), ask("Loading plugins, please wait\n")}, CodeVaultStarting},
		{"a version and more", []part{ask(goodVersion + "x\n"), ask(goodVersion + "x\n")}, CodeVaultStarting},
		{"no version of the grammar", []part{ask("1\n"), ask("version 1.12.7\n")}, CodeVaultStarting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, p, _ := appRunner(t, Config{}, tt.parts...)
			out, err := r.Run(t.Context(), mustPermit("version", nil), p)
			if codeOf(err) != tt.want || out.Failure != nil || err == nil && out.Stdout != goodVersion {
				t.Errorf("stdout %q, failure %v, error %v, want %q", out.Stdout, out.Failure, err, tt.want)
			}
		})
	}
}

// counted is what the embedded program reports while it works.
var counted = []protocol.Progress{{Done: 1, Total: 3, Of: protocol.FilesRead},
	{Done: 3, Total: 3, Of: protocol.FilesRead}, {Done: 1, Total: 1, Of: protocol.FilesChanged}}

func TestCountsAreToldAndAreNoPartOfTheAnswer(t *testing.T) {
	oneShot, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: []string{"--facts", "read", "path=counts.md"}, Told: counted, Exit: 1}}})
	resident, q, _ := residentRunner(t, Config{}, "worker")
	for name, run := range map[string]struct {
		runner  *Runner
		program Program
	}{"one call": {oneShot, p}, "worker": {resident, q}} {
		var mu sync.Mutex
		var told []protocol.Progress
		ctx := protocol.WithProgress(t.Context(), func(c protocol.Progress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, c)
		})
		out, err := run.runner.Run(ctx, reads("counts.md"), run.program)
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, out.Stderr, "", "%s", name)
		assert.Equal(t, out.Stdout, "", "%s", name)
		mu.Lock()
		assert.That(t, slices.Equal(told, counted), "%s: told %v, want %v", name, told, counted)
		mu.Unlock()
	}
}

// mimic is an answer that looks like an error of the Obsidian CLI with another code.
const mimic = "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"

func TestReportedCodes(t *testing.T) {
	for _, code := range []string{protocol.CodeConflict, protocol.CodeBadValue, protocol.CodeUnconfirmed} {
		t.Run(code, func(t *testing.T) {
			path := "fails/" + code + ".md"
			oneShot, p, _ := embeddedRunner(t, Config{},
				script{Parts: []part{{Argv: []string{"--facts", "read", "path=" + path}, Out: []byte(mimic),
					Reply: protocol.Reply{Failure: failing(code)}, Exit: 1}}})
			resident, q, _ := residentRunner(t, Config{}, "worker")
			for runner, program := range map[*Runner]Program{oneShot: p, resident: q} {
				out, err := runner.Run(t.Context(), reads(path), program)
				require.NoError(t, err)
				require.That(t, out.Failure != nil, "%+v, %v", out, err)
				require.Equal(t, out.Stdout, mimic)
				require.Equal(t, out.Stderr, "")
				require.Equal(t, out.ExitCode, 1)
				f := out.Failure
				assert.Equal(t, f.Code(), code, "code %q, hint %q, reason %q", f.Code(), f.Hint(), f.Error())
				assert.Equal(t, f.Hint(), "do something", "code %q, hint %q, reason %q", f.Code(), f.Hint(), f.Error())
				assert.Equal(t, f.Error(), "some reason", "code %q, hint %q, reason %q", f.Code(), f.Hint(), f.Error())
			}
		})
	}
}
