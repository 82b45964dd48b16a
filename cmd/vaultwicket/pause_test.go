package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/terminal"
)

func TestAPauseLastsFromTheFirstTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "paused")
	if pausedSince(name) != nil {
		t.Fatal("is paused without a pause")
	}
	first := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	for _, now := range []time.Time{first, first.Add(time.Hour)} {
		if err := layPause(name, now); err != nil {
			t.Fatal(err)
		}
		if since := pausedSince(name); since == nil || !since.Equal(first) {
			t.Errorf("paused since %v, want %v", since, first)
		}
	}
}

// A pause is that something has the name. The time in it may be missing, and then
// that of the file stands for it.
func TestWhateverHasTheNameIsAPause(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"an empty file":           func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"a file without a time":   func(name string) error { return os.WriteFile(name, []byte("yesterday"), 0o600) },
		"a folder":                func(name string) error { return os.Mkdir(name, 0o700) },
		"a link that leads to it": func(name string) error { return os.Symlink(filepath.Dir(name), name) },
		"a link that leads away":  func(name string) error { return os.Symlink("nowhere", name) },
	} {
		file := filepath.Join(t.TempDir(), "paused")
		if err := make(file); err != nil {
			t.Skip(err)
		}
		if err := layPause(file, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if pausedSince(file) == nil {
			t.Errorf("%s has no time", name)
		}
	}
}

func TestPauseNeedsAPlace(t *testing.T) {
	std := terminal.Streams{Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }}
	for _, name := range []string{"pause", "resume", "approvals"} {
		if status := run([]string{name}, std); status != exit.NotReady {
			t.Errorf("%s ends with %d, want %d", name, status, exit.NotReady)
		}
	}
}
