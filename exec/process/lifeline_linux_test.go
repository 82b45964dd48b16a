package process

import (
	"testing"

	"vaultwicket/tests/require"
)

// The lifeline is open as long as this process lives: its reader sees no end.
func TestTheLifelineIsOpenWhileThisProcessLives(t *testing.T) {
	line, err := lifeline()
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = line.reader.Read(make([]byte, 1))
	}()
	child := Child{Path: "/bin/sh", Name: "sh", Args: []string{"-c", "test \"$VAULTWICKET_LIFELINE\" = 3 && test -e /dev/fd/3"}, Env: []string{"PATH=/bin"}, Embedded: true}
	if e := child.Run(t.Context()); e.Kind != Exited || e.Exit != 0 {
		t.Errorf("a child has no lifeline: kind %d, exit %d", e.Kind, e.Exit)
	}
	select {
	case <-done:
		t.Fatal("the lifeline ended while the gateway lives")
	default:
	}
	// A byte ends the reader above; no one else reads at that time.
	_, _ = line.writer.Write([]byte{0})
	<-done
}
