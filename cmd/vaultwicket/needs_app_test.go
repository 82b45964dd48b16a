package main

import (
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault"
	"vaultwicket/tiers"
)

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
		if c.NeedsApp != want {
			t.Errorf("%s: needs the app: %v, want %v", c.Name, c.NeedsApp, want)
		}
	}
}
