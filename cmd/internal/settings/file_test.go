package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestUnsafeFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	fine := writeSettings(t, "tier = \"v1\"\n")
	mode := func(mode os.FileMode) string {
		name := writeSettings(t, "tier = \"v1\"\n")
		require.NoError(t, os.Chmod(name, mode))
		return name
	}
	link := filepath.Join(t.TempDir(), "link.toml")
	require.NoError(t, os.Symlink(fine, link))
	large := writeSettings(t, "# "+strings.Repeat("x", 1<<20))
	open := writeSettings(t, "")
	require.NoError(t, os.Chmod(filepath.Dir(open), 0o777))
	below := filepath.Join(t.TempDir(), "open", "own", "config.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(below), 0o700))
	require.NoError(t, os.WriteFile(below, nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(below)), 0o707))

	for name, want := range map[string]struct{ reason, mend string }{
		link:            {"is a symbolic link", "--config"},
		t.TempDir():     {"is not a regular file", "config init"},
		"/dev/null":     {"is not a regular file", "config init"},
		large:           {"is larger than 1048576 bytes", "right file"},
		mode(0o620):     {"can be written by its group (mode 0620)", "chmod 600"},
		mode(0o602):     {"can be written by others (mode 0602)", "chmod 600"},
		open:            {"which others can write (mode 0777)", "chmod o-w"},
		below:           {"which others can write (mode 0707)", "chmod o-w"},
		fine + "/x":     {"not a directory", ""},
		fine + ".other": {"no such file", ""},
	} {
		_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + name})
		var wrong *terminal.UsageError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, want.reason) || !strings.Contains(wrong.Advice, want.mend) {
			t.Errorf("%s: %v, want %q", name, err, want.reason)
			continue
		}
		assert.That(t, strings.Contains(wrong.Reason, fmt.Sprintf("settings file %q (flag --config)", name)),
			"%v does not say which file, and who named it", err)
	}
	_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + fine})
	assert.NoError(t, err, "a private file")
}

func TestAFileOfSomebodyElseIsRefused(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can give a file away")
	}
	file := writeSettings(t, "tier = \"v1\"\n")
	require.NoError(t, os.Chown(file, 12345, 12345))
	_, _, err := ownerfiles.ReadTrusted(file)
	require.That(t, err != nil, "a file of another user: %v", err)
	assert.Contains(t, err.Error(), "belongs to another user", "a file of another user")
	own := writeSettings(t, "tier = \"v1\"\n")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(filepath.Dir(own), link))
	_, _, err = ownerfiles.ReadTrusted(filepath.Join(link, "config.toml"))
	assert.NoError(t, err, "through a link of our own")
	require.NoError(t, os.Lchown(link, 12345, 12345))
	_, _, err = ownerfiles.ReadTrusted(filepath.Join(link, "config.toml"))
	require.That(t, err != nil, "through a link of another user: %v", err)
	assert.Contains(t, err.Error(), "is reached through the link", "through a link of another user")
}

func TestALinkThatLeadsNowhereIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links take a privilege")
	}
	round := filepath.Join(t.TempDir(), "round")
	require.NoError(t, os.Symlink(round, round))
	_, _, err := ownerfiles.ReadTrusted(filepath.Join(round, "config.toml"))
	assert.That(t, err != nil, "a file that is a link to itself is read")
	assert.That(t, ownerfiles.CheckFolderPath(round) != nil, "a link to itself is a safe way")
}

func TestAFileInAVaultIsRefused(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(vault, ".deep"), 0o700))
	file := filepath.Join(vault, ".deep", "config.toml")
	home := t.TempDir()
	app := filepath.Join(home, "obsidian")
	require.NoError(t, os.MkdirAll(app, 0o700))

	write := func(content string) { require.NoError(t, os.WriteFile(file, []byte(content), 0o600)) }
	refused := func(name string, env map[string]string, args ...string) {
		t.Helper()
		_, _, err := NewFlags("run").Load(world(env), append([]string{"--config=" + file}, args...))
		require.That(t, err != nil, "%s: %v", name, err)
		assert.Contains(t, err.Error(), "is inside the vault", "%s: %v", name, err)
	}
	write("")
	refused("the vault of a flag", nil, "--vault="+vault)
	refused("the vault of the environment", map[string]string{"VAULTWICKET_VAULT": vault})
	write(fmt.Sprintf("vault = %q\n", vault))
	refused("the vault of the file", nil)
	write(fmt.Sprintf("[[vaults]]\nname = \"Other\"\n[[vaults]]\nfolder = %q\n", vault))
	refused("one of several vaults", nil)
	refused("a vault beside the one that is served", nil, "--vault=Other")
	write("")
	_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file})
	assert.NoError(t, err, "in a folder that is no vault")
	if runtime.GOOS != "linux" {
		return
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(vault, link))
	refused("the vault behind a link", nil, "--vault="+link)
	require.NoError(t, os.WriteFile(filepath.Join(app, "obsidian.json"), fmt.Appendf(nil, `{"vaults": {"0123456789abcdef": {"path": %q}}}`, vault), 0o600))
	refused("a vault that the app knows", map[string]string{"XDG_CONFIG_HOME": home})
}

func TestWrongFilesStopTheStart(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"an unknown key", "tier = \"v1\"\nallow-mutation = true\n", `line 2: unknown setting "allow-mutation"; did you mean "allow-mutations"?`},
		{"a table that is near", "[[vault]]\nname = \"x\"\n", `line 1: setting "vault": is a list, want text in quotes; tables go in "vaults"`},
		{"a table of another name", "[profile.home]\n", `line 1: setting "profile": is a table, want text in quotes; tables go in "profiles"`},
		{"an unknown table", "\n[valuts]\nname = \"x\"\n", `line 2: unknown setting "valuts"; did you mean "vaults"?`},
		{"a dotted key", "tier.max = \"v1\"\n", `line 1: setting "tier": is a table, want text in quotes`},
		{"text for a boolean", "allow-mutations = \"true\"\n", `line 1: setting "allow-mutations": is text, want true or false, without quotes`},
		{"a number for a boolean", "enabled = 1\n", `setting "enabled": is a whole number, want true or false`},
		{"a boolean for text", "tier = true\n", `setting "tier": is true or false, want text in quotes`},
		{"text for a number", "rate = \"10\"\n", `setting "rate": is text, want a whole number, without quotes`},
		{"a fraction", "rate = 1.5\n", `setting "rate": is a number with a fraction, want a whole number`},
		{"a date", "timeout = 2026-11-21\n", `setting "timeout": is a date or a time, want text in quotes`},
		{"text for a list", "disable = \"read\"\n", `setting "disable": is text, want a list such as ["one", "two"]`},
		{"a number in a list", "disable = [1]\n", `setting "disable": contains a whole number, want a list`},
		{"two names in one", "disable = [\"read,files\"]\n", `setting "disable": invalid name "read,files"`},
		{"an empty name, which would close nothing", "enable-only = [\"\"]\n", `setting "enable-only": invalid name ""`},
		{"a blank at a name", "disable = [\" read\"]\n", `setting "disable": invalid name " read"`},
		{"a command that is none", "tier = \"v1\"\ndisable = [\n  \"reed\",\n]\n", `line 2: setting "disable": unknown command "reed"; did you mean "read"?`},
		{"a key given twice", "tier = \"v1\"\ntier = \"v2\"\n", "line 2: "},
		{"a table given twice", "[profiles.home]\n[profiles.home]\n", "line 2: "},
		{"no TOML at all", "tier: v1\n", "line 1: "},
		{"no text", "tier = \"\xff\"\n", "line 1: "},
		{"a relative folder", "vault = \"./Notes\"\n", `line 1: setting "vault": "./Notes" is a relative path, want an absolute one`},
		{"a wrong value", "\ntier = \"v9\"\n", `line 2: setting "tier": invalid tier "v9"`},
		{"a number out of its bounds", "max-parallel = 65\n", `line 1: setting "max-parallel": "65" is out of range: want 1 to 64`},

		{"profiles that are no tables", "profiles = 1\n", `line 1: "profiles" is a whole number, want tables such as [profiles.home]`},
		{"a profile that is no table", "[profiles]\nhome = \"v1\"\n", `line 2: "profiles.home" is text, want a table [profiles.home]`},
		{"a profile without a name", "[profiles.\"\"]\ntier = \"v1\"\n", `line 1: a profile needs a name`},
		{"an unknown key in a profile that is not used", "[profiles.home]\n\nteir = \"v1\"\n",
			`line 3: unknown setting "profiles.home.teir"; did you mean "tier"?`},
		{"a wrong value in a profile that is not used", "[profiles.home]\ntier = \"v9\"\n", `line 2: setting "profiles.home.tier": invalid tier "v9"`},
		{"a profile in an inline table", "profiles = {home = {tier = 1}}\n", `line 1: setting "profiles.home.tier": is a whole number`},
		{"a profile that chooses a profile", "[profiles.home]\nprofile = \"away\"\n[profiles.away]\n",
			`line 2: setting "profiles.home.profile": a profile cannot choose a profile`},
		{"a table that no profile has", "[profiles.home]\nvaults = []\n", `line 2: unknown setting "profiles.home.vaults"`},
		{"a profile that is not there", "profile = \"hoem\"\n[profiles.home]\n", `line 1: setting "profile": unknown profile "hoem"; did you mean "home"?`},

		{"vaults that are no tables", "vaults = [\"Main\"]\n", `line 1: "vaults" contains text, want tables [[vaults]], one per vault`},
		{"one table for all vaults", "[vaults]\nname = \"Main\"\n", `line 1: "vaults" is a table, want tables [[vaults]], one per vault`},
		{"a vault of which nothing is known", "[[vaults]]\ntier = \"v0\"\n", `line 1: a table [[vaults]] needs a name, an id or a folder`},
		{"an unknown key of the second vault", "[[vaults]]\nname = \"a\"\n[[vaults]]\nnmae = \"b\"\n", `line 3: a table [[vaults]] needs a name`},
		{"an unknown key of a vault", "[[vaults]]\nname = \"a\"\nfoldr = \"/b\"\n", `line 3: vault setting "foldr": unknown key; did you mean "folder"?`},
		{"a general setting in a vault", "[[vaults]]\nname = \"a\"\nallow-mutations = true\n", `line 3: vault setting "allow-mutations": unknown key`},
		{"a number for a name", "[[vaults]]\nname = 1\n", `line 2: vault setting "name": is a whole number, want text in quotes`},
		{"an empty name of a vault", "[[vaults]]\nname = \"\"\n", `line 2: vault setting "name": is empty`},
		{"a folder as a name", "[[vaults]]\nname = \"a/b\"\n", `line 2: vault setting "name": "a/b" contains a path separator`},
		{"a name that is no argument", "[[vaults]]\nname = \"a\\nb\"\n", `line 2: vault setting "name": `},
		{"an id that is none", "[[vaults]]\nid = \"12\"\n", `line 2: vault setting "id": invalid id "12", want 16 hexadecimal digits`},
		{"a relative folder of a vault", "[[vaults]]\nfolder = \"Notes\"\n", `line 2: vault setting "folder": "Notes" is not an absolute path`},
		{"a tier that is none", "[[vaults]]\nname = \"a\"\ntier = \"v4\"\n", `line 3: vault setting "tier": invalid tier "v4"`},
		{"a tier above the general one", "tier = \"v1\"\n[[vaults]]\nname = \"a\"\n[[vaults]]\nname = \"b\"\ntier = \"v2\"\n",
			`line 6: vault setting "tier": v2 exceeds the general tier v1 (file `},
		{"a tier above the default", "[[vaults]]\nname = \"a\"\ntier = \"v2\"\n", `general tier v0 (default)`},
		{"access that is no table", "[[vaults]]\nname = \"a\"\naccess = \"r\"\n", `line 3: vault setting "access": is text, want a table [vaults.access]`},
		{"access without a rule", "[[vaults]]\nname = \"a\"\n[vaults.access]\n", `line 3: vault setting "access": has no rule`},
		{"access that is none", "[[vaults]]\nname = \"a\"\n[vaults.access]\n\"/\" = \"w\"\n",
			`line 4: access of "/": invalid access "w": want none, r, rw or rwd`},
		{"access of a number", "[[vaults]]\nname = \"a\"\n[vaults.access]\n\"/\" = 1\n", `line 4: access of "/": is a whole number, want "none"`},
		{"a path without quotes", "[[vaults]]\nname = \"a\"\n[vaults.access]\nNote.md = \"r\"\n",
			`line 4: access of "Note": is a table, want "none", "r", "rw" or "rwd"; a path with a dot`},
		{"a path that climbs", "[[vaults]]\nname = \"a\"\n[vaults.access]\n\"a/../b\" = \"r\"\n", `line 4: access of "a/../b": path`},
		{"a path given twice", "[[vaults]]\nname = \"a\"\n[vaults.access]\n\"b\" = \"r\"\n\"b\" = \"rw\"\n", `line 5: `},
		{"a name given to two vaults", "[[vaults]]\nname = \"a\"\n[[vaults]]\nname = \"a\"\n", `line 4: two vaults have the name "a"`},
		{"the folder of another with its name",
			"[[vaults]]\nname = \"a\"\n[[vaults]]\nfolder = \"" + drive + "/x/a\"\n",
			`line 3: two vaults have the name "a"`},
		{"the id of another as a name", "[[vaults]]\nid = \"0123456789abcdef\"\n[[vaults]]\nname = \"0123456789abcdef\"\n", `line 4: two vaults have the name`},
		{"an id given to two vaults",
			"[[vaults]]\nid = \"0123456789abcdef\"\n[[vaults]]\nname = \"b\"\nid = \"0123456789abcdef\"\n",
			`line 5: two vaults have the id "0123456789abcdef"`},
		{"a folder given to two vaults",
			"[[vaults]]\nname = \"a\"\nfolder = \"" + drive + "/x/\"\n[[vaults]]\nname = \"b\"\nfolder = \"" + drive +
				"/y/../x\"\n", "line 6: two vaults have the folder " + strconv.Quote(onDrive("/x"))},
		{"a default vault that is none", "vault = \"Mian\"\n[[vaults]]\nname = \"Main\"\n", `setting "vault" (file `},
	}
	for _, tt := range tests {
		file := writeSettings(t, tt.content)
		_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			continue
		}
		assert.Equal(t, terminal.StatusOf(err), terminal.ExitInvalid, "%s ends with", tt.name)
	}
}

// TestAllThatIsWrongIsTold counts on the order of the lines, whatever the order
// in which the keys are looked at.
func TestAllThatIsWrongIsTold(t *testing.T) {
	_, problems := parseDocument([]byte("teir = 1\n\n[[vaults]]\n[profiles.home]\nrate = \"x\"\nconfirm = 1\n"))
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprint(p.Line))
	}
	got := strings.Join(lines, " ")
	assert.That(t, got == "1 3 5 6", "problems on the lines %s: %v", got, problems)
	err := &wrongFile{"x", problems}
	assert.Contains(t, err.Error(), "line 1: ", "%v, hint %q", err, err.Hint())
	assert.Equal(t, err.Hint(), `"vaultwicket config check" shows 3 more`, "%v, hint %q", err, err.Hint())
}

func TestLinesOfKeys(t *testing.T) {
	const content = `a = 1
"b c".d = """
two
lines"""
[t]
x = { y = 1,
  z = 2 }
[[v]]
n = 1
[v.s]
k = 1
[[v]]
[[v.w]]
m = [
  { q = 1 },
  { q = 2 },
]
`
	r := &reading{content: []byte(content)}
	for path, want := range map[string]int{
		"a": 1, "b c": 2, "b c/d": 2, "t": 5, "t/x": 6, "t/x/y": 6, "t/x/z": 7, "v/0": 8, "v/0/n": 9, "v/0/s": 10, "v/0/s/k": 11,
		"v/1": 12, "v/1/w/0": 13, "v/1/w/0/m": 14, "v/1/w/0/m/0/q": 15, "v/1/w/0/m/1/q": 16, "v/1/w/0/nothing": 13, "nothing": 1,
	} {
		assert.Equal(t, r.lineOf(strings.Split(path, "/")...), want, "%s is on line", path)
	}
}

// FuzzDocument checks that a file is either right or has something wrong on one
// of its lines.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(initialConfig()))
	f.Add([]byte("[[vaults]]\nname = \"a\"\n[vaults.access]\n\"/\" = \"r\"\n[profiles.home]\ntier = \"v1\"\n"))
	f.Add([]byte("vaults = [{name = \"a\", access = {x = 1}}]\nprofiles = {a = {rate = 1}}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, problems := parseDocument(content)
		for _, p := range problems {
			assert.That(t, p.Line >= 1, "problem %+v", p)
			assert.That(t, p.Line <= strings.Count(string(content), "\n")+1, "problem %+v", p)
			assert.That(t, p.Message != "", "problem %+v", p)
		}
	})
}

// What a user reads of a settings file that cannot be read, such as one in Documents on macOS.
func TestWhatAUserReadsOfASettingsFileThatIsClosed(t *testing.T) {
	at := place{name: "config.toml", origin: "flag --config"}
	const usual = `give your user the right to read it, or name another one with --config ("none" for no file)`
	for _, test := range []struct {
		goos       string
		err        error
		said, hint string
	}{
		{"darwin", syscall.EPERM, `settings file "config.toml" (flag --config): macOS does not allow it to be read`, protocol.HintPrivacy},
		{"darwin", syscall.EACCES, `settings file "config.toml" (flag --config): permission denied`, usual},
		{"linux", syscall.EPERM, `settings file "config.toml" (flag --config): operation not permitted`, usual},
		{"windows", syscall.EACCES, `settings file "config.toml" (flag --config): permission denied`, usual},
	} {
		err := unusableOn(test.goos, at, &fs.PathError{Op: "open", Path: "/Users/me/Documents/config.toml", Err: test.err})
		usage, ok := errors.AsType[*terminal.UsageError](err)
		require.That(t, ok, "%T", err)
		assert.Equal(t, usage.Error(), test.said)
		assert.Equal(t, usage.Hint(), test.hint, test.said)
	}
}
