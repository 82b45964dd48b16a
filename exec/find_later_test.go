package exec

import (
	"path/filepath"
	"testing"

	"vaultwicket/tests/programs"
)

// A CLI that is installed right after it was looked for is found by the next call.
func TestLookingForTheAppIsNotRemembered(t *testing.T) {
	folder := t.TempDir()
	r := New(Config{CLI: filepath.Join(folder, programs.File("obsidian")), Self: "/nowhere/vaultwicket"})
	if r.HasApp() {
		t.Fatal("there is an app")
	}
	programs.Self(t, folder, "obsidian")
	if _, err := r.App(); err != nil || !r.HasApp() {
		t.Errorf("not found: %v", err)
	}
}
