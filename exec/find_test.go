package exec

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

const harmless = "#!/bin/sh\necho 1.12.7\n"

// place puts a program into a folder of its own.
func place(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeProgram(t, path, text)
	require.NoError(t, os.Chmod(path, mode))
	return path
}

// ofUnix are cases of TestSuitable that are made with modes and links.
var ofUnix = []string{"writable by others", "not executable", "in a folder of everybody", "below a folder of everybody", "a link into a vault"}

func TestSuitable(t *testing.T) {
	vault := t.TempDir()
	tests := []struct {
		name string
		path func(t *testing.T) string
		want string // part of the reason, "" when it is suitable
	}{
		{"a client", func(t *testing.T) string { return place(t, "obsidian", harmless, 0o755) }, ""},
		{"a client for the group of the user", func(t *testing.T) string { return place(t, "obsidian", harmless, 0o775) }, ""},
		{"writable by others", func(t *testing.T) string { return place(t, "obsidian", harmless, 0o757) }, "every user"},
		{"not executable", func(t *testing.T) string { return place(t, "obsidian", harmless, 0o644) }, "not executable"},
		{"a batch file", func(t *testing.T) string { return place(t, "obsidian.CMD", harmless, 0o755) }, "batch file"},
		{"a folder", func(t *testing.T) string { return t.TempDir() }, "not a regular file"},
		{"a launcher of Electron", func(t *testing.T) string {
			return place(t, "obsidian", "#!/bin/sh\nexec /usr/lib/Electron34/electron /usr/lib/obsidian/app.asar \"$@\"\n", 0o755)
		}, "app itself"},
		{"an executable of Windows", func(t *testing.T) string { return place(t, "Obsidian.exe", harmless, 0o755) }, "app itself"},
		{"too large for a client", func(t *testing.T) string {
			path := place(t, "obsidian", harmless, 0o755)
			require.NoError(t, os.Truncate(path, maxClientSize+1))
			return path
		}, "app itself"},
		{"the app by its neighbours", func(t *testing.T) string { return beside(t, "obsidian", "chrome-sandbox") }, "app itself"},
		{"the app by its archive", func(t *testing.T) string { return beside(t, "anything", "resources/app.asar") }, "app itself"},
		{"the client beside the app", func(t *testing.T) string { return beside(t, "obsidian-cli", "chrome-sandbox") }, ""},
		{"the app in its bundle", func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "MacOS")
			require.NoError(t, os.Mkdir(dir, 0o755))
			writeProgram(t, filepath.Join(dir, "obsidian"), harmless)
			return filepath.Join(dir, "obsidian")
		}, "app itself"},
		{"in a folder of everybody", func(t *testing.T) string {
			path := place(t, "obsidian", harmless, 0o755)
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
			return path
		}, "folder that every user"},
		{"below a folder of everybody", func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "bin")
			require.NoError(t, os.Mkdir(dir, 0o755))
			writeProgram(t, filepath.Join(dir, "obsidian"), harmless)
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o777))
			return filepath.Join(dir, "obsidian")
		}, "folder that every user"},
		{"inside a vault", func(t *testing.T) string {
			dir := filepath.Join(vault, "tools")
			require.NoError(t, os.Mkdir(dir, 0o755))
			writeProgram(t, filepath.Join(dir, "obsidian"), harmless)
			return filepath.Join(dir, "obsidian")
		}, "inside the vault"},
		{"a link into a vault", func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "obsidian")
			require.NoError(t, os.Symlink(filepath.Join(vault, "tools", "obsidian"), link))
			return link
		}, "inside the vault"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && slices.Contains(ofUnix, tt.name) {
				t.Skip("modes are made up there, and links take rights")
			}
			_, err := New(Config{CLI: tt.path(t), Vaults: func() []string { return []string{vault} }}).App()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (codeOf(err) != CodeUnsuitable || !strings.Contains(err.Error(), tt.want) || hintOf(err) == ""):
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
}

// beside puts a program next to another file.
func beside(t *testing.T, name, neighbour string) string {
	t.Helper()
	path := place(t, name, harmless, 0o755)
	other := filepath.Join(filepath.Dir(path), neighbour)
	require.NoError(t, os.MkdirAll(filepath.Dir(other), 0o755))
	require.NoError(t, os.WriteFile(other, nil, 0o644))
	return path
}

func TestOwnedByAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := place(t, "obsidian", harmless, 0o755)
	require.NoError(t, os.Chown(path, 4711, 4711))
	_, err := New(Config{CLI: path}).App()
	assert.Equal(t, codeOf(err), CodeUnsuitable)
	assert.Contains(t, err.Error(), "another user")
	require.NoError(t, os.Chown(path, 0, 4711))
	require.NoError(t, os.Chmod(path, 0o775))
	_, err = New(Config{CLI: path}).App()
	assert.Equal(t, codeOf(err), CodeUnsuitable)
	assert.Contains(t, err.Error(), "group")
}

func TestWorkingFolder(t *testing.T) {
	path := place(t, "obsidian", harmless, 0o755)
	dir := filepath.Dir(path)
	tests := []struct {
		name, work, home, want string
	}{
		{"the folder of the program", dir, "/root", CodeUnsuitable},
		{"a folder around it", filepath.Dir(dir), "/root", CodeUnsuitable},
		{"the home folder around it", filepath.Dir(dir), filepath.Dir(dir), ""},
		{"the home folder itself", dir, dir, CodeUnsuitable},
		{"the root", "/", "/root", ""},
		{"elsewhere", "/usr", "/root", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.work)
			r := New(Config{CLI: path, Getenv: func(name string) string { return map[string]string{"HOME": tt.home, "USERPROFILE": tt.home}[name] }})
			_, err := r.App()
			assert.Equal(t, codeOf(err), tt.want, "%v; want", err)
		})
	}
}

func TestSearch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the names of programs have an ending there: see TestSearchOnWindows")
	}
	good := place(t, "obsidian", harmless, 0o755)
	native := place(t, "obsidian-cli", harmless, 0o755)
	bad := place(t, "obsidian", harmless, 0o757)
	home := t.TempDir()
	local := filepath.Join(home, ".local", "bin")
	require.NoError(t, os.MkdirAll(local, 0o755))
	require.NoError(t, os.Symlink(native, filepath.Join(local, "obsidian")))
	dirs := func(paths ...string) string {
		for i, path := range paths {
			if filepath.IsAbs(path) {
				paths[i] = filepath.Dir(path)
			}
		}
		return strings.Join(paths, ":")
	}
	tests := []struct {
		name, cli, path, home, want, code string
	}{
		{"by name", "", dirs(good), "", good, ""},
		{"the other name", "obsidian", dirs(native), "", native, ""},
		{"an unsuitable one is passed over", "", dirs(bad, good), "", good, ""},
		{"only an unsuitable one", "", dirs(bad), "", "", CodeUnsuitable},
		{"the folder of the user", "", "", home, native, ""},
		{"no relative folder", "", ".:relative", "", "", CodeNotFound},
		{"another name is not helped", "wicked", dirs(good), home, "", CodeNotFound},
		{"a relative path", "./obsidian", dirs(good), "", "", CodeNotFound},
		{"an absolute path", native, dirs(good), "", native, ""},
		{"an absolute path that is wrong is taken alone", native + "x", dirs(good), home, "", CodeNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := map[string]string{"PATH": tt.path, "HOME": tt.home}
			r := New(Config{CLI: tt.cli, Getenv: func(name string) string { return set[name] }})
			p, err := r.App()
			assert.Equal(t, p.path, tt.want)
			assert.Equal(t, codeOf(err), tt.code)
			again, errAgain := r.App()
			assert.Equal(t, again, p, "the second time %q", again.path)
			assert.Equal(t, err == nil, errAgain == nil, "the second time %q", again.path)
			if err != nil && (p.Backend() != "" || hintOf(err) == "") {
				t.Errorf("backend %q, hint %q", p.Backend(), hintOf(err))
			}
		})
	}
}

func TestWellKnownPlacesAreAbsolute(t *testing.T) {
	for _, path := range wellKnown(func(string) string { return "relative" }) {
		assert.That(t, filepath.IsAbs(path), "%q", path)
		assert.That(t, runtime.GOOS != "linux" || !strings.HasPrefix(path, "relative"), "%q", path)
	}
}

func TestLookingForTheAppIsNotRemembered(t *testing.T) {
	folder := t.TempDir()
	r := New(Config{CLI: filepath.Join(folder, testenv.ProgramFile("obsidian")), Self: "/nowhere/vaultwicket"})
	require.That(t, !r.HasApp(), "there is an app")
	testenv.SelfAs(t, folder, "obsidian")
	_, err := r.App()
	require.Equal(t, err, nil, "not found")
	assert.That(t, r.HasApp(), "not found: %v", err)
}

// The app may know a vault by an id, or by another name than that of its folder.
// The embedded CLI accepts its own name alone.
func TestTheEmbeddedCLIIsGivenItsOwnName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes of 2026")
	require.NoError(t, os.Mkdir(folder, 0o700))
	self := fakeCLI(t, "vaultwicket", script{Any: true})
	p := require.Value(New(Config{Self: self}).Embedded(folder))(t)
	for _, vault := range []string{"", "Work", "a1b2c3d4e5f60718", "Notes of 2026"} {
		call, err := allowlist.Parse("files", nil)
		if err == nil && vault != "" {
			call, err = call.In(vault)
		}
		require.NoError(t, err)
		want := []string{"vault", folder, "--facts", "vault=Notes of 2026", "files"}
		if vault == "" {
			want = slices.Delete(want, 3, 4)
		}
		got, err := p.Command(call)
		require.Equal(t, err, nil, "vault=%s", vault)
		assert.EqualSlices(t, got.Args, want, "vault=%s", vault)
	}
}

func TestParseRelease(t *testing.T) {
	good := map[string]string{
		"1.12.7": "1.12.7", "1.12.7 (installer 1.12.4)": "1.12.7 1.12.4", "1.13.7 (installer 1.13.4)": "1.13.7 1.13.4",
		"1.13.0-beta.1": "1.13.0-beta.1", "v1.12.7": "1.12.7", "2.0": "2.0.0",
		"1.13.0-beta.1 (installer v1.12)": "1.13.0-beta.1 1.12.0", "1.12.7.1": "1.12.7.1",
	}
	for line, want := range good {
		r, ok := parseRelease(line)
		var got []string
		if ok {
			got = append(got, r.app.String())
			if r.installer != (tiers.Version{}) {
				got = append(got, r.installer.String())
			}
		}
		assert.That(t, slices.Equal(got, strings.Fields(want)), "%q: %q", line, got)
	}
	for _, line := range []string{"", "1", "2", "v2", " 1.12.7", "1.12.7 (installer)", "1.12.7 (installer 1)",
		"1.12.7 (installer unknown)", "1.12.7 (installer 1.12.7", "1..7", "1.12.7\n1.12.8", "Obsidian 1.12.7"} {
		_, ok := parseRelease(line)
		assert.That(t, !ok, "%q was taken for a version", line)
	}
}

// A vault that macOS closes to the program is there: the hint opens it, and does not ask for another one.
func TestAVaultThatCannotBeLookedAt(t *testing.T) {
	const open = "Files and Folders"
	for name, test := range map[string]struct {
		goos string
		err  error
		said string
		hint string
	}{
		"closed by macOS":       {"darwin", &fs.PathError{Op: "stat", Path: "v", Err: syscall.EPERM}, "macOS does not allow it", open},
		"rights on macOS":       {"darwin", &fs.PathError{Op: "stat", Path: "v", Err: syscall.EACCES}, "cannot be looked at", "rights of its folder"},
		"the same, on Linux":    {"linux", &fs.PathError{Op: "stat", Path: "v", Err: syscall.EPERM}, "cannot be looked at", "rights of its folder"},
		"missing":               {"darwin", &fs.PathError{Op: "stat", Path: "v", Err: syscall.ENOENT}, "not found", "existing vault"},
		"a disk that is broken": {"darwin", &fs.PathError{Op: "stat", Path: "v", Err: syscall.EIO}, "cannot be looked at", "disk of the vault"},
	} {
		found := inaccessibleVault(test.goos, "v", test.err)
		assert.Contains(t, found.reason, test.said, "%s", name)
		assert.Contains(t, found.hint, test.hint, "%s", name)
	}
}
