package exec

import (
	"bytes"
	osexec "os/exec"
	"slices"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

// benchProgram ends at once, so that the start itself is what is measured.
const benchProgram = "/bin/echo"

func bareStart(b *testing.B) {
	var stdout, stderr bytes.Buffer
	cmd := osexec.Command(benchProgram, "version")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(b, cmd.Run())
}

func BenchmarkBareStart(b *testing.B) {
	for b.Loop() {
		bareStart(b)
	}
}

func BenchmarkRun(b *testing.B) {
	r, p := runnerFor(b, Config{}, benchProgram)
	permit := mustPermit("version", nil)
	for b.Loop() {
		_, err := r.Run(b.Context(), permit, p)
		require.NoError(b, err)
	}
}

// BenchmarkOverhead runs both in turn, because the load of a machine changes
// more between two benchmarks than they differ, and compares the medians.
func BenchmarkOverhead(b *testing.B) {
	r, p := runnerFor(b, Config{}, benchProgram)
	permit := mustPermit("version", nil)
	var bare, ours []time.Duration
	for b.Loop() {
		begun := time.Now()
		bareStart(b)
		between := time.Now()
		_, err := r.Run(b.Context(), permit, p)
		require.NoError(b, err)
		bare, ours = append(bare, between.Sub(begun)), append(ours, time.Since(between))
	}
	slices.Sort(bare)
	slices.Sort(ours)
	half := len(bare) / 2
	b.ReportMetric(float64(bare[half].Microseconds()), "bare-µs")
	b.ReportMetric(float64(ours[half].Microseconds()), "ours-µs")
	b.ReportMetric(float64(ours[half])/float64(bare[half]), "ratio")
}

func BenchmarkJudge(b *testing.B) {
	permit := mustPermit("read", params{"path": "a.md"})
	a := answer{stdout: string(bytes.Repeat([]byte("a line of a note\n"), 200))}
	for b.Loop() {
		questionOf(permit, Program{backend: appBackend}).judge(a)
	}
}
