package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// sample fills a journal with ten entries and returns them.
func sample(t *testing.T, j *Journal) []Entry {
	text := strings.Repeat("a line of a note\n", 20)
	for i := range 10 {
		next := text + fmt.Sprintf("line %d\n", i)
		e := begun(t, j, fmt.Sprintf("%d.md", i%2), text, next)
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		text = next
	}
	return entries(t, j)
}

// harmed checks a journal of which one byte was changed: that is told, and at
// most two records are gone, for a newline belongs to two.
func harmed(t *testing.T, j *Journal, whole []Entry, what string) {
	t.Helper()
	list, damage, err := j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	require.That(t, len(damage) != 0, "%s: nothing is told", what)
	lost := 0
	for _, e := range whole {
		at := slices.IndexFunc(list, func(other Entry) bool { return other.ID == e.ID })
		if at < 0 || list[at].State != e.State {
			lost++
			continue
		}
		require.Equal(t, fmt.Sprint(list[at]), fmt.Sprint(e), "%s: %+v became %+v", what, e, list[at])
	}
	assert.That(t, lost <= 1, "%s: %d records are lost", what, lost)
	for _, e := range whole {
		want := e.Steps[0].Before
		text, err := j.object(t.Context(), want.Hash)
		require.That(t, err != nil || ImageOf(text) == want, "%s: wrong bytes", what)
		assert.That(t, err == nil || isTyped(err), "%s: %v", what, err)
	}
}

func TestAnyByteThatIsFlippedOrCutIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	if testing.Short() {
		t.Skip("one goroutine, many files")
	}
	t.Parallel()
	j := newJournal(t, Limits{})
	whole := sample(t, j)
	name := j.folder.file(segmentName(1))
	data := require.Value(os.ReadFile(name))(t)
	step, mine := 1+len(data)/1500, testenv.Shard(t, 16)
	for at := 0; at < len(data); at += step {
		if !mine(at / step) {
			continue
		}
		for _, b := range []byte{data[at] ^ 1<<(at%8), '\n', 0} {
			if b == data[at] {
				continue
			}
			changed := slices.Clone(data)
			changed[at] = b
			require.NoError(t, os.WriteFile(name, changed, 0o600))
			harmed(t, again(j), whole, fmt.Sprintf("byte %d of %d became %q", at, len(data), b))
		}
		if at == len(data)-1 {
			break // without its newline the last line is still whole
		}
		require.NoError(t, os.WriteFile(name, slices.Delete(slices.Clone(data), at, at+1), 0o600))
		harmed(t, again(j), whole, fmt.Sprintf("byte %d of %d is missing", at, len(data)))
	}
	for at := range data {
		if data[at] == '\n' && at < len(data)-1 {
			changed := slices.Clone(data)
			changed[at] = 'x'
			require.NoError(t, os.WriteFile(name, changed, 0o600))
			if list, damage, err := again(j).Entries(t.Context(), Filter{}); err != nil || len(damage) != 1 || len(list) != len(whole) {
				t.Errorf("without the newline at %d: %d entries, %v, %v", at, len(list), damage, err)
			}
		}
	}
}

func TestACutEndIsToldAndGoneOnBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	if testing.Short() {
		t.Skip("one goroutine, many files")
	}
	t.Parallel()
	j := newJournal(t, Limits{})
	whole := sample(t, j)
	name := j.folder.file(segmentName(1))
	data := require.Value(os.ReadFile(name))(t)
	mine := testenv.Shard(t, 12)
	for size := len(data) - 1; size > len(data)-1200; size-- {
		if !mine(size) {
			continue
		}
		require.NoError(t, os.WriteFile(name, data[:size], 0o600))
		j := again(j)
		c := confirmed{map[string]string{}, map[string]State{}}
		for _, e := range whole[3:] {
			text := require.Value(j.object(t.Context(), e.Steps[0].Before.Hash))(t)
			c.texts[e.ID] = string(text)
		}
		c.check(t, j, fmt.Sprintf("cut at %d", size))
		e := begun(t, j, "0.md", "text", "")
		c.texts[e.ID] = "text"
		for _, j := range []*Journal{j, again(j)} {
			c.check(t, j, fmt.Sprintf("cut at %d, and gone on", size))
		}
		got := require.Value(os.ReadFile(name))(t)
		require.That(t, strings.HasPrefix(string(got), string(data[:size])), "what was readable is gone")
	}
}

func TestADamagedFileIsToldAndReplaced(t *testing.T) {
	for _, size := range []int{maxInline + 1000, maxPacked + 1} {
		j := newJournal(t, Limits{})
		j.inText = maxPacked
		text := string(random(size))
		e := begun(t, j, "a.bin", text, "")
		files, _ := filepath.Glob(j.folder.file("*" + objectSuffix))
		require.That(t, len(files) == 1, "files %q", files)
		data := require.Value(os.ReadFile(files[0]))(t)
		data[len(data)/2] ^= 1
		for name, spoil := range map[string]func() error{
			"altered": func() error { return os.WriteFile(files[0], data, 0o600) },
			"cut":     func() error { return os.Truncate(files[0], int64(size/2)) },
			"missing": func() error { return os.Remove(files[0]) },
		} {
			require.NoError(t, spoil())
			var damaged *Damaged
			_, err := again(j).object(t.Context(), e.Steps[0].Before.Hash)
			assert.That(t, errors.As(err, &damaged), "%s: %v", name, err)
			begun(t, again(j), "a.bin", text, "")
			got, err := again(j).object(t.Context(), e.Steps[0].Before.Hash)
			require.Equal(t, err, nil, "%s: %d bytes, %v", name, len(got), err)
			assert.Equal(t, string(got), text, "%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestADamagedObjectInALineIsKeptAgain(t *testing.T) {
	j := newJournal(t, Limits{})
	text := string(random(2000))
	e := begun(t, j, "a.md", text, "")
	name := j.folder.file(segmentName(1))
	data := require.Value(os.ReadFile(name))(t)
	data[strings.Index(string(data), `"data"`)+100] ^= 1
	require.NoError(t, os.WriteFile(name, data, 0o600))
	j = again(j)
	_, err := j.object(t.Context(), e.Steps[0].Before.Hash)
	assert.That(t, isTyped(err), "%v", err)
	begun(t, j, "a.md", text, "")
	got, err := j.object(t.Context(), e.Steps[0].Before.Hash)
	require.Equal(t, err, nil, "%d bytes, %v", len(got), err)
	assert.Equal(t, string(got), text, "%d bytes, %v", len(got), err)
}

func TestALineTooLongIsSkipped(t *testing.T) {
	j := newJournal(t, Limits{})
	whole := sample(t, j)
	file := require.Value(os.OpenFile(j.folder.file(segmentName(1)), os.O_WRONLY|os.O_APPEND, 0))(t)
	_, err := file.Write(append(make([]byte, 3*maxLine), '\n'))
	require.NoError(t, errors.Join(err, file.Close()))
	begun(t, j, "a.md", "a", "b")
	list, damage, err := again(j).Entries(t.Context(), Filter{})
	require.Equal(t, err, nil, "%d entries, %v", len(list), damage)
	require.Equal(t, len(damage), 1, "%d entries, %v", len(list), damage)
	assert.Equal(t, len(list), len(whole)+1, "%d entries, %v", len(list), damage)
}

func TestAMissingSegmentIsTold(t *testing.T) {
	j := newJournal(t, Limits{MaxBytes: 1 << 20})
	first := ""
	for i := 0; i == 0 || j.tail.number < 4; i++ {
		e := begun(t, j, "a.md", string(random(8000+i)), "")
		if i == 0 {
			first = e.ID
		}
	}
	require.NoError(t, j.End(first, Outcome{State: Done}))
	entries(t, j)
	// Those that are too old go from the first one on, and that is no damage.
	require.NoError(t, os.Remove(j.folder.file(segmentName(1))))
	whole := entries(t, again(j))
	require.NoError(t, os.Remove(j.folder.file(segmentName(3))))
	list, damage, err := again(j).Entries(t.Context(), Filter{})
	require.Equal(t, err, nil, "%d of %d entries, %+v", len(list), len(whole), damage)
	require.Equal(t, len(damage), 1, "%d of %d entries, %+v", len(list), len(whole), damage)
	require.Equal(t, damage[0].File, segmentName(3), "%d of %d entries, %+v", len(list), len(whole), damage)
	assert.That(t, len(list) < len(whole), "%d of %d entries, %+v, %v", len(list), len(whole), damage, err)
}

// A journal that was kept under another path of the vault is taken over, by who
// reads first or by who writes first.
func TestAJournalUnderAnotherPathIsTakenOver(t *testing.T) {
	first := func(t *testing.T, dir, vault string) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		e, content := change("a.md", "old", "new")
		require.NoError(t, openAt(dir, vault, Limits{}).Begin(e, content))
	}
	count := func(t *testing.T, j *Journal) int {
		entries, _, err := j.Entries(t.Context(), Filter{Limit: 10})
		require.NoError(t, err)
		return len(entries)
	}
	t.Run("reading", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		n := count(t, OpenAs(dir, "/real", "/link"))
		assert.That(t, n == 1, "%d entries by the identity", n)
		n = count(t, OpenAs(dir, "/real", "/other"))
		assert.That(t, n == 1, "%d entries by another path", n)
	})
	t.Run("writing", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		e, content := change("b.md", "old", "new")
		require.NoError(t, OpenAs(dir, "/real", "/link").Begin(e, content))
		assert.Equal(t, count(t, openAt(dir, "/real", Limits{})), 2, "entries")
	})
	t.Run("there is one already", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		first(t, dir, "/real")
		n := count(t, OpenAs(dir, "/real", "/link"))
		assert.That(t, n == 1, "%d entries by the identity", n)
		n = count(t, openAt(dir, "/link", Limits{}))
		assert.That(t, n == 1, "%d entries are left under the other path", n)
	})
	t.Run("there is none", func(t *testing.T) {
		assert.Equal(t, count(t, OpenAs(filepath.Join(t.TempDir(), "journal"), "/real", "/link")), 0, "entries")
	})
	t.Run("one that others can look into", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "journal")
		first(t, dir, "/link")
		require.NoError(t, os.Chmod(folderOf(dir, "/link"), 0o755))
		if ownerfiles.CheckFolder(folderOf(dir, "/link")) == nil {
			t.Skip("who may look into a folder is not told here")
		}
		_, _, err := OpenAs(dir, "/real", "/link").Entries(t.Context(), Filter{Limit: 10})
		assert.That(t, err != nil, "it is taken over")
	})
}

// confirmed is what a journal has said that it keeps.
type confirmed struct {
	texts  map[string]string // by the id of the entry
	states map[string]State
}

// check fails unless everything that was confirmed is there, and nothing is
// damaged but lines that were cut short.
func (c confirmed) check(t *testing.T, j *Journal, what string) {
	t.Helper()
	list, damage, err := j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	for _, d := range damage {
		assert.That(t, d.Torn, "%s: %+v", what, d)
	}
	found := map[string]Entry{}
	for _, e := range list {
		found[e.ID] = e
	}
	for id, text := range c.texts {
		e, ok := found[id]
		require.That(t, ok, "%s: entry %s is lost", what, id)
		state := c.states[id]
		assert.That(t, state == Begun || e.State == state, "%s: entry is %v, want %v", what, e.State, state)
		got, err := j.object(t.Context(), e.Steps[0].Before.Hash)
		require.Equal(t, err, nil, "%s: %d bytes, want %d", what, len(got), len(text))
		assert.Equal(t, string(got), text, "%s: %d bytes, want %d", what, len(got), len(text))
	}
}

func TestEveryFault(t *testing.T) {
	texts := map[string]string{
		"a short note": "text\n", "a long note": strings.Repeat("a line\n", 20_000) + "end\n",
		"a file": string(random(maxInline + 1)),
	}
	if testing.Short() {
		delete(texts, "a long note")
	} else {
		texts["an attachment"] = string(random(maxInline + 1000))
	}
	for name, text := range texts {
		for _, killed := range []bool{false, true} {
			for _, isNew := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s killed %v new %v", name, killed, isNew), func(t *testing.T) { t.Parallel(); everyFault(t, text, killed, isNew) })
			}
		}
	}
}

func everyFault(t *testing.T, text string, killed, isNew bool) {
	origin := newJournal(t, Limits{MaxBytes: 64 << 20})
	origin.inText = maxInline + 100
	for n := 1; ; n++ {
		require.That(t, n <= 60, "it never succeeded")
		j := again(origin)
		j.folder = OpenAs(filepath.Join(t.TempDir(), "journal"), testVault, testVault).folder
		c := confirmed{map[string]string{}, map[string]State{}}
		if !isNew {
			e := begun(t, j, "a.md", "an earlier text\n"+text, text)
			c.texts[e.ID] = "an earlier text\n" + text
		}
		sys := &fake.FailingDisk{N: n, Lasting: killed}
		j.sys = sys
		e, content := change("a.md", text, text+"more")
		err := j.Begin(e, content)
		if err == nil {
			c.texts[e.ID] = text
			if err = j.End(e.ID, Outcome{State: Done}); err == nil {
				c.states[e.ID] = Done
			}
		}
		if err != nil {
			var typed *Unusable
			assert.That(t, errors.As(err, &typed), "call %d: %v", n, err)
			assert.ErrorIs(t, err, fake.ErrDisk, "call %d", n)
		}
		what := fmt.Sprintf("call %d failed", n)
		c.check(t, again(j), what)
		left, _ := filepath.Glob(j.folder.file("*" + temporarySuffix))
		assert.That(t, len(left) == 0 || killed, "%s and left %q", what, left)
		// Another process goes on where this one ended.
		next := again(j)
		for range 2 {
			more := begun(t, next, "a.md", text+"more", "")
			c.texts[more.ID] = text + "more"
		}
		c.check(t, again(j), what+", and another process goes on")
		next.limits.MaxBytes = leastBytes
		require.NoError(t, next.Prune())
		left, _ = filepath.Glob(j.folder.file("*" + temporarySuffix))
		assert.That(t, len(left) == 0, "%s, and after all there is %q", what, left)
		if sys.Calls < n {
			return
		}
	}
}
