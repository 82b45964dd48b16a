package main

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestWhatIsTypedHasOneCaller(t *testing.T) {
	first := typed(&oversight.User{}, gateway.Request{Command: "read"})
	second := typed(&oversight.User{}, gateway.Request{Command: "delete"})
	assert.That(t, first.Caller != "", "callers %q and %q", first.Caller, second.Caller)
	assert.Equal(t, first.Caller, second.Caller, "callers %q and %q", first.Caller, second.Caller)
	assert.Equal(t, first.Surface, "terminal")
	assert.Equal(t, first.Client, "terminal")
	assert.Equal(t, first.Command, "read")
}

// The allowlist knows which commands the embedded CLI does not answer, so that they are
// not listed where there is no app. Two that it knows open a note, which it cannot.
func TestTheAllowlistKnowsWhatNeedsTheApp(t *testing.T) {
	embedded := vault.Commands()
	opening := []string{"open", "random"}
	for c := range allowlist.Commands() {
		if c.Tier == tiers.Restricted {
			continue
		}
		if c.Name == "help" || c.Name == "undo:list" || c.Name == "approvals" {
			continue // the gateway answers
		}
		want := !slices.Contains(embedded, c.Name) || slices.Contains(opening, c.Name)
		assert.Equal(t, c.NeedsApp, want, "%s: needs the app", c.Name)
	}
}

func TestPauseNeedsAPlace(t *testing.T) {
	std := terminal.Streams{Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }}
	for _, name := range []string{"pause", "resume", "approvals"} {
		assert.Equal(t, run([]string{name}, std), terminal.ExitNotReady, "%s ends with", name)
	}
}

// fullDisk is an output that cannot be written to.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAVersionThatCannotBePrintedIsAnError(t *testing.T) {
	std := terminal.Streams{Out: fullDisk{}, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }}
	assert.That(t, printVersion(t.Context(), std, nil) != nil, "no error")
}
