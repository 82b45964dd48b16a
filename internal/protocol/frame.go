package protocol

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Kind is the kind of a frame.
type Kind uint8

// The kinds of frames. A worker receives a hello, then requests, each followed by its input if it
// has any. A cancel asks it to end a request early; the worker confirms that, unless the request
// has ended or is changing files.
//
// A worker sends its own hello, then for each request pieces of output and one reply. After
// [Window] bytes of output it waits for a frame of the kind more for that request, with the number
// of bytes that it may send next. This backpressure keeps a large answer from blocking others.
const (
	KindHello Kind = 1 + iota
	KindRequest
	KindInput // an empty piece ends the input
	KindCancel
	KindOutput
	KindProgress
	KindReply
	KindMore
	KindChanging  // the call starts to change files, of which it has the number; it can no longer be cancelled
	KindCancelled // the call was cancelled: it will end soon, without changing a file
)

const (
	MaxChunk   = 64 << 10 // bytes of a piece of input or output; keeps buffers small for notes of any size
	MaxRequest = 2 << 20  // bytes of a request, as many as Linux allows by default for the arguments of a process
	Window     = 40 << 10 // bytes of output that a worker sends before it waits for a more
	MaxOpen    = 64       // concurrent requests, as many as the gateway runs

	maxHello    = 16 << 10 // contains a path, which systems limit to 4 to 32 KiB
	maxReply    = 512 << 10
	maxProgress = 16
	maxMore     = 8
	maxChanging = 8
)

// maxPayloads are the maximum payload lengths in bytes, by kind. A kind without one is unknown.
var maxPayloads = [...]int{
	KindHello:     maxHello,
	KindRequest:   MaxRequest,
	KindInput:     MaxChunk,
	KindCancel:    1,
	KindOutput:    MaxChunk,
	KindProgress:  maxProgress,
	KindReply:     maxReply,
	KindMore:      maxMore,
	KindChanging:  maxChanging,
	KindCancelled: 1,
}

// headSize is the length of a frame header: payload length, kind and number of the request. Integers
// are big-endian.
const headSize = 4 + 1 + 4

// Frame is one message. ID is the number of the request that it belongs to, 0 for a hello.
type Frame struct {
	Kind    Kind
	ID      uint32
	Payload []byte
}

// Malformed is the error of an invalid frame. The connection cannot be used after it.
type Malformed struct{ reason string }

func (m *Malformed) Error() string { return m.reason }

// Malformedf returns a Malformed with a formatted reason. It is also meant for valid frames in the
// wrong place.
func Malformedf(format string, args ...any) *Malformed {
	return &Malformed{fmt.Sprintf(format, args...)}
}

// Append appends f to b. The caller ensures that the payload is within the bound of its kind.
func Append(b []byte, f Frame) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Payload)))
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, f.ID)
	return append(b, f.Payload...)
}

// Reader reads frames. It is not safe for concurrent use.
type Reader struct {
	in       *bufio.Reader
	consumed int // buffered bytes of the frame that Next returned last
}

// readBuffer has room for the longest piece of output with its header, and little more, because
// bufio moves the remaining bytes to the start of the buffer.
const readBuffer = MaxChunk + 4<<10

// NewReader returns a Reader that reads from in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, readBuffer)} }

// Next returns the next frame. Its payload is valid until the next call. The error is io.EOF if the
// input ends after a complete frame, a [*Malformed] for an invalid frame, and otherwise the error of
// the reader.
func (r *Reader) Next() (Frame, error) {
	_, _ = r.in.Discard(r.consumed) // cannot fail: these bytes are buffered
	r.consumed = 0
	head, err := r.in.Peek(headSize)
	if err == io.EOF && len(head) > 0 {
		return Frame{}, Malformedf("ended in the middle of a frame")
	}
	if err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head)
	f := Frame{Kind: Kind(head[4]), ID: binary.BigEndian.Uint32(head[5:])}
	if int(f.Kind) >= len(maxPayloads) || maxPayloads[f.Kind] == 0 {
		return Frame{}, Malformedf("sent a frame of the unknown kind %d", f.Kind)
	}
	if bound := maxPayloads[f.Kind]; size > uint32(bound) {
		return Frame{}, Malformedf("sent a frame of kind %d with %d bytes, of %d at most", f.Kind, size, bound)
	}
	f.Payload, err = r.payload(int(size))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Frame{}, Malformedf("ended in the middle of a frame")
	}
	return f, err
}

// payload returns the payload of a frame whose header is buffered: a slice of the buffer, or a copy if the
// frame is longer than the buffer, as only requests and replies can be.
func (r *Reader) payload(size int) ([]byte, error) {
	if headSize+size > r.in.Size() {
		_, _ = r.in.Discard(headSize)
		payload := make([]byte, size)
		_, err := io.ReadFull(r.in, payload)
		return payload, err
	}
	frame, err := r.in.Peek(headSize + size)
	if err != nil {
		return nil, err
	}
	r.consumed = headSize + size
	return frame[headSize:], nil
}

// greeting begins every hello, so that no other program is mistaken for a worker.
const greeting = "vaultwicket-worker\n"

// Hello is the first message of both sides. PID and Folder are those of a worker; the gateway sends
// only the version.
type Hello struct {
	Version uint32
	PID     uint32
	Folder  string
}

// AppendHello appends h to b as a frame. ok is false if the path of the folder is too long.
func AppendHello(b []byte, h Hello) (out []byte, ok bool) {
	payload := binary.BigEndian.AppendUint32([]byte(greeting), h.Version)
	payload = binary.BigEndian.AppendUint32(payload, h.PID)
	payload = append(payload, h.Folder...)
	return Append(b, Frame{Kind: KindHello, Payload: payload}), len(payload) <= maxHello
}

// ParseHello decodes the first frame of a connection. The error is a [*Malformed].
func ParseHello(f Frame) (Hello, error) {
	const fixedSize = len(greeting) + 8
	if f.Kind != KindHello || len(f.Payload) < fixedSize || string(f.Payload[:len(greeting)]) != greeting {
		return Hello{}, Malformedf("did not begin with a greeting")
	}
	numbers := f.Payload[len(greeting):]
	return Hello{
		Version: binary.BigEndian.Uint32(numbers),
		PID:     binary.BigEndian.Uint32(numbers[4:]),
		Folder:  string(f.Payload[fixedSize:]),
	}, nil
}
