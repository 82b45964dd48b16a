package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func init() {
	parts["gateway"] = playGateway
	parts["worker"] = playWorker
	parts["sleep"] = hang
	parts["hello"] = func() { fmt.Print("hello") }
}

// ourself is the child that plays a part of this binary.
func ourself(part string) Child {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Child{Path: self, Name: self, Args: []string{part}, Env: os.Environ(), Embedded: true, Keep: 1 << 10}
}

// playGateway starts the worker and prints what that prints.
func playGateway() {
	worker, err := Start(context.Background(), ourself("worker"))
	if err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(worker.Out).ReadString('\n')
	fmt.Println(worker.PID, strings.TrimSpace(line))
	hang()
}

// hang waits until the test ends the process: one in which every goroutine waits for another would end by itself.
func hang() {
	time.Sleep(time.Hour) // longer than any test
}

// playWorker starts a process before it does anything else.
func playWorker() {
	c := osexec.Command(ourself("").Path, "sleep")
	if err := c.Start(); err != nil {
		panic(err)
	}
	fmt.Println(c.Process.Pid)
	hang()
}

// A child has not run when it is put into its job, so what it starts is in it too.
func TestAChildDoesNotRunBeforeItIsInItsJob(t *testing.T) {
	c := require.Value(ourself("sleep").command(t.Context()))(t)
	require.NoError(t, c.Start())
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	threads, err := threadsOf(uint32(c.Process.Pid))
	require.Equal(t, err, nil, "threads %d", threads)
	require.Equal(t, len(threads), 1, "threads %d", threads)
	if times, err := resumeThread(threads[0]); times != 1 || err != nil {
		t.Errorf("its thread was suspended %d times, %v; want once", times, err)
	}
}

func TestAChildRunsInItsJob(t *testing.T) {
	for _, embedded := range []bool{true, false} {
		c := ourself("hello")
		c.Embedded = embedded
		e := c.Run(t.Context())
		if text, _ := e.Stdout.Text(); e.Kind != Exited || e.Exit != 0 || text != "hello" {
			t.Errorf("embedded %v: kind %d, exit %d, cause %v, output %q", embedded, e.Kind, e.Exit, e.Cause, text)
		}
	}
}

func TestAChildThatNoJobHoldsDoesNotRun(t *testing.T) {
	c := require.Value(ourself("sleep").command(t.Context()))(t)
	assert.That(t, startIn(c, windows.Handle(0)) != nil, "it was started")
	assert.That(t, c.ProcessState != nil, "no one waited for its end")
}

func TestNothingOutlivesAGatewayThatIsKilled(t *testing.T) {
	gateway := osexec.Command(ourself("").Path, "gateway")
	out, err := gateway.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, gateway.Start())
	defer func() { _ = gateway.Process.Kill(); _ = gateway.Wait() }()
	var pids [2]uint32
	if _, err := fmt.Fscan(out, &pids[0], &pids[1]); err != nil {
		t.Fatal(err)
	}
	var open [2]windows.Handle
	for i, pid := range pids {
		open[i], err = windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_TERMINATE, false, pid)
		require.NoError(t, err)
		defer windows.CloseHandle(open[i])
		defer windows.TerminateProcess(open[i], 1)
	}
	require.NoError(t, gateway.Process.Kill())
	for i, name := range []string{"child", "process of the child"} {
		if event, err := windows.WaitForSingleObject(open[i], 20_000); event != windows.WAIT_OBJECT_0 {
			t.Errorf("the %s goes on: %d, %v", name, event, err)
		}
	}
}
