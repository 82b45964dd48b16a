package registry

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, Locate(tt.list, tt.wanted), tt.want)
		})
	}
}

func TestAFolderReachedByALinkIsTheSameVault(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	assert.Equal(t, Locate([]Vault{{ID: "1111111111111111", Folder: real}}, Wanted{Folder: link}).App, filepath.Base(real))
}

func TestVaultFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the app's list is elsewhere")
	}
	home := t.TempDir()
	folder := filepath.Join(home, ".config", "obsidian")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	list := `{"vaults": {"1": {"path": "/notes/A", "ts": 2}, "2": {"path": "/notes/B", "ts": 3}}}`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(list), 0o600))
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	assert.EqualSlices(t, VaultFolders(getenv), []string{"/notes/B", "/notes/A"}, "the folders are")
}
