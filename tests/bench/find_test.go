package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/require"
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
		time.Sleep(3 * time.Second)
		before := w.memory("RssAnon")
		first := timed(func() { w.call([]string{"find", "query=" + question}) })
		saved := filesEnding(b, ".words")
		var took []time.Duration
		for b.Loop() {
			took = append(took, timed(func() { w.call([]string{"find", "query=" + question}) }))
		}
		slices.Sort(took)
		b.ReportMetric(ms(first), "first-ms")
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
					time.Sleep(time.Millisecond)
				}
			}))
			os.Remove(note)
		}
		b.ReportMetric(ms(p50(took)), "seen-ms/p50")
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
// with summaries, and the links of the whole vault.
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
  - type: table
    name: Links
    filters: file.hasLink("Note 7")
    order: [file.name, rank]
`

// BenchmarkBases measures queries of bases on a generated vault of 10,000 notes,
// next to a plain scan of the same folder and to listings of the same worker.
func BenchmarkBases(b *testing.B) {
	const notes = 10_000
	vault, ours := largeVault(b, notes), program(b, "vaultwicket")
	b.Run("one-shot", func(b *testing.B) {
		var tags, query []time.Duration
		bareStart(b, ours, "vault", vault, "tags", "total") // fills the cache
		for b.Loop() {
			tags = append(tags, timed(func() { bareStart(b, ours, "vault", vault, "tags", "total") }))
			query = append(query, timed(func() { bareStart(b, ours, "vault", vault, "base:query", "path=Measured.base", "format=paths") }))
		}
		against(b, "query", query, "tags", tags)
	})
	b.Run("resident", func(b *testing.B) {
		w := filledWorker(b, vault)
		time.Sleep(3 * time.Second) // the worker gives memory back
		before := w.memory("RssAnon")
		commands := []command{
			{"query", []string{"query", "where=rank > 95 && file.hasTag(\"work\")", "select=file.name, rank", "limit=20"}},
			{"tags", []string{"tags", "counts"}},
		}
		for _, view := range []string{"Table", "Groups", "Backlinks", "Links"} {
			commands = append(commands, command{view, []string{"base:query", "path=Measured.base", "view=" + view}})
		}
		ask(b, w, commands)
		b.ReportMetric(ms(scan(b, vault)), "scan-ms")
		time.Sleep(3 * time.Second)
		b.ReportMetric(float64(w.memory("RssAnon")-before)/float64(notes), "more-KiB/note")
	})
}

// BenchmarkTasks measures lists of tasks by their dates in a worker on 10,000 notes.
func BenchmarkTasks(b *testing.B) {
	w := filledWorker(b, largeVault(b, 10_000))
	first := timed(func() { w.call([]string{"tasks", "overdue", "total"}) })
	ask(b, w, []command{
		{"due", []string{"tasks", "due=2026-07-01", "todo", "sort=priority"}},
		{"overdue", []string{"tasks", "due-before=2026-07-01", "todo", "sort=due", "total"}},
		{"plain", []string{"tasks", "todo", "total"}},
		{"briefing", []string{"briefing"}},
		{"recent", []string{"recent"}},
		{"sorted", []string{"tasks", "overdue", "sort=due"}},
	})
	b.ReportMetric(ms(first), "first-ms")
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
