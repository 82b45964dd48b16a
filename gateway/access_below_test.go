package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/gateway/notes"
	"vaultwicket/policy/access"
)

func TestTheOwnerSeesTheAccessOfFolders(t *testing.T) {
	t.Parallel()
	rules, err := access.New(map[string]access.Level{"/": access.Read, "Private": access.None})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *Config) { c.Policy.Access = rules }).embedded()
	for _, path := range []string{"Private/Deep", "Work", "Old"} {
		if err := os.MkdirAll(filepath.Join(f.vault, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{".vaultwicketignore": "Old/\n", "Private/a.md": "secret", "Work/a.md": "milk"} {
		if err := os.WriteFile(filepath.Join(f.vault, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, more, err := f.gateway.AccessBelow("", "")
	if err != nil || more {
		t.Fatal(more, err)
	}
	seen := map[string]notes.Access{}
	for _, a := range list {
		seen[a.Path] = a
	}
	if a := seen["Private"]; a.Level != "none" || a.Rule != "Private" || a.Read.Allowed {
		t.Errorf("%+v", a)
	}
	if a := seen["Old"]; a.Ignored == nil || a.Ignored.Line != 1 || a.Read.Allowed {
		t.Errorf("%+v", a)
	}
	if a := seen["Work"]; a.Level != "r" || !a.Read.Allowed || a.Change.Allowed {
		t.Errorf("%+v", a)
	}
	if _, _, err := f.gateway.AccessBelow("", "../"); err == nil {
		t.Error("folders outside of the vault")
	}
	for path, text := range map[string]string{"Private/a.md": "secret", "Work/a.md": "milk"} {
		sum := sha256.Sum256([]byte(text))
		got, ok := f.gateway.NoteWithHash("", path, hex.EncodeToString(sum[:]))
		if ok != (path == "Work/a.md") || ok && got != text {
			t.Errorf("%s: %q, %v", path, got, ok)
		}
	}
}
