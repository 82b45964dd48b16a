package fake

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Patience is how long a test waits for a message that must come. It measures nothing.
const Patience = 20 * time.Second

// Messages of a client, and the _meta of a request without a handshake.
const (
	Initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`
	Initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ModernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// Message is a message of the server.
type Message struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Params map[string]any `json:"params"`
}

// Client exchanges JSON-RPC messages with a running server.
type Client struct {
	T    *testing.T
	In   *io.PipeWriter // input of the server
	out  chan Message   // closed with the server
	done chan error
	Stop context.CancelCauseFunc // of the context of the server
}

// Connect runs serve between two pipes until the test ends or Stop is called.
func Connect(t *testing.T, serve func(ctx context.Context, in io.Reader, out io.Writer) error) *Client {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	inReader, in := io.Pipe()
	outReader, out := io.Pipe()
	k := &Client{t, in, make(chan Message, 5000), make(chan error, 1), stop}
	go func() {
		err := serve(ctx, inReader, out)
		out.Close()
		k.done <- err
	}()
	finished := make(chan struct{})
	go func() { k.collect(outReader); close(finished) }()
	t.Cleanup(func() {
		in.Close()
		stop(nil)
		<-finished
	})
	return k
}

func (k *Client) collect(out io.Reader) {
	defer close(k.out)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var m Message
		assert.That(k.T, json.Unmarshal([]byte(line), &m) == nil, "not a message: %q", line)
		k.out <- m
	}
}

// Send sends lines to the server.
func (k *Client) Send(lines ...string) {
	k.T.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(k.In, line+"\n"); err != nil {
			k.T.Fatal(err)
		}
	}
}

// Next returns the next message of the server.
func (k *Client) Next() Message {
	k.T.Helper()
	return Receive(k.T, k.out)
}

// Receive returns the next value of a channel, and fails the test if none comes.
func Receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		require.That(t, ok, "the server has ended")
		return v
	case <-time.After(Patience):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// Wait waits for the end of the server and returns its error.
func (k *Client) Wait() error {
	k.T.Helper()
	return Receive(k.T, k.done)
}

// Rest returns the messages of the server until it ends.
func (k *Client) Rest() []Message {
	var all []Message
	for m := range k.out {
		all = append(all, m)
	}
	return all
}
