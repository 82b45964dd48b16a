package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

func TestTheClientEndsWithItsCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		timeout, end string
		id           float64 // of the first answer after that
		code         any
	}{
		"cancelled":  {endless, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"ping"}`, 3, nil},
		"time limit": {short, "", 2, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, pidFile := rig.HangingClient(t)
			s := rig.StartServerIn(t, t.TempDir(), "--cli="+client, "--timeout="+test.timeout)
			s.Send(rig.Handshake("{}"))
			s.Read()
			s.Send(rig.ToolCall(2, `{"command":"random:read"}`))
			child := rig.WaitForChild(t, pidFile)
			if test.end != "" {
				s.Send(test.end)
			}
			var answer struct {
				ID     float64
				Result struct {
					StructuredContent struct{ Error struct{ Code any } }
				}
			}
			s.Next(&answer)
			assert.That(t, answer.ID == test.id && answer.Result.StructuredContent.Error.Code == test.code, "the answer is %+v", answer)
			rig.WaitFor(t, "the client ends", func() bool { return rig.Gone(child) })
		})
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
