package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// world is a program's world with an environment and nothing else.
func world(env map[string]string) streams {
	return streams{
		in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{},
		lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		environ: func() []string {
			var all []string
			for name, value := range env {
				all = append(all, name+"="+value)
			}
			return all
		},
	}
}

func writeSettings(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTheDefaultsAreTheCautiousOnes(t *testing.T) {
	s, rest, err := newFlags("run").load(world(nil), []string{"--config=none", "daily:read"})
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Policy{Ceiling: tiers.V0, UI: true, Confirm: policy.ConfirmDestructive, MinVersion: tiers.Version{1, 12, 7}}
	if s.policy.Ceiling != want.Ceiling || s.policy.Mutations || s.policy.Publish || !s.policy.UI || s.policy.Confirm != want.Confirm || s.policy.MinVersion != want.MinVersion {
		t.Errorf("policy %+v, want %+v", s.policy, want)
	}
	if s.backend != gateway.Auto || s.cli != "obsidian" || s.timeout != 15*time.Second || s.maxOutput != 32<<10 || s.maxParallel != 4 || s.vault != (gateway.Vault{}) {
		t.Errorf("settings %+v", s)
	}
	if len(rest) != 1 || rest[0] != "daily:read" {
		t.Errorf("the rest is %q", rest)
	}
}

// TestEverySettingHasAKeyAVariableAndAFlag sets each setting from each source,
// so that one that is missing in a source is found.
func TestEverySettingHasAKeyAVariableAndAFlag(t *testing.T) {
	samples := map[string]struct{ text, toml string }{
		"cli": {"other", `"other"`}, "backend": {"embedded", `"embedded"`}, "vault": {"Work", `"Work"`}, "tier": {"v2", `"v2"`},
		"disable": {"read,files", `["read", "files"]`}, "enable-only": {"read", `["read"]`},
		"allow-mutations": {"true", "true"}, "allow-publish": {"true", "true"}, "allow-ui": {"false", "false"},
		"confirm": {"never", `"never"`}, "timeout": {"20s", `"20s"`}, "max-output": {"64KiB", `"64KiB"`},
		"min-cli-version": {"1.13.0", `"1.13.0"`}, "max-parallel": {"8", "8"},
	}
	for i, s := range table {
		sample, ok := samples[s.name]
		if !ok {
			t.Errorf("setting %q has no sample: add one", s.name)
			continue
		}
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
		for source, load := range map[string]func(*flags) error{
			"flag": func(f *flags) error {
				_, _, err := f.load(world(nil), []string{"--config=none", "--" + s.name + "=" + sample.text})
				return err
			},
			"environment " + variable: func(f *flags) error {
				_, _, err := f.load(world(map[string]string{variable: sample.text, "VAULTWICKET_CONFIG": "none"}), nil)
				return err
			},
			"file": func(f *flags) error {
				_, _, err := f.load(world(nil), []string{"--config=" + writeSettings(t, s.name+" = "+sample.toml+"\n")})
				return err
			},
		} {
			f := newFlags("run")
			if err := load(f); err != nil {
				t.Errorf("%s from %s: %v", s.name, source, err)
				continue
			}
			if r := f.raws[i]; r.text != sample.text || !strings.HasPrefix(r.origin, source) {
				t.Errorf("%s from %s is %q from %q, want %q", s.name, source, r.text, r.origin, sample.text)
			}
		}
	}
}

func TestAFlagBeatsTheEnvironmentAndThatTheFile(t *testing.T) {
	file := writeSettings(t, "tier = \"v1\"\nmax-parallel = 2\nconfirm = \"writes\"\n")
	env := map[string]string{"VAULTWICKET_TIER": "v2", "VAULTWICKET_CONFIRM": "never", "VAULTWICKET_CONFIG": file}
	s, _, err := newFlags("run").load(world(env), []string{"--tier", "v3"})
	if err != nil {
		t.Fatal(err)
	}
	if s.policy.Ceiling != tiers.V3 || s.policy.Confirm != policy.ConfirmNever || s.maxParallel != 2 {
		t.Errorf("tier %v, confirm %v, max-parallel %d", s.policy.Ceiling, s.policy.Confirm, s.maxParallel)
	}
}

func TestWrongValuesStopTheStart(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"cli", "", "is empty"},
		{"cli", "bin/obsidian", "relative path"},
		{"backend", "app", "is no backend"},
		{"vault", "a\u202eb", "U+202E"},
		{"vault", "a\nb", "control"},
		{"tier", "v4", "is no tier"},
		{"tier", "restricted", "is no tier"},
		{"tier", "none", "is no tier"},
		{"disable", "read,reed", `"reed" is no command; did you mean "read"?`},
		{"disable", "read,", "is no command"},
		{"enable-only", "Read", "is no command"},
		{"allow-mutations", "1", "neither true nor false"},
		{"allow-publish", "on", "neither true nor false"},
		{"allow-ui", "", "neither true nor false"},
		{"confirm", "always", "is no value of confirm"},
		{"timeout", "0s", "is no time limit"},
		{"timeout", "56s", "is no time limit"},
		{"timeout", "15", "is no time limit"},
		{"max-output", "1", "is no size"},
		{"max-output", "2MiB", "is no size"},
		{"max-output", "32KB", "is no size"},
		{"max-output", "-1", "is no size"},
		{"min-cli-version", "1.12", "is no version"},
		{"min-cli-version", "1.12.1", "below 1.12.2"},
		{"max-parallel", "0", "want 1 to 64"},
		{"max-parallel", "65", "want 1 to 64"},
		{"max-parallel", "four", "want 1 to 64"},
	}
	for _, tt := range tests {
		_, _, err := newFlags("run").load(world(nil), []string{"--config=none", "--" + tt.name + "=" + tt.value})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("--%s=%q: %v, want %q", tt.name, tt.value, err, tt.want)
			continue
		}
		if statusOf(err) != statusBadRequest {
			t.Errorf("--%s=%q ends with %d", tt.name, tt.value, statusOf(err))
		}
	}
}

func TestVaultIsAFolderANameOrAnID(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		text string
		want gateway.Vault
	}{
		{"", gateway.Vault{}},
		{"Work", gateway.Vault{Name: "Work"}},
		{"0123456789abcdef", gateway.Vault{ID: "0123456789abcdef"}},
		{"0123456789ABCDEF", gateway.Vault{Name: "0123456789ABCDEF"}},
		{".", gateway.Vault{Folder: here}},
		{"./sub", gateway.Vault{Folder: filepath.Join(here, "sub")}},
	}
	for _, tt := range tests {
		var s settings
		if err := setVault(&s, tt.text); err != nil || s.vault != tt.want {
			t.Errorf("%q is %+v (%v), want %+v", tt.text, s.vault, err, tt.want)
		}
	}
}

func TestSettingsFiles(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"an unknown key", "tier = \"v1\"\nallow-mutation = true\n", `line 2: "allow-mutation" is no setting; did you mean "allow-mutations"?`},
		{"an unknown table", "[vault]\nname = \"x\"\n", "line 1"},
		{"a wrong type", "allow-mutations = \"true\"\n", "line 1: setting \"allow-mutations\""},
		{"a key given twice", "tier = \"v1\"\ntier = \"v2\"\n", "line 2"},
		{"no TOML at all", "tier: v1\n", "line 1"},
		{"a relative folder", "vault = \"./Notes\"\n", "want an absolute one"},
		{"a wrong value", "tier = \"v9\"\n", "setting \"tier\" (file "},
		{"too large", "# " + strings.Repeat("x", maxFile), "is larger than"},
	}
	for _, tt := range tests {
		_, _, err := newFlags("run").load(world(nil), []string{"--config=" + writeSettings(t, tt.content)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestASettingsFileMustBePrivateAndRegular(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	open := writeSettings(t, "tier = \"v1\"\n")
	if err := os.Chmod(open, 0o620); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{open: "can be written by others", t.TempDir(): "is no regular file", "/dev/null": "is no regular file"} {
		if _, err := readSettings(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestVariablesWithOurPrefixAreSettings(t *testing.T) {
	for name, want := range map[string]string{
		"VAULTWICKET_ALLOW_MUTATION": "did you mean \"VAULTWICKET_ALLOW_MUTATIONS\"?",
		"VAULTWICKET_tier":           "", "VAULTWICKET_": "",
	} {
		_, _, err := newFlags("run").load(world(map[string]string{name: "x"}), []string{"--config=none"})
		if err == nil || !strings.Contains(err.Error(), "is no setting") || !strings.Contains(err.(*wrongUse).hint, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"VAULTWICKET_NOW", "VAULTWICKET_ACTIVE", "VAULTWICKET_LIFELINE", "VAULTWICKET_SESSION", "OTHER"} {
		if _, _, err := newFlags("run").load(world(map[string]string{name: "x"}), []string{"--config=none"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryClassHasAStatusOfTheTable(t *testing.T) {
	for code, want := range map[string]int{
		"not_found": 1, "unknown_command": 2, "tier_closed": 3, "cli_not_found": 4, "timeout": 5, "internal": 70, "no such code": 70,
	} {
		if got := statusOfCode(code); got != want {
			t.Errorf("%s ends with %d, want %d", code, got, want)
		}
	}
}

func TestMessagesShowWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本\n\t": "plain é 日本\n\t", "a\x1b[31mb": `a\u{1b}[31mb`, "a\u202eb": `a\u{202e}b`, "\r": `\u{d}`, "\x9b": "\uFFFD", "\u009b": `\u{9b}`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
