package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// tableAndPack returns the table and the pack in dir.
func tableAndPack(t *testing.T, dir string) []string {
	t.Helper()
	names := append(glob(t, dir, "*.table"), glob(t, dir, "*.pack")...)
	require.That(t, len(names) == 2, "the cache is %q", names)
	return names
}

// survives fails if the cache in dir, of which something was harmed, answers
// wrongly, or if an update does not make it whole again.
func survives(t *testing.T, dir, what string, files []file) {
	t.Helper()
	c := open(t, dir)
	records := make([]Record, len(files))
	for i, f := range files {
		f.check(t, c)
		records[i], _ = c.Find(f.path, f.stamp)
	}
	c.Each(records, TextPart, func(i int, text []byte, ok bool) {
		assert.That(t, !ok || string(text) == string(files[i].text()), "%s: wrong text", what)
	})
	// As callers do: what is found and was not found to be harmed is kept.
	for range 2 {
		u := c.Update()
		require.That(t, u != nil, "%s: no update", what)
		for i, f := range files {
			r, ok := c.Find(f.path, f.stamp)
			if _, sound := c.Read(r, TextPart, nil); ok && sound && i%2 == 0 {
				u.Keep(f.path, r)
				continue
			}
			u.Put(f.path, f.stamp, f.text(), f.found())
		}
		next, err := u.Commit()
		require.That(t, err == nil, "%s: %v", what, err)
		c.Close()
		c = next
	}
	for _, f := range files {
		text, facts := f.check(t, c)
		assert.That(t, text, "%s: %s is not whole again: %v, %v", what, f.path, text, facts)
		assert.That(t, facts, "%s: %s is not whole again: %v, %v", what, f.path, text, facts)
	}
	c.Close()
	assert.Equal(t, len(glob(t, dir, "*.pack")), 1, "%s: packs", what)
}

// harm lets change change one file of a saved cache at a time.
func harm(t *testing.T, files []file, change func(data []byte, try func(what string, data []byte))) {
	origin := t.TempDir()
	save(t, origin, files...)
	for i, name := range tableAndPack(t, origin) {
		data := require.Value(os.ReadFile(name))(t)
		other := tableAndPack(t, origin)[1-i]
		change(data, func(what string, data []byte) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o600))
			require.NoError(t, os.Link(other, filepath.Join(dir, filepath.Base(other))))
			defer os.RemoveAll(dir)
			whole, _ := os.ReadFile(other)
			survives(t, dir, fmt.Sprintf("%s, %s", filepath.Ext(name), what), files)
			require.NoError(t, os.WriteFile(other, whole, 0o600))
		})
	}
}

func TestWhatIsCutShortIsNoWrongAnswer(t *testing.T) {
	harm(t, someFiles(25), func(data []byte, try func(string, []byte)) {
		for n := range 20 {
			size := len(data) * n / 20
			try(fmt.Sprintf("cut to %d of %d", size, len(data)), data[:size])
			zeroed := make([]byte, len(data))
			copy(zeroed, data[:size])
			try(fmt.Sprintf("zero behind %d of %d", size, len(data)), zeroed)
		}
	})
}

func TestAFlippedBitIsNoWrongAnswer(t *testing.T) {
	harm(t, someFiles(5), func(data []byte, try func(string, []byte)) {
		for at := 0; at < len(data); at += 1 + len(data)/150 {
			flipped := slices.Clone(data)
			flipped[at] ^= 1 << (at % 8)
			try(fmt.Sprintf("flipped at %d of %d", at, len(data)), flipped)
		}
	})
}

func TestWhatACrashLeftIsSweptUp(t *testing.T) {
	dir, files := t.TempDir(), someFiles(9)
	save(t, dir, files...)
	p := newPlace(dir, testVault)
	others := newPlace(dir, "/another vault")
	pack := glob(t, dir, "*.pack")[0]
	for _, name := range []string{p.random(randomID(), packSuffix), p.random(randomID(), halfSuffix), others.random(randomID(), packSuffix)} {
		require.NoError(t, os.WriteFile(name, make([]byte, 100), 0o600))
	}
	appendTo(t, pack, make([]byte, 1<<20))
	checkAll(t, open(t, dir), files...)

	more := fileOf("more.md", 1, 300)
	c := open(t, dir)
	u := c.Update()
	keepAll(u, c, files...)
	u.Put(more.path, more.stamp, more.text(), more.found())
	next := commit(t, u)
	checkAll(t, next, append(files, more)...)
	next.Close()
	info, _ := os.Stat(pack)
	require.That(t, info != nil, "junk is left in the pack")
	assert.That(t, info.Size() <= 1<<20, "junk is left in the pack")
	left := append(glob(t, dir, "*.pack"), glob(t, dir, "*.half")...)
	assert.That(t, len(left) == 2, "left are %q, want the pack and that of another vault", left)
}

func appendTo(t *testing.T, name string, data []byte) {
	t.Helper()
	file := require.Value(os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0))(t)
	require.Value(file.Write(data))(t)
	file.Close()
}

func TestGarbageIsLeftBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pack that is open cannot be removed there")
	}
	dir := t.TempDir()
	small, large := someFiles(9), fileOf("large.md", 1, 3<<20)
	save(t, dir, append(small, large)...)
	pack := glob(t, dir, "*.pack")[0]
	old := open(t, dir)
	u := old.Update()
	keepAll(u, old, small...)
	c := commit(t, u)
	checkAll(t, c, small...)
	checkAll(t, old, append(small, large)...)
	r, _ := old.Find(small[1].path, small[1].stamp)
	_, ok := c.Read(r, TextPart, nil)
	assert.That(t, !ok, "a record of another pack is read")
	c.Close()
	old.Close()
	packs := glob(t, dir, "*.pack")
	info, err := os.Stat(packs[0])
	require.Equal(t, len(packs), 1, "packs %q", packs)
	require.That(t, packs[0] != pack, "packs %q, %v", packs, err)
	require.Equal(t, err, nil, "packs %q", packs)
	assert.That(t, info.Size() <= 1<<20, "packs %q, %v", packs, err)
}

func TestWhatIsDamagedIsLeftBehindWithTheGarbage(t *testing.T) {
	dir := t.TempDir()
	small, large := someFiles(9), fileOf("large.md", 1, 3<<20)
	save(t, dir, append(small, large)...)
	c := open(t, dir)
	r, _ := c.Find(small[5].path, small[5].stamp)
	flip(t, glob(t, dir, "*.pack")[0], int64(r.entry().spans[TextPart].at))
	u := c.Update()
	keepAll(u, c, small...)
	next := commit(t, u)
	for i, f := range small {
		r, _ := next.Find(f.path, f.stamp)
		if text, facts := f.check(t, next); text != (i != 5) || text != r.Has(TextPart) || !facts {
			t.Errorf("%s: text %v, is said to be there %v, facts %v", f.path, text, r.Has(TextPart), facts)
		}
	}
}

func TestAPackThatIsTooShortIsNone(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, someFiles(9)...)
	pack := glob(t, dir, "*.pack")[0]
	info, _ := os.Stat(pack)
	require.NoError(t, os.Truncate(pack, info.Size()-1))
	c := open(t, dir)
	assert.That(t, c.Len() == 0, "%d files", c.Len())
}

func TestACommitThatFailsLeavesWhatWas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pack that is open cannot be renamed there")
	}
	dir, files := t.TempDir(), someFiles(9)
	save(t, dir, files...)
	pack := glob(t, dir, "*.pack")[0]
	before, _ := os.ReadFile(pack)
	c := open(t, dir)
	// Another pack in the place of the one that is open.
	require.NoError(t, os.Rename(pack, pack+".away"))
	require.NoError(t, os.WriteFile(pack, before, 0o600))
	u := c.Update()
	u.Put("a.md", files[0].stamp, []byte("a"), Found{})
	if next, err := u.Commit(); err == nil {
		t.Errorf("a cache with %d files", next.Len())
	}
	after, _ := os.ReadFile(pack)
	assert.Equal(t, string(after), string(before), "something was written")
	checkAll(t, open(t, dir), files...)
	checkAll(t, c, files...)
}

// TestAWriteThatFailsFailsTheCommit has writes of several goroutines fail that are made
// before the end of the update.
func TestAWriteThatFailsFailsTheCommit(t *testing.T) {
	dir, f := t.TempDir(), fileOf("a.md", 1, 500)
	save(t, dir, f)
	c := open(t, dir)
	r, _ := c.Find(f.path, f.stamp)
	u := c.Update()
	u.Keep(f.path, r)
	first := fileOf("first.md", 2, stagedTexts+1) // it is written at once
	u.Put(first.path, first.stamp, first.text(), Found{})
	require.NoError(t, u.writer.file.Close())
	var puts sync.WaitGroup
	for n := range 4 {
		puts.Go(func() {
			g := fileOf(fmt.Sprintf("note %d.md", n), int64(n+3), stagedTexts-1)
			u.Put(g.path, g.stamp, g.text(), g.found())
		})
	}
	puts.Wait()
	_, err := u.Commit()
	require.That(t, err != nil, "what could not be written is kept")
	checkAll(t, open(t, dir), f)
}

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
				place, ok := table.find(items[i].path)
				require.That(t, ok, "path %d is found at %d, %v", i, place, ok)
				require.Equal(t, place, i, "path %d is found at %d", i, place)
				for _, s := range items[i].spans {
					if s.isPresent() && (s.at > table.length || s.end() > table.length) {
						t.Fatalf("%+v is after %d", s, table.length)
					}
				}
			}
			again := makeTable([16]byte(data[generationAt:]), table.pack, table.length, testVault, testProgram, items)
			require.That(t, bytes.Equal(again, data), "a table is written in two ways")
		}
	})
}
