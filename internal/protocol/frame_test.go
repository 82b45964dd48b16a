package protocol

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// aRequest has a value in every kind of field.
func aRequest() Request {
	vault := "Home"
	return Request{Vault: &vault, Command: "append",
		Args: []string{"path=a.md", "", "a\x00b", strings.Repeat("x", 300)}, Input: "content",
		Write: Write{Allowed: true, Task: Begin}}
}

// everyKind is one frame of each kind, well-formed.
func everyKind(t testing.TB) []byte {
	t.Helper()
	b, ok := AppendHello(nil, Hello{Version: Version, PID: 7, Folder: "/a vault/ü"})
	require.That(t, ok, "a short hello is too long")
	b, ok = AppendRequest(b, 1, aRequest())
	require.That(t, ok, "a short request is too long")
	b = Append(b, Frame{Kind: KindInput, ID: 1, Payload: []byte("text")})
	b = Append(b, Frame{Kind: KindInput, ID: 1})
	b = Append(b, Frame{Kind: KindCancel, ID: 1})
	b = Append(b, Frame{Kind: KindOutput, ID: 1, Payload: bytes.Repeat([]byte("o"), MaxChunk)})
	b = AppendProgress(b, 1, Progress{120, 3000, FilesRead})
	return AppendReply(b, 1<<32-1, Reply{Status: 2, Unrun: true, Last: true})
}

func TestFramesArriveAsTheyWereSent(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"at once":      bytes.NewReader(everyKind(t)),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(everyKind(t))),
	} {
		r := NewReader(in)
		next := func(kind Kind) Frame {
			f, err := r.Next()
			require.Equal(t, err, nil, "%s: kind %d", name, f.Kind)
			require.Equal(t, f.Kind, kind, "%s: kind %d", name, f.Kind)
			return f
		}
		h, err := ParseHello(next(KindHello))
		require.Equal(t, err, nil, "%s", name)
		assert.Equal(t, h, Hello{Version, 7, "/a vault/ü"}, "%s", name)
		q, err := ParseRequest(next(KindRequest))
		require.Equal(t, err, nil, "%s", name)
		assert.That(t, reflect.DeepEqual(q, aRequest()), "%s: %+v, %v", name, q, err)
		f := next(KindInput)
		assert.Equal(t, string(f.Payload), "text", "%s", name)
		assert.Equal(t, f.ID, 1, "%s", name)
		assert.Equal(t, len(next(KindInput).Payload), 0, "%s", name)
		next(KindCancel)
		assert.Equal(t, len(next(KindOutput).Payload), MaxChunk, "%s, bytes", name)
		p, err := ParseProgress(next(KindProgress))
		require.Equal(t, err, nil, "%s", name)
		assert.Equal(t, p, Progress{120, 3000, FilesRead}, "%s", name)
		f = next(KindReply)
		e, err := ParseReply(f)
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, e, Reply{Status: 2, Unrun: true, Last: true}, "%s", name)
		assert.Equal(t, f.ID, 1<<32-1, "%s", name)
		_, err = r.Next()
		assert.Equal(t, err, io.EOF, "%s: after the last frame", name)
	}
}

func TestMalformed(t *testing.T) {
	tests := []struct{ name, sent string }{
		{"text", "Error: Unknown switch: --worker\n"},
		{"no kind", "\x00\x00\x00\x00\x00\x00\x00\x00\x01"},
		{"an unknown kind", "\x00\x00\x00\x00\x0b\x00\x00\x00\x01"},
		{"a cancel that carries too much", "\x00\x00\x00\x02\x04\x00\x00\x00\x01xx"},
		{"a piece that is too long", "\x00\x01\x00\x01\x05\x00\x00\x00\x01"},
		{"a length without end", "\xff\xff\xff\xff\x02\x00\x00\x00\x01"},
		{"half a head", "\x00\x00\x00"},
		{"half a payload", "\x00\x00\x00\x05\x05\x00\x00\x00\x01xx"},
		{"no payload", "\x00\x00\x00\x05\x05\x00\x00\x00\x01"},
	}
	for _, tt := range tests {
		_, err := NewReader(strings.NewReader(tt.sent)).Next()
		malformed := (*Malformed)(nil)
		assert.That(t, errors.As(err, &malformed), "%s: %v", tt.name, err)
	}
}

func TestHellosThatAreNone(t *testing.T) {
	for _, f := range []Frame{{}, {Kind: KindHello}, {Kind: KindHello, Payload: []byte(greeting + "\x00\x00")},
		{Kind: KindOutput, Payload: []byte(greeting + "\x00\x00\x00\x01\x00\x00\x00\x01")}} {
		h, err := ParseHello(f)
		assert.That(t, err != nil, "hello %+v: %+v", f, h)
	}
}

func TestWhatIsTooLongIsNotSent(t *testing.T) {
	_, ok := AppendRequest(nil, 1, Request{Args: []string{strings.Repeat("x", MaxRequest)}})
	assert.That(t, !ok, "a long request")
	_, ok = AppendHello(nil, Hello{Folder: strings.Repeat("x", maxHello)})
	assert.That(t, !ok, "a long hello")
}

func FuzzNext(f *testing.F) {
	whole := everyKind(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("Error: Unknown switch: --worker\n"))
	f.Add([]byte("\xff\xff\xff\xff\x02\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := NewReader(bytes.NewReader(sent))
		var again []byte
		for {
			got, err := r.Next()
			if err != nil {
				malformed := (*Malformed)(nil)
				require.That(t, err == io.EOF || errors.As(err, &malformed), "an error without a type: %v", err)
				require.That(t, err != io.EOF || bytes.Equal(again, sent), "what was read is not what was sent")
				return
			}
			require.That(t, int(got.Kind) < len(maxPayloads), "kind %d with %d bytes", got.Kind, len(got.Payload))
			require.That(t, len(got.Payload) <= maxPayloads[got.Kind], "kind %d with %d bytes", got.Kind, len(got.Payload))
			again = Append(again, got)
			_, _ = ParseHello(got)
		}
	})
}
