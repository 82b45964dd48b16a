package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

func TestTheClientEndsWhenItsCallIsCancelled(t *testing.T) {
	t.Parallel()
	s := rig.ServeHanging(t)
	s.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.ChildEnds()
	s.Send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	got := s.Read()
	assert.That(t, got["id"] == 3.0, "after a cancelled call came %v, want the answer to the ping alone", got)
}

func TestTheClientEndsWithItsTimeLimit(t *testing.T) {
	t.Parallel()
	s := rig.ServeHanging(t, "--timeout=1s")
	result := s.Read()["result"].(map[string]any)["structuredContent"].(map[string]any)
	assert.Equal(t, result["error"].(map[string]any)["code"], "timeout", "code")
	s.ChildEnds()
}

func TestAnOpenCallIsAnsweredWhenTheInputEnds(t *testing.T) {
	t.Parallel()
	s := rig.ServeHanging(t, "--timeout=1s")
	s.In.Close()
	got := s.Read()
	assert.That(t, got["id"] == 2.0, "got %v, want the answer to the open call", got)
	assert.NoError(t, s.Process.Wait(), "the server ended")
	s.ChildEnds()
}

func TestTheClientEndsOnSIGTERM(t *testing.T) {
	t.Parallel()
	s := rig.ServeHanging(t)
	require.NoError(t, s.Process.Process.Signal(syscall.SIGTERM))
	s.ChildEnds()
	io.Copy(io.Discard, s.Out)
	assert.NoError(t, s.Process.Wait(), "the server ended")
}

func TestTheClientEndsWhenTheServerIsKilledOutright(t *testing.T) {
	t.Parallel()
	s := rig.ServeHanging(t)
	require.NoError(t, s.Process.Process.Kill())
	s.ChildEnds()
}

func TestTheServerEndsWhenNobodyReadsItsAnswers(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	server := exec.Command(rig.Binary, "serve", "--config=none", "--backend=embedded", "--vault="+t.TempDir())
	server.Stdout = writer
	in, err := server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	writer.Close()
	reader.Close()
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case <-ended:
	case <-time.After(rig.Patience):
		server.Process.Kill()
		t.Fatal("the server goes on without anybody to answer")
	}
}

func TestCtrlCEndsARunWithItsOwnStatus(t *testing.T) {
	t.Parallel()
	client, pidFile := rig.HangingClient(t)
	run := exec.Command(rig.Binary, "run", "--config=none", "--cli="+client, "random:read")
	var log bytes.Buffer
	run.Stderr = &log
	require.NoError(t, run.Start())
	child := rig.WaitForChild(t, pidFile)
	require.NoError(t, run.Process.Signal(os.Interrupt))
	err := run.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 || !strings.Contains(log.String(), "cancelled") {
		t.Errorf("ended with %v and %q, want status 5 and the word cancelled", err, log.String())
	}
	rig.WaitFor(t, "the client ends", func() bool { return rig.Gone(child) })
}
