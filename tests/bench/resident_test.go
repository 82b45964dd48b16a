package bench

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"vaultwicket/exec/frame"
)

// BenchmarkResidentRead measures one note read with the resident worker: through
// the server, and at the worker's own pipe, next to a process for one call and
// to an exchange of the same size with a server that does nothing.
func BenchmarkResidentRead(b *testing.B) {
	ours, vault := program(b, "vaultwicket"), smallVault(b)
	s := serve(b, "--backend=embedded", "--vault="+vault, "--tier=v1")
	read := map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": "read", "params": map[string]any{"path": "Tides.md"}}}
	size := len(s.ask("tools/call", read)) // the first call starts the worker
	quiet := start(b, program(b, "noop"), strconv.Itoa(size-40))
	w := startWorker(b, ours, vault)
	words := []string{"--facts", "read", "path=Tides.md"}
	w.call(words)
	var whole, pipe, oneShot, exchange []time.Duration
	for range 50 { // apart, because a start of a process takes the caches from what comes behind it
		oneShot = append(oneShot, timed(func() { bareStart(b, ours, append([]string{"vault", vault}, words...)...) }))
	}
	for b.Loop() {
		whole = append(whole, timed(func() { s.ask("tools/call", read) }))
		pipe = append(pipe, timed(func() { w.call(words) }))
		exchange = append(exchange, timed(func() { quiet.ask("tools/call", map[string]any{"name": "x"}) }))
	}
	c, p, o := p50(whole), p50(pipe), p50(oneShot)
	b.ReportMetric(ms(c), "call-ms/p50")
	b.ReportMetric(ms(p), "pipe-ms/p50")
	b.ReportMetric(ms(o), "one-shot-ms/p50")
	b.ReportMetric(ms(p50(exchange)), "exchange-ms/p50")
	b.ReportMetric(float64(o)/float64(p), "one-shot/pipe")
}

// BenchmarkResidentPipe is the worker alone, one read after the other.
func BenchmarkResidentPipe(b *testing.B) {
	w := startWorker(b, program(b, "vaultwicket"), smallVault(b))
	words := []string{"--facts", "read", "path=Tides.md"}
	var took []time.Duration
	for b.Loop() {
		took = append(took, timed(func() { w.call(words) }))
	}
	b.ReportMetric(ms(p50(took)), "pipe-ms/p50")
}

// pipeWorker is a resident worker with nothing in between.
type pipeWorker struct {
	b    *testing.B
	pid  int
	in   *os.File
	hear *frame.Reader
	id   uint32
	buf  []byte
}

func startWorker(b *testing.B, path, vault string) *pipeWorker {
	b.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	process := exec.Command(path, "vault", vault, "--worker")
	process.Stdin, process.Stdout = stdin, stdout
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	stdin.Close()
	stdout.Close()
	b.Cleanup(func() { in.Close(); process.Wait(); out.Close() })
	w := &pipeWorker{b: b, pid: process.Process.Pid, in: in, hear: frame.NewReader(out)}
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
		w.b.Fatalf("%q ended with status %d", words, status)
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
		if err != nil {
			w.b.Fatal(err)
		}
		if f.Kind == frame.KindEnd {
			end, err := frame.ParseEnd(f)
			if err != nil {
				w.b.Fatal(err)
			}
			return end.Status
		}
	}
}
