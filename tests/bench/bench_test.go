package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// programs is where the binaries under test stand.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "vaultwicket-bench-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer os.RemoveAll(folder)
		programs = folder
		return m.Run()
	}())
}

var build = sync.OnceValue(func() error {
	for name, pkg := range map[string]string{
		"vaultwicket": "vaultwicket/cmd/vaultwicket", "obsidian": "vaultwicket/tests/bench/client",
		"noop": "vaultwicket/tests/bench/noop", "hello": "vaultwicket/tests/bench/hello",
	} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(programs, name), pkg).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
})

func program(b *testing.B, name string) string {
	b.Helper()
	if err := build(); err != nil {
		b.Fatal(err)
	}
	return filepath.Join(programs, name)
}

// BenchmarkCall measures the own time of one call on the app's backend: through
// the server, minus a bare start of the same client, minus an exchange of the
// same size with a server that does nothing.
func BenchmarkCall(b *testing.B) {
	client := program(b, "obsidian")
	s := serve(b, "--backend=obsidian", "--cli="+client)
	s.call("random:read") // the first call asks for the version
	size := len(s.call("random:read"))
	quiet := start(b, program(b, "noop"), strconv.Itoa(size-40))
	var whole, bare, exchange []time.Duration
	for b.Loop() {
		whole = append(whole, timed(func() { s.call("random:read") }))
		bare = append(bare, timed(func() { bareStart(b, client, "random:read") }))
		exchange = append(exchange, timed(func() { quiet.ask("tools/call", map[string]any{"name": "x"}) }))
	}
	w, s0, x := p50(whole), p50(bare), p50(exchange)
	b.ReportMetric(ms(w), "call-ms/p50")
	b.ReportMetric(ms(s0), "bare-ms/p50")
	b.ReportMetric(ms(x), "exchange-ms/p50")
	b.ReportMetric(ms(w-s0-x), "own-ms/p50")
	b.ReportMetric(float64(w)/float64(s0), "call/bare")
}

// BenchmarkInitialize measures the start of the server to its first answer,
// against the start of a hello world.
func BenchmarkInitialize(b *testing.B) {
	hello := program(b, "hello")
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, timed(func() { serve(b, "--backend=embedded", "--vault="+smallVault(b)).stop() }))
		theirs = append(theirs, timed(func() { bareStart(b, hello) }))
	}
	o, t := p50(ours), p50(theirs)
	b.ReportMetric(ms(o), "initialize-ms/p50")
	b.ReportMetric(ms(t), "hello-ms/p50")
	b.ReportMetric(float64(o)/float64(t), "initialize/hello")
}

// BenchmarkMemory reports the memory of the server at rest and after many
// calls (Linux; run it with -benchtime 10000x).
func BenchmarkMemory(b *testing.B) {
	s := serve(b, "--backend=obsidian", "--cli="+program(b, "obsidian"))
	rest := s.memory()
	for b.Loop() {
		s.call("random:read")
	}
	b.ReportMetric(rest, "rest-MiB")
	b.ReportMetric(s.memory(), "after-MiB")
}

// BenchmarkFifty measures 50 calls at once on the app's backend, where they
// stand in one queue, against bare starts one by one.
func BenchmarkFifty(b *testing.B) {
	const calls = 50
	client := program(b, "obsidian")
	s := serve(b, "--backend=obsidian", "--cli="+client, "--max-parallel=64")
	s.call("random:read")
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, timed(func() {
			for range calls {
				s.send("tools/call", callParams("random:read"))
			}
			for range calls {
				s.read()
			}
		}))
		theirs = append(theirs, timed(func() {
			for range calls {
				bareStart(b, client, "random:read")
			}
		}))
	}
	o, t := p50(ours), p50(theirs)
	b.ReportMetric(float64(calls)/o.Seconds(), "calls/s")
	b.ReportMetric(float64(calls)/t.Seconds(), "bare-starts/s")
	b.ReportMetric(float64(t)/float64(o), "throughput/bare")
}

// BenchmarkOneShotRead measures one note read by the embedded program as a
// whole process, against "vaultwicket version".
func BenchmarkOneShotRead(b *testing.B) {
	ours, vault := program(b, "vaultwicket"), smallVault(b)
	var read, version []time.Duration
	for b.Loop() {
		read = append(read, timed(func() { bareStart(b, ours, "vault", vault, "read", "path=Tides.md") }))
		version = append(version, timed(func() { bareStart(b, ours, "version") }))
	}
	r, v := p50(read), p50(version)
	b.ReportMetric(ms(r), "read-ms/p50")
	b.ReportMetric(ms(v), "version-ms/p50")
	b.ReportMetric(float64(r)/float64(v), "read/version")
}

// BenchmarkTools reports the size of tools/list: what every conversation pays.
// Four bytes count as a token.
func BenchmarkTools(b *testing.B) {
	for name, flags := range map[string][]string{
		"v0-read-only":  nil,
		"everything-on": {"--tier=v3", "--allow-mutations", "--allow-publish"},
	} {
		b.Run(name, func(b *testing.B) {
			s := serve(b, append([]string{"--backend=embedded", "--vault=" + smallVault(b)}, flags...)...)
			var answer []byte
			for b.Loop() {
				answer = s.ask("tools/list", map[string]any{})
			}
			b.ReportMetric(float64(len(answer)), "bytes")
			b.ReportMetric(float64(len(answer))/4, "tokens")
		})
	}
}

// session is one MCP session with a server that runs as a child.
type session struct {
	b       *testing.B
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	id      int
}

func start(b *testing.B, path string, args ...string) *session {
	b.Helper()
	process := exec.Command(path, args...)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	s := &session{b: b, process: process, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	b.Cleanup(s.stop)
	return s
}

func serve(b *testing.B, flags ...string) *session {
	b.Helper()
	s := start(b, program(b, "vaultwicket"), append([]string{"serve", "--config=none", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"}, flags...)...)
	s.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"}})
	return s
}

// ask sends one request and returns the line of its answer.
func (s *session) ask(method string, params any) []byte {
	s.send(method, params)
	return s.read()
}

func (s *session) send(method string, params any) {
	s.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		s.b.Fatal(err)
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		s.b.Fatal(err)
	}
}

func (s *session) read() []byte {
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.b.Fatal(err)
	}
	return line
}

// call runs one command and fails when it does not succeed.
func (s *session) call(command string) []byte {
	answer := s.ask("tools/call", callParams(command))
	if !bytes.Contains(answer, []byte(`"ok":true`)) {
		s.b.Fatalf("%s answered %s", command, answer)
	}
	return answer
}

func callParams(command string) map[string]any {
	return map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command}}
}

func (s *session) stop() {
	s.in.Close()
	io.Copy(io.Discard, s.out)
	s.process.Wait()
}

// memory returns the resident memory of the server in MiB.
func (s *session) memory() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		s.b.Skip("no /proc to read the memory from")
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			return kib / 1024
		}
	}
	return 0
}

func bareStart(b *testing.B, path string, args ...string) {
	var out bytes.Buffer
	c := exec.Command(path, args...)
	c.Stdout = &out
	if err := c.Run(); err != nil {
		b.Fatalf("%s %v: %v", path, args, err)
	}
}

func smallVault(b *testing.B) string {
	folder := b.TempDir()
	note := strings.Repeat("Two high waters a day, fifty minutes later each time.\n", 20)
	if err := os.WriteFile(filepath.Join(folder, "Tides.md"), []byte(note), 0o644); err != nil {
		b.Fatal(err)
	}
	return folder
}

func timed(f func()) time.Duration {
	started := time.Now()
	f()
	return time.Since(started)
}

func p50(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
