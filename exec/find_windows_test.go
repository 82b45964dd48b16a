package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// installed makes the files that an installer of the app makes, and returns the client.
func installed(t *testing.T, folder string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "resources"), 0o700))
	for _, name := range []string{"Obsidian.exe", "chrome_100_percent.pak", `resources\app.asar`, "Obsidian.com"} {
		writeProgram(t, filepath.Join(folder, name), "MZ")
	}
	return filepath.Join(folder, "Obsidian.com")
}

// The client is found in PATH and next to the app wherever its installer puts that. The
// app itself, which has the same name, is never taken.
func TestSearchOnWindows(t *testing.T) {
	top := t.TempDir()
	local, all, path, app := filepath.Join(top, "local"), filepath.Join(top, "Program Files"), filepath.Join(top, "path"), filepath.Join(top, "app")
	ofUser := installed(t, filepath.Join(local, "Programs", "Obsidian"))
	ofAll := installed(t, filepath.Join(all, "Obsidian"))
	inPath := installed(t, path)
	require.NoError(t, os.Remove(filepath.Join(installed(t, app), "..", "Obsidian.com")))
	for _, tt := range []struct {
		name, cli  string
		set        map[string]string
		want, code string
	}{
		{"in PATH", "", map[string]string{"PATH": path, "LOCALAPPDATA": local}, inPath, ""},
		{"of the user", "", map[string]string{"PATH": app, "LOCALAPPDATA": local, "ProgramFiles": all}, ofUser, ""},
		{"of all users", "obsidian", map[string]string{"ProgramFiles": all}, ofAll, ""},
		{"of 32 bits", "", map[string]string{"ProgramFiles(x86)": all}, ofAll, ""},
		{"the app alone", "", map[string]string{"PATH": app}, "", CodeNotFound},
		{"no relative folder", "", map[string]string{"PATH": `.;path;\\?\`, "LOCALAPPDATA": `Programs`}, "", CodeNotFound},
		{"a full path", ofAll, nil, ofAll, ""},
		{"the full path of the app", filepath.Join(app, "Obsidian.exe"), nil, "", CodeUnsuitable},
		{"another name", "other", map[string]string{"PATH": path, "LOCALAPPDATA": local}, "", CodeNotFound},
		{"a drive", `C:obsidian`, map[string]string{"PATH": path}, "", CodeNotFound},
	} {
		p, err := New(Config{CLI: tt.cli, Getenv: func(name string) string { return tt.set[name] }}).App()
		if !strings.EqualFold(p.path, tt.want) || codeOf(err) != tt.code {
			t.Errorf("%s: %q, %v; want %q, %q", tt.name, p.path, err, tt.want, tt.code)
		}
	}
}

// A program is not started if another user can change it, or can put another in its place.
func TestTheWayToAProgramBelongsToTheUser(t *testing.T) {
	for _, tt := range []struct {
		name            string
		top, dir, other string // entries of the folder around, the one of the program, and the program
		want            string
	}{
		{"of the user alone", "", "", "", ""},
		{"that everybody can read and start", "(A;OICI;FRFX;;;WD)", "(A;OICI;FRFX;;;WD)", "(A;;FRFX;;;WD)", ""},
		{"that everybody can write", "", "", "(A;;0x1301bf;;;WD)", "can be changed by"},
		{"in a folder in which everybody can make files", "", "(A;;0x1301bf;;;WD)", "", `can be changed by`},
		{"below a folder that everybody can change", "(A;;FA;;;WD)", "", "", `can be changed by`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "top")
			program := installed(t, filepath.Join(top, "Obsidian"))
			testenv.AllowRights(t, program, tt.other)
			testenv.AllowRights(t, filepath.Dir(program), tt.dir)
			testenv.AllowRights(t, top, tt.top)
			p, err := New(Config{CLI: program}).App()
			switch {
			case tt.want == "" && (err != nil || !strings.EqualFold(p.path, program)):
				t.Errorf("%q, %v", p.path, err)
			case tt.want != "" && (codeOf(err) != CodeUnsuitable || !strings.Contains(err.Error(), tt.want) || hintOf(err) == ""):
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
}

// A program that others get rights to after it was found is not started.
func TestAProgramThatOthersCanChangeSince(t *testing.T) {
	program := installed(t, filepath.Join(t.TempDir(), "Obsidian"))
	r := New(Config{CLI: program})
	p := require.Value(r.App())(t)
	testenv.AllowRights(t, program, "(A;;FA;;;WD)")
	require.NoError(t, os.WriteFile(program, []byte("MZ2"), 0o600))
	assert.Equal(t, codeOf(r.checkAgain(p)), CodeUnsuitable)
}
