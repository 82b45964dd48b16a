package bench

import "testing"

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
