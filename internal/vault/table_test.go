package vault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The two programs have one table: this one answers each command that does not need the
// app and that the gateway does not answer itself, and its effect is that of the row.
func TestTheTableIsWhole(t *testing.T) {
	var want []string
	for c := range allowlist.Commands() {
		if c.NeedsApp && c.Name != "random" || c.Tier == tiers.Restricted || c.Name == "undo:list" || c.Name == "approvals" {
			continue // random prints the path that the app would show
		}
		want = append(want, c.Name)
		row, err := vault.LookUp(c.Name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case (row.Run == nil) == (row.Plan == nil):
			t.Errorf("%s has no function, or two", c.Name)
		case row.Writes() != (c.Worst == tiers.Writes || c.Worst == tiers.Destroys):
			t.Errorf("%s: writes is %v, its effect is %v", c.Name, row.Writes(), c.Worst)
		}
		syntax, help := row.Syntax()
		_, found := syntax.Param(row.Positional)
		assert.That(t, help != "", "%s lacks a description, or the parameter %q", c.Name, row.Positional)
		assert.That(t, row.Positional == "" || found, "%s lacks a description, or the parameter %q", c.Name, row.Positional)
	}
	slices.Sort(want)
	assert.EqualSlices(t, vault.Commands(), want, "the table")
}

func TestReadingChangesNothing(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text", "sub/b.md": "", ".obsidian/daily-notes.json": `{"folder":"D","template":"a"}`})
	calls := map[string]string{"read": "path=a.md", "file": "path=a.md", "folder": "path=sub"}
	before := h.Snapshot()
	for _, row := range vault.Table() {
		if row.Writes() {
			continue
		}
		h.Run(append([]string{row.Name}, strings.Fields(calls[row.Name])...)...)
		after := h.Snapshot()
		assert.That(t, after == before, "%s changed the vault from\n%s to\n%s", row.Name, before, after)
	}
}
