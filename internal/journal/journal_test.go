package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const testVault = "/home/somebody/vault"

func newJournal(t testing.TB, limits Limits) *Journal {
	t.Helper()
	return openAt(filepath.Join(t.TempDir(), "state", "journal"), testVault, limits)
}

func again(j *Journal) *Journal {
	next := openAt(j.folder.root, j.folder.vault, j.limits)
	next.now, next.inText, next.lines = j.now, j.inText, j.lines
	return next
}

// change is an entry that makes after of before.
func change(path, before, after string) (Entry, Content) {
	now := time.Now()
	e := Entry{
		ID: NewID(now), Time: now.UTC(), Session: "s", Client: "c", Command: "append", Params: []string{"path", "content"}, Backend: "embedded",
		Steps: []Step{{Path: path, Before: ImageOf([]byte(before)), After: ImageOf([]byte(after))}},
		Count: 1,
	}
	return e, textsOf(map[string][]byte{path: []byte(before)})
}

// begun is an entry that makes after of before, of which the journal knows.
func begun(t testing.TB, j *Journal, path, before, after string) Entry {
	t.Helper()
	e, content := change(path, before, after)
	require.NoError(t, j.Begin(e, content))
	return e
}

// entries returns all that is there, and fails if anything is damaged.
func entries(t testing.TB, j *Journal) []Entry {
	t.Helper()
	list, damage, err := j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	require.That(t, len(damage) == 0, "damage %+v", damage)
	return list
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	j := newJournal(t, Limits{})
	list := entries(t, j)
	require.That(t, len(list) == 0, "%d entries of nothing", len(list))
	e := begun(t, j, "a note.md", "one\n", "one\ntwo\n")
	for _, j := range []*Journal{j, again(j)} {
		got, err := j.Entry(t.Context(), e.ID)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(got), fmt.Sprint(e))
	}
	after := []Image{ImageOf([]byte("something else"))}
	require.NoError(t, j.End(e.ID, Outcome{State: Failed, After: after, Note: "the client was cut short"}))
	e.State, e.Note, e.Steps[0].After = Failed, "the client was cut short", after[0]
	got, err := again(j).Entry(t.Context(), e.ID)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(got), fmt.Sprint(e))
	by := NewID(time.Now())
	require.NoError(t, again(j).MarkUndone(e.ID, by))
	got, err = j.Entry(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, got.State, Undone)
	require.Equal(t, got.UndoneBy, by)
	assert.Equal(t, got.Note, e.Note)
	text, err := j.object(t.Context(), e.Steps[0].Before.Hash)
	require.NoError(t, err)
	assert.Equal(t, string(text), "one\n")
	list, _, err = j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	require.Equal(t, len(list), 1)
	require.Equal(t, len(list[0].Steps), 1)
	assert.Equal(t, list[0].Count, 1)
}

func TestStatesFollowEachOther(t *testing.T) {
	all := []State{Begun, Done, Failed, Undone}
	allowed := map[[2]State]bool{
		{Begun, Done}: true, {Begun, Failed}: true, {Begun, Undone}: true, {Done, Undone}: true, {Failed, Undone}: true,
	}
	for _, first := range all {
		for _, second := range all {
			j := newJournal(t, Limits{})
			e := begun(t, j, "a.md", "a", "b")
			if first != Begun {
				require.NoError(t, j.End(e.ID, Outcome{State: first}))
			}
			assert.Equal(t, (j.End(e.ID, Outcome{State: second}) == nil), allowed[[2]State{first, second}], "%v after %v", second, first)
			entries(t, j)
		}
	}
}

func TestWhatNoRecordCanHoldIsRefused(t *testing.T) {
	j := newJournal(t, Limits{})
	hash := strings.Repeat("a", 64)
	for name, spoil := range map[string]func(*Entry){
		"no id":             func(e *Entry) { e.ID = "" },
		"a path for an id":  func(e *Entry) { e.ID = "../../../../../../../../../../x" },
		"no path":           func(e *Entry) { e.Steps[0].Path = "" },
		"a path not UTF-8":  func(e *Entry) { e.Steps[0].Path = "\xff" },
		"a long path":       func(e *Entry) { e.Steps[0].Path = strings.Repeat("x", maxPath+1) },
		"no hash":           func(e *Entry) { e.Steps[0].Before.Hash = "" },
		"half a hash":       func(e *Entry) { e.Steps[0].Before.Hash = hash[1:] },
		"a negative size":   func(e *Entry) { e.Steps[0].Before.Size = -1 },
		"an absent size":    func(e *Entry) { e.Steps[0].After = Image{Size: 1} },
		"a large object":    func(e *Entry) { e.Steps[0].Before.Size = maxObject + 1 },
		"many parameters":   func(e *Entry) { e.Params = make([]string, maxParams+1) },
		"many steps":        func(e *Entry) { e.Steps = make([]Step, maxSteps+1) },
		"a long command":    func(e *Entry) { e.Command = strings.Repeat("x", maxName+1) },
		"a state":           func(e *Entry) { e.State = Done },
		"other bytes":       func(e *Entry) { e.Steps[0].Before.Hash = hash },
		"bytes not at hand": func(e *Entry) { e.Steps[0].Path = "b.md" },
	} {
		e, content := change("a.md", "a", "b")
		spoil(&e)
		err := j.Begin(e, content)
		assert.That(t, isTyped(err), "%s: %v", name, err)
	}
	assert.Equal(t, len(entries(t, j)), 0, "entries")
	e, content := change("a.md", "a", "b")
	require.NoError(t, j.Begin(e, content))
	assert.That(t, j.Begin(e, content) != nil, "an id is taken twice")
	assert.That(t, j.End(e.ID, Outcome{State: Done, After: make([]Image, 2)}) != nil, "two images for one step")
	var unknown *Unknown
	err := j.End(NewID(time.Now()), Outcome{State: Done})
	assert.That(t, errors.As(err, &unknown), "an unknown entry: %v", err)
	require.NoError(t, j.End(e.ID, Outcome{State: Done, Note: strings.Repeat("ü", maxNote)}))
	list := entries(t, j)
	require.Equal(t, len(list), 1, "%d entries", len(list))
	assert.That(t, len(list[0].Note) <= maxNote, "%d entries", len(list))
}

func TestIDsAreStrict(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 31, 5, 123456789, time.UTC)
	got, err := ParseID(NewID(now))
	require.NoError(t, err)
	assert.That(t, got.Equal(now), "%v, %v", got, err)
	good := "20261121T093105.123456789Z-7f3a"
	_, err = ParseID(good)
	assert.NoError(t, err)
	for at := range good {
		for _, c := range "/.\\ Zx\x00-é" {
			bad := good[:at] + string(c) + good[at+1:]
			_, err := ParseID(bad)
			assert.That(t, err != nil || bad == good, "%q is an id", bad)
		}
	}
}

// random returns a text that cannot be compressed.
func random(size int) []byte {
	text := make([]byte, size)
	source := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8)})
	_, _ = source.Read(text)
	return text
}

func TestObjectsOfEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	j := newJournal(t, Limits{MaxBytes: 1 << 30})
	j.inText = maxPacked + 1000
	for _, size := range []int{0, 1, 128, minDelta, 100_000, maxInline, maxInline + 1, maxPacked, maxPacked + 1000, maxPacked + 1001, 6 << 20} {
		for _, text := range [][]byte{random(size), bytes.Repeat([]byte("x"), size)} {
			e := begun(t, j, "a.md", string(text), "")
			for _, j := range []*Journal{j, again(j)} {
				got, err := j.object(t.Context(), e.Steps[0].Before.Hash)
				require.Equal(t, err, nil, "%d bytes: %d", size, len(got))
				assert.That(t, bytes.Equal(got, text), "%d bytes: %d, %v", size, len(got), err)
			}
		}
	}
	entries(t, j)
}

func TestTheSameBytesAreKeptOnce(t *testing.T) {
	for _, size := range []int{1000, maxInline + 1000, maxPacked + 1000} {
		j := newJournal(t, Limits{})
		j.inText = maxPacked
		text := string(random(size))
		sizes := []int64{}
		for range 3 {
			begun(t, again(j), "a.md", text, "")
			sizes = append(sizes, diskUse(t, j.folder.dir))
		}
		assert.That(t, sizes[2]-sizes[0] <= 3000, "%d bytes take %v", size, sizes)
	}
}

func diskUse(t testing.TB, dir string) (total int64) {
	t.Helper()
	for _, e := range require.Value(os.ReadDir(dir))(t) {
		info := require.Value(e.Info())(t)
		total += info.Size()
	}
	return total
}

func TestAnEntryOfManySteps(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	j := newJournal(t, Limits{})
	e, _ := change("a.md", "", "")
	texts := map[string][]byte{}
	e.Steps = nil
	count := testenv.Count(20_000, 200_000)
	after := make([]Image, count)
	for i := range count {
		path := fmt.Sprintf("folder/%d.md", i)
		texts[path] = fmt.Appendf(nil, "links of %d", i%100)
		after[i] = ImageOf(fmt.Appendf(nil, "after %d", i))
		e.Steps = append(e.Steps, Step{Path: path, Before: ImageOf(texts[path])})
	}
	require.NoError(t, j.Begin(e, textsOf(texts)))
	require.NoError(t, j.End(e.ID, Outcome{State: Done, After: after}))
	got := require.Value(again(j).Entry(t.Context(), e.ID))(t)
	if len(got.Steps) != count || got.Steps[count-1].Path != e.Steps[count-1].Path || got.Steps[count/2].After != after[count/2] {
		t.Errorf("%d steps, the last is %+v", len(got.Steps), got.Steps[count-1])
	}
	entries(t, j)
}

func TestVersionsFollowANoteThroughMoves(t *testing.T) {
	j := newJournal(t, Limits{})
	begin := func(state State, steps ...Step) {
		t.Helper()
		e, _ := change("x", "", "")
		e.Steps = steps
		texts := map[string][]byte{}
		for _, s := range steps {
			for _, text := range []string{"1", "2", "3", "4", "5"} {
				if ImageOf([]byte(text)) == s.Before {
					texts[s.Source()] = []byte(text)
				}
			}
		}
		require.NoError(t, j.Begin(e, textsOf(texts)))
		if state != Begun {
			require.NoError(t, j.End(e.ID, Outcome{State: state}))
		}
	}
	image := func(text string) Image { return ImageOf([]byte(text)) }
	begin(Done, Step{Path: "a.md", After: image("1")})
	begin(Done, Step{Path: "a.md", Before: image("1"), After: image("2")})
	begin(Done, Step{Path: "other.md", Before: image("5"), After: image("1")})
	begin(Failed, Step{Path: "c.md", From: "a.md", Before: image("2"), After: image("2")})
	begin(Done, Step{Path: "b.md", From: "a.md", Before: image("2"), After: image("2")}, Step{Path: "b.md", Before: image("2"), After: image("3")})
	begin(Done, Step{Path: "c.md", From: "b.md", Before: image("3"), After: image("4")})
	begin(Begun, Step{Path: "c.md", Before: image("4"), After: image("5")})
	begin(Done, Step{Path: "a.md", After: image("5")}) // another note of that name
	versions := require.Value(j.Versions(t.Context(), "c.md", 9))(t)
	got := []string{}
	for _, v := range versions {
		text := require.Value(j.object(t.Context(), v.Image.Hash))(t)
		got = append(got, v.Path+"="+string(text))
	}
	want := []string{"c.md=4", "b.md=3", "b.md=2", "a.md=1"}
	assert.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
	limited, err := j.Versions(t.Context(), "c.md", 2)
	require.Equal(t, err, nil, "%d versions, %v", len(limited), err)
	assert.Equal(t, len(limited), 2, "%d versions, %v", len(limited), err)
}

func TestFilters(t *testing.T) {
	j := newJournal(t, Limits{})
	ids := []string{}
	for i := range 9 {
		e, content := change(fmt.Sprintf("%d.md", i%3), "a", "b")
		e.Caller = fmt.Sprint(i % 2)
		require.NoError(t, j.Begin(e, content))
		ids = append(ids, e.ID)
	}
	all, _, err := j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	begun := func(i int) time.Time { return all[len(all)-1-i].Time }
	for name, c := range map[string]struct {
		filter Filter
		want   []int
	}{
		"since one":        {Filter{Since: begun(6)}, []int{8, 7, 6}},
		"until one":        {Filter{Until: begun(2)}, []int{1, 0}},
		"between two":      {Filter{Since: begun(3), Until: begun(5), Limit: 9}, []int{4, 3}},
		"the newest":       {Filter{Limit: 2}, []int{8, 7}},
		"behind one":       {Filter{Limit: 2, OlderThan: ids[7]}, []int{6, 5}},
		"of a caller":      {Filter{Caller: "1", Limit: 3}, []int{7, 5, 3}},
		"of a note":        {Filter{Path: "2.md"}, []int{8, 5, 2}},
		"behind something": {Filter{OlderThan: "x"}, nil},
	} {
		list, _, err := j.Entries(t.Context(), c.filter)
		require.NoError(t, err)
		got := []int(nil)
		for _, e := range list {
			got = append(got, slices.Index(ids, e.ID))
		}
		assert.That(t, slices.Equal(got, c.want), "%s: %v, want %v", name, got, c.want)
	}
}

func TestOldEntriesGoFirst(t *testing.T) {
	limits := Limits{MaxBytes: 1 << 20}
	j := newJournal(t, limits)
	ids := []string{}
	moment := time.Now()
	j.now = func() time.Time { return moment }
	for i := range testenv.Count(160, 400) {
		moment = moment.Add(time.Hour) // and the files on the disk stay as young as they are
		e, content := change("a.md", string(random(10_000+i)), "")
		e.ID = NewID(moment)
		require.NoError(t, j.Begin(e, content))
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		ids = append(ids, e.ID)
	}
	list := entries(t, j)
	assert.That(t, len(list) >= 20, "%d of %d entries are left", len(list), len(ids))
	assert.That(t, len(list) != len(ids), "%d of %d entries are left", len(list), len(ids))
	for i, e := range list {
		require.Equal(t, e.ID, ids[len(ids)-1-i], "entry %d is %+v", i, e)
		require.Equal(t, e.State, Done, "entry %d is %+v", i, e)
		_, err := j.object(t.Context(), e.Steps[0].Before.Hash)
		assert.NoError(t, err)
	}
	use := diskUse(t, j.folder.dir)
	assert.That(t, use <= limits.MaxBytes*5/4, "%d bytes on the disk", use)
	var unknown *Unknown
	_, err := j.Entry(t.Context(), ids[0])
	assert.That(t, errors.As(err, &unknown), "%v", err)
}

func TestOldEntriesGoByAge(t *testing.T) {
	j := newJournal(t, Limits{MaxAge: 80 * time.Hour})
	begin := func() {
		begun(t, j, "a.md", "a", "")
	}
	begin()
	long := time.Now().Add(-90 * time.Hour)
	first := j.folder.file(segmentName(1))
	require.NoError(t, os.Chtimes(first, long, long))
	require.NoError(t, again(j).Prune())
	list := entries(t, j)
	assert.That(t, len(list) == 1, "%d entries, want the newest segment kept", len(list))
	j.tail.born = long
	begin()
	assert.Equal(t, len(entries(t, j)), 1, "entries")
	_, err := os.Stat(first)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestAnEntryTooLargeLeavesNothing(t *testing.T) {
	j := newJournal(t, Limits{MaxBytes: leastBytes})
	var large *TooLarge
	for _, size := range []int{leastBytes, leastBytes * 2, maxInline * 2, maxPacked + 1} {
		e, content := change("a.md", string(random(size)), "")
		err := j.Begin(e, content)
		assert.That(t, errors.As(err, &large), "%d bytes: %v", size, err)
	}
	use := diskUse(t, j.folder.dir)
	assert.That(t, use <= 200, "%d bytes are left", use)
}

func TestTheErrorsOfContentComeBack(t *testing.T) {
	j := newJournal(t, Limits{})
	e, _ := change("a.md", "a", "b")
	for _, c := range []Content{
		func(Step) (io.ReadCloser, error) { return nil, os.ErrNotExist },
		func(Step) (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(os.ErrNotExist)), nil },
	} {
		assert.Equal(t, j.Begin(e, c), os.ErrNotExist)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	j := newJournal(t, Limits{})
	unlock := require.Value(j.Lock(t.Context()))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var busy *Busy
	_, err := again(j).Lock(ctx)
	require.That(t, errors.As(err, &busy), "%v", err)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	begun(t, j, "a.md", "a", "b") // does not need it
	unlock()
	unlock = require.Value(again(j).Lock(t.Context()))(t)
	unlock()
}

func TestVaultsAreApart(t *testing.T) {
	j := newJournal(t, Limits{})
	other := openAt(j.folder.root, testVault+"2", Limits{})
	begun(t, j, "a.md", "a", "b")
	assert.Equal(t, len(entries(t, other)), 0, "an entry of another vault")
	text, err := os.ReadFile(j.folder.file(readmeFile))
	require.NoError(t, err)
	assert.Contains(t, string(text), testVault)
}

// Limits are those of a journal, as far as they are not the usual ones.
type Limits = limits

// leastBytes is a limit below which a segment would hold less than an entry.
const leastBytes = 64 << 10

func openAt(dir, vault string, l Limits) *Journal {
	j := OpenAs(dir, vault, vault)
	j.limits = limits{cmp.Or(l.MaxBytes, j.limits.MaxBytes), cmp.Or(l.MaxAge, j.limits.MaxAge)}
	return j
}

// isTyped reports whether err has a code for programs.
func isTyped(err error) bool {
	_, typed := errors.AsType[interface {
		error
		Code() string
	}](err)
	return typed
}
