package gateway

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestLocate(t *testing.T) {
	home, work, other := t.TempDir(), t.TempDir(), t.TempDir()
	twin := filepath.Join(other, filepath.Base(work))
	list := []appVault{{"1111111111111111", home}, {"2222222222222222", work}}
	twins := append([]appVault{{"3333333333333333", twin}}, list...)
	tests := []struct {
		name   string
		vault  Vault
		list   []appVault
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
	if got := (Vault{Folder: link}).locate([]appVault{{"1111111111111111", real}}); got.app != filepath.Base(real) {
		t.Errorf("got %+v", got)
	}
}

func TestAppVaults(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	home, config := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": home, "XDG_CONFIG_HOME": config}
	getenv := func(name string) string { return env[name] }
	list := func(folder string, vaults map[string]any) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		content, err := json.Marshal(map[string]any{"vaults": vaults, "cli": true})
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "obsidian.json"), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := appVaults(getenv); len(got) != 0 {
		t.Errorf("without a list there are %v", got)
	}
	list(filepath.Join(config, "obsidian"), map[string]any{
		"b": map[string]any{"path": "/notes/B/"}, "a": map[string]any{"path": "/notes/A"}, "c": map[string]any{"path": "relative"},
	})
	list(filepath.Join(home, ".var/app/md.obsidian.Obsidian/config/obsidian"), map[string]any{"a": map[string]any{"path": "/notes/A"}})
	got := appVaults(getenv)
	if len(got) != 2 || got[0] != (appVault{"a", "/notes/A"}) || got[1] != (appVault{"b", "/notes/B"}) {
		t.Errorf("got %v", got)
	}
	if folders := AppVaultFolders(getenv); !slices.Equal(folders, []string{"/notes/A", "/notes/B"}) {
		t.Errorf("the folders are %q", folders)
	}
	if err := os.WriteFile(filepath.Join(config, "obsidian", "obsidian.json"), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := appVaults(getenv); len(got) != 1 {
		t.Errorf("with a broken list there are %v", got)
	}
	if got := appVaults(nil); got != nil {
		t.Errorf("without an environment there are %v", got)
	}
	env["XDG_CONFIG_HOME"] = ""
	list(filepath.Join(home, ".config", "obsidian"), map[string]any{"z": map[string]any{"path": "/notes/Z"}})
	if got := appVaults(getenv); len(got) != 2 {
		t.Errorf("from the home folder there are %v", got)
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
