package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The lengths that are compared: of a journal that has begun, and of one that is full.
const (
	shortLength = 1_000
	fullLength  = 100_000
	entryBytes  = 1200 // of the text of an entry, so that the longer one takes most of its 256 MiB
	atOnce      = 100  // entries that are written at once, to save time
)

// lengthened returns a journal with so many entries of a year of twenty callers, and what its indexes take.
func lengthened(b *testing.B, count int) (j *Journal, ids []string) {
	b.Helper()
	j = newJournal(b, Limits{})
	j.sys, j.limits = unsynced{}, limits{256 << 20, 2 * 365 * 24 * time.Hour}
	at := time.Now().Add(-time.Duration(count) * 5 * time.Minute)
	j.now = func() time.Time { return at }
	noise := random(entryBytes * 64)
	for len(ids) < count {
		require.NoError(b, j.write(lazy, func(out *batch) error {
			for range atOnce {
				i := len(ids)
				at = at.Add(5 * time.Minute)
				from := i * 37 % (len(noise) - entryBytes)
				text := fmt.Sprint(i) + string(noise[from:from+entryBytes])
				e, _ := change(fmt.Sprintf("Folder/Note %d.md", i%100), text, fmt.Sprint("after ", i))
				e.Time, e.ID, e.Caller = at.UTC(), NewID(at), ownerfiles.CallerOf(fmt.Sprint("agent", i%20), "session")
				kept := out.store(e.Steps[0].Path, e.Steps[0].Before, strings.NewReader(text))
				steps, listed := out.writeList(stepsKey, e.ID, 1, func(i int) any { return e.Steps[i] })
				begun := out.writeRecord(entryRecord{ID: e.ID, Count: 1, Entry: e, Steps: steps})
				ended := out.writeRecord(outcomeRecord{ID: e.ID, State: Done.String(), Home: out.tail.number})
				if err := errors.Join(kept, listed, begun, ended); err != nil {
					return err
				}
				ids = append(ids, e.ID)
			}
			return nil
		}))
	}
	j.now = time.Now
	return j, ids
}

// BenchmarkLength asks a journal of a thousand entries and a full one the same questions, each as a resident process
// does, and appends to both. It also measures the indexes of the longer one, and how long it takes to make them.
func BenchmarkLength(b *testing.B) {
	if testing.Short() {
		b.Skip("it fills 256 MiB")
	}
	var journals [2]*Journal
	var ids [2][]string
	for i, count := range []int{shortLength, fullLength} {
		journals[i], ids[i] = lengthened(b, count)
	}
	ctx, absent := b.Context(), ImageOf([]byte("a text that is kept nowhere")).Hash
	agent := func(ids []string) string { return fmt.Sprint("agent", (len(ids)-1)%20) }
	limited := func(j *Journal, f Filter, most int) error {
		_, err := j.Each(ctx, f, func(Entry) bool {
			most--
			return most > 0
		})
		return err
	}
	questions := []struct {
		name string
		ask  func(j *Journal, ids []string) error
	}{
		{"undo", func(j *Journal, ids []string) error { return limited(j, Filter{Agent: agent(ids), Undoable: true}, 1) }},
		{"undo-list", func(j *Journal, ids []string) error { return limited(j, Filter{Agent: agent(ids), Undoable: true}, 20) }},
		{"changes", func(j *Journal, _ []string) (err error) {
			_, failed := j.Each(ctx, Filter{Since: time.Now().Add(-24 * time.Hour)}, func(e Entry) bool {
				for _, s := range e.Steps {
					_, _, _ = j.Texts(ctx, s, func(string) (guard.Unjudged, bool) { return guard.Unjudged{}, false })
				}
				return true
			})
			return failed
		}},
		{"batch-of-10", func(j *Journal, ids []string) error {
			for _, id := range ids[len(ids)-10:] {
				if _, err := j.Entry(ctx, id); err != nil {
					return err
				}
			}
			return limited(j, Filter{Batch: "no such batch"}, 10)
		}},
		{"by-id", func(j *Journal, ids []string) error { _, err := j.Entry(ctx, ids[len(ids)/3]); return err }},
		{"no-such-text", func(j *Journal, _ []string) error { _, _ = j.object(ctx, absent); return nil }},
		{"versions", func(j *Journal, _ []string) error { _, err := j.Versions(ctx, "Folder/Note 7.md", 10); return err }},
		{"append", func(j *Journal, _ []string) error {
			e, content := change("Folder/Note 7.md", fmt.Sprint("before ", time.Now()), "after")
			e.Caller = ownerfiles.CallerOf("agent7", "session")
			if err := j.Begin(e, content); err != nil {
				return err
			}
			return j.End(e.ID, Outcome{State: Done})
		}},
	}
	took := make([][2][]time.Duration, len(questions))
	for b.Loop() {
		for q, question := range questions {
			for i, j := range journals { // in turn, so that what the machine does beside it is in both
				started := time.Now()
				require.NoError(b, question.ask(j, ids[i]))
				took[q][i] = append(took[q][i], time.Since(started))
			}
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Nanoseconds()) / 1000
	}
	for q, question := range questions {
		short, full := median(took[q][0]), median(took[q][1])
		b.ReportMetric(full, question.name+"-µs")
		b.ReportMetric(full/short, question.name+"/short")
	}
	full := journals[1]
	index, whole := int64(0), diskUse(b, full.folder.dir)
	files := require.Value(filepath.Glob(full.folder.file("*" + indexSuffix)))(b)
	for _, name := range files {
		index += require.Value(os.Stat(name))(b).Size()
		require.NoError(b, os.Remove(name))
	}
	next := again(full)
	next.sys = unsynced{}
	started := time.Now()
	_, _ = next.object(ctx, absent)
	b.ReportMetric(float64(time.Since(started).Milliseconds()), "index-made-ms")
	b.ReportMetric(float64(index)/(1<<20), "index-MiB")
	b.ReportMetric(float64(whole-index)/(1<<20), "journal-MiB")
	started = time.Now()
	_, _ = again(full).object(ctx, absent)
	b.ReportMetric(float64(time.Since(started).Microseconds())/1000, "first-question-ms")
}
