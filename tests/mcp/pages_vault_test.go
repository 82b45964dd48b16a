package mcp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// fillLibrary makes a vault in which every listing is longer than a page of
// 1 KiB: some hundred notes, and one that has much of everything.
func fillLibrary(t *testing.T, vault string) {
	t.Helper()
	require.NoError(t, fake.WriteVault(vault, 30, 11))
	put := func(name, text string) {
		harness.WriteFile(t, filepath.Join(vault, filepath.FromSlash(name)), []byte(text))
	}
	put("Hub.md", hub())
	put("Wrong.base", "views:\n"+harness.Repeat(30, "  - name: The view number %d of a large base\n"))
	put("Big.base", "views:\n"+harness.Repeat(30, "  - type: table\n    name: The view number %d of a large base\n"))
	put("Files/long.txt", harness.Repeat(100, "line %d of a file\n"))
	put("Big.canvas", `{"nodes":[`+strings.TrimSuffix(harness.Repeat(30, `{"id":"%[1]d","type":"text","y":%[1]d,"text":"the card number %[1]d"},`), ",")+`]}`)
	var opened []string
	var marks []map[string]string
	for i := range 30 {
		name := fmt.Sprintf("Spokes of a wheel that turns/Spoke %02d.md", i)
		put(name,
			fmt.Sprintf("---\naliases: [the spoke %d, \"alias, %d\"]\n---\n# Spoke %d\nback to [[Hub]] and on to [[nowhere %d]]\n- [ ] #turn task %d\n",
				i, i, i, i, i))
		put(fmt.Sprintf("Files/picture %02d.png", i), "\x89PNG")
		put(fmt.Sprintf("Lonely/Alone %02d of all the notes.md", i), "nobody knows me\n")
		put(fmt.Sprintf("Templates/Form %02d of those for the tests of pages.md", i), harness.Repeat(60, "line %d of a form\n"))
		put(fmt.Sprintf("Bases/Of the year %02d and those before/Base.base", i), "views: []\n")
		opened = append(opened, name)
		marks = append(marks, map[string]string{"type": "file", "path": name, "title": fmt.Sprintf("a, \"title\" %d", i)})
	}
	for day := range 6 {
		put(fmt.Sprintf("Daily/2026-03-%02d.md", day+1), harness.Repeat(40, "what happened in the hour %d\n"))
	}
	put(".obsidian/workspace.json", harness.JSON(t, map[string]any{"lastOpenFiles": opened}))
	put(".obsidian/bookmarks.json", harness.JSON(t, map[string]any{"items": marks}))
}

// hub is a note with much of everything.
func hub() string {
	return "---\nlist:\n" + harness.Repeat(50, "  - the item %d of the long list\n") + harness.Repeat(30, "key %d: the value\n") + "---\n" +
		harness.Repeat(30, "# Part %[1]d\n[[Spoke %02[1]d]] and [[missing %[1]d]], #hub/tag%[1]d\n- [ ] #turn task of the hub %[1]d\n") +
		"# Long\n" + harness.Repeat(30, "line %d of the long part\n")
}
