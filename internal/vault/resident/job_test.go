package resident

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
	assert.That(t, j.receive(piece) && len(j.input) == maxInput, "%d bytes, want %d", len(j.input), maxInput)
	assert.That(t, !j.receive(nil), "the empty piece is not the end")
}

func TestACancelledRequestPrintsNothing(t *testing.T) {
	j := newJob(9, protocol.Request{}, &outlet{to: io.Discard})
	j.cancel()
	_, err := j.stderr().Write([]byte("x"))
	assert.ErrorIs(t, err, errCancelled, "a cancelled request prints on")
}

// What is held back for the end of an answer is sent when that takes long.
func TestMessagesCanBeSentBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent bytes.Buffer
		j := newJob(9, protocol.Request{}, &outlet{to: &sent})
		tally := protocol.NewTally(j.stderr())
		tally.Found(1)
		_, err := j.stderr().Write([]byte("x"))
		assert.That(t, err == nil && sent.Len() <= 0, "%d bytes are sent, %v", sent.Len(), err)
		time.Sleep(time.Second)
		tally.Done()
		in := protocol.NewReader(&sent)
		for _, want := range []string{"x", "vaultwicket-progress: read 1 1\n"} {
			f, err := in.Next()
			assert.That(t, err == nil && f.Kind == protocol.KindStderr && f.ID == 9 && string(f.Payload) == want, "sent %+v, %v; want %q", f, err, want)
		}
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
	w := New(at, func(Call) int { return answer.ExitDone }, t.TempDir(), closedPipe{})
	go w.listen(protocol.NewReader(stdin))
	b, _ := protocol.AppendRequest(nil, 1, protocol.Request{Words: []string{"files"}})
	require.Value(in.Write(b))(t)
	select {
	case status := <-w.exitStatus:
		assert.Equal(t, status, answer.ExitFailed, "status")
	case <-time.After(20 * time.Second):
		t.Fatal("the worker goes on")
	}
}
