package private

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Line is a line as it is in a file, before anything of it is believed.
type Line struct {
	Number  int    // from 1, counted from where reading began
	Text    []byte // without its newline; nil if it is longer than the limit
	At, End int64  // End is the offset after its newline
	Whole   bool   // has its newline
}

// Lines yields the lines of a file between two offsets, in memory bounded by limit, the
// most bytes of a line with its newline. Text is valid until the next line. An error ends
// the lines.
func Lines(in io.ReaderAt, from, to int64, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if from >= to {
			return
		}
		lines := bufio.NewReaderSize(io.NewSectionReader(in, from, to-from), 64<<10)
		var long []byte // a line that does not fit the buffer
		for line := (Line{At: from, End: from}); ; line = (Line{Number: line.Number, At: line.End, End: line.End}) {
			line.Number++
			long = long[:0]
			var err error
			for {
				var piece []byte
				piece, err = lines.ReadSlice('\n')
				line.End += int64(len(piece))
				isLong := errors.Is(err, bufio.ErrBufferFull)
				if line.Text = piece; (isLong || len(long) > 0) && line.End-line.At <= int64(limit) {
					long = append(long, piece...)
					line.Text = long
				}
				if !isLong {
					break
				}
			}
			if err != nil && err != io.EOF {
				yield(Line{}, err)
				return
			}
			length := line.End - line.At
			if length == 0 {
				return
			}
			line.Whole = err == nil
			switch {
			case length > int64(limit):
				line.Text = nil
			case line.Whole:
				line.Text = line.Text[:length-1]
			}
			if !yield(line, nil) || err == io.EOF {
				return
			}
		}
	}
}
