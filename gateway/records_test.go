package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// auditOf returns the lines of the log of a fixture.
func auditOf(t *testing.T, f *fixture) []audit.Line {
	t.Helper()
	var lines []audit.Line
	for line, err := range audit.Lines(t.Context(), f.state(), audit.Filter{}) {
		require.NoError(t, err)
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
	starts, lines, mine := 0, 0, testenv.Shard(t, 3)
	for k, at := range []struct {
		backend Backend
		confirm policy.Confirm
	}{{App, policy.ConfirmNever}, {Embedded, policy.ConfirmNever}, {Embedded, policy.ConfirmWrites}} {
		for some := range slices.Chunk(slices.Collect(allowlist.Commands()), 10) { // the whole log is read after each call
			f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Policy.Confirm = at.backend, "session", at.confirm }).app(versionLine)
			for i, c := range some {
				if c.Tier != tiers.Restricted && mine(i+k) { // each command with one of the settings
					starts += f.startsOf(t, c)
				}
			}
			lines += f.checkLogs(t)
		}
	}
	assert.That(t, starts >= 100, "%d started programs, %d lines", starts, lines)
	assert.That(t, lines >= starts, "%d started programs, %d lines", starts, lines)
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
		allowed := slices.ContainsFunc(added, func(l audit.Line) bool { return l.Decision == "allow" })
		assert.That(t, !allowed || ends, "%s, %s: no end in %+v", c.Name, name, added)
	}
	return starts
}

// checkLogs verifies the logs that there are, which have no value of a parameter, and
// returns how many lines they have.
func (f *fixture) checkLogs(t *testing.T) (lines int) {
	t.Helper()
	for _, folder := range []string{audit.AuditFolder(f.state()), audit.CallsFolder(f.state())} {
		report, err := audit.Verify(t.Context(), folder)
		require.Equal(t, err, nil, "the log is %+v", report)
		assert.That(t, report.Broken == nil, "the log is %+v", report)
		if lines += report.Lines; report.Lines == 0 {
			continue
		}
		text := readAll(t, folder)
		assert.That(t, !strings.Contains(text, secret), "the log contains the value of a parameter")
		assert.That(t, !strings.Contains(text, "secret-note"), "the log contains the value of a parameter")
	}
	return lines
}

// sampleParams are good values for what a command needs.
func sampleParams(c allowlist.Command) allowlist.Params {
	values := map[string]string{
		"path": "secret-note.md", "number": "3", "age": "3", "date": "2026-11-21", "folder": "F",
		"path:line": "secret-note.md:3", "character": "x", "url": "https://example.org/" + secret,
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
	for _, e := range require.Value(os.ReadDir(folder))(t) {
		text := require.Value(os.ReadFile(filepath.Join(folder, e.Name())))(t)
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
			require.NoError(t, os.MkdirAll(f.state(), 0o700))
			require.NoError(t, os.WriteFile(audit.AuditFolder(f.state()), nil, 0o600))
		},
		"a link in its place": func(t *testing.T, f *fixture) {
			require.NoError(t, os.MkdirAll(f.state(), 0o700))
			require.NoError(t, os.Symlink(t.TempDir(), audit.AuditFolder(f.state())))
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
			assert.Equal(t, code(got), "state_unavailable")
			assert.Contains(t, got.Error.Message, "audit")
			app, own := f.called()
			assert.That(t, len(app)+len(own) <= 0, "started %q %q", app, own)
			got = f.gateway.Do(context.Background(), Request{Command: "daily:path"})
			assert.That(t, got.OK, "a read is held up: %+v", got.Error)
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
	require.That(t, len(lines) == 4, "%d lines: %+v", len(lines), lines)
	denied, allowed, end, unknown := lines[0], lines[1], lines[2], lines[3]
	if denied.Decision != "deny" || denied.Rule != "mutations" || denied.Code != "mutations_off" || denied.Client != "c" || denied.Surface != "mcp" ||
		len(denied.Params) != 1 || denied.Params[0].Bytes != len(secret) || denied.Params[0].Digest == "" {
		t.Errorf("denied: %+v", denied)
	}
	if allowed.Decision != "allow" || allowed.Backend != "embedded" || end.Kind != "end" || end.Call != allowed.Call || end.Exit == nil || *end.Exit != 0 {
		t.Errorf("allowed: %+v and %+v", allowed, end)
	}
	assert.Equal(t, unknown.Decision, "deny", "unknown")
	assert.Equal(t, unknown.Code, "unknown_command", "unknown")
	_, err := json.Marshal(lines)
	assert.NoError(t, err)
}

// A request for a vault that is none is refused like every other, in the log too.
func TestAnUnknownVaultIsInTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.gateway.Do(t.Context(), Request{Command: "files", Vault: "Nowhere"})
	f.gateway.DoBatch(t.Context(), Batch{Request: Request{Vault: "Nowhere"}, Operations: []Operation{operation("a", "files")}})
	assert.Equal(t, logOf(t, f), "deny files vault_not_found; deny batch vault_not_found", "the log")
}

// longName is as long as the name of a client can be in the log.
var longName = strings.Repeat("long name ", 10)

// However many calls are refused for their rate, the lines about changes and about
// refusals by policy stay: the refused ones have next to no lines. With a line each, 600,000
// would flush every line about changes out of a log of 32 files.
func TestCallsRefusedForTheirRateFlushNothing(t *testing.T) {
	t.Parallel()
	manyRefused := testenv.Count(30_000, 600_000)
	f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Limits.Calls = Embedded, "s", 3 }).
		embedded(`--write --change ID --facts vault=Work daily:append content=x => Added to: D.md\n`)
	do := func(command string) Result {
		return f.gateway.Do(context.Background(), Request{Command: command, Params: params("content", "x"), Caller: "me", Client: longName, Surface: "mcp"})
	}
	do("daily:append")
	do("eval")
	do("daily:append")
	refused := 0
	for range manyRefused {
		if got := do(longName); code(got) == "rate_limited" {
			refused++
		} else if code(got) != "unknown_command" { // its time has come
			t.Fatalf("%+v", got)
		}
	}
	var changes, denied, all int
	for line, err := range audit.List(t.Context(), audit.AuditFolder(f.state()), audit.Filter{}) {
		require.NoError(t, err)
		all++
		if line.Kind == "end" && line.Effect == "write" {
			changes++
		}
		if line.Decision == "deny" && line.Code == "restricted_command" {
			denied++
		}
	}
	if changes != 2 || denied != 1 || refused < manyRefused*99/100 {
		t.Errorf("of two changes and one refusal by policy %d and %d are left, after %d calls refused for their rate", changes, denied, refused)
	}
	most := 10 + manyRefused/1000
	assert.That(t, all <= most, "the log has %d lines, want at most %d", all, most)
}

// The first call that is refused in a period has its line at once, and the others
// are in one line a client when the period is over.
func TestCallsRefusedForTheirRateAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Limits.Calls = Embedded, "s", 1 })
	do := func(client string) {
		f.gateway.Do(t.Context(), Request{Command: "nothing", Caller: "me", Client: client, Surface: "mcp"})
	}
	for range 5 {
		do("a")
	}
	for range 3 {
		do("b")
	}
	for i := range 2 * audit.MaxLimited {
		do(fmt.Sprint("client ", i))
	}
	f.gateway.Flush()
	f.gateway.Flush() // there is nothing more to write
	counts, single := map[string]uint64{}, 0
	for _, line := range auditOf(t, f) {
		switch {
		case line.Kind == audit.KindLimited && (line.Code != "rate_limited" || line.Session != "s" || line.Count == 0):
			t.Errorf("%+v", line)
		case line.Kind == audit.KindLimited:
			counts[line.Client] += line.Count
		case line.Code == "rate_limited":
			single++
		}
	}
	// One call of the first client passed, and one has a line of its own.
	if single != 1 || counts["a"] != 3 || counts["b"] != 3 || len(counts) != audit.MaxLimited+1 || counts[""] != 2*audit.MaxLimited-(audit.MaxLimited-2) {
		t.Errorf("%d lines, %v", single, counts)
	}
	do("a")
	f.gateway.Flush()
	if lines := auditOf(t, f); lines[len(lines)-1].Code != "rate_limited" || lines[len(lines)-1].Kind != "decision" {
		t.Errorf("the next period begins with %+v", lines[len(lines)-1])
	}
}

// A period ends by itself, whether another call comes or not.
func TestAPeriodEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := make(chan audit.Line, 2)
		l := audit.Limited{Write: func(line audit.Line) { written <- line }}
		for range 10 {
			l.First(audit.Line{Client: "c"})
		}
		time.Sleep(audit.LimitedPeriod - time.Second)
		synctest.Wait()
		if len(written) != 0 {
			t.Errorf("before its end: %+v", <-written)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		line := <-written
		assert.Equal(t, len(written), 0)
		assert.Equal(t, line.Count, 9)
		assert.Equal(t, line.Client, "c")
		assert.Equal(t, line.DurationMs, audit.LimitedPeriod.Milliseconds())
		l.First(audit.Line{Client: "c"})
		time.Sleep(audit.LimitedPeriod)
		synctest.Wait()
		if len(written) != 0 {
			t.Errorf("one call that has its own line: %+v", <-written)
		}
	})
}

// A call for what is hidden gets the answer of what is missing, from the gateway
// and from its observers, and the audit log has the refusal with its rule.
func TestTheAuditLogTellsHiddenFromMissing(t *testing.T) {
	t.Parallel()
	rules := require.Value(access.New(map[string]access.Level{"/": access.Delete, "Private": access.None}))(t)
	missing := func(how, path string) string {
		return `--facts vault=Work read ` + how + `=` + path + ` => exit 1 not_found Error: File "` + path + `" not found.\n`
	}
	for _, tt := range []struct {
		name, path, want string
		backend          Backend
	}{
		{"a typo in a name", "file=Tpyo", "allow read; end read not_found", Embedded},
		{"a name hidden by a rule", "file=Private/Tax", "allow read; end read access access_denied", Embedded},
		{"a name hidden by the ignore file", "file=x.draft", "allow read; end read ignore access_denied", Embedded},
		{"a typo", "Tpyo.md", "allow read; end read not_found", Embedded},
		{"hidden by a rule", "Private/Tax.md", "deny read access access_denied; end read access access_denied", Embedded},
		{"hidden by a rule, and not there", "Private/Nothing.md", "deny read access access_denied; end read access access_denied", Embedded},
		{"hidden by the ignore file", "x.draft.md", "deny read ignore access_denied; end read ignore access_denied", Embedded},
		{"hidden, and the app is asked for", "Private/Tax.md", "deny read access access_denied; end read access access_denied", App},
	} {
		t.Run(tt.name, func(t *testing.T) {
			how, path, byName := strings.Cut(tt.path, "=")
			if !byName {
				how, path = "path", tt.path
			}
			var told notebook
			f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Access, c.Observe = tt.backend, rules, &told }).
				app(versionLine).embedded(missing(how, path))
			if tt.backend == Embedded { // the app is asked nothing where there are patterns
				require.NoError(t, os.WriteFile(filepath.Join(f.vault, ".vaultwicketignore"), []byte("*.draft.md\n"), 0o600))
			}
			got := f.gateway.Do(t.Context(), Request{Command: "read", Params: params(how, path)})
			assert.That(t, code(got) == "not_found", "the caller is told %+v", got)
			assert.Equal(t, logOf(t, f), tt.want, "the log")
			for _, d := range told.decisions {
				assert.That(t, d.Code != "access_denied", "observers are told %+v", d)
				assert.Equal(t, d.Rule, "", "observers are told %+v", d)
			}
			for _, e := range told.ends {
				assert.Equal(t, e.Code, "not_found", "observers are told %+v", e)
				assert.Equal(t, e.Rule, "", "observers are told %+v", e)
			}
		})
	}
}
