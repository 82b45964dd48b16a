package cache

import (
	"fmt"
	"sync/atomic"
	"testing"

	"vaultwicket/tests/require"
)

// vault returns files like those of a vault: in folders, 4 KB each, with some
// links, tags and headings.
func vault(n int) []file {
	files := make([]file, n)
	for i := range files {
		files[i] = fileOf(fmt.Sprintf("%02d/folder/note %d.md", i%100, i), int64(i+1), 4000)
	}
	return files
}

// filled returns a folder with the cache of n files.
func filled(b *testing.B, n int) (dir string, files []file) {
	b.Helper()
	dir, files = b.TempDir(), vault(n)
	u := open(b, dir).Update()
	for _, f := range files {
		text := f.text()
		u.Put(f.path, f.stamp, text, f.found())
	}
	c := require.Value(u.Commit())(b)
	c.Close()
	return dir, files
}

func recordsOf(b *testing.B, c *Cache, files []file) []Record {
	b.Helper()
	records := make([]Record, len(files))
	for i, f := range files {
		r, ok := c.Find(f.path, f.stamp)
		require.That(b, ok, "%v", f.path)
		records[i] = r
	}
	return records
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, _ := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				c := Open(dir, testVault, testProgram)
				require.Equal(b, c.Len(), n)
				c.Close()
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, files := filled(b, n)
			c := open(b, dir)
			b.ReportAllocs()
			for b.Loop() {
				for _, f := range files {
					_, ok := c.Find(f.path, f.stamp)
					require.That(b, ok, "%v", f.path)
				}
			}
		})
	}
}

func BenchmarkFacts(b *testing.B) {
	dir, files := filled(b, 10_000)
	c := open(b, dir)
	records := recordsOf(b, c, files)
	b.Run("single", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, r := range records {
				if _, ok := c.Facts(r); !ok {
					b.Fatal()
				}
			}
		}
	})
}

func BenchmarkTexts(b *testing.B) {
	dir, files := filled(b, 10_000)
	c := open(b, dir)
	records := recordsOf(b, c, files)
	b.Run("single", func(b *testing.B) {
		b.SetBytes(4000 * 10_000)
		var buf []byte
		for b.Loop() {
			for _, r := range records {
				text, ok := c.Read(r, TextPart, buf)
				if !ok {
					b.Fatal()
				}
				buf = text
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		b.SetBytes(4000 * 10_000)
		for b.Loop() {
			var size atomic.Int64
			c.Each(records, TextPart, func(_ int, text []byte, ok bool) { size.Add(int64(len(text))) })
			require.Equal(b, size.Load(), 4000*10_000)
		}
	})
}

// BenchmarkUpdate is what a call pays for one changed note of many.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, files := filled(b, n)
			c := open(b, dir)
			records := recordsOf(b, c, files)
			for b.Loop() {
				u := c.Update()
				for i, f := range files[1:] {
					u.Keep(f.path, records[i+1])
				}
				u.Put(files[0].path, files[0].stamp, []byte("text"), Found{})
				next := require.Value(u.Commit())(b)
				c.Close()
				c = next
				b.StopTimer()
				records = recordsOf(b, c, files)
				b.StartTimer()
			}
			c.Close()
		})
	}
}

// BenchmarkFill is what the first call pays.
func BenchmarkFill(b *testing.B) {
	files := vault(10_000)
	texts, facts := make([][]byte, len(files)), make([]string, len(files))
	for i, f := range files {
		texts[i], facts[i] = f.text(), f.facts()
	}
	b.ReportAllocs()
	for b.Loop() {
		c := Open(b.TempDir(), testVault, testProgram)
		u := c.Update()
		for i, f := range files {
			u.Put(f.path, f.stamp, texts[i], Found{Facts: facts[i]})
		}
		next := require.Value(u.Commit())(b)
		next.Close()
		c.Close()
	}
}
