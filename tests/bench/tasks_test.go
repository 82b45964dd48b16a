package bench

import (
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/tests/bench/vaultgen"
)

// BenchmarkTasks measures lists of tasks by their dates in a worker on 10,000 notes.
func BenchmarkTasks(b *testing.B) {
	vault := filepath.Join(b.TempDir(), "vault")
	if err := vaultgen.Write(vault, 10_000, 1); err != nil {
		b.Fatal(err)
	}
	b.Setenv("XDG_CACHE_HOME", filepath.Join(b.TempDir(), "cache"))
	time.Sleep(3 * time.Second) // until the stamps of all files can be trusted
	w := startWorker(b, program(b, "vaultwicket"), vault)
	w.call([]string{"tasks", "total"})
	first := timed(func() { w.call([]string{"tasks", "overdue", "total"}) })
	calls := map[string][]string{
		"due": {"tasks", "due=2026-07-01", "todo", "sort=priority"}, "overdue": {"tasks", "due-before=2026-07-01", "todo", "sort=due", "total"},
		"plain": {"tasks", "todo", "total"}, "briefing": {"briefing"}, "recent": {"recent"}, "sorted": {"tasks", "overdue", "sort=due"},
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for name, words := range calls {
			took[name] = append(took[name], timed(func() { w.call(words) }))
		}
	}
	b.ReportMetric(ms(first), "first-ms")
	for name := range calls {
		b.ReportMetric(ms(p50(took[name])), name+"-ms")
	}
}
