package testenv

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// UpdateGolden is the flag that writes the files again.
var UpdateGolden = flag.Bool("update", false, "write what is generated")

// GoldenFile reports the first line by which a file differs from what is generated.
func GoldenFile(t testing.TB, name, generated string) {
	t.Helper()
	if *UpdateGolden {
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

// PageBetween is a page with other text between the two comments that bear a name.
func PageBetween(t testing.TB, page, name, text string) string {
	t.Helper()
	begin := "<!-- " + name + " -->\n"
	end := "<!-- /" + name + " -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	require.That(t, ok, "the page has no comments %s", name)
	require.That(t, closed, "the page has no comments %s", name)
	return before + begin + text + end + after
}

// TableHead writes the first lines of a table.
func TableHead(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n|" + strings.Repeat("---|", len(cells)) + "\n"
}

// TableRow writes one row of a table.
func TableRow(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cmp.Or(cell, "–"), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// TableCode writes a cell as it is typed.
func TableCode(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
