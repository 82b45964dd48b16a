package process

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// hostScript is a program that starts a server: it passes its own input and
// output on, says the number of the server, and waits. With the word "between" it
// starts another one of itself to do that.
const hostScript = `host=${2:-$$}
exec 3<&0
if [ "$1" = between ]; then sh -c "$0" "$0" "" $$ <&3 3<&- & echo between $!; wait; exec sleep 600; fi
"$BINARY" serve --config=none --backend=embedded "--vault=$VAULT" --parent-pid=$host <&3 3<&- & echo server $!
wait`

// host is a program that has started a server, whose input stays open whatever
// happens to the program.
type host struct {
	*harness.StdioServer
	server, worker, between int
}

func startHost(t *testing.T, words ...string) *host {
	t.Helper()
	process := exec.Command("sh", append([]string{"-c", hostScript}, append([]string{hostScript}, words...)...)...)
	h := &host{StdioServer: &harness.StdioServer{T: t, Process: process}}
	h.Process.Env = append(os.Environ(), "HOME="+t.TempDir(), "BINARY="+harness.Binary, "VAULT="+harness.SampleVault(t))
	theirs, in, err := os.Pipe()
	require.NoError(t, err)
	out, stdout, err := os.Pipe()
	require.NoError(t, err)
	h.Process.Stdin, h.Process.Stdout, h.Process.Stderr = theirs, stdout, os.Stderr
	h.In, h.Out, h.Stdout = in, bufio.NewReader(out), out
	require.NoError(t, h.Process.Start())
	theirs.Close()
	stdout.Close()
	t.Cleanup(func() {
		h.Process.Process.Kill()
		h.Process.Wait()
		in.Close()
		out.Close()
	})
	pids := h.pids(t, append([]string{"server"}, words...))
	h.server, h.between = pids["server"], pids["between"]
	h.Send(harness.Handshake("{}"))
	h.Read()
	h.Send(harness.ToolCall(2, `{"command":"random:read"}`))
	h.Read()
	workers := harness.WorkersOf(t, h.server)
	require.That(t, len(workers) == 1, "the server has the children %v, want one worker", workers)
	h.worker = workers[0]
	return h
}

// pids reads the lines in which the host says the numbers of its processes. They
// come in any order.
func (h *host) pids(t *testing.T, names []string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for range names {
		line, err := h.Out.ReadString('\n')
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err2 := strconv.Atoi(number)
		require.Equal(t, err, nil, "the host said %q (%v)", line, err)
		require.Equal(t, err2, nil, "the host said %q (%v)", line, err)
		require.Equal(t, all[name], 0, "the host said %q (%v)", line, err)
		require.That(t, slices.Contains(names, name), "the host said %q (%v)", line, err)
		all[name] = pid
	}
	return all
}

func (h *host) endsAll(t *testing.T) {
	t.Helper()
	harness.WaitFor(t, "the server ends", func() bool { return harness.Gone(h.server) })
	harness.WaitFor(t, "the worker ends", func() bool { return harness.Gone(h.worker) })
}

// A program that is killed cannot end what it has started, and pipes that others
// hold open do not tell of it.
func TestTheServerEndsWithTheProgramThatStartedIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, h *host){
		"which is killed":                func(t *testing.T, h *host) { h.Process.Process.Kill() },
		"which is killed and waited for": func(t *testing.T, h *host) { h.Process.Process.Kill(); h.Process.Wait() },
		"which ends with open calls and nobody to read the answers": func(t *testing.T, h *host) {
			for id := range 50 {
				h.Send(harness.ToolCall(10+id, `{"command":"random:read"}`))
			}
			h.Stdout.Close()
			h.Process.Process.Kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHost(t)
			end(t, h)
			h.endsAll(t)
		})
	}
}

func TestTheServerEndsWhenItsProgramIsNoAncestorAnyMore(t *testing.T) {
	t.Parallel()
	h := startHost(t, "between")
	require.NoError(t, syscall.Kill(h.between, syscall.SIGKILL))
	h.endsAll(t)
	assert.That(t, !harness.Gone(h.Process.Process.Pid), "the program itself has ended")
}
