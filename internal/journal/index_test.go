package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// unsynced is a disk that takes no time to make anything durable.
type unsynced struct{ ownerfiles.Disk }

type unsyncedFile struct{ ownerfiles.File }

func (unsynced) SyncFolder(string) error { return nil }

func (unsyncedFile) Sync() error { return nil }

func (u unsynced) Create(name string) (ownerfiles.File, error) {
	file, err := u.Disk.Create(name)
	return unsyncedFile{file}, err
}

func (u unsynced) Open(name string, flag int) (ownerfiles.File, error) {
	file, err := u.Disk.Open(name, flag)
	return unsyncedFile{file}, err
}

// grown is a journal with so many entries of several callers in segments of 64 KiB. Some entries are of a batch, some are
// undone, moved, or only begun. It returns the entries, the newest first.
func grown(t testing.TB, count int) (j *Journal, list []Entry) {
	t.Helper()
	j = newJournal(t, Limits{MaxBytes: 64 << 20})
	j.sys, j.lines = unsynced{}, 64<<10
	start := time.Now()
	for i := range count {
		e, content := change(fmt.Sprintf("Folder/%d.md", i%17), fmt.Sprintf("text %d", i), fmt.Sprintf("text %d", i+17))
		e.Time = start.Add(time.Duration(i) * time.Second).UTC()
		e.ID = NewID(e.Time)
		e.Session = fmt.Sprint("session ", i/50)
		e.Caller = ownerfiles.CallerOf(fmt.Sprint("agent", i%3), fmt.Sprint("caller", i%5))
		if i%20 < 4 {
			e.Batch = NewID(start.Add(time.Duration(i-i%20) * time.Second))
		}
		if i%9 == 0 {
			e.Steps[0].From, e.Steps[0].Path = e.Steps[0].Path, fmt.Sprintf("Moved/%d.md", i%17)
			e.Steps[0].Before = ImageOf(fmt.Appendf(nil, "text %d", i))
			content = textsOf(map[string][]byte{e.Steps[0].From: fmt.Appendf(nil, "text %d", i)})
		}
		if i > 30 && i%11 == 0 {
			e.Undoes = list[i-30].ID
		}
		require.NoError(t, j.Begin(e, content))
		if i%13 != 0 {
			e.State = Done
			require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		}
		list = append(list, e)
		if e.Undoes != "" {
			undone := &list[i-30]
			if undone.State != Undone {
				undone.State, undone.UndoneBy = Undone, e.ID
				require.NoError(t, j.MarkUndone(undone.ID, e.ID))
			}
		}
	}
	slices.Reverse(list)
	return j, list
}

// questions are filters that have answers in a journal that has grown.
func questions(list []Entry) map[string]Filter {
	old := list[len(list)*3/4]
	batch := list[slices.IndexFunc(list, func(e Entry) bool { return e.Batch != "" })].Batch
	return map[string]Filter{
		"all":               {},
		"undoable":          {Undoable: true},
		"of a caller":       {Caller: old.Caller},
		"of an agent":       {Agent: "agent1", Undoable: true},
		"of nobody":         {Caller: "nobody"},
		"of a batch":        {Batch: batch},
		"of a session":      {Session: old.Session},
		"of a note":         {Path: "Folder/3.md"},
		"of a moved note":   {Path: "Moved/9.md", Caller: old.Caller},
		"behind an old one": {OlderThan: old.ID},
		"behind none":       {OlderThan: NewID(time.Now())},
		"of a time":         {Since: old.Time, Until: old.Time.Add(time.Minute)},
		"of later":          {Since: list[0].Time.Add(time.Hour)},
	}
}

// check fails unless every question has the answer that a look at all entries gives.
func checkQuestions(t *testing.T, j *Journal, list []Entry, what string) {
	t.Helper()
	for name, f := range questions(list) {
		var want []string
		from := slices.IndexFunc(list, func(e Entry) bool { return e.ID == f.OlderThan })
		for i, e := range list {
			isBehind := f.OlderThan == "" || from >= 0 && i > from
			isIn := f.Session == "" || e.Session == f.Session
			isInTime := !e.Time.Before(f.Since) && (f.Until.IsZero() || e.Time.Before(f.Until))
			isUndoable := !f.Undoable || e.Undoable()
			isWanted := isBehind && isIn && isInTime && isUndoable
			if isWanted && f.matches(e) {
				want = append(want, fmt.Sprint(e))
			}
		}
		var got []string
		damage, err := j.Each(t.Context(), f, func(e Entry) bool {
			got = append(got, fmt.Sprint(e))
			return true
		})
		require.NoError(t, err)
		require.That(t, len(damage) == 0, "%s, %s: damage %+v", what, name, damage)
		require.That(t, slices.Equal(got, want), "%s, %s: %d entries, want %d", what, name, len(got), len(want))
	}
	for _, i := range []int{0, 1, len(list) / 2, len(list) - 1} {
		e := list[i]
		got, err := j.Entry(t.Context(), e.ID)
		require.Equal(t, err, nil, "%s: entry %d is %+v", what, i, got)
		require.Equal(t, fmt.Sprint(got), fmt.Sprint(e), "%s: entry %d is %+v", what, i, got)
		for _, s := range e.Steps {
			if s.isPureMove() {
				continue
			}
			text, err := j.object(t.Context(), s.Before.Hash)
			require.Equal(t, err, nil, "%s: the text of entry %d: %d bytes, %v", what, i, len(text), err)
			require.Equal(t, ImageOf(text), s.Before, "%s: the text of entry %d: %d bytes, %v", what, i, len(text), err)
		}
	}
	versions, err := j.Versions(t.Context(), "Folder/3.md", 1000)
	require.NoError(t, err)
	want := allVersions(list, "Folder/3.md")
	require.That(t, slices.Equal(versions, want), "%s: %d versions, want %d", what, len(versions), len(want))
}

// allVersions is Versions by a look at all entries.
func allVersions(list []Entry, path string) (all []Version) {
	var left Departure
	for _, e := range list {
		var more []Version
		more, path, left = e.versions(path, left)
		all = append(all, more...)
	}
	return all
}

func indexes(t testing.TB, j *Journal) []string {
	t.Helper()
	return require.Value(filepath.Glob(j.folder.file("*" + indexSuffix)))(t)
}

func TestQuestionsAreAnsweredByAnIndexAsByReadingAll(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	j, list := grown(t, 1200)
	files := indexes(t, j)
	require.That(t, len(files) >= 8, "%d segments have an index", len(files))
	checkQuestions(t, j, list, "as it was written")
	checkQuestions(t, again(j), list, "by another process")
	damage, err := j.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, len(damage), 0)
	kept := map[string][]byte{}
	for _, name := range files {
		kept[name] = require.Value(os.ReadFile(name))(t)
	}
	old, older := files[1], files[0]
	for what, spoil := range map[string]func() error{
		"all are missing": func() error {
			for _, name := range files {
				if err := os.Remove(name); err != nil {
					return err
				}
			}
			return nil
		},
		"one is missing":            func() error { return os.Remove(old) },
		"one is empty":              func() error { return os.Truncate(old, 0) },
		"one is cut short":          func() error { return os.Truncate(old, int64(len(kept[old])/2)) },
		"one has a wrong head":      func() error { return flip(old, len(indexMagic)+numberLength) },
		"one has a wrong filter":    func() error { return flip(old, headLength+10) },
		"one has a wrong row":       func() error { return flip(old, len(kept[old])-1) },
		"one is of another segment": func() error { return os.WriteFile(old, kept[older], 0o600) },
		"one is of another version": func() error { return flip(old, len(indexMagic)-1) },
	} {
		require.NoError(t, spoil())
		checkQuestions(t, again(j), list, what)
		for name, want := range kept {
			got, err := os.ReadFile(name)
			require.Equal(t, err, nil, "%s: %s was not made again: %d bytes, %v", what, filepath.Base(name), len(got), err)
			require.EqualSlices(t, got, want, "%s: %s was not made again: %d bytes, %v", what, filepath.Base(name), len(got), err)
		}
	}
}

// flip changes a byte of a file.
func flip(name string, at int) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	data[at] ^= 4
	return os.WriteFile(name, data, 0o600)
}

// An index that is sound in itself and says something else than its segment leads to no wrong answer, and Check removes it.
func TestAnIndexIsNotBelieved(t *testing.T) {
	j, list := grown(t, 400)
	seen := require.Value(j.folder.list())(t)
	seg := seen.segments[1]
	_, s, err := j.folder.readIndex(seg, headAndSummary)
	require.NoError(t, err)
	for i := range s.entries {
		s.entries[i].at, s.entries[i].end = s.entries[0].at, s.entries[0].end
	}
	require.NoError(t, os.WriteFile(j.folder.file(indexName(seg.number)), s.encode(s.head()), 0o600))
	next := again(j)
	got, damage, err := next.Entries(t.Context(), Filter{})
	require.Equal(t, err, nil, "%d entries of %d, %d places of damage, %v", len(got), len(list), len(damage), err)
	require.That(t, len(damage) > 0, "%d entries of %d, %d places of damage, %v", len(got), len(list), len(damage), err)
	assert.That(t, len(got) < len(list), "%d entries of %d, %d places of damage, %v", len(got), len(list), len(damage), err)
	checkQuestions(t, next, list, "the next questions")

	require.NoError(t, os.WriteFile(j.folder.file(indexName(seg.number)), s.encode(s.head()), 0o600))
	damage, err = again(j).Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, len(damage), 0)
	checkQuestions(t, again(j), list, "after a check")
}

// The damage of an old segment is told by those who come past it, and by Check, whether its index was made before or after.
func TestDamageOfAnOldSegmentIsTold(t *testing.T) {
	j, list := grown(t, 400)
	name := j.folder.file(segmentName(1))
	require.NoError(t, flip(name, 20_000))
	for _, what := range []string{"with the index of before", "with an index of its own"} {
		next := again(j)
		damage, err := next.Check(t.Context())
		require.Equal(t, err, nil, "%s", what)
		assert.Equal(t, len(damage), 1, "%s", what)
		got, damage, err := next.Entries(t.Context(), Filter{})
		require.Equal(t, err, nil, "%s: %d entries of %d", what, len(got), len(list))
		require.Equal(t, len(damage), 1, "%s: %d entries of %d", what, len(got), len(list))
		assert.That(t, len(got) >= len(list)-1, "%s: %d entries of %d, %+v, %v", what, len(got), len(list), damage, err)
		newest, damage, err := next.Entries(t.Context(), Filter{Limit: 1})
		require.Equal(t, err, nil, "%s: the newest: %d entries, %+v", what, len(newest), damage)
		require.Equal(t, len(damage), 0, "%s: the newest: %d entries, %+v", what, len(newest), damage)
		assert.Equal(t, len(newest), 1, "%s: the newest: %d entries, %+v", what, len(newest), damage)
	}
}

// A call that is carried out once more begins its entry again: that one counts.
func TestAnEntryThatIsBegunAgainIsOne(t *testing.T) {
	for _, apart := range []bool{false, true} {
		j, _ := grown(t, 5)
		e, content := change("a.md", "a", "b")
		require.NoError(t, j.Begin(e, content))
		require.NoError(t, j.End(e.ID, Outcome{State: Undone}))
		if apart {
			j.lines = 1 // the next entry is in another segment
		}
		require.NoError(t, j.Begin(e, content))
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		for _, j := range []*Journal{j, again(j)} {
			list := entries(t, j)
			require.That(t, len(list) == 6, "%d entries", len(list))
			assert.Equal(t, list[0].State, Done, "state")
			got, err := j.Entry(t.Context(), e.ID)
			require.NoError(t, err)
			assert.Equal(t, got.State, Done)
			damage, err := j.Check(t.Context())
			require.NoError(t, err)
			assert.Equal(t, len(damage), 0)
		}
	}
}

// An index whose segment was removed by a program that knows none is removed with the next old segment.
func TestAnIndexWithoutASegmentIsRemoved(t *testing.T) {
	j, _ := grown(t, 400)
	require.NoError(t, os.Remove(j.folder.file(segmentName(1))))
	require.NoError(t, again(j).Prune())
	assert.That(t, !slices.Contains(indexes(t, j), j.folder.file(indexName(1))), "it is there")
	entries(t, again(j))
}

// counted is a context that has ended after so many questions whether it has.
type counted struct {
	context.Context
	left *int
}

func (c counted) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestReadingStopsWhenItIsCancelled(t *testing.T) {
	j, list := grown(t, 400)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	ask := map[string]func(context.Context, *Journal) error{
		"entries": func(ctx context.Context, j *Journal) error { _, _, err := j.Entries(ctx, Filter{}); return err },
		"entry":   func(ctx context.Context, j *Journal) error { _, err := j.Entry(ctx, list[len(list)-1].ID); return err },
		"object": func(ctx context.Context, j *Journal) error {
			_, err := j.object(ctx, list[len(list)-2].Steps[0].Before.Hash)
			return err
		},
		"versions": func(ctx context.Context, j *Journal) error {
			_, err := j.Versions(ctx, "Folder/3.md", 1000)
			return err
		},
		"check": func(ctx context.Context, j *Journal) error { _, err := j.Check(ctx); return err },
	}
	for _, name := range slices.Sorted(maps.Keys(ask)) {
		assert.ErrorIs(t, ask[name](ended, again(j)), context.Canceled)
		for _, file := range indexes(t, j) {
			require.NoError(t, os.Remove(file))
		}
		// Indexes that are missing are made one after the other, and what is made stays made.
		made, tries := 0, 0
		for patience := 1; ; patience += patience/2 + 1 {
			left := patience
			err := ask[name](counted{t.Context(), &left}, again(j))
			now := len(indexes(t, j))
			require.That(t, now >= made, "%s: %d indexes, and %d before", name, now, made)
			made = now
			if err == nil {
				break
			}
			require.That(t, errors.Is(err, context.Canceled), "%s: %v", name, err)
			tries++
		}
		assert.That(t, tries > 0, "%s: it was not cancelled once", name)
	}
}

// Readers are right beside a writer that begins one segment after the other.
func TestReadersBesideAWriter(t *testing.T) {
	j, list := grown(t, 200)
	reader := again(j)
	j.lines = 8 << 10
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 300 {
			e, content := change(fmt.Sprintf("%d.md", i), string(random(500+i)), "")
			assert.NoError(t, j.Begin(e, content))
			assert.NoError(t, j.End(e.ID, Outcome{State: Done}))
		}
	})
	seen := 0
	for range 60 {
		got, damage, err := reader.Entries(t.Context(), Filter{Limit: 1 << 20})
		require.NoError(t, err)
		require.That(t, len(damage) == 0, "damage %+v", damage)
		require.That(t, len(got) >= max(seen, len(list)), "%d entries, and %d before", len(got), seen)
		seen = len(got)
	}
	writing.Wait()
	assert.Equal(t, len(entries(t, reader)), len(list)+300, "entries")
}

// A change of very many notes is asked for the text of each: the summary of its segment is read once, and each text is found
// among all of them without a look at the others.
func TestEachOfVeryManyTextsIsFoundAtOnce(t *testing.T) {
	j := newJournal(t, Limits{MaxBytes: 64 << 20})
	j.sys = unsynced{}
	const count = maxRecentRows/2 + 1
	e := Entry{ID: NewID(time.Now()), Time: time.Now()}
	texts := map[string][]byte{}
	for i := range count {
		path := fmt.Sprintf("Folder/%d.md", i)
		texts[path] = fmt.Appendf(nil, "text %d", i)
		e.Steps = append(e.Steps, Step{Path: path, Before: ImageOf(texts[path])})
	}
	require.NoError(t, j.Begin(e, textsOf(texts)))
	find := func(when string) {
		for i := 0; i < count; i += count / 7 {
			step := e.Steps[i]
			text := require.Value(j.object(t.Context(), step.Before.Hash))(t)
			require.Equal(t, string(text), string(texts[step.Path]), when)
		}
	}
	find("in the newest segment")
	newest := j.summaries.tail.snapshot()
	assert.That(t, len(newest.objects)-newest.inOrder <= maxUnordered, "%d objects of %d are in no order", len(newest.objects)-newest.inOrder, len(newest.objects))
	j.lines = 1 // the next entry is in another segment
	next, content := change("Next.md", "text", "other")
	require.NoError(t, j.Begin(next, content))
	find("in an older segment")
	require.Equal(t, len(j.summaries.recent), 1)
	before := j.summaries.recent[0]
	find("in the same segment again")
	assert.That(t, before.rowCount() > maxRecentRows, "%d rows", before.rowCount())
	require.Equal(t, len(j.summaries.recent), 1, "the summary of a large segment is read for each text")
	assert.Equal(t, j.summaries.recent[0], before, "the summary of a large segment is read for each text")
}
