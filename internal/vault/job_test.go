package vault

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTooLongAnInput(t *testing.T) {
	piece := make([]byte, protocol.MaxChunk)
	j := &job{input: make([]byte, maxInput-len(piece), maxInput)}
	require.That(t, j.receive(piece), "it ended early")
	assert.That(t, j.receive(piece), "%d bytes, want %d", len(j.input), maxInput)
	assert.Equal(t, len(j.input), maxInput)
	assert.That(t, !j.receive(nil), "the empty piece is not the end")
}

func TestACancelledRequestPrintsNothing(t *testing.T) {
	j := newJob(9, protocol.Request{}, &outlet{to: io.Discard})
	j.cancel()
	_, err := j.Write([]byte("x"))
	assert.ErrorIs(t, err, errCancelled, "a cancelled request prints on")
}

// What is held back for the end of an answer is sent when that takes long.
func TestProgressIsSentBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent bytes.Buffer
		j := newJob(9, protocol.Request{}, &outlet{to: &sent})
		tally := protocol.NewTally(j.tell)
		tally.Found(1)
		_, err := j.Write([]byte("x"))
		require.Equal(t, err, nil, "%d bytes are sent", sent.Len())
		assert.That(t, sent.Len() <= 0, "%d bytes are sent", sent.Len())
		time.Sleep(time.Second)
		tally.Done()
		in := protocol.NewReader(&sent)
		f, err := in.Next()
		require.Equal(t, err, nil, "sent %+v", f)
		assert.Equal(t, f.Kind, protocol.KindOutput, "sent %+v", f)
		assert.Equal(t, f.ID, 9, "sent %+v", f)
		assert.Equal(t, string(f.Payload), "x", "sent %+v", f)
		f, err = in.Next()
		require.NoError(t, err)
		progress, err := protocol.ParseProgress(f)
		require.NoError(t, err)
		assert.Equal(t, progress, protocol.Progress{Done: 1, Total: 1, Of: protocol.FilesRead})
		j.cancel()
		j.tell(progress)
		_, err = in.Next()
		assert.Equal(t, err, io.EOF, "a cancelled request tells on")
	})
}

// closedPipe refuses everything, as a reader that has gone does.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A gateway that has gone is noticed by the first answer, if not before.
func TestAWorkerWithoutAReaderEnds(t *testing.T) {
	stdin, in := io.Pipe()
	defer in.Close()
	at := call.NewHost(func(string) string { return "" }, nil)
	w := NewWorker(at, func(Call) protocol.Reply { return protocol.Reply{} }, t.TempDir(), closedPipe{})
	go w.listen(protocol.NewReader(stdin))
	b, _ := protocol.AppendRequest(nil, 1, protocol.Request{Command: "files"})
	require.Value(in.Write(b))(t)
	select {
	case status := <-w.exitStatus:
		assert.Equal(t, status, answer.ExitFailed, "status")
	case <-time.After(20 * time.Second):
		t.Fatal("the worker goes on")
	}
}

// A cancel is confirmed at once, however long the request goes on; one that comes while files are changed is not.
func TestACancelIsConfirmedBeforeTheRequestEnds(t *testing.T) {
	for _, isChanging := range []bool{false, true} {
		stdin, in := io.Pipe()
		heard, out := io.Pipe()
		begun, end := make(chan struct{}), make(chan struct{})
		perform := func(c Call) protocol.Reply {
			if isChanging {
				c.Changes(1)
			}
			close(begun)
			<-end
			may := c.Changes(1)
			assert.Equal(t, may, isChanging, "may it change files after the cancel")
			return protocol.Reply{}
		}
		at := call.NewHost(func(string) string { return "" }, nil)
		w := NewWorker(at, perform, t.TempDir(), out)
		go w.listen(protocol.NewReader(stdin))
		frames := protocol.NewReader(heard)
		var kinds []protocol.Kind
		next := func() {
			f := require.Value(frames.Next())(t)
			kinds = append(kinds, f.Kind)
		}
		request, _ := protocol.AppendRequest(nil, 1, protocol.Request{Command: "append"})
		require.Value(in.Write(request))(t)
		if isChanging {
			next()
		}
		<-begun
		require.Value(in.Write(protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancel, ID: 1})))(t)
		want := []protocol.Kind{protocol.KindChanging, protocol.KindChanging, protocol.KindReply}
		if !isChanging {
			want = []protocol.Kind{protocol.KindCancelled, protocol.KindReply}
			next()
		}
		close(end)
		for len(kinds) < len(want) {
			next()
		}
		assert.EqualSlices(t, kinds, want, "changing %v", isChanging)
		in.Close()
	}
}
