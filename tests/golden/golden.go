// Package golden compares what the code generates with the files that keep it, and has the
// tables of Markdown that generated pages consist of.
package golden

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Update is the flag that writes the files again.
var Update = flag.Bool("update", false, "write what is generated")

// File reports the first line by which a file differs from what is generated.
func File(t testing.TB, name, generated string) {
	t.Helper()
	if *Update {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(generated), 0o644))
	}
	kept, err := os.ReadFile(name)
	if err != nil || string(kept) != generated {
		shared := 0
		for shared < min(len(kept), len(generated)) && kept[shared] == generated[shared] {
			shared++
		}
		line := generated[strings.LastIndex(generated[:shared], "\n")+1:]
		line, _, _ = strings.Cut(line, "\n")
		t.Errorf("%s is stale (%v), at line %d, which should be\n%s\ngo test -run %s -update writes it", name, err,
			strings.Count(generated[:shared], "\n")+1, line, t.Name())
	}
}

// Between is a page with other text between the two comments that bear a name.
func Between(t testing.TB, page, name, text string) string {
	t.Helper()
	begin := "<!-- " + name + " -->\n"
	end := "<!-- /" + name + " -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	require.That(t, ok, "the page has no comments %s", name)
	require.That(t, closed, "the page has no comments %s", name)
	return before + begin + text + end + after
}

// Head writes the first lines of a table.
func Head(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n|" + strings.Repeat("---|", len(cells)) + "\n"
}

// Row writes one row of a table.
func Row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cmp.Or(cell, "–"), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// Code writes a cell as it is typed.
func Code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
