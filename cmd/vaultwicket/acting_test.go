package main

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What only prints is not told as done when the output is full, and what does something is, with where to look.
func TestWhatActs(t *testing.T) {
	for line, does := range map[string]bool{
		"run --vault ./Notes daily:read": false, "run daily:append content=x": true, "run": false,
		"config show": false, "config path": false, "config set tier v1": true, "config init": true,
		"undo list": false, "undo": true, "install --list": false, "install cursor --print": false, "install cursor --yes": true,
		"agent list": false, "agent add bob": true, "grants": false, "grants end g-1": true, "pause": true, "doctor": false,
		"batch --dry-run a.json": false, "batch a.json": true, "flow clear a.md": true, "passkey list": false,
	} {
		words := strings.Fields(line)
		look, isDone := acts(words[0], words[1:])
		assert.Equal(t, isDone, does, "%s", line)
		assert.That(t, !does || strings.Contains(look, "vaultwicket "), "%s: %s", line, look)
	}
	for name := range actingCommands {
		_, isThere := subcommandNamed(name)
		assert.That(t, isThere, "there is no command %s", name)
	}
}
