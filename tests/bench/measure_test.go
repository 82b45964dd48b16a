package bench

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// command is what is asked of the embedded program, under the name that its figures have.
type command struct {
	name  string
	words []string
}

// ask calls a worker with every command in turn, as often as the benchmark runs, and
// reports the median of each. It returns the largest of them.
func ask(b *testing.B, w *pipeWorker, commands []command) (slowest time.Duration) {
	took := make([][]time.Duration, len(commands))
	for b.Loop() {
		for i, c := range commands {
			took[i] = append(took[i], timed(func() { w.call(c.words) }))
		}
	}
	for i, c := range commands {
		median := p50(took[i])
		b.ReportMetric(ms(median), c.name+"-ms")
		slowest = max(slowest, median)
	}
	return slowest
}

// against reports a median, and how often the median of a yardstick goes into it.
func against(b *testing.B, name string, ours []time.Duration, yard string, theirs []time.Duration) {
	o, t := p50(ours), p50(theirs)
	b.ReportMetric(ms(o), name+"-ms")
	b.ReportMetric(ms(t), yard+"-ms")
	b.ReportMetric(float64(o)/float64(t), name+"/"+yard)
}

func timed(f func()) time.Duration {
	started := time.Now()
	f()
	return time.Since(started)
}

func p50(d []time.Duration) time.Duration { return middle(d) }

func middle[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// smallVault makes a vault of one note, Tides.md.
func smallVault(b *testing.B) string {
	folder := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(folder, "Tides.md"), tides, 0o644))
	return folder
}

// vaults are those that largeVault has made, by the number of their notes.
var vaults = map[int]string{}

// largeVault returns a generated vault of so many notes besides Measured.md and
// Measured.base, and gives the benchmark a cache and a state folder of its own. The
// vault is made once a run: no benchmark leaves a change.
func largeVault(b *testing.B, notes int) string {
	b.Helper()
	b.Setenv("XDG_CACHE_HOME", filepath.Join(b.TempDir(), "cache"))
	b.Setenv("XDG_STATE_HOME", filepath.Join(b.TempDir(), "state"))
	if vault, made := vaults[notes]; made {
		return vault
	}
	vault, err := os.MkdirTemp(programs, "vault-")
	if err == nil {
		err = fake.WriteVault(vault, notes, 1)
	}
	require.NoError(b, err)
	for name, text := range map[string]string{"Measured.md": measuredNote, "Measured.base": measuredBase} {
		require.NoError(b, os.WriteFile(filepath.Join(vault, name), []byte(text), 0o600))
	}
	time.Sleep(3 * time.Second) // until the stamps of all files can be trusted
	vaults[notes] = vault
	return vault
}

// filledWorker starts a worker on a vault and has it read everything.
func filledWorker(b *testing.B, vault string) *pipeWorker {
	b.Helper()
	w := startWorker(b, program(b, "vaultwicket"), vault)
	for _, words := range [][]string{{"tags", "total"}, {"orphans", "total"}, {"search", "query=zebra", "total"}} {
		w.call(words)
	}
	return w
}

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
