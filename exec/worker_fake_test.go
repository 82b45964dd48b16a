package exec

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// floodSize is how much is printed where it is more than may be kept.
const floodSize = 40 << 20

// playWorker is a resident worker that does what the path in a request says.
func playWorker(how, folder string) {
	mark(os.Args[0], os.Getpid())
	hello := protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: folder}
	switch how {
	case "worker of another version":
		hello.Version++
	case "worker of another folder":
		hello.Folder += "x"
	case "no worker":
		fmt.Println("Error: Unknown switch: --worker")
		return
	case "silent worker":
		hang()
	case "worker that waits to begin":
		assert.Await(time.Minute, func() bool {
			_, err := os.Stat(os.Args[0] + ".begin")
			return err == nil
		})
	case "worker that ignores SIGTERM":
		signal.Ignore(syscall.SIGTERM)
	}
	in := protocol.NewReader(os.Stdin)
	first, err := in.Next()
	if err != nil {
		return
	}
	if _, err := protocol.ParseHello(first); err != nil {
		syscall.Exit(unplanned)
	}
	f := fakeWorker{}
	b, _ := protocol.AppendHello(nil, hello)
	f.send(b)
	for {
		got, err := in.Next()
		if err == io.EOF && how == "worker that stays" {
			hang()
		}
		if err != nil {
			return
		}
		f.take(got)
	}
}

type fakeWorker struct {
	waiting map[uint32]protocol.Request
	input   bytes.Buffer
	rest    func(allowed int64) (isAll bool) // prints what the gateway has to ask for
}

func (f *fakeWorker) send(b []byte) { _, _ = os.Stdout.Write(b) }

func (f *fakeWorker) say(id uint32, text string) {
	f.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindOutput, ID: id, Payload: []byte(text)}))
}

func (f *fakeWorker) end(id uint32, reply protocol.Reply) {
	f.send(protocol.AppendReply(nil, id, reply))
}

func (f *fakeWorker) take(got protocol.Frame) {
	switch got.Kind {
	case protocol.KindRequest:
		q, err := protocol.ParseRequest(got)
		if err != nil {
			syscall.Exit(unplanned)
		}
		if q.Input != "" {
			f.waiting = map[uint32]protocol.Request{got.ID: q}
			if strings.Contains(strings.Join(q.Args, " "), "path=deaf.md") {
				mark(os.Args[0], os.Getpid())
				hang()
			}
			return
		}
		f.answer(got.ID, q)
	case protocol.KindInput:
		f.input.Write(got.Payload)
		if len(got.Payload) == 0 {
			f.answer(got.ID, f.waiting[got.ID])
			f.input.Reset()
		}
	case protocol.KindMore:
		bytes, err := protocol.ParseMore(got)
		if err != nil {
			syscall.Exit(unplanned)
		}
		if f.rest != nil && f.rest(bytes) {
			f.rest = nil
			f.end(got.ID, protocol.Reply{})
		}
	case protocol.KindCancel:
		appendTo(os.Args[0]+".cancels", fmt.Sprintln(got.ID))
		if _, err := os.Stat(os.Args[0] + ".polite"); err == nil {
			f.end(got.ID, protocol.Reply{Status: 1})
		}
		if _, err := os.Stat(os.Args[0] + ".overtakes"); err == nil { // the answer and the cancellation cross
			f.end(got.ID, protocol.Reply{Facts: protocol.Facts{Path: "a.md", Hash: "h", Change: "id", Added: 1, Planned: 1}})
		}
		if _, err := os.Stat(os.Args[0] + ".confirms"); err == nil {
			f.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancelled, ID: got.ID}))
		}
	}
}

func (f *fakeWorker) echo(id uint32, text string) {
	for len(text) > 0 {
		n := min(len(text), protocol.MaxChunk)
		f.say(id, text[:n])
		text = text[n:]
	}
}

func (f *fakeWorker) flood(id uint32, size int) {
	for piece := strings.Repeat("1", protocol.MaxChunk); size > 0; size -= len(piece) {
		piece = piece[:min(len(piece), size)]
		f.say(id, piece)
	}
}

// answer does what is asked for; "read path=hang.md" hangs.
func (f *fakeWorker) answer(id uint32, q protocol.Request) {
	_, do, _ := strings.Cut(q.Args[len(q.Args)-1], "path=")
	if code, fails := strings.CutPrefix(do, "fails/"); fails {
		f.say(id, mimic)
		f.end(id, protocol.Reply{Status: 1, Failure: failing(strings.TrimSuffix(code, ".md"))})
		return
	}
	switch do {
	case "counts.md":
		for _, count := range counted {
			f.send(protocol.AppendProgress(nil, id, count))
		}
		f.end(id, protocol.Reply{Status: 1})
	case "hang.md":
		f.say(id, "half")
		appendTo(os.Args[0]+".hangs", fmt.Sprintln(id))
	case "changing.md": // hangs in a change
		f.send(protocol.AppendChanging(nil, id, 1))
		f.say(id, "half")
	case "finishes.md": // changes files until it may end
		f.send(protocol.AppendChanging(nil, id, 1))
		appendTo(os.Args[0]+".hangs", fmt.Sprintln(id))
		go func() {
			assert.Await(time.Hour, func() bool {
				_, err := os.Stat(os.Args[0] + ".finish")
				return err == nil
			})
			f.say(id, "written\n")
			f.end(id, protocol.Reply{})
		}()
	case "once.md": // hangs the first time
		if appendTo(os.Args[0]+".hangs", fmt.Sprintln(id)); lines(os.Args[0]+".hangs") > 2 {
			f.say(id, "answered\n")
			f.end(id, protocol.Reply{})
		}
	case "crash.md":
		f.say(id, "half")
		kill(os.Getpid())
		hang()
	case "leave.md":
		syscall.Exit(3)
	case "garbage.md":
		f.send([]byte(strings.Repeat("garbage ", 100)))
	case "half.md":
		f.send([]byte("\x00\x00\x00\x09\x05"))
		syscall.Exit(0)
	case "wrong-id.md":
		f.end(id+1000, protocol.Reply{})
	case "wrong-kind.md":
		f.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: id}))
	case "wrong-end.md":
		f.send(protocol.Append(nil, protocol.Frame{Kind: protocol.KindReply, ID: id}))
	case "close.md":
		os.Stdout.Close()
	case "holder.md":
		c := part{Do: "holder"}
		c.act(nil, nil)
		syscall.Exit(0)
	case "panic.md":
		f.end(id, protocol.Reply{Status: 2, Last: true, Panic: "panic: a bug\n\ngoroutine 1"})
		syscall.Exit(2)
	case "moved.md":
		f.end(id, protocol.Reply{Unrun: true, Last: true})
	case "flood.md": // goes on when it may
		f.flood(id, protocol.Window)
		left := int64(floodSize - protocol.Window)
		f.rest = func(allowed int64) (isAll bool) {
			n := min(left, allowed)
			f.flood(id, int(n))
			left -= n
			return left == 0
		}
	case "unasked.md":
		f.say(id, "1")
		f.flood(id, protocol.Window)
		f.end(id, protocol.Reply{})
	case "grow.md":
		hoard = bytes.Repeat([]byte("1"), 100<<20)
		f.say(id, "grown\n")
		f.end(id, protocol.Reply{})
	case "echo.md":
		text := f.input.String()
		f.echo(id, text[:min(len(text), protocol.Window)])
		if len(text) < protocol.Window {
			f.end(id, protocol.Reply{})
			return
		}
		text = text[protocol.Window:]
		f.rest = func(allowed int64) (isAll bool) {
			n := min(int64(len(text)), allowed)
			f.echo(id, text[:n])
			text = text[n:]
			return text == ""
		}
	default:
		f.say(id, fmt.Sprintf("%d\n", os.Getpid()))
		f.end(id, protocol.Reply{Facts: protocol.Facts{Path: "a.md", Hash: "h"}})
	}
}

var hoard []byte

func TestSizesAreKnownByTheCall(t *testing.T) {
	var s sizes
	hash := func(command string, args ...string) uint64 {
		return callHash(protocol.Request{Command: command, Args: args})
	}
	one, other := hash("tasks", "todo"), hash("tasks", "todo", "format=json")
	require.That(t, one != other, "calls are not told apart")
	require.That(t, hash("a", "bc") != hash("ab", "c"), "calls are not told apart")
	require.Equal(t, one, hash("tasks", "todo"), "calls are not told apart")
	assert.That(t, s.of(one) == 0, "a size that was not noted")
	s.keep(one, 100)
	s.keep(one, 200)
	assert.Equal(t, s.of(one), 200, "%d and %d", s.of(one), s.of(one+uint64(len(s.known))))
	assert.Equal(t, s.of(one+uint64(len(s.known))), 0, "%d and %d", s.of(one), s.of(one+uint64(len(s.known))))
	s.keep(one+uint64(len(s.known)), 300) // comes to the same place
	assert.Equal(t, s.of(one), 0, "the size of another call")
}

func TestLargeAnswersOfAnyLengthOneAfterAnother(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	for _, size := range []int{100 << 10, 100 << 10, 1 << 20, 40 << 10, 700 << 10, 710 << 10, 1 << 20, 33 << 10, 5 << 10} {
		text := strings.Repeat("a line of it ", size/13)
		out, err := r.Run(t.Context(), mustPermit("append", params{"path": "echo.md", "content": text}), p)
		require.Equal(t, err, nil, "%d bytes of %d", len(out.Stdout), len(text))
		require.Equal(t, out.Stdout, text, "%d bytes of %d", len(out.Stdout), len(text))
		require.That(t, !out.Cut, "%d bytes of %d, %v", len(out.Stdout), len(text), err)
	}
}
