package cache

import (
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// rows are the rows of a table whose pack has 32 bytes.
var rows = []item{
	{"a.md", entry{system.Stamp{Size: 1, Modified: 2, Changed: 3, Inode: 4}, [partCount]span{{0, 10, 5}, {10, 20, 6}, {30, 2, 7}}}},
	{"b/c.md", entry{system.Stamp{Size: 7}, [partCount]span{{32, 0, 0}, noSpan, noSpan}}},
	{"b/d.md", entry{system.Stamp{Size: 7}, [partCount]span{noSpan, {30, 2, 0}, noSpan}}},
}

func tableOf(p packID, length uint64, items ...item) []byte {
	return makeTable([16]byte{1}, p, length, testVault, testProgram, items)
}

func TestATableIsReadAsItWasWritten(t *testing.T) {
	table, ok := parseTable(tableOf(packID{2}, 32, rows...), testVault, testProgram)
	require.That(t, ok, "%+v, %v", table, ok)
	require.Equal(t, table.pack, packID{2})
	require.Equal(t, table.length, 32)
	require.Equal(t, table.count, len(rows))
	for i, row := range rows {
		if table.path(i) != row.path || table.entry(i) != row.entry || table.stamp(i) != row.stamp {
			t.Errorf("%d: %q, %+v", i, table.path(i), table.entry(i))
		}
	}
	for _, path := range []string{"", "a", "a.md0", "b", "b/c", "c"} {
		place, ok := table.find(path)
		assert.That(t, !ok, "%q is found at %d", path, place)
	}
}

func TestTablesThatMakeNoSense(t *testing.T) {
	with := func(change func(e *entry)) []byte {
		items := slices.Clone(rows)
		change(&items[1].entry)
		return tableOf(packID{2}, 32, items...)
	}
	for name, data := range map[string][]byte{
		"not sorted":                    tableOf(packID{2}, 32, rows[1], rows[0]),
		"a path twice":                  tableOf(packID{2}, 32, rows[0], rows[0]),
		"a pack without a name":         tableOf(packID{}, 32),
		"a pack of absurd length":       tableOf(packID{2}, 1<<63),
		"texts in no pack":              tableOf(packID{}, 0, rows...),
		"facts behind the end":          tableOf(packID{2}, 31, rows[2]),
		"a filter behind the end":       with(func(e *entry) { e.spans[FilterPart] = span{at: 31, size: 2} }),
		"a text behind the end":         with(func(e *entry) { e.spans[TextPart] = span{at: 23, size: 10} }),
		"a text that begins behind it":  with(func(e *entry) { e.spans[TextPart] = span{at: 33} }),
		"a text whose end flows over":   with(func(e *entry) { e.spans[TextPart] = span{at: 1<<64 - 2, size: 10} }),
		"a text that is not and has so": with(func(e *entry) { e.spans[TextPart] = span{at: noSpan.at, size: 1} }),
	} {
		_, ok := parseTable(data, testVault, testProgram)
		assert.That(t, !ok, "%s: it is a table", name)
	}
	whole := tableOf(packID{2}, 32, rows...)
	for n := range whole {
		_, ok := parseTable(whole[:n], testVault, testProgram)
		assert.That(t, !ok, "the first %d bytes are a table", n)
		_, ok = decodeTable(append(slices.Clone(whole[:n]), make([]byte, headSize)...), testVault, testProgram)
		assert.That(t, !ok || n+headSize == len(whole)-sumSize, "the first %d bytes and zeros are a table", n)
	}
}
