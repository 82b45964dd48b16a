package main

import (
	"strings"
	"testing"

	"vaultwicket/tests/assert"
)

func TestServeExplainsItself(t *testing.T) {
	for vault, want := range map[string]string{
		"":                "  vaultwicket run daily:read\n",
		"/home/me/Notes":  "  vaultwicket run --vault /home/me/Notes daily:read\n",
		"My notes; rm -r": "  vaultwicket run daily:read\n", // not for a shell
	} {
		text := serveText(plainHelp(), vault)
		for _, want := range []string{want, "waits for messages of an MCP client", "vaultwicket install --list\n", "vaultwicket demo\n", "\nPress Ctrl-C to stop.\n"} {
			assert.That(t, strings.Contains(text, want), "%q: %q is missing in\n%s", vault, want, text)
		}
	}
}
