package frame

import "encoding/binary"

// greeting begins every hello, so that no other program is taken for a worker.
const greeting = "vaultwicket-worker\n"

// Hello is what both sides say first. A worker also names its process and the
// folder it serves.
type Hello struct {
	Version uint32
	PID     uint32
	Folder  string
}

// AppendHello writes h as a frame behind b. ok is false if the name of the
// folder is too long for one.
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

// AppendRequest writes q as a frame behind b. ok is false if it is longer than
// MaxRequest.
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
	// Status is the exit status that a process for this one call would have.
	Status uint8
	// Unrun says that nothing was begun: the worker is of no use any more, and
	// another one may be asked.
	Unrun bool
	// Last says that the worker ends now and answers nothing else.
	Last bool
}

// AppendEnd writes e as a frame behind b.
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
