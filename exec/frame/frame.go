// Package frame is the private protocol between the gateway and the embedded
// vault program when that stays resident: requests go in on its standard input,
// answers come out of its standard output. Both sides are the same binary, so
// that the protocol may change with every release; the handshake refuses a
// binary that was replaced meanwhile.
//
// It knows no commands: a request is a command line with the bytes of its
// standard input, and an answer is two streams and an exit status. Content
// travels as bytes and is never quoted or escaped. Every frame has a bounded
// length, which is checked before anything is read or allocated for it.
package frame

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Version is the version of the protocol. The form of a [Hello] never changes.
const Version = 3

// Kind says what a frame is.
type Kind uint8

// The kinds. A worker is sent a hello first, then requests, each followed by
// its input if it has any; a cancel asks for the early end of one. A worker
// answers with its own hello, then for each request with any number of pieces
// of output and one end. After [Window] bytes of standard output it waits for
// the more of that request, so that a large answer holds up no other one.
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
	// MaxChunk bounds a piece of input or output, so that a note of any size
	// passes through small buffers.
	MaxChunk = 64 << 10
	// MaxRequest bounds a command line: Linux gives all arguments of a process
	// 2 MiB unless told otherwise.
	MaxRequest = 2 << 20
	// Window is how much of the standard output of a request a worker sends unasked.
	Window = 40 << 10
	// MaxOpen is how many requests may be open at once: as many as the gateway
	// runs at most.
	MaxOpen = 64

	maxHello = 16 << 10 // a path, which systems bound at 4 to 32 KiB
	maxEnd   = 16
)

// bounds are the longest payloads, by kind. A kind without one is unknown.
var bounds = [...]int{
	KindHello: maxHello, KindRequest: MaxRequest, KindInput: MaxChunk, KindCancel: 1,
	KindStdout: MaxChunk, KindStderr: MaxChunk, KindEnd: maxEnd, KindMore: 1, KindChanging: 1,
}

// headSize is the length of what stands in front of a payload: its length, the
// kind and the number of the request, big-endian.
const headSize = 4 + 1 + 4

// Frame is one message. ID is the number of the request it belongs to, 0 for a
// hello.
type Frame struct {
	Kind    Kind
	ID      uint32
	Payload []byte
}

// Malformed says what is wrong with what the other side sent. The connection is
// of no use any more.
type Malformed struct{ reason string }

func (m *Malformed) Error() string { return m.reason }

// Malformedf returns a Malformed, for frames that are well-formed but must not
// come where they came.
func Malformedf(format string, args ...any) *Malformed {
	return &Malformed{fmt.Sprintf(format, args...)}
}

// Append writes f behind b. The payload must be within the bound of its kind.
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

// readBuffer holds the longest piece of output with its head, and little besides: the
// beginning of the next one is moved to its start.
const readBuffer = MaxChunk + 4<<10

// NewReader returns a Reader on in.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, readBuffer)}
}

// Next returns the next frame, whose payload is valid until the call behind.
// The error is io.EOF at the end between two frames, a [*Malformed] for what is
// no frame, and otherwise the error of reading.
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
	bound, err := f.bound()
	if err != nil {
		return Frame{}, err
	}
	if size > uint32(bound) {
		return Frame{}, Malformedf("sent a frame of kind %d with %d bytes, of %d at most", f.Kind, size, bound)
	}
	f.Payload, err = r.payload(int(size))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Frame{}, Malformedf("ended in the middle of a frame")
	}
	return f, err
}

func (f Frame) bound() (int, error) {
	if int(f.Kind) >= len(bounds) || bounds[f.Kind] == 0 {
		return 0, Malformedf("sent a frame of the unknown kind %d", f.Kind)
	}
	return bounds[f.Kind], nil
}

// payload returns what stands behind the head. It is copied only where it is longer than any
// piece of input or output, and that buffer is not kept.
func (r *Reader) payload(size int) ([]byte, error) {
	if whole := headSize + size; whole <= r.in.Size() {
		frame, err := r.in.Peek(whole)
		if err != nil {
			return nil, err
		}
		r.taken = whole
		return frame[headSize:], nil
	}
	_, _ = r.in.Discard(headSize)
	payload := make([]byte, size)
	_, err := io.ReadFull(r.in, payload)
	return payload, err
}
