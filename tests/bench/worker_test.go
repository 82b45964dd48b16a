package bench

import (
	"os"
	"os/exec"
	"testing"

	"vaultwicket/exec/frame"
	"vaultwicket/exec/process"
	"vaultwicket/tests/require"
)

// pipeWorker is a resident worker with nothing in between.
type pipeWorker struct {
	b    *testing.B
	pid  int
	in   *os.File
	hear *frame.Reader
	id   uint32
	buf  []byte
	said []byte // the last part of the last answer
}

func startWorker(b *testing.B, path, vault string) *pipeWorker {
	b.Helper()
	stdin, in, err := os.Pipe()
	require.NoError(b, err)
	out, stdout, err := process.AnswerPipe()
	require.NoError(b, err)
	worker := exec.Command(path, "vault", vault, "--worker")
	worker.Stdin, worker.Stdout = stdin, stdout
	require.NoError(b, worker.Start())
	stdin.Close()
	stdout.Close()
	b.Cleanup(func() { in.Close(); worker.Wait(); out.Close() })
	w := &pipeWorker{b: b, pid: worker.Process.Pid, in: in, hear: frame.NewReader(out)}
	hello, _ := frame.AppendHello(nil, frame.Hello{Version: frame.Version})
	if _, err := in.Write(hello); err != nil {
		b.Fatal(err)
	}
	if _, err := w.hear.Next(); err != nil {
		b.Fatal(err)
	}
	return w
}

// call asks one question and reads the answer to its end.
func (w *pipeWorker) call(words []string) {
	if status := w.status(words); status != 0 {
		w.b.Fatalf("%q ended with status %d: %.400s", words, status, w.said)
	}
}

// status is call with an answer of any kind.
func (w *pipeWorker) status(words []string) uint8 {
	w.id++
	w.buf, _ = frame.AppendRequest(w.buf[:0], w.id, frame.Request{Words: words})
	w.buf = frame.Append(w.buf, frame.Frame{Kind: frame.KindMore, ID: w.id}) // an answer of any length
	if _, err := w.in.Write(w.buf); err != nil {
		w.b.Fatal(err)
	}
	for {
		f, err := w.hear.Next()
		require.NoError(w.b, err)
		if f.Kind != frame.KindEnd {
			w.said = append(w.said[:0], f.Payload...)
		}
		if f.Kind == frame.KindEnd {
			end, err := frame.ParseEnd(f)
			require.NoError(w.b, err)
			return end.Status
		}
	}
}

// output is call with the last part of the answer, "" for one without a text.
func (w *pipeWorker) output(words []string) string {
	w.said = w.said[:0]
	w.call(words)
	return string(w.said)
}

// memory returns a line of the status of the worker in KiB.
func (w *pipeWorker) memory(line string) int { return memory(w.pid, line) }
