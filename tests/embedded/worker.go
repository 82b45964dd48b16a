package embedded

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Patience is how long a worker may take for anything.
const Patience = 20 * time.Second

// Worker is a gateway's side of a worker that runs in this process.
type Worker struct {
	T      testing.TB
	In     *io.PipeWriter
	Hear   *protocol.Reader
	status chan int
	last   uint32
	facts  map[uint32]bool // the requests that want facts
}

// Worker starts a worker on the vault and shakes hands.
func (h *Vault) Worker() *Worker {
	h.T.Helper()
	w := h.SilentWorker()
	hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	w.Send(hello)
	first := w.Next()
	if theirs, err := protocol.ParseHello(first); err != nil || theirs != (protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: h.Dir}) {
		h.T.Fatalf("greeted with %+v, %v", theirs, err)
	}
	return w
}

// SilentWorker starts a worker and says nothing.
func (h *Vault) SilentWorker() *Worker {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	w := &Worker{T: h.T, In: in, Hear: protocol.NewReader(out), status: make(chan int, 1), facts: map[uint32]bool{}}
	at := h.Host()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		status := vault.Process{Args: []string{h.Dir, call.WorkerSwitch}, Stdin: stdin, Stdout: stdout}.Run(context.Background(), at)
		stdout.Close()
		stdin.Close()
		w.status <- status
	}()
	h.T.Cleanup(func() {
		in.Close()
		out.Close()
		<-ended    // it may still write to its cache
		at.Close() // after a fault that is left to the end of the process
	})
	return w
}

// Send writes frames.
func (w *Worker) Send(frames []byte) {
	w.T.Helper()
	if _, err := w.In.Write(frames); err != nil {
		w.T.Fatal(err)
	}
}

// Next reads a frame.
func (w *Worker) Next() protocol.Frame {
	w.T.Helper()
	return require.Value(w.Hear.Next())(w.T)
}

// Ends waits for the end of the worker.
func (w *Worker) Ends(want int) {
	w.T.Helper()
	select {
	case got := <-w.status:
		assert.Equal(w.T, got, want, "the worker ended with status")
	case <-time.After(Patience):
		w.T.Fatal("the worker does not end")
	}
}

// RequestOf returns what a line of words asks for that may change something.
func RequestOf(t testing.TB, words ...string) protocol.Request {
	t.Helper()
	set, rest := fake.SplitRequest(words)
	line, err := call.ParseLine(append([]string{"V", call.WriteSwitch}, rest...))
	require.That(t, err == nil || len(rest) == 0, "%q: %v", words, err)
	set(&line.Request)
	return line.Request
}

// Request asks for the answer to a command line, with a text for standard input or without.
func (w *Worker) Request(stdin *string, words ...string) (id uint32) {
	w.T.Helper()
	w.last++
	q := RequestOf(w.T, words...)
	w.facts[w.last] = q.Want.Facts
	b, ok := protocol.AppendRequest(nil, w.last, q)
	require.That(w.T, ok, "the request is too long")
	w.Send(b)
	w.More(w.last) // an answer of any length
	if q.Input != "" {
		for rest := []byte(*stdin); len(rest) > 0; {
			n := min(len(rest), protocol.MaxChunk)
			w.Send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindInput, ID: w.last, Payload: rest[:n]}))
			rest = rest[n:]
		}
		w.Send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindInput, ID: w.last}))
	}
	return w.last
}

// More lets all of an answer come.
func (w *Worker) More(id uint32) {
	w.T.Helper()
	w.Send(protocol.AppendMore(nil, id, math.MaxInt64))
}

// Said is everything that came for one request: Stderr is what a person would be told, and End is without it.
type Said struct {
	Stdout, Stderr string
	End            protocol.Reply
}

// Heard returns what a reply says, to a caller who wants facts or not.
func Heard(stdout string, reply protocol.Reply, facts bool) Said {
	var messages strings.Builder
	p := vault.Process{Stderr: &messages}
	if facts {
		p.ReportFacts(reply)
	} else {
		p.ReportNotice(reply)
	}
	messages.WriteString(reply.Panic)
	return Said{stdout, messages.String(), protocol.Reply{Status: reply.Status, Unrun: reply.Unrun, Last: reply.Last}}
}

// Answers reads until n requests have ended.
func (w *Worker) Answers(n int) map[uint32]Said {
	w.T.Helper()
	all := map[uint32]Said{}
	for ended := 0; ended < n; {
		f := w.Next()
		s := all[f.ID]
		switch f.Kind {
		case protocol.KindOutput:
			s.Stdout += string(f.Payload)
		case protocol.KindReply:
			s = Heard(s.Stdout, require.Value(protocol.ParseReply(f))(w.T), w.facts[f.ID])
			ended++
		case protocol.KindChanging, protocol.KindProgress, protocol.KindCancelled:
		default:
			w.T.Fatalf("a frame of kind %d", f.Kind)
		}
		all[f.ID] = s
	}
	return all
}

// Ask returns the answer to a command line.
func (w *Worker) Ask(stdin *string, words ...string) Said {
	w.T.Helper()
	id := w.Request(stdin, words...)
	return w.Answers(1)[id]
}
