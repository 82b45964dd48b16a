package gateway

import (
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Only what a program can answer is listed. Where there is no program at all, the answer
// to a call says so.
func TestOnlyWhatCanBeAnsweredIsListed(t *testing.T) {
	t.Parallel()
	noCLI := func(c *Config) {
		c.Runner = exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "none"), Self: "/nowhere/vaultwicket"})
	}
	noFolder := func(c *Config) { c.Vault.Folder = "" }
	of := func(b Backend) func(*Config) { return func(c *Config) { c.Backend = b } }
	for _, test := range []struct {
		name                  string
		change                []func(*Config)
		tabs, random, section string // the codes of a command that needs the app, of one that opens a note, and of an extension
	}{
		{"both programs", nil, "", "", ""},
		{"no CLI", []func(*Config){noCLI}, failure.CodeNeedsApp, failure.CodeNeedsApp, ""},
		{"embedded is asked for", []func(*Config){of(Embedded)}, failure.CodeNeedsApp, failure.CodeNeedsApp, ""},
		{"the app without a folder", []func(*Config){noFolder}, "", "", failure.CodeVaultNotFound},
		{"the app is asked for", []func(*Config){of(App)}, "", "", ""},
		{"the app is asked for and missing", []func(*Config){of(App), noCLI}, "", "", ""},
		{"no program", []func(*Config){noCLI, noFolder}, "", "", ""},
		{"embedded without a folder", []func(*Config){of(Embedded), noFolder}, "", "", ""},
	} {
		f := newFixture(t, func(c *Config) {
			for _, change := range test.change {
				change(c)
			}
		})
		codes := map[string]string{"tabs": test.tabs, "random": test.random, "note:section": test.section, "read": ""}
		for _, l := range f.gateway.Listing() {
			want, looked := codes[l.Name]
			if !looked {
				continue
			}
			e := l.Explained()
			if l.Enabled() != (want == "") || e.Allowed != l.Enabled() || e.Code != want || (e.Why == "") != (want == "") || (e.Hint == "") != (want == "") {
				t.Errorf("%s: %s: %+v, want the code %q", test.name, l.Name, e.Entry, want)
			}
			if _, open := f.gateway.Enabled(l.Name); open != l.Enabled() {
				t.Errorf("%s: %s: open for typed tools: %v", test.name, l.Name, open)
			}
		}
	}
}

// A command is listed if one of the vaults has both the permission and the program.
func TestOneVaultIsEnoughForAListing(t *testing.T) {
	t.Parallel()
	on, off := policy.Policy{Ceiling: tiers.V3, UI: true, MinVersion: tiers.DefaultMinimum}, policy.Policy{MinVersion: tiers.DefaultMinimum}
	for _, test := range []struct {
		vaults []Served
		want   string
	}{
		{[]Served{{Vault{Name: "A"}, off}, {Vault{Folder: t.TempDir()}, on}}, ""},
		{[]Served{{Vault{Folder: t.TempDir()}, off}, {Vault{Name: "A"}, on}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Name: "A"}, on}, {Vault{Folder: t.TempDir()}, off}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Name: "A"}, off}, {Vault{Name: "B"}, off}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Folder: t.TempDir()}, off}, {Vault{Folder: t.TempDir()}, off}}, policy.CodeTierClosed},
	} {
		f := newFixture(t, func(c *Config) { c.Vaults = test.vaults })
		for _, l := range f.gateway.Listing() {
			if l.Name == "note:section" && l.Entry().Code != test.want {
				t.Errorf("%+v: %+v", test.vaults, l.Entry())
			}
		}
	}
}

// To enable what no program can answer would help nobody, so the program is what is named.
func TestAMissingProgramIsToldBeforeADisabledTier(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy = Embedded, policy.Policy{MinVersion: tiers.DefaultMinimum} })
	for name, want := range map[string]string{"tabs": failure.CodeNeedsApp, "read": policy.CodeTierClosed, "eval": policy.CodeRestricted} {
		l, err := f.gateway.Explain(name)
		if e := l.Explained(); err != nil || e.Code != want || e.Why == "" || e.Allowed {
			t.Errorf("%s: %+v, %v", name, e.Entry, err)
		}
	}
}

// An agent is told how a tool takes parameters, and a user at a terminal how a command
// line does. Neither is told of a command that cannot work.
func TestHelpIsForWhoAsks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Policy = Embedded, policy.Policy{MinVersion: tiers.DefaultMinimum, Ceiling: tiers.V0, UI: true}
	})
	agent := f.gateway.Do(t.Context(), Request{Command: "help"}).Stdout
	user := f.gateway.Do(t.Context(), Request{Command: "help", AtTerminal: true}).Stdout
	if !strings.HasPrefix(agent, "Put a command's parameters into params by name: {") || !strings.Contains(agent, "\ndaily:read: Print today's daily note\n") || len(agent) > 1<<10 {
		t.Errorf("an agent is told, in %d bytes,\n%s", len(agent), agent)
	}
	if !strings.Contains(user, "\ndaily:read [date= offset=]\n  Print today's daily note\n") || strings.Contains(user, "params") {
		t.Errorf("a user is told\n%s", user)
	}
	for _, text := range []string{agent, user} {
		if strings.Contains(text, "\nrandom:") == strings.Contains(text, "\nrandom ") || strings.Contains(text, "daily:append") {
			t.Errorf("listed:\n%s", text)
		}
	}
}
