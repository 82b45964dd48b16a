package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/require"
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
		if !strings.EqualFold(p.Path(), tt.want) || codeOf(err) != tt.code {
			t.Errorf("%s: %q, %v; want %q, %q", tt.name, p.Path(), err, tt.want, tt.code)
		}
	}
}
