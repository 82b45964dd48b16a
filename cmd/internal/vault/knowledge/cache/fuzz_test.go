package cache

import (
	"bytes"
	"testing"

	"vaultwicket/tests/require"
)

// FuzzTable takes arbitrary bytes for a table. One that is sound names nothing
// that is not in its pack, finds every path that it contains, and is what its
// own entries would be written as.
func FuzzTable(f *testing.F) {
	whole := tableOf(packID{2}, 32, rows...)
	f.Add(whole)
	f.Add(whole[:len(whole)-sumSize])
	f.Add(tableOf(packID{}, 0))
	f.Add(tableOf(packID{2}, 31, rows...))
	f.Add(tableOf(packID{2}, 32, rows[1], rows[0]))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum is put right, or nothing but checksums would be tried.
		for _, data := range [][]byte{data, order.AppendUint32(bytes.Clone(data), checksum(data))} {
			table, ok := parseTable(data, testVault, testProgram)
			if !ok {
				continue
			}
			items := make([]item, table.count)
			for i := range items {
				items[i] = item{table.path(i), table.entry(i)}
				if place, ok := table.find(items[i].path); !ok || place != i {
					t.Fatalf("path %d is found at %d, %v", i, place, ok)
				}
				for _, s := range items[i].spans {
					if s.isKept() && (s.at > table.length || s.end() > table.length) {
						t.Fatalf("%+v is after %d", s, table.length)
					}
				}
			}
			generation := [16]byte(data[generationAt:])
			again := makeTable(generation, table.pack, table.length, testVault, testProgram, items)
			require.That(t, bytes.Equal(again, data), "a table is written in two ways")
		}
	})
}
