package exec

import (
	"bytes"
	osexec "os/exec"
	"testing"
)

// The pair of benchmarks is the same program started by os/exec as plainly as
// it goes, and by Run with everything in it. What counts is the ratio.

const benchProgram = "/bin/echo"

func BenchmarkBareStart(b *testing.B) {
	for b.Loop() {
		var stdout, stderr bytes.Buffer
		cmd := osexec.Command(benchProgram, "version")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	r, p := runnerFor(b, Config{}, benchProgram)
	permit := mustPermit("version", nil)
	for b.Loop() {
		if _, err := r.Run(b.Context(), permit, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	permit := mustPermit("read", params{"path": "a.md"})
	a := answer{stdout: string(bytes.Repeat([]byte("a line of a note\n"), 200))}
	for b.Loop() {
		questionOf(permit, Program{backend: toApp}).judge(a)
	}
}
