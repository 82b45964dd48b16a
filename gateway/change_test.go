package gateway

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	begins  = `--write --begin --change ID --facts vault=Work append content=x path=A.md => {"path":"A.md","files":[{"path":"A.md"}]}\n`
	appends = `vault=Work append content=x path=A.md => Appended to: A.md\n`
	ends    = `--write --end --change ID --facts vault=Work append content=x path=A.md => `
)

// Where what the app does cannot be kept before or looked at after it, nothing is told of it.
func TestTheWorkOfTheAppThatIsNotKept(t *testing.T) {
	t.Parallel()
	begin, end := strings.SplitN(begins, " => ", 2)[0], strings.TrimSuffix(ends, " => ")
	did := strings.SplitN(appends, " => ", 2)[0]
	for _, test := range []struct {
		name                 string
		app, embedded        []string
		code                 string
		calledApp, calledOwn []string
	}{
		{
			name: "nothing to do", app: []string{versionLine, appends}, embedded: []string{strings.Replace(begins, `{"path":"A.md"}`, "", 1)},
			calledApp: []string{"vault=Work version", did}, calledOwn: []string{begin},
		},
		{
			name: "refused beforehand", app: []string{versionLine, appends}, embedded: []string{begin + ` => exit 1 not_found Error: File "A.md" not found.\n`},
			code: "not_found", calledOwn: []string{begin},
		},
		{
			name: "what only the app knows", app: []string{versionLine, appends},
			embedded:  []string{begin + ` => exit 1 needs_app Error: "append" needs the Obsidian app.\n`},
			calledApp: []string{"vault=Work version", did}, calledOwn: []string{begin},
		},
		{
			name: "it cannot be read back", app: []string{versionLine, appends}, embedded: []string{begins, ends + `exit 1 Error: torn\n`},
			calledApp: []string{"vault=Work version", did}, calledOwn: []string{begin, end},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, nil).app(test.app...).embedded(test.embedded...)
			got := f.gateway.Do(context.Background(), Request{Command: "append", Params: params("path", "A.md", "content", "x")})
			assert.Equal(t, code(got), test.code, "got %+v, %+v", got, got.Error)
			assert.That(t, got.Change == nil, "got %+v, %+v", got, got.Error)
			if app, own := f.called(); !slices.Equal(app, test.calledApp) || !slices.Equal(own, test.calledOwn) {
				t.Errorf("called %q and %q, want %q and %q", app, own, test.calledApp, test.calledOwn)
			}
		})
	}
}

func TestWithoutAFolderNothingIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Vault.Folder = "" }).app(versionLine, appends)
	request := Request{Command: "append", Params: params("path", "A.md", "content", "x")}
	got := f.gateway.Do(context.Background(), request)
	require.That(t, got.OK, "got %+v", got)
	require.That(t, got.Change == nil, "got %+v", got)
	assert.Contains(t, strings.Join(got.Notices, " "), "not in the journal")
	into := Request{Command: "append", Params: params("path", "pic.png", "content", "x")}
	if got := f.gateway.Do(context.Background(), into); code(got) != "bad_value" || !strings.Contains(got.Error.Hint, "attachment:write") {
		t.Errorf("text into an image that no one looks at: %+v", got.Error)
	}
	request.ExpectHash = "0123456789abcdef"
	got = f.gateway.Do(context.Background(), request)
	assert.Equal(t, code(got), "vault_not_found", "with a hash that no one can compare: %+v", got.Error)
	request.ExpectHash, request.IdempotencyKey = "", "k"
	got = f.gateway.Do(context.Background(), request)
	assert.Equal(t, code(got), "bad_request", "with a key that no one can keep: %+v", got.Error)
}

func TestOneWriterAtATime(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil).app(versionLine, appends)
	kept := require.Value(f.gateway.vaults[0].journal(f.vault))(t)
	unlock := require.Value(kept.Lock(context.Background()))(t)
	defer unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plan := require.Value(f.gateway.vaults[0].Plan(Request{Command: "append", Params: params("path", "A.md", "content", "x")}))(t)
	got := f.gateway.vaults[0].carryOut(ctx, plan)
	assert.That(t, code(got) == "conflict", "with another writer: %+v", got.Error)
}

// A change that looks for its notes waits for another such change alone, and no other writer
// waits for it.
func TestAChangeAcrossTheVaultHoldsUpNoOtherWriter(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmNever }).embedded(
		`--write --change ID --facts vault=Work tag:rename name=a to=b => Renamed\n`,
		`--write --change ID --facts vault=Work append content=x path=A.md => Appended to: A.md\n`)
	g := f.gateway.vaults[0]
	across := Request{Command: "tag:rename", Params: params("name", "a", "to", "b")}
	one := Request{Command: "append", Params: params("path", "A.md", "content", "x")}
	for _, tt := range []struct {
		name  string
		held  *shares.Line
		req   Request
		waits bool
	}{
		{"a change of one note beside one across the vault", g.changingMany, one, false},
		{"a change across the vault beside one of a note", g.writing, across, false},
		{"two across the vault", g.changingMany, across, true},
		{"two of one note", g.writing, one, true},
	} {
		places := 1
		if tt.held == g.writing {
			places = writersAtOnce
		}
		release := occupy(t, tt.held, places)
		done := make(chan Result, 1)
		go func() { done <- f.gateway.Do(t.Context(), tt.req) }()
		if tt.waits {
			for tt.held.Waiting() == 0 {
				select {
				case got := <-done:
					t.Fatalf("%s: did not wait: %+v", tt.name, got)
				case <-time.After(time.Millisecond):
				}
			}
			release()
		}
		got := <-done
		assert.That(t, got.OK, "%s: %+v", tt.name, got.Error)
		if !tt.waits {
			release()
		}
	}
}

func TestACallWithAKeyIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	const line = `--write --change ID --facts vault=Work append content=x path=A.md`
	f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(line + ` => Appended to: A.md\n`)
	request := Request{Command: "append", Params: params("path", "A.md", "content", "x"), IdempotencyKey: "monday"}
	first := f.gateway.Do(context.Background(), request)
	second := New(f.config).Do(context.Background(), request) // another gateway, as after a restart
	if !first.OK || !second.OK || second.Stdout != first.Stdout || !strings.Contains(strings.Join(second.Notices, " "), "first time") {
		t.Errorf("first %+v, second %+v", first, second)
	}
	_, own := f.called()
	assert.EqualSlices(t, own, []string{line}, "called")
	other := request
	other.Params = params("path", "A.md", "content", "y")
	got := f.gateway.Do(context.Background(), other)
	assert.That(t, code(got) == "bad_request", "another call with the key: %+v", got.Error)
	// What only reads is read again.
	read := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(`--facts vault=Work read path=A.md => text\n`)
	for range 2 {
		got := read.gateway.Do(context.Background(), Request{Command: "read", Params: params("path", "A.md"), IdempotencyKey: "monday"})
		assert.That(t, got.OK, "read: %+v", got)
		assert.Equal(t, len(got.Notices), 0, "read")
	}
	_, own = read.called()
	assert.Equal(t, len(own), 2, "reads")
	// A call that did nothing may be tried again.
	away := newFixture(t, func(c *Config) { c.Backend, c.Vault.Folder = Embedded, f.vault+"gone" })
	for range 2 {
		got := away.gateway.Do(context.Background(), request)
		assert.That(t, code(got) == "vault_not_found", "without a vault: %+v", got.Error)
	}
}

func TestADryRunShowsTheDifference(t *testing.T) {
	t.Parallel()
	const plan = `{"path":"a.md","files":[{"path":"a.md","before":"aa","removed":1,"lines":[{"sign":"-","old":1,"text":"x"}]}]}`
	for _, confirm := range []policy.Confirm{policy.ConfirmNever, policy.ConfirmDestructive} {
		f := newFixture(t, func(c *Config) { c.Policy.Confirm = confirm })
		f.embedded(`--plan --facts vault=Work delete path=a.md => ` + plan)
		got := f.gateway.DryRun(context.Background(), Request{Command: "delete", Params: params("path", "a.md")})
		if !got.OK || len(got.Files) != 1 || got.Files[0] != (consent.PlannedFile{Path: "a.md", Before: "aa"}) ||
			got.Diff != "--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" {
			t.Errorf("confirm %v: %+v", confirm, got)
		}
	}
	f := newFixture(t, nil).embedded(`--plan --facts vault=Work delete path=a.md => exit 1 not_found Error: File "a.md" not found.`)
	got := f.gateway.DryRun(context.Background(), Request{Command: "delete", Params: params("path", "a.md")})
	require.That(t, got.Error != nil, "what would fail: %+v", got)
	assert.That(t, !got.OK, "what would fail: %+v", got)
	assert.Equal(t, got.Decision, "allow", "what would fail")
	assert.Equal(t, got.Error.Code+": "+got.Error.Message, "not_found: file \"a.md\" not found", "what would fail")
}

// A plan that is cut, or is no plan, is no "nothing changes": nobody could be asked about the change.
func TestAPlanThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	const asked = `--plan --facts vault=Work append content=x path=a.md`
	long := `{"path":"a.md","files":[{"path":"a.md","after":"` + strings.Repeat("0", 4000) + `"}]}`
	for _, tt := range []struct{ name, plan, want string }{
		{"the beginning of a plan", `{"path":"a.md","files":[`, "24 bytes, unexpected end of JSON input"},
		{"no plan", `Appended to: a.md`, "17 bytes, invalid character 'A' looking for beginning of value"},
		{"a plan without its middle", long, fmt.Sprintf("it has %d bytes, more than are kept of an answer", len(long))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) {
				c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmDestructive
				c.Runner = exec.New(exec.Config{Self: require.Value(os.Executable())(t), MaxKept: 1 << 10})
			}).embedded(asked+" => "+tt.plan, strings.Replace(asked, "--plan", "--rehearse", 1)+" => "+tt.plan)
			want := "the plan of the change cannot be read: " + tt.want
			request := Request{Command: "append", Params: params("path", "a.md", "content", "x")}
			check := func(what string, got *failure.Error) {
				require.That(t, got != nil, "%s: %+v, want %q", what, got, want)
				assert.Equal(t, got.Code, "cli_error", "%s: %+v, want %q", what, got, want)
				assert.That(t, strings.HasSuffix(got.Message, want), "%s: %+v, want %q", what, got, want)
				assert.That(t, got.Hint != "", "%s: %+v, want %q", what, got, want)
			}
			check("a call", f.gateway.Do(t.Context(), request).Error)
			plan := f.gateway.DryRun(t.Context(), request)
			check("a dry run", plan.Error)
			assert.That(t, !plan.OK, "%+v", plan)
			assert.Equal(t, plan.Decision, "deny")
			batch := f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{{ClientID: "one", Request: request}}})
			check("a batch", batch.Error)
			shows := request
			shows.Shows = true
			check("a call that shows its change", f.gateway.Do(t.Context(), shows).Error)
			_, own := f.called()
			for _, line := range own {
				assert.Equal(t, strings.Replace(line, "--rehearse", "--plan", 1), asked, "called")
			}
		})
	}
}

// The files of a very large change of which the plan has no text are listed, and counted where they are not.
func TestALargePlanIsShown(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range maxFilesOfAgent {
		files = append(files, fmt.Sprintf(`{"path":"F/%d.md","before":"aa","size":7,"removed":2}`, i))
	}
	plan := `{"path":"F","digest":"d","files":[{"path":"F/a.md","before":"aa","raw":["aa",""],"removed":1,"lines":[{"sign":"-","old":1,"text":"x"}]},` +
		strings.Join(files, ",") +
		`],"rest":{"deleted":60000,"size":600000,"removed":120000},"loses":"affects 61001 notes"}`
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmDestructive })
	f.embedded(`--plan --facts vault=Work folder:delete path=F => ` + plan)
	for _, owner := range []bool{false, true} {
		got := f.gateway.DryRun(t.Context(), Request{Command: "folder:delete", Params: params("path", "F"), Owner: owner})
		listed := maxFilesOfAgent
		if owner {
			listed++
		}
		notice := fmt.Sprintf("the first %d of 61001 files are listed", listed)
		assert.Equal(t, got.Decision, "ask", "%d files, %q, %+v", len(got.Files), got.Notices, got.Error)
		assert.Equal(t, len(got.Files), listed, "%d files, %q, %+v", len(got.Files), got.Notices, got.Error)
		assert.That(t, slices.Contains(got.Notices, notice), "%d files, %q, %+v", len(got.Files), got.Notices, got.Error)
		assert.Equal(t, got.Diff,
			"--- a/F/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n# 61000 more files: 0 lines added, 122000 removed; not shown\n",
			"the difference")
		assert.That(t, got.Files[1] == consent.PlannedFile{Path: "F/0.md", Before: "aa", Size: 7}, "%+v", got.Files[1])
	}
	var asked consent.Question
	got := f.gateway.Do(t.Context(),
		Request{Command: "folder:delete", Params: params("path", "F"), OneSession: true,
			Ask: func(_ context.Context, q consent.Question) consent.Reply {
				asked = q
				return consent.No
			}})
	lines := consent.Draw(asked.Lines)
	assert.Equal(t, code(got), "unconfirmed", "%+v", got.Error)
	assert.Equal(t, asked.Does, "delete 61001 files", "%+v", got.Error)
	assert.Equal(t, asked.Folder, "", "%+v", got.Error)
	assert.That(t, strings.HasSuffix(lines, "and 60000 files more, with 0 lines added and 120000 removed"),
		"the question ends in %q", lines[max(0, len(lines)-200):])
}
