package process

import (
	"os"
	osexec "os/exec"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A process that waits for something else than a processor demands none; one that computes does, and is told what it has used.
func TestDemandOfAProcess(t *testing.T) {
	start := func(script string) (pid int) {
		run := osexec.Command("/bin/sh", "-c", script)
		require.NoError(t, run.Start())
		t.Cleanup(func() {
			_ = run.Process.Kill()
			_ = run.Wait() // it was killed
		})
		return run.Process.Pid
	}
	sleeps := start("exec sleep 600")
	assert.Await(10*time.Second, func() bool {
		d, ok := DemandOf(sleeps)
		return ok && !d.IsRunnable
	})
	d, ok := DemandOf(sleeps)
	require.That(t, ok, "what a process demands is not known")
	assert.That(t, !d.IsRunnable, "a process that sleeps: %+v", d)
	computes := start("while :; do :; done")
	assert.Await(20*time.Second, func() bool {
		d, _ := DemandOf(computes)
		return d.Used > 0
	})
	d, _ = DemandOf(computes)
	assert.That(t, d.IsRunnable, "a process that computes: %+v", d)
	assert.That(t, d.Used > 0, "a process that computes: %+v", d)
	own, ok := DemandOf(os.Getpid())
	require.That(t, ok, "what this process demands is not known")
	assert.That(t, own.IsRunnable, "this process: %+v", own)
	_, ok = DemandOf(1 << 30)
	assert.That(t, !ok, "there is no such process")
}
