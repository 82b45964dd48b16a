package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/tests/bench/vaultgen"
)

// BenchmarkBases measures queries of bases on a generated vault of 10,000 notes,
// next to a plain scan of the same folder and to listings of the same worker.
func BenchmarkBases(b *testing.B) { benchmarkBases(b, 10_000) }

// BenchmarkLargeBases is the same with ten times as many notes.
func BenchmarkLargeBases(b *testing.B) { benchmarkBases(b, 100_000) }

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

func benchmarkBases(b *testing.B, notes int) {
	vault := filepath.Join(b.TempDir(), "vault")
	if err := vaultgen.Write(vault, notes, 1); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vault, "Measured.base"), []byte(measuredBase), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("XDG_CACHE_HOME", filepath.Join(b.TempDir(), "cache"))
	time.Sleep(3 * time.Second) // until the stamps of all files can be trusted
	ours := program(b, "vaultwicket")
	b.Run("one-shot", func(b *testing.B) {
		var tags, query []time.Duration
		bareStart(b, ours, "vault", vault, "tags", "total") // fills the cache
		for b.Loop() {
			tags = append(tags, timed(func() { bareStart(b, ours, "vault", vault, "tags", "total") }))
			query = append(query, timed(func() { bareStart(b, ours, "vault", vault, "base:query", "path=Measured.base", "format=paths") }))
		}
		b.ReportMetric(ms(p50(tags)), "tags-ms")
		b.ReportMetric(ms(p50(query)), "query-ms")
		b.ReportMetric(float64(p50(query))/float64(p50(tags)), "query/tags")
	})
	b.Run("resident", func(b *testing.B) {
		w := startWorker(b, ours, vault)
		w.call([]string{"tags", "total"})
		w.call([]string{"orphans", "total"})
		time.Sleep(3 * time.Second) // the worker gives memory back
		before := w.memory("RssAnon")
		calls := map[string][]string{"query": {"query", "where=rank > 95 && file.hasTag(\"work\")", "select=file.name, rank", "limit=20"}, "tags": {"tags", "counts"}}
		for _, view := range []string{"Table", "Groups", "Backlinks", "Links"} {
			calls[view] = []string{"base:query", "path=Measured.base", "view=" + view}
		}
		took := map[string][]time.Duration{}
		for b.Loop() {
			for name, words := range calls {
				took[name] = append(took[name], timed(func() { w.call(words) }))
			}
		}
		var scan []time.Duration
		for range 5 {
			scan = append(scan, timed(func() { readAll(b, vault) }))
		}
		for name := range calls {
			b.ReportMetric(ms(p50(took[name])), name+"-ms")
		}
		b.ReportMetric(ms(p50(scan)), "scan-ms")
		b.ReportMetric(float64(p50(took["Table"]))/float64(p50(scan)), "Table/scan")
		time.Sleep(3 * time.Second)
		b.ReportMetric(float64(w.memory("RssAnon")-before)/float64(notes), "more-KiB/note")
	})
}
