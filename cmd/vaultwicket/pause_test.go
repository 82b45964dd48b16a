package main

import (
	"io"
	"testing"

	"vaultwicket/cmd/internal/terminal"
)

func TestPauseNeedsAPlace(t *testing.T) {
	std := terminal.Streams{Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }}
	for _, name := range []string{"pause", "resume", "approvals"} {
		if status := run([]string{name}, std); status != terminal.ExitNotReady {
			t.Errorf("%s ends with %d, want %d", name, status, terminal.ExitNotReady)
		}
	}
}
