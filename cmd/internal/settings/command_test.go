package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// configure runs "vaultwicket config" and returns its status and what it says.
func configure(env map[string]string, args ...string) (status int, out, messages string) {
	std := world(env)
	status = terminal.PrintError(std.Err, Command(context.Background(), std, args))
	return status, std.Out.(*bytes.Buffer).String(), std.Err.(*bytes.Buffer).String()
}

func TestInitWritesAFileThatChangesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "config.toml")
	status, out, messages := configure(nil, "init", "--config="+file)
	require.Equal(t, status, terminal.ExitDone, "status %d, %q, %q", status, out, messages)
	require.Equal(t, out, file+"\n", "status %d, %q, %q", status, out, messages)
	info := require.Value(os.Stat(file))(t)
	folder := require.Value(os.Stat(filepath.Dir(file)))(t)
	if runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700) {
		t.Errorf("the file has mode %v, the folder %v", info.Mode(), folder.Mode())
	}
	without, with := NewFlags("run"), NewFlags("run")
	_, _, err := without.Load(world(nil), []string{"--config=none"})
	require.NoError(t, err)
	_, _, err = with.Load(world(nil), []string{"--config=" + file})
	require.NoError(t, err)
	for i, row := range table {
		if with.raws[i].text != without.raws[i].text || with.raws[i].origin != "default" {
			t.Errorf("%s is %q from %q, the default %q", row.name, with.raws[i].text, with.raws[i].origin, without.raws[i].text)
		}
	}
	entries := require.Value(os.ReadDir(filepath.Dir(file)))(t)
	assert.That(t, len(entries) == 1, "left next to the file: %v", entries)
}

// TestTheExamplesOfInitAreRight takes away what makes them comments: every setting then has
// its default, and the line above it says what it is for.
func TestTheExamplesOfInitAreRight(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(initialConfig()) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			line = rest
		}
		b.WriteString(line)
	}
	d, problems := parseDocument([]byte(b.String()))
	require.That(t, problems == nil, "%v\n%+v", problems, d)
	require.Equal(t, len(d.vaults), 1, "%v\n%+v", problems, d)
	require.Equal(t, len(d.vaults[0].levels), 3, "%v\n%+v", problems, d)
	assert.Equal(t, len(d.profiles), 1, "%v\n%+v", problems, d)
	file := writeSettings(t, b.String())
	f := NewFlags("run")
	require.NoError(t, f.Parse([]string{"--config=" + file}))
	require.Value(f.read(world(nil)))(t)
	for i, row := range table {
		if f.raws[i].origin != "file "+file || f.raws[i].text != row.fallback {
			t.Errorf("%s is %q from %s, want its default from the file", row.name, f.raws[i].text, f.raws[i].origin)
		}
		assert.That(t, strings.Contains(initialConfig(), "\n# "+row.usage+"\n#"+row.name+" = "), "nothing is said of %s", row.name)
	}
}

// A file that the user names and that does not exist is begun by "config set", as at the usual place.
func TestSetBeginsTheNamedFile(t *testing.T) {
	for _, source := range []string{"flag", "environment"} {
		file := filepath.Join(t.TempDir(), "new", "config.toml")
		env, args := map[string]string{}, []string{"set", "tier", "v1"}
		if source == "flag" {
			args = append(args, "--config="+file)
		} else {
			env["VAULTWICKET_CONFIG"] = file
		}
		status, out, messages := configure(env, args...)
		require.Equal(t, status, terminal.ExitDone, "%s: %q, %q", source, out, messages)
		content := string(require.Value(os.ReadFile(file))(t))
		assert.Contains(t, content, "\ntier = \"v1\"\n", "%s", source)
		status, _, messages = configure(nil, "show", "--config="+file+".missing")
		assert.Equal(t, status, terminal.ExitInvalid, "a file that is only read: %q", messages)
	}
}

// A problem in an edited copy is told with the name of the file, however that is quoted. One that no settings file could
// solve is a warning.
func TestACopyIsChecked(t *testing.T) {
	folder := t.TempDir()
	if runtime.GOOS != "windows" { // there, the separators are quoted
		folder = filepath.Join(folder, `a\b`)
	}
	require.NoError(t, os.MkdirAll(folder, 0o700))
	target, copied := filepath.Join(folder, "config.toml"), filepath.Join(folder, ".config-1.toml")
	state := t.TempDir()
	for _, test := range []struct{ name, content, tier, wrong, warned string }{
		{"right", `tier = "v1"`, "", "", ""},
		{"a wrong line", `tier = "v9"`, "", strconv.Quote(target), ""},
		{"a wrong line and variable", `tier = "v9"`, "v8", strconv.Quote(target), ""},
		{"a wrong variable", `tier = "v1"`, "v8", "", "v8"},
		{"settings that disagree", "http = \"127.0.0.1:1\"\ntls-cert = \"" + filepath.ToSlash(state) + "/none.pem\"", "", "tls-key", ""},
	} {
		require.NoError(t, os.WriteFile(copied, []byte(test.content+"\n"), 0o600))
		env := map[string]string{"XDG_STATE_HOME": state}
		if test.tier != "" {
			env["VAULTWICKET_TIER"] = test.tier
		}
		std := world(env)
		message := checkCopy(std, copied, target, []byte(test.content+"\n"))
		warned := std.Err.(*bytes.Buffer).String()
		assert.Equal(t, message == "", test.wrong == "", "%s: %s", test.name, message)
		assert.Contains(t, message, test.wrong, "%s", test.name)
		assert.That(t, !strings.Contains(message, ".config-1"), "%s: %s", test.name, message)
		assert.Contains(t, warned, test.warned, "%s", test.name)
	}
}

func TestInitNeverWritesOverAFile(t *testing.T) {
	file := writeSettings(t, "tier = \"v1\"\n")
	status, _, messages := configure(nil, "init", "--config="+file)
	assert.Equal(t, status, terminal.ExitInvalid, "status %d", status)
	assert.Contains(t, messages, "already exists", "status %d", status)
	content, err := os.ReadFile(file)
	require.Equal(t, err, nil, "the file is %q (%v)", content, err)
	assert.Equal(t, string(content), "tier = \"v1\"\n", "the file is %q (%v)", content, err)
	err = writeNew(file, nil)
	require.That(t, err != nil, "a file that came between: %v", err)
	assert.Contains(t, err.Error(), "already exists", "a file that came between")
	link := filepath.Join(t.TempDir(), "config.toml")
	if os.Symlink(filepath.Join(t.TempDir(), "nothing"), link) == nil {
		if status, _, messages = configure(nil, "init", "--config="+link); status != terminal.ExitInvalid || !strings.Contains(messages, "already exists") {
			t.Errorf("a link that leads nowhere: status %d, %q", status, messages)
		}
	}
}

func TestInitNeverWritesIntoAVault(t *testing.T) {
	vault := t.TempDir()
	file := filepath.Join(vault, "sub", "config.toml")
	for name, env := range map[string]map[string]string{"flag": {}, "environment": {"VAULTWICKET_VAULT": vault}} {
		args := []string{"init", "--config=" + file}
		if name == "flag" {
			args = append(args, "--vault="+vault)
		}
		status, _, messages := configure(env, args...)
		if _, err := os.Lstat(filepath.Dir(file)); status != terminal.ExitInvalid || !strings.Contains(messages, "is inside the vault") || err == nil {
			t.Errorf("%s: status %d, %q", name, status, messages)
		}
	}
}

func TestInitRefusesAFolderOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o777))
	status, _, messages := configure(nil, "init", "--config="+filepath.Join(folder, "config.toml"))
	if entries, _ := os.ReadDir(folder); status != terminal.ExitInvalid || !strings.Contains(messages, "which others can write") || len(entries) > 0 {
		t.Errorf("status %d, %q, %v", status, messages, entries)
	}
}

func TestWhyThereIsNoFile(t *testing.T) {
	for _, action := range []string{"path", "init"} {
		for _, test := range []struct {
			env  map[string]string
			args []string
			want string
		}{
			{map[string]string{"VAULTWICKET_CONFIG": "none"}, []string{action}, `settings file is "none" (environment VAULTWICKET_CONFIG)`},
			{nil, []string{action, "--config=none"}, `settings file is "none" (flag --config)`},
			{map[string]string{"HOME": "", "APPDATA": ""}, []string{action}, "no location for a settings file"},
		} {
			status, out, messages := configure(test.env, test.args...)
			if status != terminal.ExitInvalid || out != "" || !strings.Contains(messages, test.want) {
				t.Errorf("%q in %v: status %d, %q %q", test.args, test.env, status, out, messages)
			}
		}
	}
}

func TestCheckTellsOfHalfACertificate(t *testing.T) {
	half := filepath.Join(t.TempDir(), "one.pem")
	for given, missing := range map[string]string{"tls-cert": "tls-key", "tls-key": "tls-cert"} {
		status, out, messages := configure(nil, "check", "--config=none", "--http=127.0.0.1:8765", "--"+given+"="+half)
		assert.Equal(t, status, terminal.ExitInvalid, "%s alone: status %d", given, status)
		assert.Contains(t, out+messages, missing, "%s alone: status %d", given, status)
	}
}

func TestCheckTellsWhatTheServerWouldRefuse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.pem")
	both := []string{"--tls-cert=" + file, "--tls-key=" + file}
	for _, test := range []struct {
		args []string
		want string // "" for fine
	}{
		{[]string{"--http=0.0.0.0:8765"}, "the token would be sent unencrypted"},
		{[]string{"--http=notes.example:8765"}, "the token would be sent unencrypted"},
		{append([]string{"--http=unix:/run/vaultwicket.sock"}, both...), "cannot be combined with a Unix socket"},
		{append([]string{"--http=0.0.0.0:8765"}, both...), ""},
		{[]string{"--http=localhost:0"}, ""},
		{[]string{"--http=unix:/run/vaultwicket.sock"}, ""},
		{both, ""},
	} {
		if runtime.GOOS == "windows" && slices.Contains(test.args, "--http=unix:/run/vaultwicket.sock") {
			continue // there are no such sockets
		}
		status, out, messages := configure(nil, append([]string{"check", "--config=none"}, test.args...)...)
		fine := status == terminal.ExitDone && strings.HasPrefix(out, "OK: ")
		if fine != (test.want == "") ||
			!fine && (status != terminal.ExitInvalid || !strings.Contains(messages, test.want) ||
				!strings.Contains(messages, "hint: ")) {
			t.Errorf("%q: status %d, %q %q, want %q", test.args, status, out, messages, test.want)
		}
	}
}

func TestShowSaysWhereEachValueComesFrom(t *testing.T) {
	file := writeSettings(t, threeVaults)
	status, out, messages := configure(map[string]string{"VAULTWICKET_CONFIRM": "never"}, "show", "--config="+file, "--disable=read,files", "--json")
	var shown shownConfig
	if err := json.Unmarshal([]byte(out), &shown); err != nil || status != terminal.ExitDone || len(shown.Settings) != len(table) || shown.File != file {
		t.Fatalf("status %d, %q, %v, %s", status, messages, err, out)
	}
	values := map[string]string{}
	for _, s := range shown.Settings {
		text := require.Value(json.Marshal(s.Value))(t)
		values[s.Name] = string(text) + " " + s.Origin
	}
	for name, want := range map[string]string{
		"tier": `"v2" file ` + file, "confirm": `"never" environment VAULTWICKET_CONFIRM`, "disable": `["read","files"] flag --disable`,
		"enable-only": `[] default`, "rate": "120 default", "allow-mutations": "true file " + file,
	} {
		assert.Equal(t, values[name], want, "%s", name)
	}
	if len(shown.Vaults) != 3 || shown.Vaults[0].Access["Private"] != "none" || shown.Vaults[0].Tier != "v1" || shown.Vaults[1].Access != nil {
		t.Errorf("vaults %+v", shown.Vaults)
	}
	_, out, _ = configure(nil, "show", "--config="+file)
	for _, want := range []string{"tier                 v2                file " + file,
		"vault                     Main", `  access "Private"        none`,
		"  folder                  " + onDrive("/home/me/Main")} {
		assert.That(t, strings.Contains(out, want), "does not show %q:\n%s", want, out)
	}
}

func TestPathIsWhereTheFileWouldBe(t *testing.T) {
	status, out, _ := configure(nil, "path", "--config="+drive+"/x/../y.toml")
	assert.Equal(t, status, terminal.ExitDone, "status %d", status)
	assert.Equal(t, out, onDrive("/y.toml")+"\n", "status %d", status)
	if runtime.GOOS == "linux" {
		_, out, _ := configure(map[string]string{"HOME": "/home/me"}, "path")
		assert.Equal(t, out, "/home/me/.config/vaultwicket/config.toml\n", "by the home folder")
	}
	status, _, messages := configure(nil, "path", "--config=")
	assert.Equal(t, status, terminal.ExitInvalid, "status %d", status)
	assert.Contains(t, messages, "the name is empty", "status %d", status)
}

func TestTheLinesOfTheListAreValid(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.toml")
	std := terminal.Streams{Out: io.Discard, Err: io.Discard, Environ: func() []string { return nil }, Lookup: func(name string) (string, bool) {
		value, ok := map[string]string{"HOME": home}[name]
		return value, ok
	}}
	load := func(text string) (*Flags, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		f := NewFlags("ui")
		_, _, err := f.Load(std, []string{"--config", file, "--tier", "v1"})
		return f, err
	}
	f := require.Value(load("disable = [\"read\", \"tags\"]\n"))(t)
	rows, from, err := f.List(std)
	require.Equal(t, err, nil, "%d rows from %q", len(rows), from)
	require.Equal(t, from, file, "%d rows from %q", len(rows), from)
	require.Equal(t, len(rows), len(table), "%d rows from %q", len(rows), from)
	found, root := map[string]Row{}, "/"
	if runtime.GOOS == "windows" {
		root = "C:/"
	}
	for _, row := range rows {
		found[row.Name] = row
		for _, line := range row.Lines {
			more := map[string]string{
				"agent": "[agents.cursor]\ntier = \"v0\"\n", "profile": "[profiles.work]\ntier = \"v0\"\n",
				"tls-cert": "tls-key = \"" + root + "k.pem\"\n", "tls-key": "tls-cert = \"" + root + "c.pem\"\n",
				"public-url": "oauth-issuer = \"https://login.example\"\n", "oauth-issuer": "public-url = \"https://notes.example/mcp\"\n",
			}[row.Name]
			changed, err := load(line + "\n" + more)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			again, _, err := changed.List(std)
			if i := slices.IndexFunc(again, func(other Row) bool { return other.Name == row.Name }); err != nil ||
				again[i].Value == row.Value && row.Name != "tier" {
				t.Errorf("%s changes nothing: %q, %v", line, again[i].Value, err)
			}
		}
	}
	tier := found["tier"]
	assert.Equal(t, tier.Value, "v1")
	assert.Equal(t, tier.Origin, "flag --tier")
	assert.EqualSlices(t, tier.Lines, []string{`tier = "v0"`, `tier = "v2"`, `tier = "v3"`})
	m := found["allow-mutations"]
	assert.EqualSlices(t, m.Lines, []string{"allow-mutations = true"})
	assert.Equal(t, m.Origin, "default")
	d := found["disable"]
	assert.Equal(t, d.Value, "read,tags")
	assert.EqualSlices(t, d.Lines, []string{`disable = ["read", "tags", "delete"]`})
}
