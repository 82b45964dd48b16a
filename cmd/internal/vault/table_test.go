package vault

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/tiers"
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
		row, err := lookUp(c.Name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case (row.Run == nil) == (row.Plan == nil):
			t.Errorf("%s has no function, or two", c.Name)
		case row.Writes() != (c.Worst == tiers.Writes || c.Worst == tiers.Destroys):
			t.Errorf("%s: writes is %v, its effect is %v", c.Name, row.Writes(), c.Worst)
		}
		syntax, help := row.Syntax()
		if _, found := syntax.Param(row.Positional); help == "" || row.Positional != "" && !found {
			t.Errorf("%s lacks a description, or the parameter %q", c.Name, row.Positional)
		}
	}
	if slices.Sort(want); !slices.Equal(Commands(), want) {
		t.Errorf("the table has %q, want %q", Commands(), want)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text", "sub/b.md": "", ".obsidian/daily-notes.json": `{"folder":"D","template":"a"}`})
	calls := map[string]string{
		"read": "path=a.md", "file": "path=a.md", "folder": "path=sub",
	}
	before, _, _ := h.snapshot()
	for _, row := range table() {
		if row.Writes() {
			continue
		}
		h.run(append([]string{row.Name}, strings.Fields(calls[row.Name])...)...)
		if after, _, _ := h.snapshot(); after != before {
			t.Errorf("%s changed the vault from\n%s to\n%s", row.Name, before, after)
		}
	}
}
