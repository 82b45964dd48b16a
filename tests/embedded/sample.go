package embedded

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Rules returns access rules: paths, and the names of their levels.
func Rules(t require.T, levels map[string]string) access.Rules {
	table := map[string]access.Level{}
	for path, name := range levels {
		table[path] = require.Value(access.ParseLevel(name))(t)
	}
	return require.Value(access.New(table))(t)
}

// Numbered returns lines that differ.
func Numbered(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// FollowLinks are settings of the app by which links follow a file that is moved.
const FollowLinks = `{"alwaysUpdateLinks":true}`

// OnePixel is the beginning of a PNG, which says how large the image is.
const OnePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x03\x00\x00\x00\x02\x08\x06\x00\x00\x00\x9d\x74\x66\x1a"

// Sample returns a vault with something for every command to find.
func Sample(t testing.TB) *Vault {
	h := New(t, map[string]string{
		"Tides.md": "---\ntags: [sea]\n---\n# Tides\n- [ ] look [[Moon]]\n", "Moon.md": "pull", "empty.md": "", "bytes.md": "a\xff\x00b\r\n",
		"One/only.md": "# Only\n", "Long.md": strings.Repeat("a long line of a note\n", 20_000), "pic.png": "\x89PNG",
		".obsidian/daily-notes.json": `{"folder":"Daily","template":"Tides"}`, ".obsidian/templates.json": `{"folder":"One"}`,
	})
	h.Env[call.ActiveVariable] = "Moon.md"
	for i, name := range []string{"Tides.md", "Moon.md", "empty.md", "bytes.md", "One/only.md", "Long.md", "pic.png"} {
		then := time.Date(2026, 11, 20, 12, i, 0, 0, time.UTC) // two samples are of one age
		require.NoError(t, os.Chtimes(h.File(name), then, then))
	}
	return h
}
