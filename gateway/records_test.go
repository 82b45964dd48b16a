package gateway

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/state/audit"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// auditOf returns the lines of the log of a fixture.
func auditOf(t *testing.T, f *fixture) []audit.Line {
	t.Helper()
	var lines []audit.Line
	for line, err := range audit.Lines(f.state(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// state is the folder for what must not be lost.
func (f *fixture) state() string {
	return filepath.Join(f.config.Getenv("XDG_STATE_HOME"), "vaultwicket")
}

const secret = "s3cret-text-of-a-note"

// Whatever is started has a line in the log before it is: for every command of
// the table, done, refused, planned, asked about and in a batch, on both programs.
func TestEveryStartHasAnAuditLine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds, one call after the other")
	}
	starts, lines := 0, 0
	for _, at := range []struct {
		backend Backend
		confirm policy.Confirm
	}{{App, policy.ConfirmNever}, {Embedded, policy.ConfirmNever}, {Embedded, policy.ConfirmWrites}} {
		for some := range slices.Chunk(allowlist.Commands(), 10) { // the whole log is read after each call
			f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Policy.Confirm = at.backend, "session", at.confirm }).app(versionLine)
			for _, c := range some {
				if c.Tier != tiers.Restricted {
					starts += f.startsOf(t, c)
				}
			}
			lines += f.checkLogs(t)
		}
	}
	if starts < 100 || lines < starts {
		t.Errorf("%d started programs, %d lines", starts, lines)
	}
	t.Logf("%d started programs, %d lines", starts, lines)
}

// startsOf makes every kind of call of a command, and returns how many programs were
// started. Each has to have its lines.
func (f *fixture) startsOf(t *testing.T, c allowlist.Command) (starts int) {
	t.Helper()
	req := Request{Command: c.Name, Params: sampleParams(c), Client: "a client", Surface: "test"}
	for name, do := range map[string]func(){
		"do":  func() { f.gateway.Do(context.Background(), req) },
		"dry": func() { f.gateway.DryRun(context.Background(), req) },
		"batch": func() {
			f.gateway.DoBatch(context.Background(), Batch{Operations: []Operation{{ClientID: "c", Request: req}}})
		},
	} {
		before, count := len(auditOf(t, f)), func() int {
			app, own := f.called()
			return len(app) + len(own)
		}
		started := -count()
		do()
		started += count()
		starts += started
		added := auditOf(t, f)[before:]
		let := slices.ContainsFunc(added, func(l audit.Line) bool {
			return l.Command == c.Name && l.Kind == "decision" && slices.Contains([]string{"allow", "plan", "ask"}, l.Decision)
		})
		if started > 0 && !let {
			t.Errorf("%s, %s on %s: started %d programs, and the log says %+v", c.Name, name, f.config.Backend, started, added)
		}
		ends := slices.ContainsFunc(added, func(l audit.Line) bool { return l.Kind == "end" && l.Exit != nil && l.Call == added[0].Call })
		if allowed := slices.ContainsFunc(added, func(l audit.Line) bool { return l.Decision == "allow" }); allowed && !ends {
			t.Errorf("%s, %s: no end in %+v", c.Name, name, added)
		}
	}
	return starts
}

// checkLogs verifies the logs that there are, which have no value of a parameter, and
// returns how many lines they have.
func (f *fixture) checkLogs(t *testing.T) (lines int) {
	t.Helper()
	for _, folder := range []string{audit.AuditFolder(f.state()), audit.CallsFolder(f.state())} {
		report, err := audit.Verify(folder)
		if err != nil || report.Broken != nil {
			t.Errorf("the log is %+v, %v", report, err)
		}
		if lines += report.Lines; report.Lines == 0 {
			continue
		}
		if text := readAll(t, folder); strings.Contains(text, secret) || strings.Contains(text, "secret-note") {
			t.Error("the log holds the value of a parameter")
		}
	}
	return lines
}

// sampleParams are good values for what a command needs.
func sampleParams(c allowlist.Command) allowlist.Params {
	values := map[string]string{
		"path": "secret-note.md", "number": "3", "age": "3", "date": "2026-11-21", "folder": "F", "path:line": "secret-note.md:3", "character": "x", "url": "https://example.org/" + secret,
		"folder/ or path": "F/", "word": "help", "file name": "secret-note",
	}
	params := allowlist.Params{}
	set := func(p allowlist.Param) {
		value, ok := values[p.Kind]
		switch {
		case len(p.Choices) > 0:
			value = p.Choices[0]
		case !ok:
			value = secret
		}
		params[p.Name] = allowlist.Text(value)
	}
	for _, p := range c.Params {
		if p.Required || p.Name == "path" {
			set(p)
		}
	}
	for _, name := range map[string][]string{
		"create": {}, "bookmark": {"folder"}, "task": {"ref"}, "note:section": {"lines"}, "note:insert": {"lines"}, "note:set-section": {"lines"},
	}[c.Name] {
		for _, p := range c.Params {
			if p.Name == name {
				set(p)
			}
		}
	}
	if c.Name == "task" {
		delete(params, "path")
	}
	return params
}

func readAll(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// What changes something is not begun when that cannot be logged; what only
// reads is not held up.
func TestNothingIsChangedWithoutAnAuditLine(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, f *fixture){
		"no place": func(_ *testing.T, f *fixture) {
			f.config.Getenv = func(string) string { return "" }
			f.gateway = New(f.config)
		},
		"a file in its place": func(t *testing.T, f *fixture) {
			if err := os.MkdirAll(f.state(), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(audit.AuditFolder(f.state()), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a link in its place": func(t *testing.T, f *fixture) {
			if err := os.MkdirAll(f.state(), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(t.TempDir(), audit.AuditFolder(f.state())); err != nil {
				t.Fatal(err)
			}
		},
		"the state in the vault": func(_ *testing.T, f *fixture) {
			f.config.Getenv = func(name string) string { return map[string]string{"XDG_STATE_HOME": f.vault}[name] }
			f.gateway = New(f.config)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(`--facts vault=Work daily:path => D.md\n`)
			spoil(t, f)
			got := f.gateway.Do(context.Background(), Request{Command: "daily:append", Params: params("content", "x")})
			if code(got) != "state_unavailable" || !strings.Contains(got.Error.Message, "audit") {
				t.Errorf("got %+v", got.Error)
			}
			if app, own := f.called(); len(app)+len(own) > 0 {
				t.Errorf("started %q %q", app, own)
			}
			if got := f.gateway.Do(context.Background(), Request{Command: "daily:path"}); !got.OK {
				t.Errorf("a read is held up: %+v", got.Error)
			}
		})
	}
}

func TestALineNamesTheRuleAndTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Session, c.Policy.Mutations = Embedded, "s", false
	}).embedded(`--facts vault=Work daily:path => D.md\n`)
	f.gateway.Do(context.Background(), Request{Command: "daily:append", Params: params("content", secret), Client: "c", Surface: "mcp"})
	f.gateway.Do(context.Background(), Request{Command: "daily:path"})
	f.gateway.Do(context.Background(), Request{Command: "nothing"})
	lines := auditOf(t, f)
	if len(lines) != 4 {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	denied, allowed, end, unknown := lines[0], lines[1], lines[2], lines[3]
	if denied.Decision != "deny" || denied.Rule != "mutations" || denied.Code != "mutations_off" || denied.Client != "c" || denied.Surface != "mcp" ||
		len(denied.Params) != 1 || denied.Params[0].Bytes != len(secret) || denied.Params[0].Digest == "" {
		t.Errorf("denied: %+v", denied)
	}
	if allowed.Decision != "allow" || allowed.Backend != "embedded" || end.Kind != "end" || end.Call != allowed.Call || end.Exit == nil || *end.Exit != 0 {
		t.Errorf("allowed: %+v and %+v", allowed, end)
	}
	if unknown.Decision != "deny" || unknown.Code != "unknown_command" {
		t.Errorf("unknown: %+v", unknown)
	}
	if _, err := json.Marshal(lines); err != nil {
		t.Error(err)
	}
}

// A request for a vault that is none is refused like every other, in the log too.
func TestAnUnknownVaultIsInTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.gateway.Do(t.Context(), Request{Command: "files", Vault: "Nowhere"})
	f.gateway.DoBatch(t.Context(), Batch{Vault: "Nowhere", Operations: []Operation{operation("a", "files")}})
	if got := logOf(t, f); got != "deny files vault_not_found; deny batch vault_not_found" {
		t.Errorf("the log is %s", got)
	}
}
