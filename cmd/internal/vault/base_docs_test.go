package vault

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

// documented is the vault of docs/bases.md, without the base that the page shows.
var documented = map[string]string{
	"Books/Dune.md":    "---\nstatus: done\nrating: 5\nfinished: 2026-01-11\nauthor: \"[[Frank Herbert]]\"\ntags: [book]\n---\nSee [[Ubik]].\n",
	"Books/Ubik.md":    "---\nstatus: reading\nrating: 4\nauthor: \"[[Philip K. Dick|Dick]]\"\ntags: [book]\n---\n",
	"Books/Solaris.md": "---\nstatus: done\nrating: 2\nfinished: 2025-12-24\ntags: [book]\n---\n",
	"Books/Emma.md":    "---\nstatus: to-read\ntags: [book]\n---\n",
	"Broken.base":      "filters:\n  and:\n    - status ==\n    - nope()\nformulas:\n  a: formula.b\n  b: formula.a\nviews:\n  - type: table\n    name: V\n    order: [file.colour]\n",
	"Plan.md":          "# Plan\n\n```base\nfilters: status == \"reading\"\nviews:\n  - {type: table, name: Now, order: [file.name]}\n```\n",
}

// The examples of docs/bases.md print what the page says.
func TestDocumentedBases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "bases.md"))
	require.NoError(t, err)
	page := string(text)
	_, base, _ := strings.Cut(page, "```yaml\n")
	base, _, _ = strings.Cut(base, "```")
	files := map[string]string{"Books.base": base}
	for path, content := range documented {
		files[path] = content
	}
	printsExamples(t, page, files, 10)
}

// printsExamples compares what the examples of a page print with what it says, on a
// vault with these files.
func printsExamples(t *testing.T, page string, files map[string]string, least int) {
	t.Helper()
	h := build(t, files)
	examples := 0
	for _, block := range strings.Split(page, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, example := range strings.Split(block, "$ vaultwicket vault ~/Notes ")[1:] {
			line, want, _ := strings.Cut(example, "\n")
			_, out, _ := h.run(words(strings.TrimPrefix(line, "--write "))...)
			if out != want {
				t.Errorf("%s prints\n%swant\n%s", line, out, want)
			}
			examples++
		}
	}
	if examples < least {
		t.Errorf("the page has %d examples", examples)
	}
}

var word = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)

// words takes a line apart as a shell does that knows single quotes alone.
func words(line string) (all []string) {
	for _, found := range word.FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(found, "'", ""))
	}
	return all
}
