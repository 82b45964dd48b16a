package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const versionLine = `vault=Work version => 1.12.7 (installer 1.12.7)\n`

func params(pairs ...string) allowlist.Params {
	p := allowlist.Params{}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = allowlist.Text(pairs[i+1])
	}
	return p
}

func code(r Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

func TestDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		change               func(*Config)
		app, embedded        []string
		request              Request
		want                 Result // Command, Stdout, Backend, Path are compared
		code                 string
		calledApp, calledOwn []string
	}{
		{
			name:      "reading the daily note asks for its path and reads that note",
			app:       []string{versionLine, `vault=Work daily:path => Daily/a.md\n`, `vault=Work read path=Daily/a.md => text\n`},
			request:   Request{Command: "daily:read"},
			want:      Result{Command: "daily:read", Stdout: "text\n", Backend: "obsidian", Path: "Daily/a.md"},
			calledApp: []string{"vault=Work version", "vault=Work daily:path", "vault=Work read path=Daily/a.md"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name:      "where the settings tell the path the app is asked for the note alone",
			app:       []string{versionLine, `vault=Work read path=Daily/2026-11-22.md => text\n`},
			embedded:  []string{`--facts vault=Work daily:path => Daily/2026-11-22.md\n`},
			request:   Request{Command: "daily:read"},
			want:      Result{Command: "daily:read", Stdout: "text\n", Backend: "obsidian", Path: "Daily/2026-11-22.md"},
			calledApp: []string{"vault=Work version", "vault=Work read path=Daily/2026-11-22.md"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name: "where the settings tell a path that has no note the app says which it is",
			app: []string{versionLine, `vault=Work read path=2026-11-22.md => Error: File "2026-11-22.md" not found.\n`,
				`vault=Work daily:path => Daily/2026-11-22.md\n`, `vault=Work read path=Daily/2026-11-22.md => text\n`},
			embedded: []string{`--facts vault=Work daily:path => 2026-11-22.md\n`},
			request:  Request{Command: "daily:read"},
			want:     Result{Command: "daily:read", Stdout: "text\n", Backend: "obsidian", Path: "Daily/2026-11-22.md"},
			calledApp: []string{"vault=Work version", "vault=Work read path=2026-11-22.md", "vault=Work daily:path",
				"vault=Work read path=Daily/2026-11-22.md"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name: "a daily note that is nowhere is read for once",
			app: []string{versionLine,
				`vault=Work read path=2026-11-22.md => Error: File "2026-11-22.md" not found.\n`,
				`vault=Work daily:path => 2026-11-22.md\n`},
			embedded:  []string{`--facts vault=Work daily:path => 2026-11-22.md\n`},
			request:   Request{Command: "daily:read"},
			want:      Result{Command: "daily:read", Stdout: "Error: File \"2026-11-22.md\" not found.\n", Backend: "obsidian", Path: "2026-11-22.md"},
			code:      "not_found",
			calledApp: []string{"vault=Work version", "vault=Work read path=2026-11-22.md", "vault=Work daily:path"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name:      "a path that leads out of the vault is not followed",
			app:       []string{versionLine, `vault=Work daily:path => ../outside.md\n`},
			request:   Request{Command: "daily:read"},
			want:      Result{Command: "daily:read", Stdout: "../outside.md\n", Backend: "obsidian"},
			code:      "cli_error",
			calledApp: []string{"vault=Work version", "vault=Work daily:path"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name:   "a path without an extension is looked for with and without .md",
			change: func(c *Config) { c.Vault.Folder = "" },
			app: []string{versionLine, `vault=Work file path=a => Error: File "a" not found.\n`,
				`vault=Work file path=a.md => Error: File "a.md" not found.\n`, `vault=Work create path=a => Created: a.md\n`},
			request: Request{Command: "create", Params: params("path", "a")},
			want:    Result{Command: "create", Stdout: "Created: a.md\n", Backend: "obsidian", Path: "a.md"},
			calledApp: []string{"vault=Work version", "vault=Work vault info=path", "vault=Work file path=a",
				"vault=Work file path=a.md", "vault=Work create path=a"},
		},
		{
			name:      "creating by name compares the name that was made",
			change:    func(c *Config) { c.Vault.Folder = "" },
			app:       []string{versionLine, `vault=Work file file=a => Error: File "a" not found.\n`, `vault=Work create name=a => Created: Notes/a 1.md\n`},
			request:   Request{Command: "create", Params: params("name", "a")},
			want:      Result{Command: "create", Stdout: "Created: Notes/a 1.md\n", Backend: "obsidian"},
			code:      "not_applied",
			calledApp: []string{"vault=Work version", "vault=Work vault info=path", "vault=Work file file=a", "vault=Work create name=a"},
		},
		{
			name:      "overwriting needs no question first",
			change:    func(c *Config) { c.Vault.Folder = "" },
			app:       []string{versionLine, `vault=Work create path=a.md overwrite => Overwrote: a.md\n`},
			request:   Request{Command: "create", Params: allowlist.Params{"path": allowlist.Text("a.md"), "overwrite": allowlist.Flag(true)}},
			want:      Result{Command: "create", Stdout: "Overwrote: a.md\n", Backend: "obsidian", Path: "a.md"},
			calledApp: []string{"vault=Work version", "vault=Work vault info=path", "vault=Work create path=a.md overwrite"},
		},
		{
			name:      "the embedded program by name leaves the app alone",
			change:    func(c *Config) { c.Backend = Embedded },
			embedded:  []string{`--facts vault=Work daily:path => a.md\n`},
			request:   Request{Command: "daily:path"},
			want:      Result{Command: "daily:path", Stdout: "a.md\n", Backend: "embedded"},
			calledOwn: []string{"--facts vault=Work daily:path"},
		},
		{
			name:      "text that the client would rewrite takes the other way",
			embedded:  []string{`--stdin content --write --change ID --facts vault=Work daily:append => Added to: a.md\n`},
			request:   Request{Command: "daily:append", Params: params("content", `\nabla`)},
			want:      Result{Command: "daily:append", Stdout: "Added to: a.md\n", Backend: "embedded", Path: "a.md"},
			calledOwn: []string{"--stdin content --write --change ID --facts vault=Work daily:append"},
		},
		{
			name:      "the note of another day is asked of the embedded program",
			embedded:  []string{`--facts vault=Work daily:read offset=-1 => exit 1 not_found Error: File "b.md" not found.\n`},
			request:   Request{Command: "daily:read", Params: params("offset", "-1")},
			want:      Result{Command: "daily:read", Stdout: "Error: File \"b.md\" not found.\n", Backend: "embedded"},
			code:      "not_found",
			calledOwn: []string{"--facts vault=Work daily:read offset=-1"},
		},
		{
			name:      "without a folder there is no other way",
			change:    func(c *Config) { c.Vault.Folder = "" },
			request:   Request{Command: "daily:append", Params: params("content", `\nabla`)},
			want:      Result{Command: "daily:append"},
			code:      "content_unsafe",
			calledApp: []string{"vault=Work version"}, // which is asked for the folder
		},
		{
			name:    "the embedded program needs a folder",
			change:  func(c *Config) { c.Backend, c.Vault.Folder = Embedded, "" },
			request: Request{Command: "daily:path"},
			want:    Result{Command: "daily:path"},
			code:    "vault_not_found",
		},
		{
			name:      "a call that only a person can allow is worked out and not begun",
			change:    func(c *Config) { c.Policy.Confirm = 0 },
			embedded:  []string{`--plan --facts vault=Work daily:append content=x => {"files":[{"path":"D.md","before":"0123456789abcdef","after":"0123456789abcdee","added":1,"lines":[{"sign":"+","new":1,"text":"x"}]}]}`},
			request:   Request{Command: "daily:append", Params: params("content", "x")},
			want:      Result{Command: "daily:append"},
			code:      "unconfirmed",
			calledOwn: []string{"--plan --facts vault=Work daily:append content=x"},
		},
		{
			name:    "words that cannot be parsed start nothing",
			request: Request{Command: "daily:append", Words: []string{"content=a", "content=b"}},
			want:    Result{Command: "daily:append"},
			code:    "conflicting_params",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.change).app(tt.app...).embedded(tt.embedded...)
			got := f.gateway.Do(context.Background(), tt.request)
			require.Equal(t, code(got), tt.code, "%+v", got.Error)
			require.Equal(t, got.OK, tt.code == "", "want %q: %+v", tt.code, got.Error)
			if got.Command != tt.want.Command || got.Stdout != tt.want.Stdout || got.Backend != tt.want.Backend || got.Path != tt.want.Path {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			app, own := f.called()
			assert.EqualSlices(t, app, tt.calledApp, "called %q and %q", app, own)
			assert.EqualSlices(t, own, tt.calledOwn, "called %q and %q", app, own)
		})
	}
}

// The names of months and weekdays are in the language of the app: the app is asked for a
// path with a name once, and again when the day or the settings change.
func TestThePathOfTheDailyNoteIsRemembered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil).app(versionLine, `vault=Work daily:path => 22 novembre.md\n`, `vault=Work read path=22 novembre.md => text\n`).
		embedded(`--facts vault=Work daily:path => 22 November.md\n`)
	for range 2 {
		got := f.gateway.Do(context.Background(), Request{Command: "daily:read"})
		require.Equal(t, got.Stdout, "text\n")
		require.Equal(t, got.Path, "22 novembre.md")
	}
	f.embedded(`--facts vault=Work daily:path => 23 November.md\n`).app(versionLine,
		`vault=Work daily:path => 23 novembre.md\n`, `vault=Work read path=23 novembre.md => next\n`)
	require.Equal(t, f.gateway.Do(context.Background(), Request{Command: "daily:read"}).Stdout, "next\n")
	app, _ := f.called()
	want := []string{"vault=Work version", "vault=Work daily:path", "vault=Work read path=22 novembre.md", "vault=Work read path=22 novembre.md",
		"vault=Work daily:path", "vault=Work read path=23 novembre.md"}
	assert.That(t, slices.Equal(app, want), "called %q, want %q", app, want)
}

func TestDoNamesTheWayItTook(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil).embedded(`--stdin content --write --change ID --facts vault=Work daily:append => Added to: a.md\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "daily:append", Params: params("content", `\t`)})
	require.Equal(t, len(got.Notices), 1, "notices %q, want one that names the embedded backend", got.Notices)
	assert.Contains(t, got.Notices[0], "embedded backend", "notices %q, want one that names the embedded backend", got.Notices)
}

// A call waits for the place of a running call, and a change for the one before it, only as long as
// its caller does.
func TestACallWaitsOnlyAsLongAsItsCallerDoes(t *testing.T) {
	t.Parallel()
	for _, req := range []Request{{Command: "daily:path"}, {Command: "daily:append", Params: params("content", "x")}} {
		f := newFixture(t, func(c *Config) { c.Limits.Parallel = 1 })
		place, places := f.gateway.running, 1
		if req.Params != nil {
			place = f.gateway.vaults[0].writing
			places = writersAtOnce
		}
		release := occupy(t, place, places)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.Equal(t, code(f.gateway.Do(ctx, req)), "cancelled", "%s: code", req.Command)
		release()
		assert.That(t, f.gateway.running.Running() == 0, "%s: the slot was not given back", req.Command)
	}
}

func TestAFaultOfOursIsAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	g := New(Config{Runner: nil, Log: slog.New(slog.NewTextHandler(&log, nil)), Policy: newFixture(t, nil).config.Policy})
	got := g.Do(context.Background(), Request{Command: "daily:path"}) // without a runner this is a nil pointer
	assert.Equal(t, code(got), "internal", "got %+v, want a fixed text with the code internal", got.Error)
	assert.That(t, !strings.Contains(got.Error.Message, "nil"), "got %+v, want a fixed text with the code internal", got.Error)
	if !strings.Contains(log.String(), "daily:path") || !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("the log contains %q, want the command and the fault", log.String())
	}
}

func TestAnErrorWithoutACodeIsAFaultAndLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	g := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	g.logFault(io.ErrUnexpectedEOF)
	g.logFault(failure.New("not_found", "", "said to the caller"))
	g.logFault(nil)
	if lines := strings.Split(log.String(), "\n"); len(lines) != 2 ||
		!strings.Contains(lines[0],
			`level=ERROR+4 msg="an error without a code" kind=*errors.errorString fault="unexpected EOF"`) {
		t.Errorf("log %q", log.String())
	}
	got := failure.Of(io.ErrUnexpectedEOF)
	assert.Equal(t, got.Code, "internal", "ErrorOf gave %+v", got)
	assert.That(t, !strings.Contains(got.Message, "EOF"), "ErrorOf gave %+v", got)
}

func TestAPlanWithoutAProgramIsAFault(t *testing.T) {
	t.Parallel()
	g := New(Config{Runner: exec.New(exec.Config{})})
	assert.Equal(t, code(g.vaults[0].carryOut(context.Background(), Plan{})), "internal", "code")
}

// What was not carried out may be tried again, and what is unknown may not.
func TestWhatBecomesOfAKey(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause *failure.Error
		want  keyDisposition
		again string // the code of the next call, "" where it may be carried out
	}{
		{"nothing ran", &failure.Error{Code: failure.CodeRateLimited}, keyForget, ""},
		{"not found", &failure.Error{Code: failure.CodeNotFound}, keyForget, ""},
		{"cancelled", &failure.Error{Code: failure.CodeCancelled}, keyForget, ""},
		{"unknown", &failure.Error{Code: failure.CodeUnknown}, keyStaysClaimed, failure.CodeUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := newFixture(t, embeddedOnly).gateway.vaults[0]
			call := keyDigest(sha256.Sum256([]byte("call")))
			claim, _, err := at.claim("me", "k", call)
			require.NoError(t, err)
			got := dispositionOf(tt.cause, nil)
			assert.Equal(t, got, tt.want)
			require.NoError(t, claim.Settle(got, "answer"))
			expectKeyCode(t, at, "k", call, tt.again)
		})
	}
	for _, cause := range []*failure.Error{nil, {Code: failure.CodeNotFound}} {
		assert.Equal(t, dispositionOf(cause, &Change{}), keyRemember, "%v", cause)
	}
	unknown, made := OperationResult{Result: &Answer{Error: &failure.Error{Code: failure.CodeUnknown}}}, OperationResult{Result: &Answer{Change: &Change{}}}
	batch := Batch{Operations: []Operation{operation("a", "create", "path", "N.md"), operation("b", "create", "path", "M.md")}}
	plan, _, err := newFixture(t, embeddedOnly).gateway.vaults[0].planBatch(batch)
	require.NoError(t, err)
	for _, results := range [][]OperationResult{{unknown, made}, {made, unknown}, {unknown, {}}} {
		assert.Equal(t, batchDisposition(plan, BatchResult{Results: results}), keyStaysClaimed, "a batch with a change of which nothing is known")
	}
}

func expectKeyCode(t *testing.T, at *vaultGateway, key string, digest keyDigest, want string) {
	t.Helper()
	_, _, err := at.claim("me", key, digest)
	var cause *failure.RequestError
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (!errors.As(err, &cause) || cause.Code() != want):
		t.Errorf("got %v, want %s", err, want)
	}
}
