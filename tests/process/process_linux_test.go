package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestCtrlCEndsARunWithItsOwnStatus(t *testing.T) {
	t.Parallel()
	client, pidFile := rig.HangingClient(t)
	run := exec.Command(rig.Binary, "run", "--config=none", "--cli="+client, "daily:path")
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
