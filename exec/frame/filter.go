package frame

import (
	"bytes"
	"io"
	"strings"
)

// Filter is standard error of the embedded program without its counts. It is for one
// goroutine.
type ProgressFilter struct {
	to   io.Writer
	tell func(Progress)
	// begun is a line that may become one with a count; passing says that the current line
	// is none.
	begun   []byte
	passing bool
}

// NewFilter passes on to a writer what is no line with a count, and tells the counts.
func NewProgressFilter(to io.Writer, tell func(Progress)) *ProgressFilter {
	return &ProgressFilter{to: to, tell: tell}
}

// Write implements [io.Writer]. The error is that of the writer behind it.
func (f *ProgressFilter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		whole := end > 0
		if !whole {
			end = len(rest)
		}
		if err := f.piece(rest[:end], whole); err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
	return len(p), nil
}

// longest is the length of a line with a count.
const maxProgressLine = len(progressMark) + 64

// piece takes a piece of one line. whole says that it ends the line.
func (f *ProgressFilter) piece(p []byte, whole bool) error {
	if f.passing {
		f.passing = !whole
		_, err := f.to.Write(p)
		return err
	}
	f.begun = append(f.begun, p...)
	line := string(f.begun[:min(len(f.begun), maxProgressLine)])
	possible := len(f.begun) < maxProgressLine && (strings.HasPrefix(line, progressMark) || strings.HasPrefix(progressMark, line))
	if c, ok := ParseProgress(line); whole && possible && ok {
		f.begun = f.begun[:0]
		f.tell(c)
		return nil
	}
	if possible && !whole {
		return nil
	}
	f.passing = !whole
	return f.Flush()
}

// Flush passes on the beginning of a line that was not ended. It is called when nothing
// more comes.
func (f *ProgressFilter) Flush() error {
	_, err := f.to.Write(f.begun)
	f.begun = f.begun[:0]
	return err
}
