package ownerfiles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// profile is a user's folder of Windows in a temporary folder.
type profile struct {
	home, local, shared string
	env                 func(string) string
}

func newProfile(t *testing.T) profile {
	t.Helper()
	home := t.TempDir()
	local := filepath.Join(home, "AppData", "Local")
	require.NoError(t, os.MkdirAll(local, 0o700))
	values := map[string]string{"USERPROFILE": home, "LOCALAPPDATA": local}
	return profile{home, local, filepath.Join(home, ".vaultwicket"), func(name string) string { return values[name] }}
}

// put makes a private folder in the profile.
func (p profile) put(t *testing.T, path ...string) string {
	t.Helper()
	folder := filepath.Join(append([]string{p.home}, path...)...)
	require.NoError(t, os.MkdirAll(folder, 0o700))
	return folder
}

// Which state folder is used on Windows. All processes choose the same, whoever starts first.
func TestTheStateFolderOfWindows(t *testing.T) {
	for name, test := range map[string]struct {
		exists, packaged, isProfile bool
	}{
		"a terminal, where no packaged program takes part":     {false, false, false},
		"a server of a packaged program, the first of all":     {false, true, true},
		"a terminal after it":                                  {true, false, true},
		"a server of a packaged program after an installation": {true, true, true},
	} {
		p := newProfile(t)
		if test.exists {
			p.put(t, ".vaultwicket")
		}
		local := filepath.Join(p.local, "vaultwicket")
		used := windowsState(local, profileState("windows", p.env), test.packaged)
		assert.Equal(t, used == p.shared, test.isProfile, "%s uses %q", name, used)
	}
	assert.Equal(t, windowsState("local", "", true), "local", "without a profile")
	assert.Equal(t, windowsState("", "profile", false), "profile", "without local data")
	none := func(string) string { return "" }
	assert.Equal(t, profileState("windows", none), "", "of an empty environment")
}

func TestOtherStateFoldersAreFound(t *testing.T) {
	p := newProfile(t)
	used := p.put(t, ".vaultwicket", "journal")
	p.put(t, "AppData", "Local", "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Local", "vaultwicket", "approvals")
	p.put(t, "AppData", "Local", "Packages", "Other_x", "LocalCache", "Local", "vaultwicket") // a cache
	p.put(t, "AppData", "Local", "Packages", "Third_x", "LocalCache", "Local", "another", "audit")
	packaged := filepath.Join(p.local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Local", "vaultwicket")
	assert.That(t, slices.Equal(OtherStates("windows", p.env, filepath.Dir(used)), []string{packaged}), "%q", OtherStates("windows", p.env, filepath.Dir(used)))
	earlier := filepath.Dir(p.put(t, "AppData", "Local", "vaultwicket", "audit"))
	found := OtherStates("windows", p.env, filepath.Dir(used))
	assert.That(t, slices.Equal(found, []string{earlier, packaged}), "with an earlier one: %q", found)
	found = OtherStates("windows", p.env, earlier)
	assert.That(t, slices.Equal(found, []string{filepath.Dir(used), packaged}), "as seen from the earlier one: %q", found)
	assert.That(t, len(OtherStates("linux", p.env, earlier)) == 0, "Linux has state folders of packages")
	none := func(string) string { return "" }
	assert.That(t, len(OtherStates("windows", none, earlier)) == 0, "an empty environment has state folders")
}

func TestAStateFolderIsShared(t *testing.T) {
	p := newProfile(t)
	made, err := ShareState("windows", p.env)
	require.Equal(t, made, p.shared)
	require.NoError(t, err)
	assert.Equal(t, WhyUnsafe(p.shared), "")
	made, err = ShareState("windows", p.env)
	assert.Equal(t, made, "", "made once more")
	assert.NoError(t, err, "made once more")
}

func TestAnEarlierStateFolderBecomesTheSharedOne(t *testing.T) {
	p := newProfile(t)
	earlier := filepath.Dir(p.put(t, "AppData", "Local", "vaultwicket", "journal"))
	require.NoError(t, os.WriteFile(filepath.Join(earlier, "journal", "1"), []byte("kept"), 0o600))
	end := require.Value(RegisterServer(ServersFolder(earlier), Server{Session: "4711-a", PID: os.Getpid(), Transport: "stdio"}))(t)
	made, err := ShareState("windows", p.env)
	assert.Equal(t, made, "", "while a server runs")
	assert.That(t, err != nil, "while a server runs: %q, %v", made, err)
	assert.That(t, !isDir(p.shared), "while a server runs: %q, %v", made, err)
	assert.That(t, hasState(earlier), "while a server runs: %q, %v", made, err)
	end()
	made, err = ShareState("windows", p.env)
	kept, _ := os.ReadFile(filepath.Join(p.shared, "journal", "1"))
	require.Equal(t, made, p.shared)
	require.NoError(t, err)
	require.Equal(t, string(kept), "kept")
	assert.That(t, !isDir(earlier), "%q, %q, %v", made, kept, err)
}

func TestNoStateFolderIsSharedWhereItIsNamed(t *testing.T) {
	p := newProfile(t)
	named := func(name string) string {
		if name == "XDG_STATE_HOME" {
			return p.local
		}
		return p.env(name)
	}
	for goos, env := range map[string]func(string) string{"windows": named, "linux": p.env, "darwin": p.env} {
		made, err := ShareState(goos, env)
		require.Equal(t, made, "", "%s", goos)
		require.Equal(t, err, nil, "%s", goos)
		assert.That(t, !isDir(p.shared), "%s: %q, %v", goos, made, err)
	}
}
