package gateway

import (
	"context"
	"testing"
)

func TestVaultName(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
