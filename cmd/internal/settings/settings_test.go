package settings

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// world is a program's world with an environment and nothing else.
func world(env map[string]string) terminal.Streams {
	return terminal.Streams{
		In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{},
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Environ: func() []string {
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
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func TestTheDefaultsAreTheCautiousOnes(t *testing.T) {
	s, rest, err := NewFlags("run").Load(world(nil), []string{"--config=none", "daily:read"})
	require.NoError(t, err)
	want := policy.Policy{Ceiling: tiers.V0, UI: true, Confirm: policy.ConfirmDestructive, MinVersion: tiers.Release(1, 12, 7)}
	if s.Policy.Ceiling != want.Ceiling || s.Policy.Mutations || s.Policy.Publish || !s.Policy.UI ||
		s.Policy.Confirm != want.Confirm || s.Policy.MinVersion != want.MinVersion {
		t.Errorf("policy %+v, want %+v", s.Policy, want)
	}
	if s.Backend != Auto || s.CLI != "obsidian" || s.Timeout != 15*time.Second || s.MaxOutput != 0 ||
		s.Limits != (Limits{Parallel: 4, Calls: 120, Mutations: 30, MutationsHour: 300}) || !s.Enabled ||
		s.Vault != (Vault{}) {
		t.Errorf("settings %+v", s)
	}
	require.Equal(t, len(rest), 1, "the rest is %q", rest)
	assert.Equal(t, rest[0], "daily:read", "the rest is %q", rest)
}

// samples are a value for each setting that is not its default, as a flag has it
// and as the file has it.
var samples = map[string]struct{ text, toml string }{
	"cli": {"other", `"other"`}, "backend": {"embedded", `"embedded"`}, "vault": {"Work", `"Work"`}, "tier": {"v2", `"v2"`},
	"disable": {"read,files", `["read", "files"]`}, "enable-only": {"read", `["read"]`},
	"allow-mutations": {"true", "true"}, "allow-publish": {"true", "true"}, "allow-ui": {"false", "false"}, "mark-untrusted": {"true", "true"},
	"confirm": {"never", `"never"`}, "ask": {"page", `"page"`}, "min-answer-time": {"2s", `"2s"`},
	"max-grant": {"2h", `"2h"`}, "secrets": {"block", `"block"`}, "suspicious": {"ask", `"ask"`},
	"remote-links": {"allow", `"allow"`},
	"exceptions": {"secrets Docs # samples,suspicious Talks/A.md # slides about it",
		`["secrets Docs # samples", "suspicious Talks/A.md # slides about it"]`},
	"shadow": {"secrets,suspicious", `["secrets", "suspicious"]`}, "timeout": {"20s", `"20s"`},
	"max-output":       {"64KiB", `"64KiB"`},
	"private-property": {"private,closed", `["private", "closed"]`}, "private-tags": {"secret,#me/only", `["secret", "#me/only"]`},
	"min-cli-version": {"1.13.0", `"1.13.0"`}, "max-parallel": {"8", "8"}, "day-start": {"4", "4"},
	"embeddings-url":      {"http://127.0.0.1:11434/v1", `"http://127.0.0.1:11434/v1"`},
	"embeddings-key-file": {drive + "/t/key", `"` + drive + `/t/key"`}, "embeddings-model": {"m", `"m"`},
	"rate": {"60", "60"}, "rate-mutations": {"0", "0"}, "rate-mutations-hour": {"100000", "100000"},
	"log-level": {"debug", `"debug"`}, "log-format": {"json", `"json"`}, "result-format": {"text", `"text"`},
	"max-sessions": {"5", "5"}, "toolsets": {"cli,daily", `["cli", "daily"]`}, "http": {"127.0.0.1:0", `"127.0.0.1:0"`},
	"token-file": {drive + "/t/token", `"` + drive + `/t/token"`},
	"tls-cert":   {drive + "/t/cert.pem", `"` + drive + `/t/cert.pem"`}, "tls-key": {drive + "/t/key.pem", `"` + drive + `/t/key.pem"`},
	"allow-origin":    {"https://a.example,http://b.example:8080", `["https://a.example", "http://b.example:8080"]`},
	"allow-host":      {"notes.example", `["notes.example"]`},
	"trusted-proxies": {"127.0.0.1,fd00::/8", `["127.0.0.1", "fd00::/8"]`},
	"export":          {"file:///var/log/notes.jsonl", `["file:///var/log/notes.jsonl"]`}, "checkpoints": {"state", `"state"`},
	"public-url":        {"https://notes.example/mcp", `"https://notes.example/mcp"`},
	"oauth-issuer":      {"https://login.example", `"https://login.example"`},
	"oauth-client-file": {drive + "/t/client", `"` + drive + `/t/client"`}, "oauth-claim": {"groups", `"groups"`},
	"sign-in": {"passkey", `"passkey"`},
	"enabled": {"false", "false"}, "profile": {"away", `"away"`}, "agent": {"default", `"default"`},
}

func TestEverySettingHasAKeyAVariableAndAFlag(t *testing.T) {
	const profiles = "[profiles.away]\n"
	for i, s := range table {
		sample, ok := samples[s.name]
		if !ok {
			t.Errorf("setting %q has no sample: add one", s.name)
			continue
		}
		variable := VariableOf(s.name)
		plain := writeSettings(t, profiles)
		general := writeSettings(t, s.name+" = "+sample.toml+"\n"+profiles)
		inProfile := writeSettings(t, "[profiles.home]\n"+s.name+" = "+sample.toml+"\n")
		loads := map[string]func(*Flags) error{
			"flag --" + s.name: func(f *Flags) error {
				_, _, err := f.Load(world(nil), []string{"--config=" + plain, "--" + s.name + "=" + sample.text})
				return err
			},
			"environment " + variable: func(f *Flags) error {
				_, _, err := f.Load(world(map[string]string{variable: sample.text, "VAULTWICKET_CONFIG": plain}), nil)
				return err
			},
			"file " + general: func(f *Flags) error {
				_, _, err := f.Load(world(nil), []string{"--config=" + general})
				return err
			},
			"profile home in " + inProfile: func(f *Flags) error {
				_, _, err := f.Load(world(nil), []string{"--config=" + inProfile, "--profile=home"})
				return err
			},
		}
		if s.name == "profile" {
			delete(loads, "profile home in "+inProfile)
		}
		for source, load := range loads {
			f := NewFlags("run")
			if err := load(f); err != nil {
				t.Errorf("%s from %s: %v", s.name, source, err)
				continue
			}
			r := f.raws[i]
			assert.Equal(t, r.text, sample.text, "%s is %q from %q, want %q from %q", s.name, r.text, r.origin, sample.text, source)
			assert.Equal(t, r.origin, source, "%s is %q from %q, want %q from %q", s.name, r.text, r.origin, sample.text, source)
		}
	}
}

func TestWrongValuesStopTheStart(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"cli", "", "is empty"},
		{"cli", "bin/obsidian", "relative path"},
		{"backend", "app", "invalid backend"},
		{"vault", "a\u202eb", "U+202E"},
		{"vault", "a\nb", "control"},
		{"tier", "v4", "invalid tier"},
		{"tier", "restricted", "invalid tier"},
		{"tier", "none", "invalid tier"},
		{"disable", "read,reed", `unknown command "reed"; did you mean "read"?`},
		{"disable", "read,", "unknown command"},
		{"enable-only", "Read", "unknown command"},
		{"allow-mutations", "1", "want true or false"},
		{"allow-publish", "on", "want true or false"},
		{"allow-ui", "", "want true or false"},
		{"confirm", "always", "for confirm: want"}, {"ask", "form", "for ask: want"},
		{"min-answer-time", "2m", "for min-answer-time: want"}, {"max-grant", "745h", "for max-grant: want"},
		{"max-grant", "0s", "for max-grant: want"},
		{"secrets", "yes", "for secrets: want"}, {"suspicious", "yes", "for suspicious: want"},
		{"remote-links", "yes", "for remote-links: want"},
		{"shadow", "secrets,confirm", `unknown rule "confirm" in shadow`},
		{"exceptions", "confirm A # x", `unknown rule "confirm" in an exception`},
		{"exceptions", "secrets A", "invalid exception"}, {"exceptions", "secrets / # all", "invalid exception"},
		{"private-property", "a,,b", "is not the name of a property"},
		{"private-tags", "two words", "is not a tag"},
		{"timeout", "0s", "invalid duration"},
		{"timeout", "56s", "invalid duration"},
		{"timeout", "15", "invalid duration"},
		{"max-output", "1", "invalid size"},
		{"max-output", "2MiB", "invalid size"},
		{"max-output", "32KB", "invalid size"},
		{"max-output", "-1", "invalid size"},
		{"min-cli-version", "1.12.x", "invalid version"},
		{"min-cli-version", "1.12.1", "below 1.12.2"},
		{"max-parallel", "0", "want 1 to 64"},
		{"max-parallel", "65", "want 1 to 64"},
		{"max-parallel", "four", "want 1 to 64"},
		{"day-start", "13", "want 0 to 12"},
		{"day-start", "noon", "want 0 to 12"},
		{"export", "syslog+udp://host:514", "is not an address that begins with"},
		{"export", "https://user:secret@host/v1/logs", "want an http or https URL"},
		{"checkpoints", "sign", "neither"},
		{"embeddings-url", "ftp://api.example.com/v1", "invalid address"},
		{"embeddings-url", "http://api.example.com/v1", `host "api.example.com" would be sent texts without encryption`},
		{"embeddings-key-file", "key", "is not an absolute path"},
		{"embeddings-model", " ", "has no name"},
		{"rate", "-1", "want 0 to 100000"},
		{"rate", "100001", "want 0 to 100000"},
		{"rate", "", "invalid number"},
		{"rate-mutations", "1e3", "want 0 to 100000"},
		{"rate-mutations-hour", "many", "want 0 to 100000"},
		{"log-level", "wran", `invalid log level "wran": want debug, info, warn or error; did you mean "warn"?`},
		{"log-level", "", "invalid log level"},
		{"max-sessions", "0", "want 1 to 100000"},
		{"toolsets", "dayly", `did you mean "daily"?`},
		{"http", "8765", "is not a listen address"},
		{"http", ":8765", "has no host; write 127.0.0.1:8765 for this machine only"},
		{"http", "127.0.0.1:http", "is not a listen address"},
		{"http", "127.0.0.1:065", "is not a listen address"},
		{"http", "a b:1", `"a b:1" has an invalid host; use one such as "127.0.0.1:8765"`},
		{"http", "unix:socket", map[bool]string{false: "is not an absolute path", true: "is not supported on Windows"}[runtime.GOOS == "windows"]},
		{"token-file", "token", "is not an absolute path"},
		{"tls-cert", "cert.pem", "is not an absolute path"},
		{"tls-key", "key.pem", "is not an absolute path"},
		{"allow-origin", "app.example", `"app.example" is not a web origin; use a scheme and a host`},
		{"allow-origin", "https://a.example,https://app.example/path", `"https://app.example/path" is not a web origin`},
		{"allow-origin", "*", "is not a web origin"},
		{"allow-host", "notes.example:80", "is not a host name; use a name or an address without a port"},
		{"allow-host", "a/b", "is not a host name"},
		{"trusted-proxies", "proxy.example", "is not an address of a proxy; use an address, a network or unix"},
		{"trusted-proxies", "127.0.0.1,10.0.0.0/40", `"10.0.0.0/40" is not an address of a proxy`},
		{"log-format", "yaml", "want text or json"},
		{"result-format", "xml", "want json or text"},
		{"enabled", "yes", "want true or false"},
		{"profile", "home", "no settings file defines [profiles.home]"},
		{"max-output", "1048577", "invalid size"},
		{"max-output", "4294967297", "invalid size"},
	}
	for _, tt := range tests {
		_, _, err := NewFlags("run").Load(world(nil), []string{"--config=none", "--" + tt.name + "=" + tt.value})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("--%s=%q: %v, want %q", tt.name, tt.value, err, tt.want)
			continue
		}
		assert.Equal(t, terminal.StatusOf(err), terminal.ExitInvalid, "--%s=%q ends with", tt.name, tt.value)
	}
}

func TestVaultIsAFolderANameOrAnID(t *testing.T) {
	here := require.Value(filepath.Abs("."))(t)
	tests := []struct {
		text string
		want Vault
	}{
		{"", Vault{}},
		{"Work", Vault{Name: "Work"}},
		{"0123456789abcdef", Vault{ID: "0123456789abcdef"}},
		{"0123456789ABCDEF", Vault{Name: "0123456789ABCDEF"}},
		{".", Vault{Folder: here}},
		{"./sub", Vault{Folder: filepath.Join(here, "sub")}},
	}
	for _, tt := range tests {
		var s Settings
		err := setVault(&s, tt.text)
		require.Equal(t, err, nil, "%q is %+v (%v), want %+v", tt.text, s.Vault, err, tt.want)
		assert.Equal(t, s.Vault, tt.want, "%q is %+v (%v), want %+v", tt.text, s.Vault, err, tt.want)
	}
}

func TestVariablesWithOurPrefixAreSettings(t *testing.T) {
	for name, want := range map[string]string{
		"VAULTWICKET_ALLOW_MUTATION": "did you mean \"VAULTWICKET_ALLOW_MUTATIONS\"?",
		"VAULTWICKET_tier":           "", "VAULTWICKET_": "",
	} {
		_, _, err := NewFlags("run").Load(world(map[string]string{name: "x"}), []string{"--config=none"})
		if err == nil || !strings.Contains(err.Error(), "unknown environment variable") || !strings.Contains(err.(*terminal.UsageError).Advice, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"VAULTWICKET_NOW", "VAULTWICKET_ACTIVE", "VAULTWICKET_LIFELINE", "VAULTWICKET_SESSION", "OTHER"} {
		_, _, err := NewFlags("run").Load(world(map[string]string{name: "x"}), []string{"--config=none"})
		assert.NoError(t, err, "%s", name)
	}
}

func TestTheToolsetsAreThoseOfTheServer(t *testing.T) {
	want := mcpserver.ToolsetNames()
	assert.That(t, slices.Equal(toolsets, want), "the setting takes %q, the server %q", toolsets, want)
}

// The settings have their own words for what the gateway and exec are told, so that they import neither.
func TestTheWordsAreThoseOfTheGateway(t *testing.T) {
	assert.Equal(t, string(Auto), string(gateway.Auto))
	assert.Equal(t, string(App), string(gateway.App))
	assert.Equal(t, string(Embedded), string(gateway.Embedded))
	assert.Equal(t, codeUnsuitable, exec.CodeUnsuitable)
}

func TestThePriorityOfTheSources(t *testing.T) {
	file := writeSettings(t, "tier = \"v1\"\nprofile = \"home\"\n[profiles.home]\ntier = \"v2\"\n")
	noProfile := writeSettings(t, "tier = \"v1\"\n")
	for _, tt := range []struct {
		name, env string
		args      []string
		want      tiers.Tier
		origin    string
	}{
		{"the flag", "v0", []string{"--tier=v3", "--config=" + file}, tiers.V3, "flag --tier"},
		{"the environment", "v0", []string{"--config=" + file}, tiers.V0, "environment VAULTWICKET_TIER"},
		{"the profile", "", []string{"--config=" + file}, tiers.V2, "profile home in config.toml"},
		{"the file", "", []string{"--config=" + noProfile}, tiers.V1, "file " + filepath.Base(noProfile)},
		{"the default", "", []string{"--config=none"}, tiers.V0, "default"},
	} {
		env := map[string]string{}
		if tt.env != "" {
			env["VAULTWICKET_TIER"] = tt.env
		}
		s, _, err := NewFlags("run").Load(world(env), tt.args)
		if err != nil || s.Policy.Ceiling != tt.want || s.Policy.Origins["tier"] != tt.origin {
			t.Errorf("%s: tier %v from %q (%v)", tt.name, s.Policy.Ceiling, s.Policy.Origins["tier"], err)
		}
	}
}

func TestWhoChoosesTheProfile(t *testing.T) {
	file := writeSettings(t, "profile = \"a\"\nconfirm = \"never\"\n[profiles.a]\ntier = \"v1\"\n[profiles.b]\ntier = \"v2\"\n[profiles.c]\ntier = \"v3\"\n")
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
		want tiers.Tier
	}{
		{"the file", nil, nil, tiers.V1},
		{"the environment before the file", map[string]string{"VAULTWICKET_PROFILE": "b"}, nil, tiers.V2},
		{"the flag before the environment", map[string]string{"VAULTWICKET_PROFILE": "b"}, []string{"--profile=c"}, tiers.V3},
		{"an empty name is no profile", map[string]string{"VAULTWICKET_PROFILE": ""}, nil, tiers.V0},
		{"an empty name as a flag", nil, []string{"--profile="}, tiers.V0},
	} {
		s, _, err := NewFlags("run").Load(world(tt.env), append(tt.args, "--config="+file))
		if err != nil || s.Policy.Ceiling != tt.want || s.Policy.Confirm != policy.ConfirmNever {
			t.Errorf("%s: tier %v, confirm %v (%v)", tt.name, s.Policy.Ceiling, s.Policy.Confirm, err)
		}
	}
}

// A value that is wrong by itself is not compared with those of other tables.
func TestAWrongVaultIsOneProblem(t *testing.T) {
	for _, key := range []string{"folder = \"Notes\"\n", "id = \"x\"\n", "name = \"a/b\"\n"} {
		_, problems := parseDocument([]byte("[[vaults]]\n" + key + "[[vaults]]\n" + key))
		assert.Equal(t, len(problems), 2, "%q twice: %v", key, problems)
	}
}

func TestFlowRules(t *testing.T) {
	manage(t, "[[flow]]\nname = \"machine\"\nfrom = [\"Board\"]\n")
	s, err := loadFor(t, "run", false,
		"[[flow]]\nname = \"file\"\nfrom = [\"Private/\", \"#client\", \"private\"]\nto = [\"web\", \"Shared\"]\naction = \"refuse\"\n[agents.cursor]\n[[agents.cursor.flow]]\nname = \"agent\"\nfrom = [\"/\"]\n",
		"--agent=cursor")
	require.NoError(t, err)
	var got []string
	for _, f := range s.Served[0].Policy.Flows {
		got = append(got, f.Name+": "+f.String())
	}
	want := "file: after reading from Private, #client, private, carrying text to web, Shared is refused; machine: after reading from Board, carrying text to publish, web, vaults requires approval; agent: after reading from /, carrying text to publish, web, vaults requires approval"
	assert.That(t, strings.Join(got, "; ") == want, "%q", got)
	for text, want := range map[string]string{
		"[[flow]]\nfrom = [\"A\"]\n": `name ""`, "[[flow]]\nname = \"x\"\n": "from is empty",
		"[[flow]]\nname = \"x\"\nfrom = [\"../A\"]\n": "relative segments",
		"[[flow]]\nname = \"x\"\nfrom = [\"#\"]\n":    "is not a tag", "[[flow]]\nname = \"x\"\nfrom = [\"A\"]\naction = \"block\"\n": "want ask or refuse",
		"[[flow]]\nname = \"x\"\nfrom = [\"A\"]\nallow = true\n": "unknown key",
		"[[flow]]\nname = \"x\"\nfrom = \"A\"\n":                 "from", "flow = true\n": "want tables [[flow]]",
		"[[flow]]\nname = \"x\"\nfrom = [\"A\"]\nto = [\"A/*\"]\n": "pattern", "[agents.a]\n[[agents.a.flow]]\nname = \"\"\nfrom = [\"A\"]\n": `name ""`,
	} {
		_, err := loadFor(t, "run", false, text)
		require.That(t, err != nil, "%q: %v, want %s", text, err, want)
		require.Contains(t, err.Error(), want, "%q", text)
		assert.Contains(t, err.Error(), "line ", "%q", text)
		if wrong, ok := errors.AsType[*wrongFile](err); ok {
			assert.Equal(t, len(wrong.problems), 1, "%q has one problem: %v", text, wrong.problems)
		}
	}
}

func TestAFolderOfWindowsThatEndsInABackslash(t *testing.T) {
	const hint = "leave out the last backslash"
	for _, text := range []string{`C:\My Notes" files`, `c:/My Notes"`, `\\server\share\My Notes" files`, `.\My Notes" files`} {
		err := NewFlags("run").Parse([]string{"--vault", text})
		require.That(t, err != nil, "--vault %s is taken", text)
		assert.Contains(t, err.Error(), hint, text)
	}
	for _, text := range []string{`C:\My Notes`, `/home/me/"Notes"`, `Say "yes"`} {
		assert.NoError(t, NewFlags("run").Parse([]string{"--vault", text}), text)
	}
}
