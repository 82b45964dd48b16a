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
