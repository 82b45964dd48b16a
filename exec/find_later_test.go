package exec

import (
	"os"
	"path/filepath"
	"testing"
)

// A CLI that is installed right after somebody looked for it is found by the next call.
func TestLookingForTheAppIsNotRemembered(t *testing.T) {
	cli := filepath.Join(t.TempDir(), "obsidian")
	r := New(Config{CLI: cli, Self: "/nowhere/vaultwicket"})
	if r.HasApp() {
		t.Fatal("there is an app")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, cli); err != nil {
		t.Skip(err)
	}
	if _, err := r.App(); err != nil || !r.HasApp() {
		t.Errorf("not found: %v", err)
	}
}
