package testenv

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Output is the standard output of a process. It notes when that has so many lines.
type Output struct {
	text    strings.Builder // to be read when the process has ended
	lines   int
	reached chan struct{}
}

// NewOutput returns an output without text that waits for so many lines, 0 for none.
func NewOutput(lines int) *Output {
	s := &Output{lines: lines, reached: make(chan struct{})}
	if lines == 0 {
		close(s.reached)
	}
	return s
}

// Write adds to the output. It never fails.
func (s *Output) Write(text []byte) (int, error) {
	left := s.lines
	if s.lines -= bytes.Count(text, []byte("\n")); left > 0 && s.lines <= 0 {
		close(s.reached)
	}
	return s.text.Write(text)
}

// KillAfterLines waits until a started process has said as many lines as said waits for
// and kills it up to four milliseconds later, which is any moment of what it does
// then. It returns all that was said, of which the last line may be cut off. A process
// that ends by itself fails the test.
func KillAfterLines(t *testing.T, process *exec.Cmd, said *Output) string {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	select {
	case <-said.reached:
		time.Sleep(time.Duration(rand.IntN(4_000)) * time.Microsecond) // it is killed at a random moment
		require.NoError(t, process.Process.Kill())
		<-ended
	case err := <-ended:
		t.Errorf("it ended by itself: %v: %s", err, said.text.String())
	}
	return said.text.String()
}

// MainOrChild runs the tests of a package, or child with the value of the variable in a process
// that has it: one that a test has started.
func MainOrChild(m *testing.M, variable string, child func(dir string)) {
	if dir := os.Getenv(variable); dir != "" {
		child(dir)
		syscall.Exit(0) // os.Exit lets the race detector sleep for a second
	}
	UseMemory()
	os.Exit(m.Run())
}
