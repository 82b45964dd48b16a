package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// question has four words of the generated notes, one of them with a typing error.
const question = "patience grandmother brigde supper"

// BenchmarkFind measures questions of words in 10,000 notes: by a worker, and as processes next
// to a search. The memory is what the index of words adds to a worker.
func BenchmarkFind(b *testing.B) {
	const notes = 10_000
	vault, ours := largeVault(b, notes), program(b, "vaultwicket")
	b.Run("resident", func(b *testing.B) {
		w := filledWorker(b, vault)
		time.Sleep(3 * time.Second) // the worker gives memory back
		before := w.memory("RssAnon")
		w.call([]string{"find", "query=" + question})
		saved := filesEnding(b, ".words")
		var took []time.Duration
		for b.Loop() {
			took = append(took, timed(func() { w.call([]string{"find", "query=" + question}) }))
		}
		slices.Sort(took)
		b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
		b.ReportMetric(ms(took[len(took)*95/100]), "p95-ms")
		b.ReportMetric(float64(saved)/float64(notes)/1024, "file-KiB/note")
		time.Sleep(3 * time.Second) // the worker gives memory back
		b.ReportMetric(float64(w.memory("RssAnon")-before)/float64(notes), "KiB/note")
	})
	b.Run("change", func(b *testing.B) {
		w := filledWorker(b, vault)
		w.call([]string{"find", "query=" + question})
		var took []time.Duration
		for b.Loop() {
			name := fmt.Sprintf("changed%d", time.Now().UnixNano())
			note := filepath.Join(vault, "Changed.md")
			took = append(took, timed(func() {
				require.NoError(b, os.WriteFile(note, []byte(name+"\n"), 0o600))
				for w.output([]string{"find", "query=" + name}) == "" {
					time.Sleep(time.Millisecond) // a poll: the time until the change is found is measured
				}
			}))
			os.Remove(note)
		}
		b.ReportMetric(ms(slices.Max(took)), "seen-ms/max")
	})
	b.Run("one-shot", func(b *testing.B) {
		run := func(words ...string) time.Duration {
			return timed(func() { bareStart(b, ours, append([]string{"vault", vault}, words...)...) })
		}
		run("search", "query="+rare)
		run("find", "query="+question)
		var find, search []time.Duration
		for b.Loop() {
			find = append(find, run("find", "query="+question))
			search = append(search, run("search", "query="+few))
		}
		against(b, "find", find, "search", search)
	})
}

// filesEnding returns the size of the files in the cache folder whose names end so.
func filesEnding(b *testing.B, end string) (size int64) {
	b.Helper()
	err := filepath.WalkDir(os.Getenv("XDG_CACHE_HOME"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, end) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	require.NoError(b, err)
	return size
}

// measuredBase has a view for each kind of work: properties and a formula, groups
// with summaries, and backlinks.
const measuredBase = `formulas:
  left: (due - today()).days.round()
views:
  - type: table
    name: Table
    filters: {and: ['rank > 20', 'done != true']}
    order: [file.name, rank, due, up, formula.left]
    sort: [{property: due, direction: ASC}]
  - type: table
    name: Groups
    filters: {and: ['rank > 20', 'done != true']}
    order: [file.name, rank, price]
    groupBy: {property: people, direction: ASC}
    summaries: {rank: Average, price: Sum}
  - type: table
    name: Backlinks
    filters: file.backlinks.length > 3
    order: [file.name, rank]
`

// BenchmarkBases measures queries of bases on a generated vault of 10,000 notes.
func BenchmarkBases(b *testing.B) {
	vault := largeVault(b, 10_000)
	b.Run("resident", func(b *testing.B) {
		w := filledWorker(b, vault)
		var commands []command
		for _, view := range []string{"Table", "Groups", "Backlinks"} {
			commands = append(commands, command{view, []string{"base:query", "path=Measured.base", "view=" + view}})
		}
		ask(b, w, commands)
	})
}

// BenchmarkTasks measures lists of tasks by their dates in a worker on 10,000 notes.
func BenchmarkTasks(b *testing.B) {
	w := filledWorker(b, largeVault(b, 10_000))
	ask(b, w, []command{{"due", []string{"tasks", "due=2026-07-01", "todo", "sort=priority"}}})
}

// measuredNote has links, tags and words, as a note has them that others are related to.
const measuredNote = "# Measured\n[[index]] and [[README]], [[100% sure]] #project #reading\nWords of which few are rare: quokka, sourdough, taxes, weather, garden.\n"

// scan is the median time of a plain read of all notes.
func scan(b *testing.B, vault string) time.Duration {
	var took []time.Duration
	for range 5 {
		took = append(took, timed(func() { readAll(b, vault) }))
	}
	return p50(took)
}
