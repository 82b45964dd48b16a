package protocol

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Kind is the kind of a frame.
type Kind uint8

// The kinds. A worker receives a hello, then requests, each followed by its input if it has any;
// a cancel asks for the early end of one, which it confirms unless the request has ended or changes files. It sends its own hello, then for each request pieces
// of output and one reply. After [Window] bytes of output it waits for a more of that
// request (backpressure), which says how many further bytes it may send, so that a large answer blocks no other one.
const (
	KindHello Kind = 1 + iota
	KindRequest
	KindInput // the last piece of an input is empty
	KindCancel
	KindOutput
	KindProgress
	KindReply
	KindMore
	KindChanging  // the call begins to change files, and how many: it cannot be cancelled any more
	KindCancelled // the call is cancelled: it ends when it notices, and changes no file until then
)

const (
	MaxChunk   = 64 << 10 // of input or output: a note of any size passes through small buffers
	MaxRequest = 2 << 20  // as long as all arguments of a process may be on Linux by default
	Window     = 40 << 10 // of output that a worker sends before a more
	MaxOpen    = 64       // requests at once, as many as the gateway runs

	maxHello    = 16 << 10 // a path, which systems bound at 4 to 32 KiB
	maxReply    = 512 << 10
	maxProgress = 16
	maxMore     = 8
	maxChanging = 8
)

// bounds are the longest payloads, by kind. A kind without one is unknown.
var bounds = [...]int{
	KindHello: maxHello, KindRequest: MaxRequest, KindInput: MaxChunk, KindCancel: 1,
	KindOutput: MaxChunk, KindProgress: maxProgress, KindReply: maxReply, KindMore: maxMore, KindChanging: maxChanging, KindCancelled: 1,
}

// headSize is the length of a frame header: payload length, kind and number of the request, big-endian.
const headSize = 4 + 1 + 4

// Frame is one message. ID is the number of the request it belongs to, 0 for a hello.
type Frame struct {
	Kind    Kind
	ID      uint32
	Payload []byte
}

// Malformed says what is wrong with a frame. The connection cannot be used any more.
type Malformed struct{ reason string }

func (m *Malformed) Error() string { return m.reason }

// Malformedf returns a Malformed, also for a valid frame in the wrong place.
func Malformedf(format string, args ...any) *Malformed {
	return &Malformed{fmt.Sprintf(format, args...)}
}

// Append appends f to b. The payload must be within the bound of its kind.
func Append(b []byte, f Frame) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Payload)))
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, f.ID)
	return append(b, f.Payload...)
}

// Reader reads frames. It is for one goroutine.
type Reader struct {
	in    *bufio.Reader
	taken int // of what is buffered: the frame that was returned last
}

// readBuffer is the longest piece of output with its head, and little more, because the
// beginning of the next one is moved to its start.
const readBuffer = MaxChunk + 4<<10

// NewReader returns a Reader on in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, readBuffer)} }

// Next returns the next frame, whose payload is valid until the next call. The error is io.EOF at the
// end between two frames, a [*Malformed] for an invalid frame, and otherwise the error of reading.
func (r *Reader) Next() (Frame, error) {
	_, _ = r.in.Discard(r.taken) // it was peeked at
	r.taken = 0
	head, err := r.in.Peek(headSize)
	if err == io.EOF && len(head) > 0 {
		return Frame{}, Malformedf("ended in the middle of a frame")
	}
	if err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head)
	f := Frame{Kind: Kind(head[4]), ID: binary.BigEndian.Uint32(head[5:])}
	if int(f.Kind) >= len(bounds) || bounds[f.Kind] == 0 {
		return Frame{}, Malformedf("sent a frame of the unknown kind %d", f.Kind)
	}
	if bound := bounds[f.Kind]; size > uint32(bound) {
		return Frame{}, Malformedf("sent a frame of kind %d with %d bytes, of %d at most", f.Kind, size, bound)
	}
	if whole := headSize + int(size); whole <= r.in.Size() {
		if head, err = r.in.Peek(whole); err == nil {
			r.taken = whole
			f.Payload = head[headSize:]
		}
	} else { // longer than any piece of input or output: copied, and the buffer is not kept
		_, _ = r.in.Discard(headSize)
		f.Payload = make([]byte, size)
		_, err = io.ReadFull(r.in, f.Payload)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Frame{}, Malformedf("ended in the middle of a frame")
	}
	return f, err
}

// greeting begins every hello, so that no other program is taken for a worker.
const greeting = "vaultwicket-worker\n"

// Hello is the first message of both sides. A worker also sends its process id and its folder.
type Hello struct {
	Version uint32
	PID     uint32
	Folder  string
}

// AppendHello appends h to b as a frame. ok is false if the name of the folder is too long for one.
func AppendHello(b []byte, h Hello) (out []byte, ok bool) {
	payload := binary.BigEndian.AppendUint32([]byte(greeting), h.Version)
	payload = binary.BigEndian.AppendUint32(payload, h.PID)
	payload = append(payload, h.Folder...)
	return Append(b, Frame{Kind: KindHello, Payload: payload}), len(payload) <= maxHello
}

// ParseHello reads the first frame of a connection.
func ParseHello(f Frame) (Hello, error) {
	const fixed = len(greeting) + 8
	if f.Kind != KindHello || len(f.Payload) < fixed || string(f.Payload[:len(greeting)]) != greeting {
		return Hello{}, Malformedf("did not begin with a greeting")
	}
	numbers := f.Payload[len(greeting):]
	return Hello{
		Version: binary.BigEndian.Uint32(numbers), PID: binary.BigEndian.Uint32(numbers[4:]),
		Folder: string(f.Payload[fixed:]),
	}, nil
}
