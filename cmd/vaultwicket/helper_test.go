package main

import (
	"os"
	"path/filepath"
	"testing"
)

// check fails the test on an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settingsFileOf writes a settings file and returns its name.
func settingsFileOf(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	check(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}
