package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/policy"
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
	if err := os.MkdirAll(f.state(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(admission.PauseFile(f.state()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("paused")
	if err := os.Remove(admission.PauseFile(f.state())); err != nil {
		t.Fatal(err)
	}
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
		if err := errors.Join(os.MkdirAll(f.state(), 0o700), os.WriteFile(admission.PauseFile(f.state()), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
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
