package harness

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Worker is a resident worker of the embedded program, at its own pipe.
type Worker struct {
	T    testing.TB
	PID  int
	in   *os.File
	hear *protocol.Reader
	id   uint32
	buf  []byte
}

// StartWorker starts the program at a path as the worker for a folder.
func StartWorker(t testing.TB, path, folder string, env ...string) *Worker {
	t.Helper()
	stdin, in, err := os.Pipe()
	require.NoError(t, err)
	out, stdout, err := process.AnswerPipe()
	require.NoError(t, err)
	worker := exec.Command(path, "vault", folder, "--worker")
	worker.Stdin, worker.Stdout, worker.Stderr, worker.Env = stdin, stdout, os.Stderr, append(os.Environ(), env...)
	require.NoError(t, worker.Start())
	stdin.Close()
	stdout.Close()
	t.Cleanup(func() { in.Close(); worker.Wait(); out.Close() })
	w := &Worker{T: t, PID: worker.Process.Pid, in: in, hear: protocol.NewReader(out)}
	hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	_, err = in.Write(hello)
	require.NoError(t, err)
	_, err = w.hear.Next()
	require.NoError(t, err)
	return w
}

// Ask sends one command line, with the switches of package asking, and has each part of the answer, which may
// be of any length, taken. It returns the exit status.
func (w *Worker) Ask(words []string, take func(part []byte)) uint8 {
	w.id++
	set, rest := fake.SplitRequest(words)
	line, err := call.ParseLine(append([]string{"V"}, rest...))
	require.NoError(w.T, err)
	set(&line.Request)
	var ok bool
	w.buf, ok = protocol.AppendRequest(w.buf[:0], w.id, line.Request)
	require.That(w.T, ok, "%q is too long", words)
	w.buf = protocol.AppendMore(w.buf, w.id, math.MaxInt64)
	_, err = w.in.Write(w.buf)
	require.NoError(w.T, err)
	for {
		f, err := w.hear.Next()
		require.NoError(w.T, err)
		switch f.Kind {
		case protocol.KindReply:
			return require.Value(protocol.ParseReply(f))(w.T).Status
		case protocol.KindOutput:
			take(f.Payload)
		}
	}
}

// Said returns what is printed for one command line.
func (w *Worker) Said(words ...string) string {
	var out strings.Builder
	w.Ask(words, func(part []byte) { out.Write(part) })
	return out.String()
}
