package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one message, in bytes without its newline: the arguments of a
// call may hold 2 MiB of text, and JSON may double that by escaping.
const maxLine = 4 << 20

// lineBuffer is how much is read at once. Most messages fit.
const lineBuffer = 16 << 10

// jsonSpace is what JSON allows around a document, and nothing else.
const jsonSpace = " \t\r\n"

// errLongLine is a line over maxLine. It has been skipped up to its newline.
var errLongLine = errors.New("message is longer than 4 MiB")

// lineReader cuts a stream into messages, one a line.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(in, lineBuffer), maxLine}
}

// next returns the next line that is not blank, without the space around it.
// The last line needs no newline. The slice belongs to the caller. A line that
// is too long costs no more memory than one that is just short enough, and is
// errLongLine; the next call goes on behind it. Any other error is the stream's
// and final.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if errors.Is(err, errLongLine) {
			return nil, err
		}
		if line = bytes.Trim(line, jsonSpace); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line returns what stands before the next newline or the end of the stream.
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

// skip reads on to the newline, given how the last read ended. The error of a
// stream that ends meanwhile comes back with the next read.
func (r *lineReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	return errLongLine
}
