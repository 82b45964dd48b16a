package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// received are the lines that a collector has, by the part of the log.
type received struct {
	mu    sync.Mutex
	lines []map[string]any
}

func (r *received) add(text string) {
	var line map[string]any
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		line = map[string]any{"part": "not JSON: " + text}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// numbers returns the numbers of the lines of a part, and how many lines it was told are missing.
func (r *received) numbers(part string) (seqs []int, missing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.lines {
		switch {
		case line["part"] != part:
		case line["kind"] == "missing":
			missing += int(line["dropped"].(float64))
		default:
			seqs = append(seqs, int(line["seq"].(float64)))
		}
	}
	return seqs, missing
}

// collector is one that a test can stop, slow down and start again.
type collector interface {
	address() string
	start(t *testing.T)
	stop()
	lines() *received
}

// overHTTP is a collector of OTLP. answer is asked for the status of each request.
type overHTTP struct {
	received
	at     string
	server *http.Server
	answer func(n int) int
	asked  int
}

func (c *overHTTP) address() string  { return "http://" + c.at + "/v1/logs" }
func (c *overHTTP) lines() *received { return &c.received }

func (c *overHTTP) start(t *testing.T) {
	t.Helper()
	c.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.asked++
		if c.answer != nil {
			if status := c.answer(c.asked); status != http.StatusOK {
				w.WriteHeader(status)
				return
			}
		}
		var sent struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct{ Body struct{ StringValue string } }
				}
			}
		}
		if err := json.Unmarshal(body, &sent); err != nil || len(sent.ResourceLogs) != 1 {
			t.Errorf("%v: %s", err, body)
			return
		}
		for _, record := range sent.ResourceLogs[0].ScopeLogs[0].LogRecords {
			c.add(record.Body.StringValue)
		}
		_, _ = io.WriteString(w, "{}")
	})}
	listener := listen(t, "tcp", c.at)
	go func() { _ = c.server.Serve(listener) }()
}

func (c *overHTTP) stop() { _ = c.server.Close() }

// listen listens at an address that is free.
func listen(t *testing.T, network, at string) net.Listener {
	t.Helper()
	var listener net.Listener
	isFree := func() (is bool) {
		l, err := net.Listen(network, at)
		listener = l
		return err == nil
	}
	if assert.Await(time.Second, isFree) {
		return listener
	}
	if network == "unix" && runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	t.Fatalf("cannot listen at %s", at)
	return nil
}

// freePorts are where [freeAddress] looks: below those that systems give to connections of their own, so that no other
// program gets one until the test listens there.
var freePorts atomic.Int64

// freeAddress is an address that nothing listens at, another one for each call.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		at := fmt.Sprintf("127.0.0.1:%d", 20_000+(int64(os.Getpid())*7+freePorts.Add(1))%10_000)
		if l, err := net.Listen("tcp", at); err == nil {
			l.Close()
			return at
		}
	}
	t.Fatal("no port is free")
	return ""
}

// bySyslog is a collector of syslog over TCP or a Unix socket.
type bySyslog struct {
	received
	network, at string
	listener    net.Listener
	mu          sync.Mutex
	open        []net.Conn
	done        sync.WaitGroup
}

func (c *bySyslog) address() string {
	if c.network == "unix" {
		return urlOf("syslog+unix", c.at)
	}
	return "syslog+tcp://" + c.at
}

func (c *bySyslog) lines() *received { return &c.received }

func (c *bySyslog) start(t *testing.T) {
	t.Helper()
	listener := listen(t, c.network, c.at)
	c.listener = listener
	c.done.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.open = append(c.open, connection)
			c.mu.Unlock()
			c.done.Go(func() { c.read(t, bufio.NewReader(connection)) })
		}
	})
}

func (c *bySyslog) read(t *testing.T, in *bufio.Reader) {
	for {
		length, err := in.ReadString(' ')
		if err != nil {
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(length, " "))
		if err != nil {
			t.Errorf("the length %q", length)
			return
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		// PRI VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG
		fields := strings.SplitN(string(message), " ", 8)
		if len(fields) != 8 || fields[0] != "<110>1" && fields[0] != "<109>1" || fields[3] != "vaultwicket" || fields[6] != "-" {
			t.Errorf("the message %q", message)
			return
		}
		_, err = time.Parse(time.RFC3339Nano, fields[1])
		assert.NoError(t, err)
		c.add(fields[7])
	}
}

func (c *bySyslog) stop() {
	_ = c.listener.Close()
	c.mu.Lock()
	for _, connection := range c.open {
		_ = connection.Close()
	}
	c.open = nil
	c.mu.Unlock()
	c.done.Wait()
}

// byDatagrams is a collector of syslog over a Unix socket of datagrams.
type byDatagrams struct {
	bySyslog
	socket *net.UnixConn
}

func (c *byDatagrams) start(t *testing.T) {
	t.Helper()
	_ = os.Remove(c.at)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: c.at, Net: "unixgram"})
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("there are no such sockets: %v", err)
	}
	require.NoError(t, err)
	c.socket = socket
	c.done.Go(func() {
		message := make([]byte, 1<<17)
		for {
			n, err := socket.Read(message)
			if err != nil {
				return
			}
			c.read(t, bufio.NewReader(strings.NewReader(fmt.Sprintf("%d %s", n, message[:n]))))
		}
	})
}

func (c *byDatagrams) stop() {
	_ = c.socket.Close()
	c.done.Wait()
}

// urlOf returns the address of a file or a socket at an absolute path.
func urlOf(scheme, path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return scheme + "://" + path
}

// inFile is a file that a collector reads.
type inFile struct{ name string }

func (c inFile) address() string  { return urlOf("file", c.name) }
func (c inFile) start(*testing.T) {}
func (c inFile) stop()            {}

func (c inFile) lines() *received {
	r := &received{}
	text, _ := os.ReadFile(c.name)
	for line := range strings.Lines(string(text)) {
		r.add(strings.TrimSuffix(line, "\n"))
	}
	return r
}

// collectors are one of each kind.
func collectors(t *testing.T) map[string]collector {
	return map[string]collector{
		"otlp": &overHTTP{at: freeAddress(t)}, "tcp": &bySyslog{network: "tcp", at: freeAddress(t)},
		"unix":      &bySyslog{network: "unix", at: filepath.Join(t.TempDir(), "s")},
		"datagrams": &byDatagrams{bySyslog: bySyslog{network: "unix", at: filepath.Join(t.TempDir(), "s")}},
		"file":      inFile{filepath.Join(t.TempDir(), "lines.jsonl")},
	}
}

func newState(t *testing.T) string { return filepath.Join(t.TempDir(), "state") }

// write adds lines to both parts of a log.
func write(t *testing.T, state string, from, to int) {
	t.Helper()
	logs := OpenLogs(state)
	for i := from; i < to; i++ {
		line := Line{Kind: "decision", Decision: "allow", Command: "append", Client: fmt.Sprint("client-", i)}
		write := logs.Write
		if i%3 == 0 {
			write = logs.WriteLasting
		}
		require.NoError(t, write(line, Buffered))
	}
}

func started(t *testing.T, state string, to ...string) *Exporter {
	t.Helper()
	return require.Value(StartExport(ExportConfig{State: state, To: to, Getenv: func(string) string { return "" },
		Version: "1", Log: slog.New(slog.DiscardHandler)}))(t)
}

// within waits until is is true.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Within(t, time.Minute, what, is)
}

// wantAll fails unless a collector has all lines of both parts in their order; with again it may have
// some more than once.
func wantAll(t *testing.T, c collector, lines int, again bool) {
	t.Helper()
	for part, want := range map[string]int{"audit": (lines + 2) / 3, "calls": lines - (lines+2)/3} {
		seqs, missing := c.lines().numbers(part)
		next := 1
		for _, seq := range seqs {
			switch {
			case seq == next:
				next++
			case seq > next || !again:
				t.Fatalf("%s: number %d, want %d, in %v", part, seq, next, seqs)
			}
		}
		assert.Equal(t, next, want+1, "%s: the lines up to %d, want %d; %d are missing", part, next-1, want, missing)
		assert.That(t, missing <= 0, "%s: the lines up to %d, want %d; %d are missing", part, next-1, want, missing)
	}
}

// countOf is how many lines a collector has.
func countOf(c collector) int {
	audit, _ := c.lines().numbers("audit")
	calls, _ := c.lines().numbers("calls")
	return len(audit) + len(calls)
}

// Each kind of target gets every line once and in order, also those of before the start and between
// two runs.
func TestEveryLineArrivesOnce(t *testing.T) {
	t.Parallel()
	for name, c := range collectors(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.start(t)
			defer c.stop()
			state := newState(t)
			write(t, state, 0, 900)
			e := started(t, state, c.address())
			within(t, "900 lines", func() bool { return countOf(c) == 900 })
			write(t, state, 900, 1000)
			e.Close()
			within(t, "1000 lines", func() bool { return countOf(c) == 1000 })
			write(t, state, 1000, 1100)
			started(t, state, c.address()).Close()
			within(t, "1100 lines", func() bool { return countOf(c) == 1100 })
			wantAll(t, c, 1100, false)
			p := ExportProgressOf(state)
			require.Equal(t, len(p), 1)
			require.Equal(t, p[0].Sent, 1100)
			assert.Equal(t, p[0].Dropped, 0)
		})
	}
}

// A collector that is down at first, and one that is restarted in the middle, lose nothing.
func TestACollectorThatIsDownLosesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range collectors(t) {
		if name == "file" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := newState(t)
			write(t, state, 0, 300)
			e := started(t, state, c.address())
			defer e.Close()
			time.Sleep(100 * time.Millisecond) // in which it finds no collector
			c.start(t)
			within(t, "the lines of before", func() bool { return countOf(c) >= 300 })
			for i := range 2 {
				c.stop()
				all := 400 + i*100
				write(t, state, all-100, all)
				time.Sleep(50 * time.Millisecond) // in which it finds no collector
				c.start(t)
				within(t, "the lines of meanwhile", func() bool {
					audit, _ := c.lines().numbers("audit")
					calls, _ := c.lines().numbers("calls")
					return len(audit) > 0 && len(calls) > 0 && audit[len(audit)-1]+calls[len(calls)-1] == all
				})
			}
			c.stop()
			wantAll(t, c, 500, true)
		})
	}
}

// A collector of syslog that ends, together with the connection and with the process that sends, with
// lines that it has taken and not read: they are sent again. Lines that nobody has complained of for a while have arrived, which
// a busy machine can take for the whole test: then it begins again.
func TestLinesThatEndWithACollector(t *testing.T) {
	t.Parallel()
	at := freeAddress(t)
	state := ""
	isInTime := assert.Await(time.Minute, func() bool {
		state = newState(t)
		write(t, state, 0, 600)
		endWithLines(t, state, at)
		return len(ExportProgressOf(state)) == 0
	})
	require.That(t, isInTime, "%+v has arrived each time", ExportProgressOf(state))
	c := &bySyslog{network: "tcp", at: at}
	c.start(t)
	defer c.stop()
	e := started(t, state, c.address())
	defer e.Close()
	within(t, "all lines", func() bool { return countOf(c) >= 600 })
	wantAll(t, c, 600, true)
	within(t, "the progress", func() bool { p := ExportProgressOf(state); return len(p) == 1 && p[0].Sent == 600 })
}

// endWithLines has a collector at an address, and the process that sends to it, end with lines that it has taken and not read.
func endWithLines(t *testing.T, state, at string) {
	t.Helper()
	mute := listen(t, "tcp", at)
	e := started(t, state, "syslog+tcp://"+at)
	defer e.Close()
	connection, err := mute.Accept()
	if err == nil {
		_, err = io.ReadFull(connection, make([]byte, 100))
	}
	require.NoError(t, err)
	time.Sleep(50 * time.Millisecond) // they are in the buffers of the system
	_ = mute.Close()
	_ = connection.Close()
}

// A collector that answers late, or that it has no time, gets all lines, in order and once.
func TestASlowCollector(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusUnauthorized} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			c := &overHTTP{at: freeAddress(t)}
			c.answer = func(n int) int {
				time.Sleep(30 * time.Millisecond) // a collector that is slow
				return []int{http.StatusOK, status}[n%2]
			}
			c.start(t)
			defer c.stop()
			state := newState(t)
			e := started(t, state, c.address())
			defer e.Close()
			write(t, state, 0, 600)
			within(t, "all lines", func() bool { return countOf(c) == 600 })
			wantAll(t, c, 600, false)
		})
	}
}

// What a collector refuses for good is counted, and the next lines are sent.
func TestRefusedLinesAreCounted(t *testing.T) {
	t.Parallel()
	c := &overHTTP{at: freeAddress(t), answer: func(n int) int { return []int{http.StatusOK, http.StatusBadRequest}[n%2] }}
	c.start(t)
	defer c.stop()
	state := newState(t)
	write(t, state, 0, 3000)
	e := started(t, state, c.address())
	defer e.Close()
	within(t, "all lines", func() bool {
		p := ExportProgressOf(state)
		return len(p) == 1 && p[0].Parts["calls"].Seq == 2000 && p[0].Parts["audit"].Seq == 1000
	})
	p := ExportProgressOf(state)
	assert.That(t, p[0].Dropped != 0, "%+v, %d arrived", p[0], countOf(c))
	assert.Equal(t, int(p[0].Dropped)+countOf(c), 3000, "%+v, %d arrived", p[0], countOf(c))
}

// Lines that the log removes while the collector is down are counted, and the collector is told how
// many are missing and where. The same for a log that was removed and began anew.
func TestLinesThatTheLogRemovesAreCounted(t *testing.T) {
	t.Parallel()
	c := &bySyslog{network: "tcp", at: freeAddress(t)}
	state := newState(t)
	log := Open(CallsFolder(state), Limits{FileSize: 4000, Files: 3})
	add := func(n int) {
		for range n {
			require.NoError(t, log.Write(Line{Kind: "decision", Decision: "allow", Client: "client"}, Buffered))
		}
	}
	add(5)
	c.start(t)
	e := started(t, state, c.address())
	within(t, "the first lines", func() bool { return countOf(c) == 5 })
	e.Close()
	add(500)
	e = started(t, state, c.address())
	within(t, "the last line", func() bool {
		seqs, _ := c.lines().numbers("calls")
		return seqs[len(seqs)-1] == 505
	})
	seqs, missing := c.lines().numbers("calls")
	assert.That(t, missing != 0, "%d lines arrived, %d are missing", len(seqs), missing)
	assert.Equal(t, len(seqs)+missing, 505, "%d lines arrived, %d are missing", len(seqs), missing)
	within(t, "the count", func() bool { return ExportProgressOf(state)[0].Dropped == uint64(missing) })
	e.Close()
	require.NoError(t, os.RemoveAll(CallsFolder(state)))
	log = Open(CallsFolder(state), Limits{})
	add(2)
	e = started(t, state, c.address())
	within(t, "the lines of the new log", func() bool {
		seqs, _ := c.lines().numbers("calls")
		return seqs[len(seqs)-1] == 2
	})
	e.Close()
	c.stop()
	_ = log.Close()
}

// Of several processes one sends at a time, and another goes on when it ends.
func TestOneProcessSendsAtATime(t *testing.T) {
	t.Parallel()
	c := &bySyslog{network: "tcp", at: freeAddress(t)}
	c.start(t)
	defer c.stop()
	state := newState(t)
	first, second := started(t, state, c.address()), started(t, state, c.address())
	for i := range 10 {
		write(t, state, i*30, i*30+30)
		time.Sleep(10 * time.Millisecond) // in which either of them may take the lines
	}
	within(t, "the lines", func() bool { return countOf(c) == 300 })
	first.Close()
	write(t, state, 300, 330)
	within(t, "the lines of after", func() bool { return countOf(c) == 330 })
	second.Close()
	wantAll(t, c, 330, false)
}

// A disk that is full, here a file that cannot be written, keeps nothing of a batch.
func TestAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	state, folder := newState(t), t.TempDir()
	write(t, state, 0, 30)
	e := started(t, state, urlOf("file", filepath.Join(folder, "missing", "lines")), urlOf("file", folder))
	time.Sleep(50 * time.Millisecond) // in which it tries: a batch that failed leaves nothing to wait for
	e.Close()
	assert.Equal(t, len(ExportProgressOf(state)), 0)
}

// A path of Windows in an address is told with the form that it has there.
func TestAFileOnADrive(t *testing.T) {
	const want = "want file:///PATH, with a drive file:///C:/PATH"
	for _, address := range []string{`file://C:\logs\a.jsonl`, `file:C:\logs\a.jsonl`, `file://C:/logs/a.jsonl`} {
		err := CheckTarget(address)
		assert.That(t, err != nil, "%q is taken", address)
	}
	assert.Equal(t, fmt.Sprint(CheckTarget(`file://C:\logs\a.jsonl`)), want)
	assert.NoError(t, CheckTarget("file:///C:/logs/a.jsonl"))
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://localhost:4318/v1/logs": true, "https://collector/otlp/logs": true, "syslog+tcp://host:514": true, "syslog+tls://[::1]:6514": true,
		"syslog+unix:///dev/log": true, "file:///var/log/x.jsonl": true,
		"http://localhost:4318": false, "http://user:secret@localhost/v1/logs": false, "syslog+tcp://host": false,
		"syslog+udp://host:514": false, "file://relative": false,
		"file:relative": false, "ftp://host/x": false, "": false, "syslog+tcp://host:514/x": false, "syslog+unix://host/x": false, "://": false,
		"file:///var/log/a?b.log": false, "file:///var/log/a#b": false, "file://me@/x": false, "file:///var/log/a%3Fb.log": true,
		"syslog+tcp://host:514?a=b": false, "syslog+tls://host:514#a": false, "syslog+unix:///dev/log?": false,
	} {
		assert.Equal(t, (CheckTarget(address) == nil), ok, "%q", address)
	}
	assert.That(t, ExportFileOf("file:///a/b") != "", "files of addresses")
	assert.Equal(t, ExportFileOf("https://a/b"), "", "files of addresses")
}
