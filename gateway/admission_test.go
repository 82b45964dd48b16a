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
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/observe"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tests/require"
	"vaultwicket/tiers"
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
		{"changes in an hour", admission.Limits{Mutations: 50, MutationsHour: 1}, write, 1, "rate-mutations-hour"},
		{"no limit", admission.Limits{}, read, 50, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Backend, c.Limits = Embedded, tt.limits }).
				embedded(`--facts vault=Work daily:path => D.md\n`, `--write --change ID --facts vault=Work daily:append content=x => Added to: D.md\n`)
			for n := range tt.passes {
				if got := f.gateway.Do(context.Background(), tt.request); !got.OK {
					t.Fatalf("call %d: %+v", n, got.Error)
				}
			}
			got := f.gateway.Do(context.Background(), tt.request)
			if tt.setting == "" {
				if !got.OK {
					t.Fatalf("%+v", got.Error)
				}
				return
			}
			if code(got) != "rate_limited" || !strings.HasSuffix(got.Error.Message, "(setting "+tt.setting+")") || !strings.HasPrefix(got.Error.Hint, "try again in ") {
				t.Fatalf("got %+v", got.Error)
			}
			wait, err := time.ParseDuration(strings.TrimPrefix(got.Error.Hint, "try again in "))
			if err != nil || wait <= 0 || wait > time.Hour+time.Second {
				t.Errorf("come back in %q", got.Error.Hint)
			}
			if app, own := f.called(); len(app)+len(own) != tt.passes {
				t.Errorf("%d programs were started for %d calls", len(app)+len(own), tt.passes)
			}
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
		if got := f.gateway.Do(context.Background(), Request{Command: "append", Params: params("content", "x")}); code(got) != "target_required" {
			t.Fatalf("got %+v", got.Error)
		}
	}
	if got := f.gateway.Do(context.Background(), Request{Command: "daily:append", Params: params("content", "x")}); !got.OK {
		t.Errorf("got %+v", got.Error)
	}
}

func TestPauseReachesEveryGateway(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(`--facts vault=Work daily:path => D.md\n`)
	other := New(f.config) // another server on the same machine
	batch := Batch{Operations: []Operation{{ClientID: "a", Request: Request{Command: "daily:path"}}}}
	check := func(want string) {
		t.Helper()
		for _, g := range []*Gateway{f.gateway, other, New(f.config)} {
			if got := g.Do(context.Background(), Request{Command: "daily:path"}); code(got) != want {
				t.Errorf("Do: %q, want %q", code(got), want)
			}
			plan := g.DryRun(context.Background(), Request{Command: "daily:path"})
			if (plan.Error == nil) != (want == "") || plan.Error != nil && plan.Error.Code != want {
				t.Errorf("DryRun: %+v, want %q", plan.Error, want)
			}
			if codes := g.DoBatch(context.Background(), batch).Failures(); (len(codes) == 0) != (want == "") || len(codes) > 0 && codes[0] != want {
				t.Errorf("DoBatch: %q, want %q", codes, want)
			}
		}
	}
	check("")
	require.NoError(t, os.MkdirAll(f.state(), 0o700))
	require.NoError(t, os.WriteFile(admission.PauseFile(f.state()), nil, 0o600))
	check("paused")
	require.NoError(t, os.Remove(admission.PauseFile(f.state())))
	check("")
	f.gateway.Tighten(nil, admission.Limits{}, true)
	if got := f.gateway.Do(context.Background(), Request{Command: "daily:path"}); code(got) != "paused" {
		t.Errorf("switched off: %+v", got.Error)
	}
}

// What waits for its turn when a person pauses has not begun, and does not begin.
func TestAPauseStopsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, change := range []bool{false, true} {
		f := newFixture(t, func(c *Config) { c.Backend, c.Limits.Parallel = Embedded, 1 }).embedded(``)
		place, req := f.gateway.running, Request{Command: "daily:path"}
		if change {
			place, req = f.gateway.vaults[0].writing, Request{Command: "daily:append", Params: params("content", "x")}
		}
		if _, err := place.Acquire(t.Context(), "else"); err != nil {
			t.Fatal(err)
		}
		done := make(chan Result, 1)
		go func() { done <- f.gateway.Do(context.Background(), req) }()
		for f.gateway.Load().Waiting == 0 {
			runtime.Gosched()
		}
		require.NoError(t, errors.Join(os.MkdirAll(f.state(), 0o700), os.WriteFile(admission.PauseFile(f.state()), nil, 0o600)))
		place.Release("else")
		if got := <-done; code(got) != "paused" || got.ExitCode != -1 {
			t.Errorf("%s: %+v, want paused", req.Command, got.Error)
		}
		if f.gateway.running.Running() != 0 || f.gateway.vaults[0].writing.Running() != 0 {
			t.Errorf("%s: a place was not given back", req.Command)
		}
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
	f.gateway.Tighten([]policy.Policy{open, open}, admission.Limits{}, false)
	f.gateway.Tighten([]policy.Policy{open}, admission.Limits{Calls: 1000}, false)
	if got := f.gateway.Do(context.Background(), Request{Command: "vault"}); code(got) != "tier_closed" {
		t.Errorf("loosened: %+v", got)
	}
	shut := open
	shut.Ceiling = tiers.V0
	f.gateway.Tighten([]policy.Policy{shut}, admission.Limits{Calls: 2}, false)
	f.gateway.Tighten([]policy.Policy{open}, admission.Limits{Calls: 100}, false)
	if got := f.gateway.Do(context.Background(), Request{Command: "tags"}); code(got) != "tier_closed" {
		t.Errorf("not tightened: %+v", got)
	}
	last := ""
	for range 4 {
		last = code(f.gateway.Do(context.Background(), Request{Command: "daily:path"}))
	}
	if last != "rate_limited" {
		t.Errorf("the limit is not tightened: %q", last)
	}
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
	if got := f.gateway.Do(context.Background(), Request{Command: "daily:path"}); !got.OK || got.Vault != "Work" {
		t.Errorf("the default: %+v", got)
	}
	if got := f.gateway.Do(context.Background(), Request{Command: "daily:path", Vault: "Work"}); !got.OK {
		t.Errorf("by name: %+v", got)
	}
	append := Request{Command: "daily:append", Params: params("content", "x")}
	for _, name := range []string{"Home", "0123456789abcdef", f.config.Vaults[1].Folder} {
		append.Vault = name
		if got := f.gateway.Do(context.Background(), append); code(got) != "mutations_off" {
			t.Errorf("%s: %+v", name, got.Error)
		}
	}
	for _, name := range []string{"home", "Hom", "x", "/"} {
		got := f.gateway.Do(context.Background(), Request{Command: "daily:path", Vault: name})
		plan := f.gateway.DryRun(context.Background(), Request{Command: "daily:path", Vault: name})
		if code(got) != "vault_not_found" || plan.OK || plan.Error.Code != "vault_not_found" || got.Error.Hint == "" {
			t.Errorf("%q: %+v", name, got)
		}
	}
	if names := f.gateway.VaultNames(); strings.Join(names, " ") != "Work Home" || f.gateway.VaultName() != "Work" {
		t.Errorf("names %q", names)
	}
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
	if app, own := f.called(); len(app)+len(own) > 0 {
		t.Errorf("started %q %q", app, own)
	}
}

func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	for set, want := range map[int]int{-1: 4, 0: 4, 1: 1, 7: 7} {
		slots, got := New(Config{Limits: admission.Limits{Parallel: set}}).running, 0
		for ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond); ; got++ {
			if _, err := slots.Acquire(ctx, fmt.Sprint(got)); err != nil { // the last place is for a caller that has none
				cancel()
				break
			}
		}
		if got != want {
			t.Errorf("%d is %d calls at once, want %d", set, got, want)
		}
	}
}

// The time in which a person was asked does not count, and a call that was taken in
// too long ago is refused before anybody is asked.
func TestTheLimitCountsFromWhenACallWasTakenIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work version => 1.12.7\n`)
	late := Request{Command: "read", Params: params("path", "N.md"), Taken: time.Now().Add(-f.gateway.runner.Timeout())}
	if got := f.gateway.Do(t.Context(), late); code(got) != "timeout" || got.Error.Hint == "" || got.ExitCode != -1 {
		t.Errorf("%+v", got)
	}
	if _, own := f.called(); len(own) > 0 {
		t.Errorf("started %q", own)
	}
	ctx, cancel := f.gateway.admission.WithDeadline(t.Context(), late.Taken, time.Minute)
	defer cancel()
	if until, _ := ctx.Deadline(); time.Until(until) < 50*time.Second {
		t.Errorf("%v are left", time.Until(until))
	}
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
		if !second.OK || len(second.Notices) > 0 || first.Stdout == second.Stdout {
			t.Fatalf("%s: %+v", name, second)
		}
		reads := slices.Index(after, "vault=Work read path=N.md")
		if again := len(after) > len(before); reads < 0 || again != (name == "young") {
			t.Errorf("%s: %d and %d programs were started", name, len(before), len(after))
		}
		f.app(versionLine, `vault=Work read path=N.md => `+escapedLines(text)+"more")
		writeNote(t, f.vault, "N.md", text+"more", 30*time.Minute)
		if got := f.gateway.Do(t.Context(), following(t, req, first)); !got.OK || len(got.Notices) != 1 {
			t.Errorf("%s, changed: %+v", name, got)
		}
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
	if want := []string{"..Permits", "..Plan", "..replaced", "..withLoss", "notes.permitted"}; !slices.Equal(found, want) {
		t.Errorf("Decide is called in %v, want %v", found, want)
	}
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

func (o tightening) Begin(ctx context.Context, _ observe.CallStart) (context.Context, observe.CallObserver) {
	return ctx, o
}
func (o tightening) Decided(observe.Decision) { o.tighten() }
func (o tightening) End(observe.CallEnd)      {}

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
				f.gateway.Tighten([]policy.Policy{p}, admission.Limits{}, false)
			}
		}}
	}).embedded(answer)
	req := paged("files")
	stricter = true
	next := following(t, req, f.gateway.Do(context.Background(), req))
	stricter = false
	if got := f.gateway.Do(context.Background(), next); code(got) != "not_found" || got.Stdout != "" {
		t.Errorf("a page of what the earlier policy let be read: %+v", got)
	}
}

func TestSightIsByTheRulesAndTheIgnoreFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		rules, err := access.New(map[string]access.Level{"/": access.Read, "Private": access.None})
		require.NoError(t, err)
		c.Policy.Access = rules
	})
	file := filepath.Join(f.config.Vault.Folder, access.IgnoreFile)
	expect := func(when string, want map[string]bool) {
		t.Helper()
		sees := f.gateway.Visible("")
		for path, want := range want {
			if sees(path) != want {
				t.Errorf("%s: %q is seen: %v", when, path, !want)
			}
		}
	}
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	nothing := map[string]bool{"A.md": false, "Private/A.md": false, "Draft/A.md": false}
	expect("without a file", map[string]bool{"A.md": true, "private/A.md": false, "Draft/A.md": true})
	write("Draft/\n!/Private/\n")
	expect("with patterns", map[string]bool{"A.md": true, "Private/A.md": false, "Draft/A.md": false})
	write(strings.Repeat("#", access.MaxIgnoreFile+1))
	expect("with a file that is too long", nothing)
	require.NoError(t, os.Remove(file))
	if err := os.Symlink("nowhere", file); err != nil {
		t.Skip(err)
	}
	expect("with a link", nothing)
	if f.gateway.Visible("Nowhere")("A.md") {
		t.Error("a note of no vault is seen")
	}
}
