package bench

import (
	"testing"
	"time"
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
