package bench

import (
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkMachine reports what this machine takes for work that has no part of ours: a
// start of a hello world, an exchange with a server that does nothing, a plain read of
// 10,000 notes, and a line that is durable in a file.
func BenchmarkMachine(b *testing.B) {
	hello, quiet := program(b, "hello"), start(b, program(b, "noop"), "1000")
	vault, log := largeVault(b, 10_000), filepath.Join(b.TempDir(), "Log.md")
	var starts, exchanges, durable []time.Duration
	for b.Loop() {
		write(b, log, tides)
		starts = append(starts, timed(func() { bareStart(b, hello) }))
		exchanges = append(exchanges, timed(func() { quiet.ask("tools/call", map[string]any{"name": "x"}) }))
		durable = append(durable, timed(func() { appendBare(b, log) }))
	}
	b.ReportMetric(ms(p50(starts)), "hello-ms")
	b.ReportMetric(ms(p50(exchanges)), "exchange-ms")
	b.ReportMetric(ms(p50(durable)), "durable-ms")
	b.ReportMetric(ms(scan(b, vault)), "cat-ms")
}
