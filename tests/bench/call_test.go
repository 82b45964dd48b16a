package bench

import (
	"bytes"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// BenchmarkCall measures the own time of one call on the app's backend: through
// the server, minus a bare start of the same client, minus an exchange of the
// same size with a server that does nothing.
func BenchmarkCall(b *testing.B) {
	client := program(b, "obsidian")
	s := serve(b, "--backend=obsidian", "--cli="+client, "--tier=v1")
	s.readByClient() // the first call asks for the version
	size := len(s.readByClient())
	quiet := start(b, program(b, "noop"), strconv.Itoa(size-40))
	var whole, bare, exchange []time.Duration
	for b.Loop() {
		whole = append(whole, timed(func() { s.readByClient() }))
		bare = append(bare, timed(func() { bareStart(b, client, "read", "path=Ideas/Tides.md") }))
		exchange = append(exchange, timed(func() { quiet.ask("tools/call", map[string]any{"name": "x"}) }))
	}
	against(b, "call", whole, "bare", bare)
	b.ReportMetric(ms(p50(exchange)), "exchange-ms")
	b.ReportMetric(ms(p50(whole)-p50(bare)-p50(exchange)), "own-ms")
}

// BenchmarkFifty measures 50 calls at once on the app's backend, where they
// wait in one queue, against bare starts one by one.
func BenchmarkFifty(b *testing.B) {
	const calls = 50
	client := program(b, "obsidian")
	s := serve(b, "--backend=obsidian", "--cli="+client, "--max-parallel=64", "--tier=v1")
	s.readByClient()
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, timed(func() {
			for range calls {
				s.send("tools/call", map[string]any{"name": "obsidianCli", "arguments": readOfClient})
			}
			for range calls {
				s.read()
			}
		}))
		theirs = append(theirs, timed(func() {
			for range calls {
				bareStart(b, client, "read", "path=Ideas/Tides.md")
			}
		}))
	}
	o, t := p50(ours), p50(theirs)
	b.ReportMetric(float64(calls)/o.Seconds(), "calls/s")
	b.ReportMetric(float64(calls)/t.Seconds(), "bare-starts/s")
	b.ReportMetric(float64(t)/float64(o), "throughput/bare")
}

// BenchmarkHungClient reports how long after its limit a call to a client that hangs is
// answered.
func BenchmarkHungClient(b *testing.B) {
	const limit = time.Second // the least that can be set
	s := serve(b, "--backend=obsidian", "--cli="+program(b, "obsidian"), "--timeout="+limit.String())
	s.call("random:read")
	var over []time.Duration
	for b.Loop() {
		over = append(over, timed(func() {
			answer := s.ask("tools/call", callParams("daily:read"))
			require.That(b, bytes.Contains(answer, []byte(`"timeout"`)), "a client that hangs: %s", answer)
		})-limit)
	}
	b.ReportMetric(ms(p50(over)), "over-ms")
	b.ReportMetric(ms(slices.Max(over)), "over-ms/max")
}
