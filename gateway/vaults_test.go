package gateway

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"vaultwicket/gateway/registry"
)

func TestLocate(t *testing.T) {
	home, work, other := t.TempDir(), t.TempDir(), t.TempDir()
	twin := filepath.Join(other, filepath.Base(work))
	list := []registry.Vault{{ID: "1111111111111111", Folder: home}, {ID: "2222222222222222", Folder: work}}
	twins := append([]registry.Vault{{ID: "3333333333333333", Folder: twin}}, list...)
	tests := []struct {
		name   string
		vault  Vault
		list   []registry.Vault
		want   target
		refuse bool
	}{
		{"no vault is the app's choice", Vault{}, list, target{}, false},
		{"a name gets its folder", Vault{Name: filepath.Base(work)}, list, target{app: filepath.Base(work), folder: work}, false},
		{"a name that stands for two vaults gets none", Vault{Name: filepath.Base(work)}, twins, target{app: filepath.Base(work)}, false},
		{"an unknown name is left to the app", Vault{Name: "Nowhere"}, list, target{app: "Nowhere"}, false},
		{"an id gets its folder", Vault{ID: "1111111111111111"}, list, target{app: "1111111111111111", folder: home}, false},
		{"a folder gets its name", Vault{Folder: work}, list, target{app: filepath.Base(work), folder: work}, false},
		{"a folder whose name stands for two vaults gets its id", Vault{Folder: work}, twins, target{app: "2222222222222222", folder: work}, false},
		{"a folder with a slash behind is the same folder", Vault{Folder: work + "/"}, list, target{app: filepath.Base(work), folder: work + "/"}, false},
		{"a folder the app does not know", Vault{Folder: other}, list, target{folder: other}, true},
		{"a name with its folder needs no list", Vault{Name: "Work", Folder: work}, nil, target{app: "Work", folder: work}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.vault.locate(tt.list)
			refused := got.appErr != nil
			got.appErr = nil
			if got != tt.want || refused != tt.refuse {
				t.Errorf("got %+v (refused: %v), want %+v (%v)", got, refused, tt.want, tt.refuse)
			}
		})
	}
}

func TestAFolderReachedByALinkIsTheSameVault(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if got := (Vault{Folder: link}).locate([]registry.Vault{{ID: "1111111111111111", Folder: real}}); got.app != filepath.Base(real) {
		t.Errorf("got %+v", got)
	}
}

func TestAppVaultFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the app's list lies elsewhere")
	}
	home := t.TempDir()
	folder := filepath.Join(home, ".config", "obsidian")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	list := `{"vaults": {"1": {"path": "/notes/A", "ts": 2}, "2": {"path": "/notes/B", "ts": 3}}}`
	if err := os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	if got := AppVaultFolders(getenv); !slices.Equal(got, []string{"/notes/B", "/notes/A"}) {
		t.Errorf("the folders are %q", got)
	}
	if got := AppVaultFolders(nil); got != nil {
		t.Errorf("without an environment they are %q", got)
	}
}

func TestVaultName(t *testing.T) {
	for _, tt := range []struct {
		vault Vault
		want  string
	}{
		{Vault{}, ""}, {Vault{Name: "Work", Folder: "/x"}, "Work"}, {Vault{Folder: "/home/me/Notes"}, "Notes"}, {Vault{ID: "0123456789abcdef"}, "0123456789abcdef"},
	} {
		if got := New(Config{Vault: tt.vault}).VaultName(); got != tt.want {
			t.Errorf("%+v is called %q, want %q", tt.vault, got, tt.want)
		}
	}
}

// What an answer calls the vault is what a caller can say in the next call.
func TestAnswersCallTheVaultByItsName(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Backend, c.Vault.Name = Embedded, "Main" }).
		embedded(`--facts vault=Work files => A.md\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "files"})
	if !got.OK || got.Vault != "Main" {
		t.Errorf("got %q, %+v", got.Vault, got.Error)
	}
	if again := f.gateway.Do(context.Background(), Request{Command: "files", Vault: got.Vault}); !again.OK {
		t.Errorf("got %+v", again.Error)
	}
	if plan := f.gateway.DryRun(context.Background(), Request{Command: "files"}); plan.Vault != "Main" {
		t.Errorf("planned for %q", plan.Vault)
	}
}
