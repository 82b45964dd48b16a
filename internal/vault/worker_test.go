package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/internal/vault/resident"
	"github.com/vaultwicket/vaultwicket/tests/asking"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const patience = 20 * time.Second

// talk is a gateway's side of a worker that runs in this process.
type talk struct {
	t      testing.TB
	in     *io.PipeWriter
	hear   *protocol.Reader
	status chan int
	last   uint32
	facts  map[uint32]bool // the requests that want facts
}

// worker starts a worker on the vault and shakes hands.
func (h *testVault) worker() *talk {
	h.t.Helper()
	w := h.silentWorker()
	hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	w.send(hello)
	first := w.next()
	if theirs, err := protocol.ParseHello(first); err != nil || theirs != (protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: h.dir}) {
		h.t.Fatalf("greeted with %+v, %v", theirs, err)
	}
	return w
}

// silentWorker starts a worker and says nothing.
func (h *testVault) silentWorker() *talk {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	w := &talk{t: h.t, in: in, hear: protocol.NewReader(out), status: make(chan int, 1), facts: map[uint32]bool{}}
	at, ended := h.host(), make(chan struct{})
	go func() {
		defer close(ended)
		status := process{args: []string{h.dir, call.WorkerSwitch}, stdin: stdin, stdout: stdout}.run(context.Background(), at)
		stdout.Close()
		stdin.Close()
		w.status <- status
	}()
	h.t.Cleanup(func() {
		in.Close()
		out.Close()
		<-ended    // it may still write to its cache
		at.Close() // after a fault that is left to the end of the process
	})
	return w
}

func (w *talk) send(frames []byte) {
	w.t.Helper()
	if _, err := w.in.Write(frames); err != nil {
		w.t.Fatal(err)
	}
}

func (w *talk) next() protocol.Frame {
	w.t.Helper()
	return require.Value(w.hear.Next())(w.t)
}

// ends waits for the end of the worker.
func (w *talk) ends(want int) {
	w.t.Helper()
	select {
	case got := <-w.status:
		assert.Equal(w.t, got, want, "the worker ended with status")
	case <-time.After(patience):
		w.t.Fatal("the worker does not end")
	}
}

// requestOf is what a line of words asks for that may change something.
func requestOf(t testing.TB, words ...string) protocol.Request {
	t.Helper()
	set, rest := asking.Split(words)
	line, err := call.ParseLine(append([]string{"V", call.WriteSwitch}, rest...))
	require.That(t, err == nil || len(rest) == 0, "%q: %v", words, err)
	set(&line.Request)
	return line.Request
}

func (w *talk) request(stdin *string, words ...string) (id uint32) {
	w.t.Helper()
	w.last++
	q := requestOf(w.t, words...)
	w.facts[w.last] = q.Want.Facts
	b, ok := protocol.AppendRequest(nil, w.last, q)
	require.That(w.t, ok, "the request is too long")
	w.send(b)
	w.more(w.last) // an answer of any length
	if q.Input != "" {
		for rest := []byte(*stdin); len(rest) > 0; {
			n := min(len(rest), protocol.MaxChunk)
			w.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindInput, ID: w.last, Payload: rest[:n]}))
			rest = rest[n:]
		}
		w.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindInput, ID: w.last}))
	}
	return w.last
}

// more lets all of an answer come.
func (w *talk) more(id uint32) {
	w.t.Helper()
	w.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindMore, ID: id}))
}

// said is everything that came for one request: stderr is what a person would be told, and end is without it.
type said struct {
	stdout, stderr string
	end            protocol.Reply
}

// heard is what a reply says, to a caller who wants facts or not.
func heard(stdout string, reply protocol.Reply, facts bool) said {
	var messages strings.Builder
	process{stderr: &messages}.report(reply, facts)
	messages.WriteString(reply.Panic)
	return said{stdout, messages.String(), protocol.Reply{Status: reply.Status, Unrun: reply.Unrun, Last: reply.Last}}
}

// answers reads until n requests have ended.
func (w *talk) answers(n int) map[uint32]said {
	w.t.Helper()
	all := map[uint32]said{}
	for ended := 0; ended < n; {
		f := w.next()
		s := all[f.ID]
		switch f.Kind {
		case protocol.KindOutput:
			s.stdout += string(f.Payload)
		case protocol.KindReply:
			s = heard(s.stdout, require.Value(protocol.ParseReply(f))(w.t), w.facts[f.ID])
			ended++
		case protocol.KindChanging, protocol.KindProgress:
		default:
			w.t.Fatalf("a frame of kind %d", f.Kind)
		}
		all[f.ID] = s
	}
	return all
}

func (w *talk) ask(stdin *string, words ...string) said {
	w.t.Helper()
	id := w.request(stdin, words...)
	return w.answers(1)[id]
}

// sample is a vault with something for every command to find.
func sample(t testing.TB) *testVault {
	h := build(t, map[string]string{
		"Tides.md": "---\ntags: [sea]\n---\n# Tides\n- [ ] look [[Moon]]\n", "Moon.md": "pull", "empty.md": "", "bytes.md": "a\xff\x00b\r\n",
		"One/only.md": "# Only\n", "Long.md": strings.Repeat("a long line of a note\n", 20_000), "pic.png": "\x89PNG",
		".obsidian/daily-notes.json": `{"folder":"Daily","template":"Tides"}`, ".obsidian/templates.json": `{"folder":"One"}`,
	})
	h.env[call.ActiveVariable] = "Moon.md"
	for i, name := range []string{"Tides.md", "Moon.md", "empty.md", "bytes.md", "One/only.md", "Long.md", "pic.png"} {
		then := time.Date(2026, 11, 20, 12, i, 0, 0, time.UTC) // two samples are of one age
		require.NoError(t, os.Chtimes(h.file(name), then, then))
	}
	return h
}

// samples are command lines beyond those that everyCommandLine makes.
var samples = []string{
	"", "nonsense", "dialy:read", "--copy read", "--facts", "--stdin", "--worker read", "read --worker", "vault=Home read path=Moon.md",
	"vault=Work files", "vault= files", "vault=0123456789abcdef files", "read", "read path=Moon.md", "read path=empty.md", "read path=bytes.md",
	"read path=Long.md", "read path=no.md", "read path=../a.md", "read path=One", "read file=moon", "read path=a file=b", "read pth=a", "file path=pic.png",
	"files", "files total", "files total=false", "files ext=png", "files folder=One", "folder path=One", "folder path=no", "folders", "folders total",
	"daily", "daily:path", "daily:read", "daily:append content=x", "daily:append content=a\\nb inline", "daily:append", "daily:prepend content=x open",
	"random folder=One", "random:read folder=One", "random folder=no", "random:read folder=../x", "vault", "vault info=name", "vault info=nonsense",
	"help", "help read", "help nonsense", "--help read", "read --help", "version", "search query=pull", "eval code=1", "daily=x",
	"--stdin content daily:append", "--stdin content daily:prepend inline", "--stdin nonsense daily:append", "--stdin content read path=Moon.md",
}

// everyCommandLine is every row of the table alone and with the usual targets, with
// facts, and the samples, without facts and with them.
func everyCommandLine() (all []string) {
	for _, line := range samples {
		all = append(all, line, "--facts "+line)
	}
	for _, row := range table() {
		for _, rest := range []string{"", " path=Tides.md", " file=Moon", " total", " --help", " nonsense=1"} {
			if !strings.HasPrefix(row.Name, "random") {
				all = append(all, "--facts "+row.Name+rest)
			}
		}
	}
	return all
}

// A worker and a process of one call must not be told apart: by their bytes, by
// their status, or by what they did to the vault.
func TestWorkerAnswersAsAProcessDoes(t *testing.T) {
	texts := []string{"typed\nin", "", "\xff\\n"}
	for i, text := range texts {
		alone, shared := sample(t), sample(t)
		alone.stdin = text
		w := shared.worker()
		for _, line := range everyCommandLine() {
			words := strings.Fields(line)
			var stdin *string
			if slices.Contains(words, "--stdin") {
				stdin = &text
			} else if i > 0 {
				continue // it is as with the first text
			}
			status, stdout, stderr := alone.run(words...)
			if _, err := call.ParseLine(append([]string{"V"}, words...)); err != nil {
				continue // there is no such request
			}
			got := w.ask(stdin, words...)
			want := said{stdout, stderr, protocol.Reply{Status: uint8(status)}}
			// The two vaults differ in their path and in their files' times.
			for _, s := range []*said{&got, &want} {
				s.stderr = entryID.ReplaceAllString(withoutState(s.stderr), "ID")
				s.stdout = entryID.ReplaceAllString(s.stdout, "ID")
				s.stdout = times.ReplaceAllString(strings.NewReplacer(alone.dir, "VAULT", shared.dir, "VAULT").Replace(s.stdout), "TIME")
			}
			assert.That(t, got == want, "%q with %q:\nworker %.300q\nalone  %.300q", line, text, fmt.Sprint(got), fmt.Sprint(want))
		}
		assert.Equal(t, alone.snapshot(), shared.snapshot(), "the vaults differ")
		w.in.Close()
		w.ends(answer.ExitDone)
	}
}

// once has a process for one call answer what a gateway sends, after its greeting.
func (h *testVault) once(hello protocol.Hello, frames []byte) (status int, sent []byte) {
	b, _ := protocol.AppendHello(nil, hello)
	var out bytes.Buffer
	p := process{args: []string{h.dir, call.OnceSwitch}, stdin: bytes.NewReader(append(b, frames...)), stdout: &out}
	status = p.run(context.Background(), h.host())
	return status, out.Bytes()
}

// onceSaid is what such a process says to one request.
func (h *testVault) onceSaid(q protocol.Request, stdin string) (s said) {
	h.t.Helper()
	frames, ok := protocol.AppendRequest(nil, 1, q)
	require.That(h.t, ok, "the request is too long")
	if q.Input != "" {
		for piece := range slices.Chunk([]byte(stdin), protocol.MaxChunk) {
			frames = protocol.Append(frames, protocol.Frame{Kind: protocol.KindInput, ID: 1, Payload: piece})
		}
		frames = protocol.Append(frames, protocol.Frame{Kind: protocol.KindInput, ID: 1})
	}
	status, sent := h.once(protocol.Hello{Version: protocol.Version}, frames)
	hear := protocol.NewReader(bytes.NewReader(sent))
	theirs := require.Value(protocol.ParseHello(require.Value(hear.Next())(h.t)))(h.t)
	assert.Equal(h.t, theirs, protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: h.dir}, "the greeting")
	for {
		f, err := hear.Next()
		if err == io.EOF {
			assert.Equal(h.t, int(s.end.Status), status, "the status in the reply")
			return s
		}
		require.NoError(h.t, err)
		switch f.Kind {
		case protocol.KindOutput:
			s.stdout += string(f.Payload)
		case protocol.KindReply:
			s = heard(s.stdout, require.Value(protocol.ParseReply(f))(h.t), q.Want.Facts)
		}
	}
}

// Nor can a process that is asked by a gateway be told from one that a person starts.
func TestAProcessForOneRequestAnswersAsOneForAPersonDoes(t *testing.T) {
	byHand, asked := sample(t), sample(t)
	byHand.stdin = "typed\nin"
	for _, line := range samples {
		words := append([]string{"--facts"}, strings.Fields(line)...)
		parsed, err := call.ParseLine(append([]string{"V", call.WriteSwitch}, words...))
		if err != nil {
			continue // there is no such request
		}
		status, stdout, stderr := byHand.run(words...)
		got, want := asked.onceSaid(parsed.Request, byHand.stdin), said{stdout, stderr, protocol.Reply{Status: uint8(status)}}
		for _, s := range []*said{&got, &want} {
			s.stderr = entryID.ReplaceAllString(s.stderr, "ID")
			s.stdout = times.ReplaceAllString(strings.NewReplacer(byHand.dir, "VAULT", asked.dir, "VAULT").Replace(s.stdout), "TIME")
		}
		assert.That(t, got == want, "%q:\nasked   %.300q\nby hand %.300q", line, fmt.Sprint(got), fmt.Sprint(want))
	}
	assert.Equal(t, byHand.snapshot(), asked.snapshot(), "the vaults differ")
}

func TestAProcessForOneRequestEndsAtWhatIsNoProtocol(t *testing.T) {
	request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Input: "content", Command: "files"})
	h := sample(t)
	for name, tt := range map[string]struct {
		version uint32
		frames  []byte
	}{
		"nothing":                     {protocol.Version, nil},
		"garbage":                     {protocol.Version, []byte("files\nfiles\nfiles\n")},
		"an answer":                   {protocol.Version, protocol.AppendReply(nil, 1, protocol.Reply{})},
		"a request without its input": {protocol.Version, request},
		"another request":             {protocol.Version, append(slices.Clone(request), request...)},
		"another version":             {protocol.Version + 1, protocol.AppendReply(nil, 1, protocol.Reply{})},
	} {
		status, sent := h.once(protocol.Hello{Version: tt.version}, tt.frames)
		hear := protocol.NewReader(bytes.NewReader(sent))
		_, err := protocol.ParseHello(require.Value(hear.Next())(t))
		assert.NoError(t, err, "%s: the greeting", name)
		_, err = hear.Next()
		assert.That(t, status == answer.ExitMisuse && err == io.EOF, "%s: status %d, and more than a greeting: %v", name, status, err)
	}
	var out bytes.Buffer
	status := process{args: []string{h.dir, call.OnceSwitch}, stdin: strings.NewReader("files\n"), stdout: &out}.run(context.Background(), h.host())
	assert.That(t, status == answer.ExitMisuse && strings.HasPrefix(out.String(), "Error: "), "a person is told %q, %d", out.String(), status)
}

// withoutState returns a report without the state of the index, which a worker alone has.
func withoutState(report string) string {
	return stateInReport.ReplaceAllString(onlyState.ReplaceAllString(report, ""), "")
}

var (
	onlyState     = regexp.MustCompile(`vaultwicket-facts: \{"path":"","hash":"","state":"[0-9a-f]{16}"(,"rows":\d+)?\}\n`)
	stateInReport = regexp.MustCompile(`,"state":"[0-9a-f]{16}"(,"rows":\d+)?`)
)

// times are what differs between two copies of a vault; the ids of changes begin
// with one.
var times = regexp.MustCompile(`\b1[0-9]{12}\b|\b2026-11-[0-9]{2}T[0-9:]{8}[+0-9:]*|\b[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\b|` + entryID.String())

func TestWorkerAnswersManyAtOnce(t *testing.T) {
	h := sample(t)
	w := h.worker()
	go func() {
		for range protocol.MaxOpen - 4 {
			w.request(nil, "read", "path=Long.md")
		}
	}()
	want := h.get("Long.md")
	all := w.answers(protocol.MaxOpen - 4)
	assert.That(t, len(all) == protocol.MaxOpen-4, "%d answers", len(all))
	for id, s := range all {
		assert.That(t, s.stdout == want && s.end == (protocol.Reply{}), "request %d: %d bytes, %+v", id, len(s.stdout), s.end)
	}
}

func TestWorkerNeedsAGreeting(t *testing.T) {
	h := sample(t)
	for _, sent := range []string{"", "files\n", "vaultwicket-worker\n", string(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel}))} {
		w := h.silentWorker()
		go func() { io.WriteString(w.in, sent); w.in.Close() }()
		_, err := w.hear.Next()
		assert.That(t, err != nil, "%q was answered with a frame", sent)
		w.ends(answer.ExitMisuse)
	}
}

func TestWorkerEndsAtWhatIsNoProtocol(t *testing.T) {
	request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Input: "content", Command: "files"})
	for name, sent := range map[string][]byte{
		"garbage":                    []byte("files\nfiles\nfiles\n"),
		"an answer":                  protocol.AppendReply(nil, 1, protocol.Reply{}),
		"input for nobody":           protocol.Append(nil, protocol.Frame{Kind: protocol.KindInput, ID: 1}),
		"a number twice":             append(request, request...),
		"a request without a form":   protocol.Append(nil, protocol.Frame{Kind: protocol.KindRequest, ID: 1}),
		"half a frame":               request[:6],
		"a second greeting, in vain": func() []byte { b, _ := protocol.AppendHello(nil, protocol.Hello{}); return b }(),
	} {
		t.Run(name, func(t *testing.T) {
			w := sample(t).worker()
			w.t = t
			w.send(sent)
			w.in.Close()
			w.ends(answer.ExitMisuse)
		})
	}
}

func TestCancel(t *testing.T) {
	h := sample(t)
	w := h.worker()
	cancel := func(id uint32) { w.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: id})) }
	b, _ := protocol.AppendRequest(nil, 7, requestOf(t, "--stdin", "content", "daily:append"))
	w.send(b)
	cancel(7)
	got := w.answers(1)[7]
	assert.That(t, got.end.Unrun && !got.end.Last, "a request without its input: %+v", got)
	cancel(7) // it was answered
	assert.Equal(t, w.ask(nil, "files", "total").stdout, "7\n", "after a cancelled request")
	assert.That(t, h.get("Daily/2026-11-21.md") == "(missing)", "the cancelled request was run")
}

func TestAPanicIsAnsweredAndEndsTheWorker(t *testing.T) {
	rows := table
	t.Cleanup(func() { table = rows })
	table = func() []handlers.Command {
		return append(slices.Clone(rows()), handlers.Command{Name: "panic", Run: func(*call.Vault, call.Values) (answer.Reply, error) { panic("a bug") }})
	}
	alone := sample(t).onceSaid(protocol.Request{Command: "panic"}, "")
	assert.That(t, strings.HasPrefix(alone.stderr, "panic: a bug\n\ngoroutine ") && alone.end == (protocol.Reply{Status: answer.ExitMisuse, Last: true}), "alone: %+v", alone)
	w := sample(t).worker()
	got := w.ask(nil, "panic")
	assert.That(t, strings.HasPrefix(got.stderr, "panic: a bug\n\ngoroutine ") && got.end == (protocol.Reply{Status: answer.ExitMisuse, Last: true}), "%+v", got)
	w.ends(answer.ExitMisuse)
}

func TestAVaultThatIsNotTheOneAnyMore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that a program has open can be neither renamed nor removed")
	}
	for name, change := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"renamed": func(dir string) error { return os.Rename(dir, dir+"2") },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "new.md"), nil, 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := sample(t)
			h.t = t
			w := h.worker()
			require.Equal(t, w.ask(nil, "files", "total").stdout, "7\n")
			require.NoError(t, change(h.dir))
			got := w.ask(nil, "files", "total")
			assert.That(t, got.stdout == "" && got.end.Unrun && got.end.Last, "%+v", got)
			w.ends(answer.ExitDone)
		})
	}
}

func TestAVaultThatIsNotThereYet(t *testing.T) {
	h := build(t, nil)
	require.NoError(t, os.Remove(h.dir))
	w := h.worker()
	got := w.ask(nil, "files")
	assert.That(t, got.stdout == "Vault not found.\n" && got.end == (protocol.Reply{Status: answer.ExitFailed}), "%+v", got)
	h.put("a.md", "")
	assert.Equal(t, w.ask(nil, "files").stdout, "a.md\n")
}

func FuzzWorkerInput(f *testing.F) {
	request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Command: "read", Args: []string{"path=a.md"}})
	f.Add(request)
	f.Add(append(slices.Clone(request), request...))
	dir := build(f, map[string]string{"a.md": "text"}).dir
	f.Fuzz(func(t *testing.T, sent []byte) {
		hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
		var out bytes.Buffer
		at := call.NewHost(func(string) string { return "" }, nil)
		// Calls that are open at the end are not waited for, and open the folder.
		var calls sync.RWMutex
		ended := false
		w := resident.New(at, func(c resident.Call) protocol.Reply {
			calls.RLock()
			defer calls.RUnlock()
			if ended {
				return protocol.Reply{Status: answer.ExitFailed}
			}
			return perform(at, dir, c)
		}, dir, &out)
		defer func() {
			calls.Lock()
			defer calls.Unlock()
			ended = true
			at.Close()
		}()
		status := w.Serve(bytes.NewReader(append(hello, sent...)))
		assert.That(t, status == answer.ExitDone || status == answer.ExitMisuse, "status %d", status)
	})
}

// A long answer stops at the window until the gateway asks for the rest, and contains
// up no other one.
func TestALongAnswerWaitsForRoom(t *testing.T) {
	w := sample(t).worker()
	request := func(id uint32, words ...string) {
		b, _ := protocol.AppendRequest(nil, id, requestOf(t, words...))
		w.send(b)
	}
	request(1, "read", "path=Long.md")
	got := 0
	for got < protocol.Window {
		f := w.next()
		require.That(t, f.ID == 1 && f.Kind == protocol.KindOutput, "a frame of kind %d for %d", f.Kind, f.ID)
		got += len(f.Payload)
	}
	require.That(t, got == protocol.Window, "%d bytes came unasked", got)
	request(2, "read", "path=Moon.md")
	other := w.answers(1)
	assert.That(t, other[2].stdout == "pull\n" && other[1].stdout == "", "got %+v", other)
	w.more(1)
	w.more(1)  // which does nothing
	w.more(17) // which there is not
	if rest := w.answers(1)[1]; got+len(rest.stdout) != 20_000*len("a long line of a note\n") || rest.end.Status != answer.ExitDone {
		t.Errorf("%d bytes, %+v", got+len(rest.stdout), rest.end)
	}
	request(3, "read", "path=Long.md")
	for got = 0; got < protocol.Window; got += len(w.next().Payload) {
	}
	w.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: 3}))
	rest := w.answers(1)[3]
	assert.Equal(t, rest.stdout, "", "%d bytes after the cancel", len(rest.stdout))
}
