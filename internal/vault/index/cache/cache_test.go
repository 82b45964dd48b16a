package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	testVault   = "/home/someone/a vault"
	testProgram = "vaultwicket 1.2.3"
)

// file is one file of a vault that does not exist. Its text follows from path
// and stamp, so that an answer can be told right from wrong.
type file struct {
	path  string
	stamp system.Stamp
}

func fileOf(path string, state int64, size int) file {
	return file{path, system.Stamp{Size: int64(size), Modified: state, Changed: state + 1, Inode: uint64(state)}}
}

func (f file) text() []byte { return f.beginning(int(f.stamp.Size)) }

// beginning returns at most that much of the text.
func (f file) beginning(most int) []byte {
	text := make([]byte, min(int(f.stamp.Size), most))
	head := fmt.Sprintf("---\ntags: [a, %d]\nup: \"[[%s]]\"\n---\n# Heading %d\n\nSee [[%s#x|y]] #tag ^b%d\n- [ ] task\n",
		f.stamp.Modified, f.path, f.stamp.Modified, f.path, f.stamp.Modified)
	done := copy(text, head)
	done += copy(text[done:], fmt.Sprintf("line of %s in state %d\n", f.path, f.stamp.Modified))
	for done < len(text) {
		done += copy(text[done:], text[len(head):done])
	}
	return text
}

// facts are no more to the cache than a text of another kind.
func (f file) facts() string {
	return strings.Repeat(fmt.Sprintf("facts of %s in state %d;", f.path, f.stamp.Modified), 1+int(f.stamp.Size)%7)
}

// filter is another text.
func (f file) filter() string {
	return fmt.Sprintf("filter of %s in state %d", f.path, f.stamp.Modified)
}

func (f file) found() Found { return Found{f.facts(), f.filter()} }

func open(t testing.TB, dir string) *Cache {
	t.Helper()
	c := Open(dir, testVault, testProgram)
	t.Cleanup(func() { c.Close() })
	return c
}

// commit ends an update and returns the new cache.
func commit(t interface {
	require.T
	Cleanup(func())
}, u *Update) *Cache {
	t.Helper()
	c := require.Value(u.Commit())(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// save replaces the cache in dir.
func save(t testing.TB, dir string, files ...file) {
	t.Helper()
	u := open(t, dir).Update()
	for _, f := range files {
		u.Put(f.path, f.stamp, f.text(), f.found())
	}
	commit(t, u).Close()
}

// keepAll keeps files of a cache in an update of it.
func keepAll(u *Update, c *Cache, files ...file) {
	for _, f := range files {
		r, _ := c.Find(f.path, f.stamp)
		u.Keep(f.path, r)
	}
}

type reporter interface{ Errorf(string, ...any) }

// check fails if c answers wrongly for a file, and reports whether it answers.
func (f file) check(t reporter, c *Cache) (text, facts bool) {
	r, ok := c.Find(f.path, f.stamp)
	if !ok {
		return false, false
	}
	got, text := c.Read(r, TextPart, nil)
	if text && string(got) != string(f.text()) {
		t.Errorf("%s: wrong text %q", f.path, got)
	}
	found, facts := c.Facts(r)
	if facts && found != f.facts() {
		t.Errorf("%s: wrong facts %+v", f.path, found)
	}
	c.Each([]Record{r}, FilterPart, func(_ int, filter []byte, ok bool) {
		if ok && string(filter) != f.filter() {
			t.Errorf("%s: wrong filter %q", f.path, filter)
		}
	})
	other := f.stamp
	other.Changed++
	if _, ok := c.Find(f.path, other); ok {
		t.Errorf("%s: found under another stamp", f.path)
	}
	return text, facts
}

// checkAll fails unless c answers for all files, one by one and all at once.
func checkAll(t reporter, c *Cache, files ...file) {
	if c.Len() != len(files) {
		t.Errorf("%d files instead of %d", c.Len(), len(files))
		return
	}
	records := make([]Record, len(files))
	for i, f := range files {
		if text, facts := f.check(t, c); !text || !facts {
			t.Errorf("%s: text %v, facts %v", f.path, text, facts)
		}
		records[i], _ = c.Find(f.path, f.stamp)
	}
	var visits atomic.Int64
	c.Each(records, TextPart, func(i int, text []byte, ok bool) {
		if visits.Add(1); !ok || string(text) != string(files[i].text()) {
			t.Errorf("%s: text %q, %v", files[i].path, text, ok)
		}
	})
	c.Each(records, FilterPart, func(i int, filter []byte, ok bool) {
		if visits.Add(1); ok != records[i].Has(FilterPart) || ok && string(filter) != files[i].filter() {
			t.Errorf("%s: filter %q, %v", files[i].path, filter, ok)
		}
	})
	if int(visits.Load()) != 2*len(files) {
		t.Errorf("%d visits for %d files", visits.Load(), len(files))
	}
}

func someFiles(n int) []file {
	files := make([]file, n)
	for i := range files {
		files[i] = fileOf(fmt.Sprintf("folder %d/note %d.md", i%3, i), int64(i+1), i*i*13%2000)
	}
	return files
}

func glob(t testing.TB, dir, pattern string) []string {
	t.Helper()
	return require.Value(filepath.Glob(filepath.Join(dir, pattern)))(t)
}

func TestWhatWasPutIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	require.Equal(t, open(t, dir).Len(), 0, "a cache that is not there contains something")
	_, err := os.Stat(dir)
	require.That(t, err != nil, "opening has made the folder")
	files := append(someFiles(40), fileOf("empty.md", 1, 0), fileOf("large.md", 1, 3*stagedTexts+1))
	save(t, dir, files...)
	checkAll(t, open(t, dir), files...)
	_, ok := open(t, dir).Find("folder 0/note", files[0].stamp)
	assert.That(t, !ok, "a path that was not put is found")
}

func TestTheCacheOfSomethingElseIsEmpty(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, someFiles(3)...)
	assert.Equal(t, Open(dir, testVault, "vaultwicket 1.2.4").Len(), 0, "another program's")
	assert.Equal(t, Open(dir, testVault+"2", testProgram).Len(), 0, "another vault's")
	// Even if a table is where that of another vault would.
	own, other := newPlace(dir, testVault), newPlace(dir, "/other")
	for _, name := range tableAndPack(t, dir) {
		require.NoError(t, os.Rename(name, strings.Replace(name, own.stem, other.stem, 1)))
	}
	assert.Equal(t, Open(dir, "/other", testProgram).Len(), 0, "another vault's, renamed")
}

func TestAnotherProgramTakesOver(t *testing.T) {
	dir, files := t.TempDir(), someFiles(3)
	save(t, dir, files...)
	c := Open(dir, testVault, "another")
	u := c.Update()
	u.Put("a.md", system.Stamp{Size: 1}, []byte("a"), Found{})
	next, err := u.Commit()
	require.NoError(t, err)
	require.Equal(t, next.Len(), 1)
	next.Close()
	c.Close()
	assert.Equal(t, len(glob(t, dir, "*.pack")), 1, "packs")
}

func TestNothingIsWrittenIfNothingChanged(t *testing.T) {
	dir, files := t.TempDir(), someFiles(9)
	save(t, dir, files...)
	table := glob(t, dir, "*.table")[0]
	before, _ := os.Stat(table)
	c := open(t, dir)
	u := c.Update()
	keepAll(u, c, files...)
	same := commit(t, u)
	c.Close()
	checkAll(t, same, files...)
	after, _ := os.Stat(table)
	assert.That(t, os.SameFile(before, after), "the table was written")
	// What is the same is updated as if it were the first.
	u = same.Update()
	keepAll(u, same, files[1:]...)
	less := commit(t, u)
	same.Close()
	checkAll(t, less, files[1:]...)
	less.Close()
}

func TestOnlyOneUpdatesAtATime(t *testing.T) {
	dir := t.TempDir()
	one, other := open(t, dir), open(t, dir)
	u := one.Update()
	require.That(t, other.Update() == nil, "two updates at once")
	u.Put("a.md", system.Stamp{Size: 1}, []byte("a"), Found{})
	u.Discard()
	u.Discard()
	_, err := u.Commit()
	assert.That(t, err != nil, "committed after its end")
	assert.Equal(t, len(glob(t, dir, "*.pack")), 0, "discarding left")
	u = other.Update()
	u.Put("b.md", system.Stamp{Size: 1}, []byte("b"), Found{})
	commit(t, u)
	assert.That(t, one.Update() == nil, "an update of what is out of date")
	u = open(t, dir).Update()
	assert.That(t, u != nil, "no update of what is up to date")
	u.Discard()
}

// A look that did not come to all files keeps the others as they were.
func TestOthersAreKept(t *testing.T) {
	dir := t.TempDir()
	files := someFiles(4)
	save(t, dir, files[:3]...)
	changed := fileOf(files[1].path, 77, 500)
	before := open(t, dir)
	u := before.Update()
	keepAll(u, before, files[0])
	u.Put(changed.path, changed.stamp, changed.text(), changed.found())
	u.Put(files[3].path, files[3].stamp, files[3].text(), files[3].found())
	u.KeepOthers()
	commit(t, u).Close()
	c := open(t, dir)
	assert.Equal(t, c.Len(), 4)
	checkAll(t, c, files[0], changed, files[2], files[3])
}

func TestANilUpdateDoesNothing(t *testing.T) {
	var u *Update
	u.Keep("a", Record{})
	u.Add("a", Record{}, FactsPart, "")
	u.Put("a", system.Stamp{Size: 1}, nil, Found{})
	u.KeepOthers()
	u.Discard()
	c, err := u.Commit()
	assert.That(t, c == nil, "%v %v", c, err)
	assert.That(t, err != nil, "%v %v", c, err)
	c = open(t, t.TempDir())
	for range 2 {
		err := c.Close()
		require.Equal(t, err, nil, "a closed cache")
		assert.That(t, c.Update() == nil, "a closed cache: %v", err)
	}
}

func TestZeroRecordsAndStampsHoldNothing(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	_, ok := c.Read(Record{}, TextPart, nil)
	assert.That(t, !ok, "the zero record contains something")
	assert.That(t, !(Record{}).Has(FactsPart), "the zero record contains something")
	assert.That(t, !(Record{}).Has(TextPart), "the zero record contains something")
	u := c.Update()
	u.Keep("a", Record{})
	u.Add("a", Record{}, FactsPart, "facts")
	u.Put("a", system.Stamp{}, []byte("a"), Found{Facts: "facts"})
	next, err := u.Commit()
	if err != nil || next.Len() != 0 {
		t.Fatal(next.Len(), err)
	}
	next.Close()
	if names := glob(t, dir, "*.*[ek]"); len(names) != 1 { // the lock
		t.Errorf("something was written: %q", names)
	}
}

func TestOfSeveralTheLastCounts(t *testing.T) {
	dir := t.TempDir()
	old, f := fileOf("a.md", 1, 100), fileOf("a.md", 2, 200)
	save(t, dir, old)
	c := open(t, dir)
	r, _ := c.Find(old.path, old.stamp)
	u := c.Update()
	u.Put(f.path, system.Stamp{Size: 9}, []byte("wrong"), Found{})
	u.Put(f.path, f.stamp, f.text(), f.found())
	u.Keep(f.path, r)
	u.Keep("b.md", r) // renamed
	next := commit(t, u)
	r, ok := next.Find("b.md", old.stamp)
	text, _ := next.Read(r, TextPart, nil)
	require.Equal(t, next.Len(), 2, "%d files, %v", next.Len(), ok)
	require.That(t, ok, "%d files, %v, %q", next.Len(), ok, text)
	assert.Equal(t, string(text), string(old.text()), "%d files, %v", next.Len(), ok)
	if text, facts := f.check(t, next); !text || !facts {
		t.Errorf("text %v, facts %v", text, facts)
	}
}

func TestARecordOfAnotherPackIsNotKept(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	f := fileOf("a.md", 1, 100)
	save(t, one, f)
	save(t, other, someFiles(9)...)
	r, _ := open(t, one).Find(f.path, f.stamp)
	u := open(t, other).Update()
	u.Keep(f.path, r)
	u.Add(f.path, r, FactsPart, f.facts())
	c := commit(t, u)
	assert.That(t, c.Len() == 0, "%d files", c.Len())
}

func TestBeyondTheLimitOnlyFactsAreKept(t *testing.T) {
	u := open(t, t.TempDir()).update(1000)
	small, large := fileOf("a.md", 1, 700), fileOf("b.md", 1, 800)
	u.Put(small.path, small.stamp, small.text(), Found{})
	u.Put(large.path, large.stamp, large.text(), large.found())
	u.Put("c.md", large.stamp, large.text(), Found{})
	c := commit(t, u)
	text, _ := small.check(t, c)
	assert.That(t, text, "a text within the limit is not kept")
	if text, facts := large.check(t, c); text || !facts || c.Len() != 2 {
		t.Errorf("beyond the limit: text %v, facts %v, %d files", text, facts, c.Len())
	}
}

func TestTheBufferIsUsedAgain(t *testing.T) {
	dir, f := t.TempDir(), fileOf("a.md", 1, 500)
	save(t, dir, f)
	c := open(t, dir)
	r, _ := c.Find(f.path, f.stamp)
	buf := make([]byte, 0, 1000)
	text, ok := c.Read(r, TextPart, buf)
	require.That(t, ok, "it is not")
	assert.Equal(t, &text[0], &buf[:1][0], "it is not")
	if allocs := testing.AllocsPerRun(100, func() { c.Read(r, TextPart, buf) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// Facts and a filter come later, in any order, beside what is there.
func TestPartsAreAddedOneByOne(t *testing.T) {
	for _, order := range [][]Part{{FactsPart, FilterPart}, {FilterPart, FactsPart}} {
		dir, f := t.TempDir(), fileOf("a.md", 1, 500)
		u := open(t, dir).Update()
		u.Put(f.path, f.stamp, f.text(), Found{})
		c := commit(t, u)
		first, _ := c.Find(f.path, f.stamp)
		has := [partCount]bool{TextPart: true}
		for _, part := range order {
			r, _ := c.Find(f.path, f.stamp)
			_, found := c.Facts(r)
			got := [partCount]bool{r.Has(TextPart), r.Has(FactsPart), r.Has(FilterPart)}
			require.Equal(t, got, has, "before %d is added: %v, facts %v", part, got, found)
			require.Equal(t, found, has[FactsPart], "before %d is added: %v, facts %v", part, got, found)
			u = c.Update()
			u.Add(f.path, r, part, map[Part]string{FactsPart: f.facts(), FilterPart: f.filter()}[part])
			c = commit(t, u)
			has[part] = true
		}
		checkAll(t, c, f)
		checkAll(t, open(t, dir), f)
		r, _ := c.Find(f.path, f.stamp)
		assert.That(t, r.Has(FilterPart), "there is no filter")
		// A record goes on to be of use in a cache that was made from its own.
		text, ok := c.Read(first, TextPart, nil)
		require.That(t, ok, "%q, %v", text, ok)
		assert.Equal(t, string(text), string(f.text()))
	}
}

// A damaged part is no answer, and a note that has one is not kept, neither as it is nor with another part.
func TestADamagedPartIsNotKept(t *testing.T) {
	for part := range Part(partCount) {
		for _, adds := range []bool{false, true} {
			dir, f := t.TempDir(), fileOf("a.md", 1, 500)
			save(t, dir, f)
			c := open(t, dir)
			r, _ := c.Find(f.path, f.stamp)
			flip(t, glob(t, dir, "*.pack")[0], int64(r.entry().spans[part].at))
			c.Each([]Record{r}, part, func(_ int, data []byte, ok bool) {
				assert.That(t, !ok, "a damaged part %d is answered with: %q", part, data)
			})
			u := c.Update()
			if adds {
				u.Add(f.path, r, FilterPart, f.filter())
			} else {
				u.Keep(f.path, r)
			}
			_, ok := commit(t, u).Find(f.path, f.stamp)
			assert.That(t, !ok, "a note with a damaged part %d is kept", part)
		}
	}
}

// flip changes one byte of a file.
func flip(t *testing.T, name string, at int64) {
	t.Helper()
	file := require.Value(os.OpenFile(name, os.O_RDWR, 0))(t)
	defer file.Close()
	b := make([]byte, 1)
	require.Value(file.ReadAt(b, at))(t)
	b[0] ^= 1
	require.Value(file.WriteAt(b, at))(t)
}
