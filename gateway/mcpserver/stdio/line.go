package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"vaultwicket/gateway/mcpserver/message"
)

// maxLine is the maximum length of one message, in bytes without its newline: the
// arguments of a call may contain 2 MiB of text, and JSON escaping may double that.
const maxLine = 4 << 20

// lineBuffer is how many bytes are read at once. Most messages fit.
const lineBuffer = 16 << 10

// errLongLine is returned for a line over maxLine, after skipping it.
var errLongLine = errors.New("message exceeds 4 MiB")

// lineReader splits a stream into messages, one per line.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(in, lineBuffer), maxLine}
}

// next returns the next line that is not blank, without the white space around it.
// The last line needs no newline. The slice belongs to the caller. A line that is too
// long needs no more memory than the longest valid one and returns errLongLine; the next
// call continues after it. Any other error comes from the stream and is final.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if errors.Is(err, errLongLine) {
			return nil, err
		}
		if line = bytes.Trim(line, message.Space); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line returns the bytes up to the next newline or the end of the stream.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(piece, []byte("\n"))) > r.limit {
			return nil, r.skip(err)
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skip reads up to the newline; err is that of the last read. If the stream ends
// meanwhile, the next read returns its error.
func (r *lineReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	return errLongLine
}
