// Package protocol is the private protocol between the gateway and the resident embedded program: requests
// on its standard input, answers on its standard output. Both sides are the same binary, so the
// protocol may change with every release; the handshake refuses a binary that was replaced meanwhile.
//
// It knows no commands: a request is a command line with the bytes of its standard input, and an
// answer is two streams and an exit status. Content is sent as bytes without escapes. Every
// frame has a bounded length, which is checked before anything is read or allocated for it.
package protocol

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Version is the version of the protocol. The form of a [Hello] never changes.
const Version = 3

// Kind is the kind of a frame.
type Kind uint8

// The kinds. A worker receives a hello, then requests, each followed by its input if it has any;
// a cancel asks for the early end of one. It sends its own hello, then for each request pieces
// of output and one end. After [Window] bytes of standard output it waits for the more of that
// request (backpressure), so that a large answer blocks no other one.
const (
	KindHello Kind = 1 + iota
	KindRequest
	KindInput // the last piece of an input is empty
	KindCancel
	KindStdout
	KindStderr
	KindEnd
	KindMore
	KindChanging // the call begins to change files
)

const (
	MaxChunk   = 64 << 10 // of input or output: a note of any size passes through small buffers
	MaxRequest = 2 << 20  // of a command line: the default of Linux for all arguments of a process
	Window     = 40 << 10 // of standard output that a worker sends before a more
	MaxOpen    = 64       // requests at once, as many as the gateway runs

	maxHello = 16 << 10 // a path, which systems bound at 4 to 32 KiB
	maxEnd   = 16
)

// bounds are the longest payloads, by kind. A kind without one is unknown.
var bounds = [...]int{
	KindHello: maxHello, KindRequest: MaxRequest, KindInput: MaxChunk, KindCancel: 1,
	KindStdout: MaxChunk, KindStderr: MaxChunk, KindEnd: maxEnd, KindMore: 1, KindChanging: 1,
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
	size, f := binary.BigEndian.Uint32(head), Frame{Kind: Kind(head[4]), ID: binary.BigEndian.Uint32(head[5:])}
	if int(f.Kind) >= len(bounds) || bounds[f.Kind] == 0 {
		return Frame{}, Malformedf("sent a frame of the unknown kind %d", f.Kind)
	}
	if bound := bounds[f.Kind]; size > uint32(bound) {
		return Frame{}, Malformedf("sent a frame of kind %d with %d bytes, of %d at most", f.Kind, size, bound)
	}
	if whole := headSize + int(size); whole <= r.in.Size() {
		if head, err = r.in.Peek(whole); err == nil {
			r.taken, f.Payload = whole, head[headSize:]
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

// Request is a command line without the program and the folder. With Input set
// the bytes of standard input follow in frames of their own.
type Request struct {
	Input bool
	Words []string
}

// AppendRequest appends q to b as a frame. ok is false if it is longer than MaxRequest.
func AppendRequest(b []byte, id uint32, q Request) (out []byte, ok bool) {
	start := len(b)
	b = Append(b, Frame{Kind: KindRequest, ID: id, Payload: []byte{flags(q.Input, false)}})
	for _, word := range q.Words {
		b = binary.AppendUvarint(b, uint64(len(word)))
		b = append(b, word...)
	}
	size := len(b) - start - headSize
	binary.BigEndian.PutUint32(b[start:], uint32(size))
	return b, size <= MaxRequest
}

// ParseRequest reads a frame of that kind.
func ParseRequest(f Frame) (Request, error) {
	if len(f.Payload) == 0 || f.Payload[0] > 1 {
		return Request{}, Malformedf("sent a request without a form")
	}
	q := Request{Input: f.Payload[0] == 1}
	for rest := f.Payload[1:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return Request{}, Malformedf("sent a request with a broken word")
		}
		rest = rest[n:]
		q.Words = append(q.Words, string(rest[:size]))
		rest = rest[size:]
	}
	return q, nil
}

// End is the end of an answer.
type End struct {
	Status uint8 // exit status of the call
	Unrun  bool  // nothing was begun: this worker takes no more calls, another one may be asked
	Last   bool  // the worker ends now
}

// AppendEnd appends e to b as a frame.
func AppendEnd(b []byte, id uint32, e End) []byte {
	return Append(b, Frame{Kind: KindEnd, ID: id, Payload: []byte{e.Status, flags(e.Unrun, e.Last)}})
}

// ParseEnd reads a frame of that kind.
func ParseEnd(f Frame) (End, error) {
	if len(f.Payload) != 2 || f.Payload[1] > 3 {
		return End{}, Malformedf("sent an end without a form")
	}
	return End{Status: f.Payload[0], Unrun: f.Payload[1]&1 != 0, Last: f.Payload[1]&2 != 0}, nil
}

func flags(first, second bool) (bits byte) {
	if first {
		bits |= 1
	}
	if second {
		bits |= 2
	}
	return bits
}
