package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestCtrlCEndsARunWithItsOwnStatus(t *testing.T) {
	t.Parallel()
	client, pidFile := harness.HangingClient(t)
	run := exec.Command(harness.Binary, "run", "--config=none", "--cli="+client, "daily:path")
	var log bytes.Buffer
	run.Stderr = &log
	require.NoError(t, run.Start())
	child := harness.WaitForChild(t, pidFile)
	require.NoError(t, run.Process.Signal(os.Interrupt))
	err := run.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 || !strings.Contains(log.String(), "cancelled") {
		t.Errorf("ended with %v and %q, want status 5 and the word cancelled", err, log.String())
	}
	harness.WaitFor(t, "the client ends", func() bool { return harness.Gone(child) })
}
