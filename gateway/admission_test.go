package gateway

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestLimitsSayWhenToComeBack(t *testing.T) {
	t.Parallel()
	read := Request{Command: "daily:path"}
	write := Request{Command: "daily:append", Params: params("content", "x")}
	for _, tt := range []struct {
		name    string
		limits  admission.Limits
		request Request
		passes  int
		setting string
	}{
		{"calls", admission.Limits{Calls: 3}, read, 3, "rate"},
		{"changes in a minute", admission.Limits{Calls: 100, Mutations: 2, MutationsHour: 50}, write, 2, "rate-mutations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Backend, c.Limits = Embedded, tt.limits }).
				embedded(`--facts vault=Work daily:path => D.md\n`, `--write --change ID --facts vault=Work daily:append content=x => Added to: D.md\n`)
			for n := range tt.passes {
				got := f.gateway.Do(context.Background(), tt.request)
				require.That(t, got.OK, "call %d: %+v", n, got.Error)
			}
			got := f.gateway.Do(context.Background(), tt.request)
			if code(got) != "rate_limited" || !strings.HasSuffix(got.Error.Message, "(setting "+tt.setting+")") || !strings.HasPrefix(got.Error.Hint, "try again in ") {
				t.Fatalf("got %+v", got.Error)
			}
			wait, err := time.ParseDuration(strings.TrimPrefix(got.Error.Hint, "try again in "))
			if err != nil || wait <= 0 || wait > time.Hour+time.Second {
				t.Errorf("come back in %q", got.Error.Hint)
			}
			app, own := f.called()
			assert.That(t, len(app)+len(own) == tt.passes, "%d programs were started for %d calls", len(app)+len(own), tt.passes)
		})
	}
}

// A refused call takes nothing from the limit of changes.
func TestARefusedChangeDoesNotCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Limits, c.Policy.Confirm = Embedded, admission.Limits{Mutations: 1}, policy.ConfirmNever
	}).
		embedded(`--write --change ID --facts vault=Work daily:append content=x => Added to: D.md\n`)
	for range 5 {
		got := f.gateway.Do(context.Background(), Request{Command: "append", Params: params("content", "x")})
		require.That(t, code(got) == "target_required", "got %+v", got.Error)
	}
	got := f.gateway.Do(context.Background(), Request{Command: "daily:append", Params: params("content", "x")})
	assert.That(t, got.OK, "got %+v", got.Error)
}

func TestPauseReachesEveryGateway(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(`--facts vault=Work daily:path => D.md\n`)
	other := New(f.config) // another server on the same machine
	batch := Batch{Operations: []Operation{{ClientID: "a", Request: Request{Command: "daily:path"}}}}
	check := func(want string) {
		t.Helper()
		for _, g := range []*Gateway{f.gateway, other, New(f.config)} {
			assert.Equal(t, code(g.Do(context.Background(), Request{Command: "daily:path"})), want, "Do")
			plan := g.DryRun(context.Background(), Request{Command: "daily:path"})
			require.Equal(t, plan.Error == nil, want == "", "DryRun: %+v, want %q", plan.Error, want)
			assert.That(t, plan.Error == nil || plan.Error.Code == want, "DryRun: %+v, want %q", plan.Error, want)
			codes := g.DoBatch(context.Background(), batch).Failures()
			assert.Equal(t, len(codes) == 0, want == "", "DoBatch: %q, want %q", codes, want)
			assert.That(t, len(codes) == 0 || codes[0] == want, "DoBatch: %q, want %q", codes, want)
		}
	}
	check("")
	require.NoError(t, os.MkdirAll(f.state(), 0o700))
	require.NoError(t, os.WriteFile(admission.PauseFile(f.state()), nil, 0o600))
	check("paused")
	require.NoError(t, os.Remove(admission.PauseFile(f.state())))
	check("")
	f.gateway.Disable()
	got := f.gateway.Do(context.Background(), Request{Command: "daily:path"})
	assert.That(t, code(got) == "paused", "switched off: %+v", got.Error)
}

// occupy has others take so many places of a line, until release is called.
func occupy(t *testing.T, line *shares.Line, places int) (release func()) {
	t.Helper()
	other := func(i int) string { return fmt.Sprintf("other %d", i) }
	for i := range places {
		require.Value(line.Acquire(t.Context(), other(i)))(t)
	}
	return func() {
		for i := range places {
			line.Release(other(i))
		}
	}
}

// What waits for its turn when a person pauses has not begun, and does not begin.
func TestAPauseStopsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, change := range []bool{false, true} {
		f := newFixture(t, func(c *Config) { c.Backend, c.Limits.Parallel = Embedded, 1 }).embedded(``)
		place, places, req := f.gateway.running, 1, Request{Command: "daily:path"}
		if change {
			place = f.gateway.vaults[0].writing
			places = writersAtOnce
			req = Request{Command: "daily:append", Params: params("content", "x")}
		}
		release := occupy(t, place, places)
		done := make(chan Result, 1)
		go func() { done <- f.gateway.Do(context.Background(), req) }()
		for f.gateway.Load().Waiting == 0 {
			runtime.Gosched()
		}
		require.NoError(t, errors.Join(os.MkdirAll(f.state(), 0o700), os.WriteFile(admission.PauseFile(f.state()), nil, 0o600)))
		release()
		got := <-done
		assert.Equal(t, code(got), "paused", "%s: %+v, want paused", req.Command, got.Error)
		assert.Equal(t, got.ExitCode, -1, "%s: %+v, want paused", req.Command, got.Error)
		assert.Equal(t, f.gateway.running.Running(), 0, "%s: a place was not given back", req.Command)
		assert.Equal(t, f.gateway.vaults[0].writing.Running(), 0, "%s: a place was not given back", req.Command)
	}
}

// What is running can be tightened and never loosened, by any order of settings.
func TestTightenNeverLoosens(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Limits, c.Policy.Ceiling = Embedded, admission.Limits{Calls: 10}, tiers.V1
	}).embedded(`--facts vault=Work tags => #a\n`, `--facts vault=Work daily:path => D.md\n`)
	open := f.config.Policy
	open.Ceiling = tiers.V3
	f.gateway.Tighten([]policy.Policy{open, open}, admission.Limits{})
	f.gateway.Tighten([]policy.Policy{open}, admission.Limits{Calls: 1000})
	assert.Equal(t, code(f.gateway.Do(context.Background(), Request{Command: "vault"})), "tier_closed", "loosened")
	shut := open
	shut.Ceiling = tiers.V0
	f.gateway.Tighten([]policy.Policy{shut}, admission.Limits{Calls: 2})
	f.gateway.Tighten([]policy.Policy{open}, admission.Limits{Calls: 100})
	assert.Equal(t, code(f.gateway.Do(context.Background(), Request{Command: "tags"})), "tier_closed", "not tightened")
	last := ""
	for range 4 {
		last = code(f.gateway.Do(context.Background(), Request{Command: "daily:path"}))
	}
	assert.Equal(t, last, "rate_limited", "the limit is not tightened")
}

func TestSeveralVaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	second := f.config.Policy
	second.Mutations = false
	f.config.Backend = Embedded
	f.config.Vaults = []Served{{Vault{Name: "Work", Folder: f.vault}, f.config.Policy}, {Vault{Name: "Home", ID: "0123456789abcdef", Folder: t.TempDir()}, second}}
	f.gateway = New(f.config)
	f.embedded(`--facts vault=Work daily:path => D.md\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "daily:path"})
	assert.That(t, got.OK, "the default: %+v", got)
	assert.Equal(t, got.Vault, "Work", "the default: %+v", got)
	got = f.gateway.Do(context.Background(), Request{Command: "daily:path", Vault: "Work"})
	assert.That(t, got.OK, "by name: %+v", got)
	append := Request{Command: "daily:append", Params: params("content", "x")}
	for _, name := range []string{"Home", "0123456789abcdef", f.config.Vaults[1].Folder} {
		append.Vault = name
		got := f.gateway.Do(context.Background(), append)
		assert.Equal(t, code(got), "mutations_off", "%s: %+v", name, got.Error)
	}
	for _, name := range []string{"home", "Hom", "x", "/"} {
		got := f.gateway.Do(context.Background(), Request{Command: "daily:path", Vault: name})
		plan := f.gateway.DryRun(context.Background(), Request{Command: "daily:path", Vault: name})
		require.Equal(t, code(got), "vault_not_found", "%q: %+v", name, got)
		require.That(t, !plan.OK, "%q: %+v", name, got)
		assert.Equal(t, plan.Error.Code, "vault_not_found", "%q: %+v", name, got)
		assert.That(t, got.Error.Hint != "", "%q: %+v", name, got)
	}
	assert.That(t, f.gateway.Visible("")("A.md"), "a note of no vault is seen")
	assert.That(t, !f.gateway.Visible("Nowhere")("A.md"), "a note of no vault is seen")
	names := f.gateway.VaultNames()
	assert.Equal(t, strings.Join(names, " "), "Work Home", "names %q", names)
	assert.Equal(t, f.gateway.VaultName(), "Work", "names %q", names)
}

// Where it cannot be told whether the gateway is paused nothing is answered, and the
// answer does not say that it is.
func TestAnUnusableStateFolderIsNoPause(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	f := newFixture(t, func(c *Config) {
		c.Backend = Embedded
		c.Getenv = func(name string) string { return map[string]string{"XDG_STATE_HOME": file}[name] }
	})
	got := f.gateway.Do(t.Context(), Request{Command: "daily:path"})
	if code(got) != "state_unavailable" || !strings.Contains(got.Error.Message, "not a directory") || strings.Contains(got.Error.Message+got.Error.Hint, file) {
		t.Errorf("%+v", got.Error)
	}
	app, own := f.called()
	assert.That(t, len(app)+len(own) <= 0, "started %q %q", app, own)
}

func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	for set, want := range map[int]int{-1: 4, 0: 4, 1: 1, 7: 7} {
		gateway := New(Config{Limits: admission.Limits{Parallel: set}})
		// The clock of the bubble goes on only when the call waits for a place.
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got := 0
			for ; ctx.Err() == nil; got++ {
				if _, err := gateway.running.Acquire(ctx, fmt.Sprint(got)); err != nil { // the last place is for a caller that has none
					break
				}
			}
			assert.That(t, got == want, "%d is %d calls at once, want %d", set, got, want)
		})
	}
}

// The time in which a person was asked does not count, and a call that was taken in
// too long ago is refused before anybody is asked.
func TestTheLimitCountsFromWhenACallWasTakenIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work version => 1.12.7\n`)
	late := Request{Command: "read", Params: params("path", "N.md"), Taken: time.Now().Add(-f.gateway.runner.Timeout())}
	got := f.gateway.Do(t.Context(), late)
	require.Equal(t, code(got), "timeout", "%+v", got)
	assert.That(t, got.Error.Hint != "", "%+v", got)
	assert.Equal(t, got.ExitCode, -1, "%+v", got)
	_, own := f.called()
	assert.That(t, len(own) == 0, "started %q", own)
	ctx, cancel := f.gateway.admission.WithDeadline(t.Context(), late.Taken, time.Minute)
	defer cancel()
	until, _ := ctx.Deadline()
	assert.That(t, time.Until(until) >= 50*time.Second, "%v are left", time.Until(until))
}

// A page of a note that did not change is not read again, however long the note is;
// one that did is.
func TestAPageOfANoteIsNotReadAgain(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("line %d of the note\n", i)
	}
	for name, age := range map[string]time.Duration{"settled": time.Hour, "young": 0} {
		f := newFixture(t, func(c *Config) { c.Backend = App }).app(versionLine, `vault=Work read path=N.md => `+escapedLines(text))
		writeNote(t, f.vault, "N.md", text, age)
		req := paged("read", "path", "N.md")
		first := f.gateway.Do(t.Context(), req)
		before, _ := f.called()
		second := f.gateway.Do(t.Context(), following(t, req, first))
		after, _ := f.called()
		require.That(t, second.OK, "%s: %+v", name, second)
		require.Equal(t, len(second.Notices), 0, "%s: %+v", name, second)
		require.That(t, first.Stdout != second.Stdout, "%s: %+v", name, second)
		reads := slices.Index(after, "vault=Work read path=N.md")
		again := len(after) > len(before)
		assert.That(t, reads >= 0, "%s: %d and %d programs were started", name, len(before), len(after))
		assert.Equal(t, again, name == "young", "%s: %d and %d programs were started", name, len(before), len(after))
		f.app(versionLine, `vault=Work read path=N.md => `+escapedLines(text)+"more")
		writeNote(t, f.vault, "N.md", text+"more", 30*time.Minute)
		got := f.gateway.Do(t.Context(), following(t, req, first))
		assert.That(t, got.OK, "%s, changed: %+v", name, got)
		assert.Equal(t, len(got.Notices), 1, "%s, changed: %+v", name, got)
	}
}

// The policy is asked about a call where it is planned, where another call takes its
// place and where it is known what it would remove, and nowhere else, in the packages below
// this one either: each of these is passed once by a call, so that what was judged is what
// is run. Permits and permitted only tell a client what would be decided, and nothing is
// run by what they say.
func TestTheFunctionsThatDecide(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Decide" && !isPackage(call.X, "consent") {
					found = append(found, filepath.ToSlash(filepath.Dir(name))+"."+decl.(*ast.FuncDecl).Name.Name)
				}
				return true
			})
		}
		return nil
	})
	require.NoError(t, err)
	slices.Sort(found)
	want := []string{"..Permits", "..Plan", "..decidedAgain", "..permitted", "..replaced", "..settle"}
	assert.That(t, slices.Equal(found, want), "Decide is called in %v, want %v", found, want)
}

// isPackage reports whether an expression is a package of that name: consent.Decide stores
// what the user decided.
func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// tightening lays a stricter policy over the one in force while a call is under
// way.
type tightening struct{ tighten func() }

func (o tightening) Begin(ctx context.Context, _ telemetry.CallStart) (context.Context, telemetry.CallObserver) {
	return ctx, o
}
func (o tightening) Decided(telemetry.Decision) { o.tighten() }
func (o tightening) End(telemetry.CallEnd)      {}

func TestWhatWasReadWhileThePolicyChangedIsNotKept(t *testing.T) {
	t.Parallel()
	answer, _ := listing(60)
	var f *fixture
	stricter := false
	f = newFixture(t, func(c *Config) {
		c.Backend = Embedded
		c.Observe = tightening{func() {
			if stricter {
				p := f.config.Policy
				p.Disable = []string{"tags"}
				f.gateway.Tighten([]policy.Policy{p}, admission.Limits{})
			}
		}}
	}).embedded(answer)
	req := paged("files")
	stricter = true
	next := following(t, req, f.gateway.Do(context.Background(), req))
	stricter = false
	got := f.gateway.Do(context.Background(), next)
	assert.Equal(t, code(got), "not_found", "a page of what the earlier policy let be read: %+v", got)
	assert.Equal(t, got.Stdout, "", "a page of what the earlier policy let be read: %+v", got)
}
