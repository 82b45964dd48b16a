package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/tests/bench/vaultgen"
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
	vault := filepath.Join(b.TempDir(), "vault")
	if err := vaultgen.Write(vault, notes, 1); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vault, "Measured.md"), []byte(measuredNote), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("XDG_CACHE_HOME", filepath.Join(b.TempDir(), "cache"))
	b.Setenv("XDG_STATE_HOME", filepath.Join(b.TempDir(), "state"))
	time.Sleep(3 * time.Second) // until the stamps of all files can be trusted
	w := startWorker(b, program(b, "vaultwicket"), vault)
	w.call([]string{"orphans", "total"})
	w.call([]string{"search", "query=zebra", "total"})
	calls := map[string][]string{
		"related":       {"related", "path=Measured.md"},
		"replace-few":   {"--plan", "vault:replace", "old=Taxes 128", "new=x"},
		"replace-none":  {"--plan", "vault:replace", "old=no note has this", "new=x"},
		"replace-regex": {"--plan", "vault:replace", `old=(?<=T)axes 128\d`, "new=x", "regex"},
		"search":        {"search", "query=zebra", "total"},
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
}
