package gateway

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/catalog"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// TestHelpForOneCommandStartsNothing: the gateway explains a command by itself, on
// every way to a call, with its lines in the audit log.
func TestHelpForOneCommandStartsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Session = "session" })
	req := Request{Command: "help", Params: params("command", "daily:append")}
	got := f.gateway.Do(t.Context(), req)
	if !got.OK || got.ExitCode != -1 || got.Backend != "" || !strings.HasPrefix(got.Stdout, "daily:append content=") || got.Output() != got.Stdout {
		t.Errorf("do: %+v", got)
	}
	lines := auditOf(t, f)
	if len(lines) != 2 || lines[0].Decision != "allow" || lines[1].Kind != "end" || lines[0].Params[0].Name != "command" {
		t.Errorf("the log has %+v", lines)
	}
	dry := f.gateway.DryRun(t.Context(), req)
	if !dry.OK || dry.Decision != "allow" || dry.Program != "" || !slices.Contains(dry.Notices, "vaultwicket answers this itself; no program is started") {
		t.Errorf("dry run: %+v", dry)
	}
	batch := f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{{ClientID: "a", Request: req}}})
	if !batch.OK || batch.Results[0].Result.Stdout != got.Stdout {
		t.Errorf("batch: %+v", batch)
	}
	if app, own := f.called(); len(app)+len(own) > 0 {
		t.Errorf("started %q and %q", app, own)
	}
}

// TestHelpForOneCommandIsDecidedLikeAnyCall: it is judged like every call. Without a
// command it lists those that are enabled, and no program is asked, which would say
// how it is started.
func TestHelpForOneCommandIsDecidedLikeAnyCall(t *testing.T) {
	t.Parallel()
	closed := newFixture(t, func(c *Config) { c.Policy.Disable = []string{"help"} })
	req := Request{Command: "help", Params: params("command", "read")}
	if got := closed.gateway.Do(t.Context(), req); code(got) != "command_disabled" || got.Stdout != "" {
		t.Errorf("disabled: %+v", got)
	}
	if dry := closed.gateway.DryRun(t.Context(), req); dry.OK || len(dry.Notices) > 0 {
		t.Errorf("disabled, dry run: %+v", dry)
	}
	off := newFixture(t, func(c *Config) { c.Disabled = true })
	if got := off.gateway.Do(t.Context(), req); code(got) != "paused" {
		t.Errorf("switched off: %+v", got)
	}
	open := newFixture(t, func(c *Config) {
		c.Policy.Ceiling, c.Policy.Mutations, c.Policy.Disable = tiers.V0, false, []string{"random"}
	})
	got := open.gateway.Do(t.Context(), Request{Command: "help"})
	if !got.OK || got.Backend != "" || !strings.Contains(got.Stdout, "\ndaily:read: ") || strings.Contains(got.Stdout, "daily:append") || strings.Contains(got.Stdout, "\nrandom: ") || strings.Contains(got.Stdout, "\nsearch") {
		t.Errorf("help alone: %+v", got)
	}
	if app, own := open.called(); len(app)+len(own) > 0 {
		t.Errorf("started %q and %q", app, own)
	}
	if got := open.gateway.Do(t.Context(), Request{Command: "help", Params: params("command", "reed")}); code(got) != "bad_value" {
		t.Errorf("no command: %+v", got)
	}
}

func TestTextExplainsEveryCommand(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Policy{{}, {Ceiling: tiers.V3, UI: true, Mutations: true, Publish: true, Confirm: policy.ConfirmNever}} {
		g := gatewayWith(p)
		for _, name := range allowlist.Names() {
			l, err := g.Explain(name)
			if err != nil {
				t.Fatal(err)
			}
			e := l.Explained()
			text := e.Text()
			for _, want := range append([]string{e.Signature + "\n", e.Summary, e.Tier, e.Effect, e.Why, e.Hint}, allowedWord(e)) {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is not in\n%s", name, want, text)
				}
			}
			for _, param := range e.Params {
				if !strings.Contains(text, "  "+param.Name+" ") || !strings.Contains(text, param.Summary) || !strings.Contains(text, param.Refused) {
					t.Errorf("%s: parameter %+v is not in\n%s", name, param, text)
				}
			}
		}
	}
}

func allowedWord(e catalog.Explained) string {
	if e.Allowed {
		return "allowed  yes\n"
	}
	return "allowed  no: "
}

func TestTextTellsWhichParametersAreClosed(t *testing.T) {
	t.Parallel()
	l, err := gatewayWith(policy.Policy{Ceiling: tiers.V1, UI: true}).Explain("task")
	if err != nil {
		t.Fatal(err)
	}
	if text := l.Explained().Text(); !strings.Contains(text, "(effect write; disabled by the policy)") || strings.Count(text, "disabled by the policy") != 5 {
		t.Errorf("the text is\n%s", text)
	}
	open, err := gatewayWith(policy.Policy{Ceiling: tiers.V1, UI: true, Mutations: true}).Explain("task")
	if err != nil || strings.Contains(open.Explained().Text(), "disabled by the policy") {
		t.Errorf("%v, the text is\n%s", err, open.Explained().Text())
	}
}

func TestPermitsAsksThePolicyOfTheVault(t *testing.T) {
	t.Parallel()
	reads := policy.Policy{Ceiling: tiers.V0, MinVersion: tiers.DefaultMinimum}
	writes := policy.Policy{Ceiling: tiers.V1, Mutations: true, MinVersion: tiers.DefaultMinimum}
	g := New(Config{Vaults: []Served{{Vault{Name: "Reads"}, reads}, {Vault{Name: "Writes"}, writes}}})
	for _, tt := range []struct {
		name string
		req  Request
		code string
	}{
		{"the default vault", Request{Command: "daily:read"}, ""},
		{"closed in the default vault", Request{Command: "daily:append", Params: params("content", "x")}, "mutations_off"},
		{"asked about in the other", Request{Command: "daily:append", Vault: "Writes", Params: params("content", "x")}, ""},
		{"a higher tier", Request{Command: "tasks"}, "tier_closed"},
		{"the same in the other", Request{Command: "tasks", Vault: "Writes"}, ""},
		{"no such vault", Request{Command: "daily:read", Vault: "None"}, "vault_not_found"},
		{"no call", Request{Command: "daily:read", Params: params("date", "soon")}, "bad_value"},
	} {
		got := ""
		if err := g.Permits(tt.req); err != nil {
			got = failure.Of(err).Code
		}
		if got != tt.code {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.code)
		}
	}
}

// TestPoliciesTellNoPath: whatever the rules are, the view says no more than that
// there are some, and the level of the root.
func TestPoliciesTellNoPath(t *testing.T) {
	t.Parallel()
	for root, want := range map[access.Level]string{access.None: "", access.Read: "r", access.Write: "rw", access.Delete: "rwd"} {
		rules, err := access.New(map[string]access.Level{"/": root, "Hidden/Part": access.Delete})
		if err != nil {
			t.Fatal(err)
		}
		views := gatewayWith(policy.Policy{Access: rules}).Policies()
		if got := views[0].Access; got != (catalog.AccessView{Rules: true, Root: want}) {
			t.Errorf("root %s: %+v", root, got)
		}
	}
	if got := gatewayWith(policy.Policy{}).Policies()[0].Access; got != (catalog.AccessView{}) {
		t.Errorf("without rules: %+v", got)
	}
}

func TestStatusLooksAndStartsNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   []BackendStatus
	}{
		{"both", nil, []BackendStatus{{Name: "obsidian", Usable: true}, {Name: "embedded", Usable: true}}},
		{"the app alone", func(c *Config) { c.Backend = App }, []BackendStatus{{Name: "obsidian", Usable: true}}},
		{"no app", func(c *Config) {
			c.Runner = exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "none"), Self: filepath.Join(t.TempDir(), "vaultwicket")})
		},
			[]BackendStatus{{Name: "obsidian", Code: "cli_not_found"}, {Name: "embedded", Usable: true}}},
		{"no folder", func(c *Config) { c.Vault.Folder = "" }, []BackendStatus{{Name: "obsidian", Usable: true}, {Name: "embedded", Code: "vault_not_found"}}},
		{"a folder that is gone", func(c *Config) { c.Vault.Folder, c.Backend = filepath.Join(c.Vault.Folder, "gone"), Embedded },
			[]BackendStatus{{Name: "embedded", Code: "vault_not_found"}}},
		{"a folder that the app does not know", func(c *Config) { c.Vault.Name = "" }, []BackendStatus{{Name: "obsidian", Code: "vault_not_found"}, {Name: "embedded", Usable: true}}},
	} {
		f := newFixture(t, tt.change)
		got := f.gateway.Status()
		if !got.Enabled || got.Paused || got.Limits.Parallel != admission.DefaultParallel || !slices.Equal(got.Vaults[0].Backends, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if app, own := f.called(); len(app)+len(own) > 0 {
			t.Errorf("%s: started %q and %q", tt.name, app, own)
		}
	}
}
