package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The tests do not depend on the settings of the machine that they run on.
func init() { machine.file = func() (string, error) { return "", fs.ErrNotExist } }

// manage gives the machine settings for a test, in a file that only this user can write.
func manage(t *testing.T, content string) (file string) {
	before := machine
	t.Cleanup(func() { machine = before })
	file = filepath.Join(filepath.Dir(writeSettings(t, content)), "config.toml")
	machine.file = func() (string, error) { return file, nil }
	machine.read = ownerfiles.ReadTrusted
	return file
}

const bounds = `tier = "v1"
disable = ["search"]
enable-only = ["read", "append", "search", "delete", "web"]
allow-mutations = false
allow-publish = false
allow-ui = false
confirm = "writes"
min-cli-version = "1.13.0"
rate = 5
rate-mutations = 4
rate-mutations-hour = 3
agents = ["cursor"]
[access]
"/" = "r"
"Private" = "none"
`

// loose is what every other source could say to get more.
var loose = [][2]string{
	{"tier", `"v3"`}, {"disable", `[]`}, {"enable-only", `[]`}, {"allow-mutations", "true"}, {"allow-publish", "true"}, {"allow-ui", "true"},
	{"confirm", `"never"`}, {"secrets", `"allow"`}, {"suspicious", `"off"`}, {"remote-links", `"allow"`},
	{"shadow", `["secrets"]`}, {"exceptions", `["secrets A # x"]`}, {"private-property", `[]`},
	{"private-tags", `[]`}, {"min-cli-version", `"1.12.2"`}, {"rate", "0"}, {"rate-mutations", "0"},
	{"rate-mutations-hour", "100000"},
}

func TestNothingWidensTheManagedSettings(t *testing.T) {
	managedFile := manage(t, bounds)
	var general, flags strings.Builder
	env, args := map[string]string{}, []string{}
	for _, s := range loose {
		fmt.Fprintf(&general, "%s = %s\n", s[0], s[1])
		text := strings.Trim(s[1], `"[]`)
		env[VariableOf(s[0])] = text
		args = append(args, "--"+s[0]+"="+text)
		fmt.Fprintf(&flags, "%s = %s\n", s[0], s[1])
	}
	wide := "[%s.access]\n\"/\" = \"rwd\"\n\"Private\" = \"rwd\"\n\"Private/Deep/a.md\" = \"rwd\"\n"
	vault := "[[vaults]]\nname = \"Notes\"\ntier = \"v3\"\n" + fmt.Sprintf(wide, "vaults")
	agents := "[agents.cursor]\n" + flags.String() + fmt.Sprintf(wide, "agents.cursor") + "[agents.other]\n" + flags.String() + "[agents.default]\n"
	profile := "[profiles.p]\n" + flags.String()
	cursor := "--agent=cursor"
	sources := map[string]struct {
		content string
		env     map[string]string
		args    []string
	}{
		"nothing else":           {agents, nil, []string{cursor}},
		"flags":                  {agents, nil, append([]string{cursor}, args...)},
		"the environment":        {agents, env, []string{cursor}},
		"the file":               {general.String() + agents, nil, []string{cursor}},
		"a profile":              {"profile = \"p\"\n" + profile + agents, nil, []string{cursor}},
		"a vault and an agent":   {"tier = \"v3\"\n" + vault + agents, nil, []string{cursor}},
		"all together":           {general.String() + "profile = \"p\"\n" + profile + vault + agents, env, append([]string{cursor}, args...)},
		"the owner, all of them": {general.String() + vault, env, args},
	}
	for name, source := range sources {
		f := NewFlags("serve")
		s, _, err := f.Load(world(source.env), append([]string{"--config=" + writeSettings(t, source.content)}, source.args...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range append([]policy.Policy{s.Policy}, s.Served[0].Policy) {
			wider := p.Stricter(f.bounds.rights)
			assert.That(t, len(wider) == 0, "%s, policy %d: more than the machine allows: %v, access %s", name, i, wider, p.Access)
		}
		assert.Equal(t, s.Limits.Calls, 5, "%s", name)
		assert.Equal(t, s.Limits.Mutations, 4, "%s", name)
		assert.Equal(t, s.Limits.MutationsHour, 3, "%s", name)
		p := s.Served[0].Policy
		assert.Equal(t, p.Access.Level("Private/Deep/a.md"), access.None, "%s: access %s", name, p.Access)
		assert.Equal(t, p.Access.Level("a.md"), access.Read, "%s: access %s", name, p.Access)
		for _, command := range []string{"append", "search", "files", "daily:read", "web"} {
			row, _ := allowlist.Describe(command)
			assert.That(t, p.Lists(row, policy.ClearFacts(time.Now())) != nil, "%s: %s is enabled", name, command)
		}
	}
	for _, other := range []string{"other", "default"} {
		f := NewFlags("serve")
		f.Observed = true
		s, _, err := f.Load(world(nil), []string{"--config=" + writeSettings(t, agents), "--agent=" + other})
		require.Equal(t, err, nil, "agent %s", other)
		assert.That(t, s.Served[0].Policy.Closed != "", "agent %s: %+v, %v", other, s.Served, err)
	}
	f := NewFlags("serve")
	f.Observed = true
	s, _, err := f.Load(world(nil), []string{"--config=none"})
	require.Equal(t, err, nil, "a server of no agent")
	assert.That(t, s.Served[0].Policy.Closed != "", "a server of no agent: %+v, %v", s.Served, err)
	shown := world(nil)
	require.NoError(t, Command(t.Context(), shown, append([]string{"show", "--config=none"}, args...)))
	for _, line := range []string{"tier v1", "disable search", "enable-only read,append,search,delete,web",
		"allow-mutations false", "confirm writes", "min-cli-version 1.13.0", "rate 5"} {
		found := false
		for row := range strings.Lines(shown.Out.(fmt.Stringer).String()) {
			found = found || strings.Join(strings.Fields(row), " ") == line+" managed settings "+managedFile
		}
		assert.That(t, found, "config show does not say %q of the managed settings:\n%s", line, shown.Out)
	}
}

// What the user has stricter stays, with its origin, and a denial by the machine does not send the
// user to the settings file.
func TestTheUserNarrowsTheManagedSettings(t *testing.T) {
	manage(t, "tier = \"v2\"\nrate = 50\nallow-ui = true\nenable-only = [\"files\"]\n")
	s := require.Value(loadFor(t, "run", false, "tier = \"v0\"\nrate = 10\nallow-ui = false\nenable-only = [\"read\"]\n"))(t)
	require.Equal(t, s.Policy.Ceiling, 0)
	require.Equal(t, s.Limits.Calls, 10)
	require.That(t, !s.Policy.UI, "%+v, %+v", s.Policy, s.Limits)
	assert.Equal(t, s.Policy.Origins["allow-ui"], "file config.toml")
	s = require.Value(loadFor(t, "run", false, "tier = \"v3\"\n", "--tier=v3"))(t)
	call := require.Value(allowlist.Parse("commands", nil))(t)
	var denial *policy.Denial
	if err := s.Policy.Decide(call, policy.ClearFacts(time.Now())).Err(); !errors.As(err, &denial) ||
		strings.Contains(denial.Hint(), "user can") || !strings.Contains(denial.Hint(), "administrator") {
		t.Errorf("%v, hint %q", err, denial.Hint())
	}
}

func TestManagedSettingsThatCannotBeUsed(t *testing.T) {
	for content, want := range map[string]string{
		"tier = 1\n":                      `line 1: setting "tier": is a whole number`,
		"tier = \"v9\"\n":                 `setting "tier"`,
		"\ntire = \"v1\"\n":               `line 2: setting "tire": is not a managed setting; did you mean "tier"?`,
		"http = \"127.0.0.1:1\"\n":        `is not a managed setting`,
		"agents = \"cursor\"\n":           `is text, want a list of names of agents`,
		"[agents.cursor]\n":               `is a table, want a list of names of agents`,
		"[access]\n":                      `has no rule`,
		"[access]\n\"..\" = \"r\"\n":      `line 2: access of ".."`,
		"tier = \n":                       `line 1: the value is missing`,
		"# " + strings.Repeat("x", 1<<20): `is larger than`,
	} {
		manage(t, content)
		var unusable *failure.RequestError
		_, err := loadFor(t, "run", false, "")
		if !errors.As(err, &unusable) || unusable.Code() != "bad_request" || !strings.Contains(err.Error(), want) ||
			!strings.Contains(unusable.Hint(), "administrator") {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
	file := manage(t, "")
	require.NoError(t, os.Remove(file))
	_, err := loadFor(t, "run", false, "")
	assert.NoError(t, err, "without the file")
	require.NoError(t, os.Mkdir(file, 0o700))
	_, err = loadFor(t, "run", false, "")
	require.That(t, err != nil, "a folder: %v", err)
	assert.Contains(t, err.Error(), "is not a regular file", "a folder")
	machine.file = func() (string, error) { return "", errors.New("no such folder on this system") }
	_, err = loadFor(t, "run", false, "")
	require.That(t, err != nil, "a machine that cannot say where its settings are")
	assert.Equal(t, err.Error(), "managed settings: their place is not known: no such folder on this system")
	assert.Contains(t, terminal.HintOf(err), "does not start without them")
}

func TestManagedSettingsOfTheUserAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	file := manage(t, "tier = \"v1\"\n")
	machine.read = ownerfiles.ReadMachineFile
	refused := func(want string) {
		t.Helper()
		_, err := loadFor(t, "run", false, "")
		require.That(t, err != nil, "%v, want %q", err, want)
		assert.Contains(t, err.Error(), want, "%v", err)
	}
	if os.Getuid() != 0 {
		refused("does not belong to root")
		return
	}
	_, err := loadFor(t, "run", false, "")
	require.That(t, err == nil, "a file of root: %v", err)
	folder := filepath.Dir(file)
	for _, changed := range []string{file, folder} {
		require.NoError(t, os.Lchown(changed, 12345, 0))
		refused(fmt.Sprintf("%q does not belong to root", changed))
		require.NoError(t, os.Lchown(changed, 0, 12345))
		require.NoError(t, os.Chmod(changed, 0o770))
		refused("can be written by users other than root (mode 0770)")
		require.NoError(t, os.Chmod(changed, 0o702))
		refused("can be written by users other than root (mode 0702)")
		require.NoError(t, os.Chown(changed, 0, 0))
		require.NoError(t, os.Chmod(changed, 0o700))
	}
	require.NoError(t, os.Rename(file, file+".real"))
	require.NoError(t, os.Symlink(file+".real", file))
	refused("is a symbolic link")
}

func TestManagedSettingsActInARunningServer(t *testing.T) {
	file := manage(t, "")
	read := require.Value(allowlist.Parse("read", allowlist.Params{"path": allowlist.Text("a.md")}))(t)
	r := start(t, "tier = \"v3\"\n")
	require.NoError(t, r.policies[0].Decide(read, policy.ClearFacts(time.Now())).Err())
	for _, content := range []string{"tier = \"v0\"\n", "", "tier = "} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		r.messages.Reset()
		r.reloader.reload(nil)
		assert.That(t, r.policies[0].Decide(read, policy.ClearFacts(time.Now())).Err() != nil, "%q: allowed; %s", content, r.messages)
	}
}

func TestManagedAccessWhereverTheRootIs(t *testing.T) {
	manage(t, "[access]\n\"/\" = \"rw\"\n\"Private\" = \"none\"\n\"Work/Pay\" = \"r\"\n\"Private/Open\" = \"rwd\"\n")
	home := t.TempDir()
	for _, folder := range []string{"Notes/.obsidian", "Notes/Private/Open", "Notes/Private/Deep", "Notes/Work/Pay",
		"Listed/Private", "Nested/Work/.obsidian", "Nested/Work/Private", "Nested/.obsidian", ".config/obsidian"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, folder), 0o700))
	}
	require.NoError(t, os.Symlink(filepath.Join(home, "Notes", "Private"), filepath.Join(home, "Link")))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".config/obsidian/obsidian.json"),
		fmt.Appendf(nil, `{"vaults":{"0123456789abcdef":{"path":%q}}}`, filepath.Join(home, "Listed")), 0o600))
	for _, test := range []struct {
		root, path string
		want       access.Level
	}{
		{"Notes", "Private/a.md", access.None}, {"Notes", "Private/Open/a.md", access.Delete},
		{"Notes", "Work/Pay/a.md", access.Read}, {"Notes", "a.md", access.Write},
		{"Notes/Private", "a.md", access.None}, {"Notes/Private", "Deep/a.md", access.None},
		{"Notes/Private", "Open/a.md", access.Write}, {"Notes/Private/Deep", "a.md", access.None},
		{"Notes/Work", "Pay/a.md", access.Read}, {"Notes/Work", "a.md", access.Write},
		{"Notes/Work/Pay", "a.md", access.Read}, {"Notes/Work/Pay", "Private/a.md", access.None},
		{"Link", "a.md", access.None}, {"Link", "Deep/a.md", access.None}, {"Listed/Private", "a.md", access.None},
		{".", "Notes/Private/a.md", access.None}, {".", "Notes/Work/Pay/a.md", access.Read},
		{".", "Notes/a.md", access.Write}, {".", "Listed/Private/a.md", access.None},
		{"Nested/Work", "Private/a.md", access.None}, {"Nested/Work", "Pay/a.md", access.Read}, {"Nested", "Work/Private/a.md", access.None},
	} {
		t.Run(test.root, func(t *testing.T) {
			std := world(map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "APPDATA": filepath.Join(home, ".config")})
			for _, file := range []string{"", "[[vaults]]\nname = \"V\"\nfolder = %q\n[vaults.access]\n\"/\" = \"rwd\"\n"} {
				args := []string{"--config=none", "--vault=" + filepath.Join(home, test.root)}
				if file != "" {
					args = []string{"--config=" + writeSettings(t, fmt.Sprintf(file, filepath.Join(home, test.root)))}
				}
				s, _, err := NewFlags("run").Load(std, args)
				require.NoError(t, err)
				if got := s.Served[0].Policy.Access.Level(test.path); got != test.want {
					t.Errorf("%s, %s: %s, want %s; %s", test.root, test.path, got, test.want, s.Served[0].Policy.Access)
				}
			}
		})
	}
}

func TestOthersOnlyAddTargets(t *testing.T) {
	manage(t, "export = [\"file:///var/log/managed\"]\ncheckpoints = \"state\"\n")
	for _, source := range []struct {
		content string
		args    []string
	}{
		{"", nil}, {fmt.Sprintf("export = []\ncheckpoints = %q\n", filepath.Join(t.TempDir(), "other")), nil},
		{"export = [\"file:///own\"]\n", []string{"--export=", "--checkpoints="}},
		{"", []string{"--export=file:///own"}}, {"", []string{"--export=file:///var/log/managed,file:///own"}},
	} {
		s, _, err := NewFlags("serve").Load(world(nil), append([]string{"--config=" + writeSettings(t, source.content)}, source.args...))
		require.NoError(t, err)
		if len(s.Export) == 0 || s.Export[0] != "file:///var/log/managed" || len(s.Export) > 2 || s.Checkpoints != "state" {
			t.Errorf("%+v: export %q, checkpoints %q", source, s.Export, s.Checkpoints)
		}
	}
}

func TestTheMachineForbidsMessages(t *testing.T) {
	const told = "[notify]\nntfy = \"https://ntfy.example/topic\"\n"
	for managed, want := range map[string]string{"": "https://ntfy.example/topic", "notify = true": "https://ntfy.example/topic", "notify = false": ""} {
		manage(t, managed)
		s, err := loadFor(t, "serve", true, told)
		require.Equal(t, err, nil, "%q", managed)
		assert.Equal(t, s.Notify.Ntfy, want, "%q", managed)
	}
	manage(t, `notify = "no"`)
	_, err := loadFor(t, "serve", true, told)
	require.That(t, err != nil, "a wrong value: %v", err)
	assert.Contains(t, err.Error(), "true or false", "a wrong value")
}
