package ownerfiles

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestWhereTheCacheIs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of XDG")
	}
	home := t.TempDir()
	vault := filepath.Join(home, "Notes")
	require.NoError(t, os.MkdirAll(vault, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(vault, link))
	for _, test := range []struct{ name, home, variable, vault, want string }{
		{"by the home folder", home, "", vault, home + "/.cache/vaultwicket"},
		{"by the variable", home, "/var/caches", vault, "/var/caches/vaultwicket"},
		{"a variable that counts from nowhere", home, "caches", vault, home + "/.cache/vaultwicket"},
		{"no home", "", "", vault, ""},
		{"a home that counts from nowhere", "home", "", vault, ""},
		{"within the vault", home, vault + "/.caches", vault, ""},
		{"within the vault by a link", home, link + "/.caches", vault, ""},
		{"the home is the vault", home, "", home, ""},
		{"the vault lies beside it by name", home, vault + "2", vault, vault + "2/vaultwicket"},
	} {
		env := map[string]string{"HOME": test.home, "XDG_CACHE_HOME": test.variable}
		assert.Equal(t, CacheFolder(func(name string) string { return env[name] }, test.vault), test.want, "%s", test.name)
	}
	env := map[string]string{"HOME": home}
	assert.Equal(t, StateFolder(func(name string) string { return env[name] }, vault), home+"/.local/state/vaultwicket", "the state is in")
}

func TestAPrivateFolderIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.That(t, EnsureFolder(dir), "not made")
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.That(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o700, "%v, %v", info, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.That(t, !EnsureFolder(""), "a file was taken for a folder")
	assert.That(t, !EnsureFolder(file), "a file was taken for a folder")
	assert.That(t, !EnsureFolder(filepath.Join(file, "x")), "a file was taken for a folder")
}

func TestAFolderThatIsOpenToOthersIsUnsafe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are made up there")
	}
	base := t.TempDir()
	for _, tt := range []struct {
		name, want string
		mode       os.FileMode
	}{
		{"everybody", "is accessible to other users (mode 0777)", 0o777}, {"sticky", "is accessible to other users", 0o777 | os.ModeSticky},
		{"readers", "is accessible to other users (mode 0755)", 0o755}, {"group", "is accessible to other users (mode 0770)", 0o770}, {"own", "", 0o700},
	} {
		dir := filepath.Join(base, tt.name)
		require.NoError(t, errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, tt.mode)))
		if got := WhyUnsafe(dir); tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) || EnsureFolder(dir) != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	file, link := filepath.Join(base, "file"), filepath.Join(base, "link")
	require.NoError(t, errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(filepath.Join(base, "own"), link)))
	for path, want := range map[string]string{
		file: "is not a folder", link: "is not a folder", filepath.Join(file, "x"): "cannot be accessed: not a directory", filepath.Join(base, "none"): "",
	} {
		assert.Equal(t, WhyUnsafe(path), want, "%q", path)
	}
	require.That(t, Unwritable(filepath.Join(base, "none", "deeper")) == nil, "a folder that can be made is none that cannot")
	assert.That(t, Unwritable(filepath.Join(file, "x")) != nil, "a folder that can be made is none that cannot")
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Join(base, "own"), 4711, 0))
		assert.Equal(t, WhyUnsafe(filepath.Join(base, "own")), "belongs to another user", "of another user")
	}
}

// A place within the vault is one in every spelling of the two.
func TestAnotherSpellingOfTheVaultIsTheVault(t *testing.T) {
	dir := testenv.FoldingDir(t, testenv.APFS)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Home"), 0o700))
	for _, test := range []struct {
		vault, place string
		within       bool
	}{
		{"Home", "Home/State", true}, {"Home", "HOME/State", true}, {"hOME", "Home/a/b/c", true}, {"HOME", "home", true},
		{"Home", "Other/State", false}, {"Home", "Home2", false},
	} {
		place := filepath.Join(dir, filepath.FromSlash(test.place))
		env := func(name string) string {
			if name == "XDG_STATE_HOME" {
				return place
			}
			return ""
		}
		got := StateFolder(env, filepath.Join(dir, test.vault))
		assert.That(t, (got == "") == test.within, "the state of %s in %s is kept in %q", test.vault, test.place, got)
	}
}

func TestHomeIsNamedByTheSystem(t *testing.T) {
	env := func(name string) string { return "value of " + name }
	for goos, want := range map[string]string{"windows": "USERPROFILE", "linux": "HOME", "darwin": "HOME"} {
		assert.Equal(t, Home(goos, env), "value of "+want, "%s", goos)
	}
}

// A client of Windows may start servers without the variables of AppData: the state is not in another place then.
func TestFoldersOfWindowsWithoutTheirVariables(t *testing.T) {
	home := t.TempDir()
	local := filepath.Join(home, "AppData", "Local")
	require.NoError(t, os.MkdirAll(local, 0o700))
	elsewhere := t.TempDir()
	for _, test := range []struct {
		name           string
		env            map[string]string
		local, roaming string
	}{
		{"named", map[string]string{"USERPROFILE": home, "LOCALAPPDATA": elsewhere, "APPDATA": elsewhere}, elsewhere, elsewhere},
		{"not named, and one of them exists", map[string]string{"USERPROFILE": home}, local, ""},
		{"not named, and none exists", map[string]string{"USERPROFILE": elsewhere}, "", ""},
		{"named by no absolute path", map[string]string{"USERPROFILE": home, "LOCALAPPDATA": "AppData"}, local, ""},
		{"an empty environment", nil, "", ""},
	} {
		env := func(name string) string { return test.env[name] }
		assert.Equal(t, LocalData(env), test.local, test.name)
		assert.Equal(t, RoamingData(env), test.roaming, test.name)
	}
	assert.Equal(t, HomeVariables("windows"), "USERPROFILE and LOCALAPPDATA")
	assert.Equal(t, HomeVariables("darwin"), "HOME")
}
