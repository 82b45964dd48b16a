package bench

import (
	"testing"
	"time"
)

// BenchmarkWide measures what looks at the whole vault for one answer: related notes, and
// the dry run of a replacement in all notes, on a generated vault of 10,000 notes, next
// to a plain read of the same folder and to a search of the same worker.
func BenchmarkWide(b *testing.B) { benchmarkWide(b, 10_000) }

// BenchmarkLargeWide is the same with ten times as many notes.
func BenchmarkLargeWide(b *testing.B) { benchmarkWide(b, 100_000) }

// measuredNote has links, tags and words, as a note has them that others are related to.
const measuredNote = "# Measured\n[[index]] and [[README]], [[100% sure]] #project #reading\nWords of which few are rare: quokka, sourdough, taxes, weather, garden.\n"

func benchmarkWide(b *testing.B, notes int) {
	vault := largeVault(b, notes)
	ask(b, filledWorker(b, vault), []command{
		{"related", []string{"related", "path=Measured.md"}},
		{"replace-few", []string{"--plan", "vault:replace", "old=Taxes 128", "new=x"}},
		{"replace-none", []string{"--plan", "vault:replace", "old=no note has this", "new=x"}},
		{"replace-regex", []string{"--plan", "vault:replace", `old=(?<=T)axes 128\d`, "new=x", "regex"}},
		{"search", []string{"search", "query=zebra", "total"}},
	})
	b.ReportMetric(ms(scan(b, vault)), "scan-ms")
}

// scan is the median time of a plain read of all notes.
func scan(b *testing.B, vault string) time.Duration {
	var took []time.Duration
	for range 5 {
		took = append(took, timed(func() { readAll(b, vault) }))
	}
	return p50(took)
}
