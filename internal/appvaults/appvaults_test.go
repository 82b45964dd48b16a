package appvaults

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	home, config := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": home, "XDG_CONFIG_HOME": config}
	write := func(folder, content string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(content), 0o600))
	}
	expect := func(when string, want ...Vault) {
		t.Helper()
		assert.EqualSlices(t, Read(func(name string) string { return env[name] }), want, "%s", when)
	}
	plain, flatpak := filepath.Join(config, "obsidian"), filepath.Join(home, ".var/app/md.obsidian.Obsidian/config/obsidian")
	old, young, undated := Vault{"a", "/notes/A", 1}, Vault{"b", "/notes/B", 2}, Vault{"d", "/notes/D", 0}

	expect("no list")
	write(plain,
		`{"vaults": {"a": {"path": "/notes/A", "ts": 1}, "b": {"path": "/notes/B/", "ts": 2, "open": true}, "c": {"path": "relative"}, "e": {"ts": 5}}, "cli": true}`)
	expect("one list", young, old)
	write(flatpak, `{"vaults": {"a": {"path": "/elsewhere/A", "ts": 0.5}, "d": {"path": "/notes/D"}}}`)
	expect("one id in two lists", young, old, undated)
	write(plain, "{broken")
	expect("one of two lists is broken", Vault{"a", "/elsewhere/A", 0.5}, undated)
	write(plain, strings.Repeat(" ", maxList)+`{"vaults": {"a": {"path": "/notes/A"}}}`)
	expect("a list without end", Vault{"a", "/elsewhere/A", 0.5}, undated)

	env["XDG_CONFIG_HOME"] = ""
	write(filepath.Join(home, ".config/obsidian"), `{"vaults": {"b": {"path": "/notes/B", "ts": 2}}}`)
	expect("by the home folder", young, Vault{"a", "/elsewhere/A", 0.5}, undated)
	env["HOME"] = ""
	expect("no home folder")
}

func TestSameFolder(t *testing.T) {
	real, other, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{real, real + "/", true}, {real, link, true}, {real, other, false}, {real + "/x", real + "/y", false},
		{real + "/x", real + "/./x", true}, {"", real, false},
	} {
		assert.Equal(t, SameFolder(test.a, test.b), test.want, "%q and %q are the same: %v", test.a, test.b, !test.want)
		assert.Equal(t, SameFolder(test.b, test.a), test.want, "%q and %q are the same: %v", test.a, test.b, !test.want)
	}
}

func TestIsID(t *testing.T) {
	for text, want := range map[string]bool{"0123456789abcdef": true, "0123456789ABCDEF": false,
		"0123456789abcde": false, "0123456789abcdef0": false, "0123456789abcdeg": false, "": false} {
		assert.That(t, IsID(text) == want, "%q is an id: %v", text, !want)
	}
}

func TestLocate(t *testing.T) {
	home, work, other := t.TempDir(), t.TempDir(), t.TempDir()
	twin := filepath.Join(other, filepath.Base(work))
	list := []Vault{{ID: "1111111111111111", Folder: home}, {ID: "2222222222222222", Folder: work}}
	twins := append([]Vault{{ID: "3333333333333333", Folder: twin}}, list...)
	tests := []struct {
		name   string
		wanted Wanted
		list   []Vault
		want   Place
	}{
		{"no vault is the app's choice", Wanted{}, list, Place{}},
		{"a name gets its folder", Wanted{Name: filepath.Base(work)}, list, Place{App: filepath.Base(work), Folder: work}},
		{"a name that stands for two vaults gets none", Wanted{Name: filepath.Base(work)}, twins, Place{App: filepath.Base(work)}},
		{"an unknown name is left to the app", Wanted{Name: "Nowhere"}, list, Place{App: "Nowhere"}},
		{"an id gets its folder", Wanted{ID: "1111111111111111"}, list, Place{App: "1111111111111111", Folder: home}},
		{"a folder gets its name", Wanted{Folder: work}, list, Place{App: filepath.Base(work), Folder: work}},
		{"a folder whose name stands for two vaults gets its id", Wanted{Folder: work}, twins, Place{App: "2222222222222222", Folder: work}},
		{"a folder with a slash behind is the same folder", Wanted{Folder: work + "/"}, list, Place{App: filepath.Base(work), Folder: work + "/"}},
		{"a folder the app does not know", Wanted{Folder: other}, list, Place{Folder: other, Unlisted: true}},
		{"a name with its folder needs no list", Wanted{Name: "Work", Folder: work}, nil, Place{App: "Work", Folder: work}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, Locate(tt.list, tt.wanted), tt.want) })
	}
}
