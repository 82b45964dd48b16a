package process

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// resources are what a server and its workers have, and what they have used since they were started.
type resources struct {
	calls             int
	processor         time.Duration // of all of them, workers that ended included
	gateway, worker   int           // KiB of memory that is no file's
	files, ofWorker   int           // descriptors
	threads           int           // of the server
	journal, auditLog int64         // bytes
}

// ticks is how many of them the kernel counts in a second.
const ticks = 100

// processorOf is the processor time of a process and of its children that have ended.
func processorOf(t *testing.T, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has ended
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	require.That(t, len(fields) > 14, "%q", text)
	sum := 0
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		var count int
		fmt.Sscan(field, &count)
		sum += count
	}
	return time.Duration(sum) * time.Second / ticks
}

// look returns what the server and its workers have now.
func (s *soak) look() (now resources) {
	pid := s.server.Process.Process.Pid
	now.processor = processorOf(s.t, pid)
	now.gateway = harness.StatusKiB(s.t, pid, "RssAnon")
	now.threads = harness.StatusKiB(s.t, pid, "Threads") // a count, without a unit
	now.files = openFilesOf(pid)
	for _, worker := range harness.WorkersOf(s.t, pid) {
		now.processor += processorOf(s.t, worker)
		now.ofWorker += openFilesOf(worker)
		now.worker += anonymousKiB(worker)
	}
	now.journal = s.sizeOf("journal")
	now.auditLog = s.sizeOf("audit") + s.sizeOf("audit-calls")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, calls := range s.tenths {
		now.calls += calls
	}
	return now
}

// openFilesOf is how many descriptors a process has, 0 of one that has ended.
func openFilesOf(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

// anonymousKiB is the memory of a process that is no file's, 0 of one that has ended.
func anonymousKiB(pid int) (kib int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "\nRssAnon:")
	fmt.Sscan(rest, &kib)
	return kib
}

// sizeOf is how many bytes the files in a folder of the state have.
func (s *soak) sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(filepath.Join(s.home, "vaultwicket", folder), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // the files change meanwhile
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// measure looks at the end of each tenth.
func (s *soak) measure(ctx context.Context) {
	s.spent[0] = s.look()
	for tenth := 1; tenth <= soakTenths; tenth++ {
		until := s.began.Add(s.length * time.Duration(tenth) / soakTenths)
		// The last look is before the end, after which the agents are silent.
		wait(ctx, time.Until(until)-100*time.Millisecond)
		s.spent[tenth] = s.look()
		before := s.spent[tenth-1]
		now := s.spent[tenth]
		calls := max(now.calls-before.calls, 1)
		s.t.Logf("tenth %2d: %d calls, %v of the processor a call; gateway %d KiB, %d files, %d threads; worker %d KiB, %d files; journal %d KiB, audit log %d KiB",
			tenth, calls, (now.processor-before.processor)/time.Duration(calls), now.gateway, now.files, now.threads,
			now.worker, now.ofWorker, now.journal>>10, now.auditLog>>10)
	}
}

// How much more there may be at the end than at most in the tenths up to the fifth, in which all kinds of calls have been
// made very often.
const (
	tenthsThatFill = 5
	moreOfGateway  = 16 << 10 // KiB
	moreOfWorker   = 32 << 10 // KiB
	moreFiles      = 16
)

// judgeResources compares the end of the traffic with its first half, and ends the server to count its goroutines.
func (s *soak) judgeResources() {
	early := resources{}
	for _, one := range s.spent[:tenthsThatFill+1] {
		early.gateway = max(early.gateway, one.gateway)
		early.worker = max(early.worker, one.worker)
		early.files = max(early.files, one.files)
		early.ofWorker = max(early.ofWorker, one.ofWorker)
	}
	late := s.spent[soakTenths]
	assert.That(s.t, late.gateway <= early.gateway+moreOfGateway, "the gateway has %d KiB, had %d", late.gateway, early.gateway)
	assert.That(s.t, late.worker <= early.worker+moreOfWorker, "the worker has %d KiB, had %d", late.worker, early.worker)
	assert.That(s.t, late.files <= early.files+moreFiles, "the gateway has %d descriptors, had %d", late.files, early.files)
	assert.That(s.t, late.ofWorker <= early.ofWorker+moreFiles, "the worker has %d descriptors, had %d", late.ofWorker, early.ofWorker)
	s.tellRates()
	require.NoError(s.t, s.server.Process.Process.Signal(syscall.SIGQUIT))
	_ = s.server.Wait()
	goroutines := strings.Count("\n"+s.server.Said(), "\ngoroutine ")
	s.t.Logf("%d goroutines of the gateway with %d sessions", goroutines, soakAgents+1)
	assert.That(s.t, 0 < goroutines, "%d goroutines", goroutines)
	assert.That(s.t, goroutines <= 10*(soakAgents+1), "%d goroutines", goroutines)
}

// tellRates compares the last tenth with the second. Both depend on what else the machine does, the processor time of a call
// least.
func (s *soak) tellRates() {
	perCall := func(tenth int) float64 {
		calls := max(s.spent[tenth].calls-s.spent[tenth-1].calls, 1)
		return float64(s.spent[tenth].processor-s.spent[tenth-1].processor) / float64(calls)
	}
	inTenSeconds := func(tenth int) float64 {
		return float64(s.tenths[tenth-1]) / (s.length / soakTenths).Seconds() * 10
	}
	s.t.Logf("calls in 10 s: %.0f in the second tenth, %.0f in the last, × %.2f; processor time of a call × %.2f",
		inTenSeconds(2), inTenSeconds(soakTenths), inTenSeconds(soakTenths)/inTenSeconds(2), perCall(soakTenths)/perCall(2))
}
