package vault_test

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

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

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
	for _, row := range vault.Table() {
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
		alone, shared := embedded.Sample(t), embedded.Sample(t)
		alone.Stdin = text
		w := shared.Worker()
		for _, line := range everyCommandLine() {
			words := strings.Fields(line)
			var stdin *string
			if slices.Contains(words, "--stdin") {
				stdin = &text
			} else if i > 0 {
				continue // it is as with the first text
			}
			status, stdout, stderr := alone.Run(words...)
			if _, err := call.ParseLine(append([]string{"V"}, words...)); err != nil {
				continue // there is no such request
			}
			got := w.Ask(stdin, words...)
			want := embedded.Said{Stdout: stdout, Stderr: stderr, End: protocol.Reply{Status: uint8(status)}}
			// The two vaults differ in their path and in their files' times.
			for _, s := range []*embedded.Said{&got, &want} {
				s.Stderr = embedded.EntryID.ReplaceAllString(withoutState(s.Stderr), "ID")
				s.Stdout = embedded.EntryID.ReplaceAllString(s.Stdout, "ID")
				s.Stdout = times.ReplaceAllString(strings.NewReplacer(alone.Dir, "VAULT", shared.Dir, "VAULT").Replace(s.Stdout), "TIME")
			}
			assert.That(t, got == want, "%q with %q:\nworker %.300q\nalone  %.300q", line, text, fmt.Sprint(got), fmt.Sprint(want))
		}
		assert.Equal(t, alone.Snapshot(), shared.Snapshot(), "the vaults differ")
		w.In.Close()
		w.Ends(answer.ExitDone)
	}
}

// once has a process for one call answer what a gateway sends, after its greeting.
func once(h *embedded.Vault, hello protocol.Hello, frames []byte) (status int, sent []byte) {
	b, _ := protocol.AppendHello(nil, hello)
	var out bytes.Buffer
	p := vault.Process{Args: []string{h.Dir, call.OnceSwitch}, Stdin: bytes.NewReader(append(b, frames...)), Stdout: &out}
	status = p.Run(context.Background(), h.Host())
	return status, out.Bytes()
}

// onceSaid is what such a process says to one request.
func onceSaid(h *embedded.Vault, q protocol.Request, stdin string) (s embedded.Said) {
	h.T.Helper()
	frames, ok := protocol.AppendRequest(nil, 1, q)
	require.That(h.T, ok, "the request is too long")
	if q.Input != "" {
		for piece := range slices.Chunk([]byte(stdin), protocol.MaxChunk) {
			frames = protocol.Append(frames, protocol.Frame{Kind: protocol.KindInput, ID: 1, Payload: piece})
		}
		frames = protocol.Append(frames, protocol.Frame{Kind: protocol.KindInput, ID: 1})
	}
	status, sent := once(h, protocol.Hello{Version: protocol.Version}, frames)
	hear := protocol.NewReader(bytes.NewReader(sent))
	theirs := require.Value(protocol.ParseHello(require.Value(hear.Next())(h.T)))(h.T)
	assert.Equal(h.T, theirs, protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: h.Dir}, "the greeting")
	for {
		f, err := hear.Next()
		if err == io.EOF {
			assert.Equal(h.T, int(s.End.Status), status, "the status in the reply")
			return s
		}
		require.NoError(h.T, err)
		switch f.Kind {
		case protocol.KindOutput:
			s.Stdout += string(f.Payload)
		case protocol.KindReply:
			s = embedded.Heard(s.Stdout, require.Value(protocol.ParseReply(f))(h.T), q.Want.Facts)
		}
	}
}

// Nor can a process that is asked by a gateway be told from one that a person starts.
func TestAProcessForOneRequestAnswersAsOneForAPersonDoes(t *testing.T) {
	byHand, asked := embedded.Sample(t), embedded.Sample(t)
	byHand.Stdin = "typed\nin"
	for _, line := range samples {
		words := append([]string{"--facts"}, strings.Fields(line)...)
		parsed, err := call.ParseLine(append([]string{"V", call.WriteSwitch}, words...))
		if err != nil {
			continue // there is no such request
		}
		status, stdout, stderr := byHand.Run(words...)
		got, want := onceSaid(asked, parsed.Request, byHand.Stdin), embedded.Said{Stdout: stdout, Stderr: stderr, End: protocol.Reply{Status: uint8(status)}}
		for _, s := range []*embedded.Said{&got, &want} {
			s.Stderr = embedded.EntryID.ReplaceAllString(s.Stderr, "ID")
			s.Stdout = times.ReplaceAllString(strings.NewReplacer(byHand.Dir, "VAULT", asked.Dir, "VAULT").Replace(s.Stdout), "TIME")
		}
		assert.That(t, got == want, "%q:\nasked   %.300q\nby hand %.300q", line, fmt.Sprint(got), fmt.Sprint(want))
	}
	assert.Equal(t, byHand.Snapshot(), asked.Snapshot(), "the vaults differ")
}

func TestAProcessForOneRequestEndsAtWhatIsNoProtocol(t *testing.T) {
	request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Input: "content", Command: "files"})
	h := embedded.Sample(t)
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
		status, sent := once(h, protocol.Hello{Version: tt.version}, tt.frames)
		hear := protocol.NewReader(bytes.NewReader(sent))
		_, err := protocol.ParseHello(require.Value(hear.Next())(t))
		assert.NoError(t, err, "%s: the greeting", name)
		_, err = hear.Next()
		assert.Equal(t, status, answer.ExitMisuse, "%s: status %d, and more than a greeting: %v", name, status, err)
		assert.Equal(t, err, io.EOF, "%s: status %d, and more than a greeting: %v", name, status, err)
	}
	var out bytes.Buffer
	status := vault.Process{Args: []string{h.Dir, call.OnceSwitch}, Stdin: strings.NewReader("files\n"), Stdout: &out}.Run(context.Background(), h.Host())
	assert.Equal(t, status, answer.ExitMisuse, "a person is told %q", out.String())
	assert.That(t, strings.HasPrefix(out.String(), "Error: "), "a person is told %q, %d", out.String(), status)
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
var times = regexp.MustCompile(`\b1[0-9]{12}\b|\b2026-11-[0-9]{2}T[0-9:]{8}[+0-9:]*|\b[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\b|` + embedded.EntryID.String())

func TestWorkerAnswersManyAtOnce(t *testing.T) {
	h := embedded.Sample(t)
	w := h.Worker()
	go func() {
		for range protocol.MaxOpen - 4 {
			w.Request(nil, "read", "path=Long.md")
		}
	}()
	want := h.Get("Long.md")
	all := w.Answers(protocol.MaxOpen - 4)
	assert.That(t, len(all) == protocol.MaxOpen-4, "%d answers", len(all))
	for id, s := range all {
		assert.Equal(t, s.Stdout, want, "request %d: %d bytes, %+v", id, len(s.Stdout), s.End)
		assert.Equal(t, s.End, protocol.Reply{}, "request %d: %d bytes, %+v", id, len(s.Stdout), s.End)
	}
}

func TestWorkerNeedsAGreeting(t *testing.T) {
	h := embedded.Sample(t)
	for _, sent := range []string{"", "files\n", "vaultwicket-worker\n", string(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel}))} {
		w := h.SilentWorker()
		go func() { io.WriteString(w.In, sent); w.In.Close() }()
		_, err := w.Hear.Next()
		assert.That(t, err != nil, "%q was answered with a frame", sent)
		w.Ends(answer.ExitMisuse)
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
			w := embedded.Sample(t).Worker()
			w.T = t
			w.Send(sent)
			w.In.Close()
			w.Ends(answer.ExitMisuse)
		})
	}
}

func TestCancel(t *testing.T) {
	h := embedded.Sample(t)
	w := h.Worker()
	cancel := func(id uint32) { w.Send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: id})) }
	b, _ := protocol.AppendRequest(nil, 7, embedded.RequestOf(t, "--stdin", "content", "daily:append"))
	w.Send(b)
	cancel(7)
	got := w.Answers(1)[7]
	assert.That(t, got.End.Unrun, "a request without its input: %+v", got)
	assert.That(t, !got.End.Last, "a request without its input: %+v", got)
	cancel(7) // it was answered
	assert.Equal(t, w.Ask(nil, "files", "total").Stdout, "7\n", "after a cancelled request")
	assert.That(t, h.Get("Daily/2026-11-21.md") == "(missing)", "the cancelled request was run")
}

func TestAPanicIsAnsweredAndEndsTheWorker(t *testing.T) {
	vault.AddRow(t, handlers.Command{Name: "panic", Run: func(*call.Vault, call.Values) (answer.Reply, error) { panic("a bug") }})
	alone := onceSaid(embedded.Sample(t), protocol.Request{Command: "panic"}, "")
	assert.That(t, strings.HasPrefix(alone.Stderr, "panic: a bug\n\ngoroutine "), "alone: %+v", alone)
	assert.Equal(t, alone.End, protocol.Reply{Status: answer.ExitMisuse, Last: true}, "alone")
	w := embedded.Sample(t).Worker()
	got := w.Ask(nil, "panic")
	assert.That(t, strings.HasPrefix(got.Stderr, "panic: a bug\n\ngoroutine "), "%+v", got)
	assert.Equal(t, got.End, protocol.Reply{Status: answer.ExitMisuse, Last: true})
	w.Ends(answer.ExitMisuse)
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
			h := embedded.Sample(t)
			h.T = t
			w := h.Worker()
			require.Equal(t, w.Ask(nil, "files", "total").Stdout, "7\n")
			require.NoError(t, change(h.Dir))
			got := w.Ask(nil, "files", "total")
			assert.Equal(t, got.Stdout, "")
			assert.That(t, got.End.Unrun, "%+v", got)
			assert.That(t, got.End.Last, "%+v", got)
			w.Ends(answer.ExitDone)
		})
	}
}

func TestAVaultThatIsNotThereYet(t *testing.T) {
	h := embedded.New(t, nil)
	require.NoError(t, os.Remove(h.Dir))
	w := h.Worker()
	got := w.Ask(nil, "files")
	assert.Equal(t, got.Stdout, "Vault not found.\n")
	assert.Equal(t, got.End, protocol.Reply{Status: answer.ExitFailed})
	h.Put("a.md", "")
	assert.Equal(t, w.Ask(nil, "files").Stdout, "a.md\n")
}

func FuzzWorkerInput(f *testing.F) {
	request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Command: "read", Args: []string{"path=a.md"}})
	f.Add(request)
	f.Add(append(slices.Clone(request), request...))
	dir := embedded.New(f, map[string]string{"a.md": "text"}).Dir
	f.Fuzz(func(t *testing.T, sent []byte) {
		hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
		var out bytes.Buffer
		at := call.NewHost(func(string) string { return "" }, nil)
		// Calls that are open at the end are not waited for, and open the folder.
		var calls sync.RWMutex
		ended := false
		w := vault.NewWorker(at, func(c vault.Call) protocol.Reply {
			calls.RLock()
			defer calls.RUnlock()
			if ended {
				return protocol.Reply{Status: answer.ExitFailed}
			}
			return vault.Perform(at, dir, c)
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
	w := embedded.Sample(t).Worker()
	request := func(id uint32, words ...string) {
		b, _ := protocol.AppendRequest(nil, id, embedded.RequestOf(t, words...))
		w.Send(b)
	}
	request(1, "read", "path=Long.md")
	got := 0
	for got < protocol.Window {
		f := w.Next()
		require.Equal(t, f.ID, 1, "a frame of kind %d for %d", f.Kind, f.ID)
		require.Equal(t, f.Kind, protocol.KindOutput, "a frame of kind %d for %d", f.Kind, f.ID)
		got += len(f.Payload)
	}
	require.That(t, got == protocol.Window, "%d bytes came unasked", got)
	request(2, "read", "path=Moon.md")
	other := w.Answers(1)
	require.Equal(t, other[2].Stdout, "pull\n")
	assert.Equal(t, other[1].Stdout, "")
	w.More(1)
	w.More(1)  // which does nothing
	w.More(17) // which there is not
	if rest := w.Answers(1)[1]; got+len(rest.Stdout) != 20_000*len("a long line of a note\n") || rest.End.Status != answer.ExitDone {
		t.Errorf("%d bytes, %+v", got+len(rest.Stdout), rest.End)
	}
	request(3, "read", "path=Long.md")
	for got = 0; got < protocol.Window; got += len(w.Next().Payload) {
	}
	w.Send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: 3}))
	rest := w.Answers(1)[3]
	assert.Equal(t, rest.Stdout, "", "%d bytes after the cancel", len(rest.Stdout))
}
