package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// BenchmarkInitialize measures the start of the server to its first answer,
// against the start of a hello world.
func BenchmarkInitialize(b *testing.B) {
	hello, vault := program(b, "hello"), smallVault(b)
	var ours, theirs []time.Duration
	var faults, helloFaults []int
	for b.Loop() {
		var s *session
		ours = append(ours, timed(func() { s = serve(b, "--backend=embedded", "--vault="+vault) }))
		s.stop()
		faults = append(faults, pageFaults(s.process.ProcessState))
		process := exec.Command(hello)
		theirs = append(theirs, timed(func() {
			require.NoError(b, process.Run())
		}))
		helloFaults = append(helloFaults, pageFaults(process.ProcessState))
	}
	against(b, "initialize", ours, "hello", theirs)
	b.ReportMetric(float64(middle(faults)), "faults")
	b.ReportMetric(float64(middle(helloFaults)), "hello-faults")
}

// BenchmarkOneShotRead measures one note read by the embedded program as a
// whole process, against "vaultwicket version".
func BenchmarkOneShotRead(b *testing.B) {
	ours, vault := program(b, "vaultwicket"), smallVault(b)
	var read, version []time.Duration
	for b.Loop() {
		read = append(read, timed(func() { bareStart(b, ours, "vault", vault, "read", "path=Tides.md") }))
		version = append(version, timed(func() { bareStart(b, ours, "version") }))
	}
	against(b, "read", read, "version", version)
}

// memory returns a line of the status of a process in KiB, 0 where the system tells none.
func memory(pid int, line string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, _ := strconv.Atoi(number)
	return kib
}
