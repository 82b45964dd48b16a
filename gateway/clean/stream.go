package clean

import (
	"io"
	"strings"
)

// Stream cleans text that comes in pieces, with what [Text] makes of the whole:
// characters, sequences and neighbours may be divided between two pieces. It
// keeps back no more than what it cannot judge yet, a few bytes.
type Stream struct {
	to      io.Writer
	cleaner cleaner
	pending string
}

// NewStream returns a stream that writes clean text to w.
func NewStream(w io.Writer) *Stream { return &Stream{to: w} }

// Write cleans p and writes what can be judged. An error is one of the writer.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.write(s.pending+string(p), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush ends the text: what was kept back is judged with nothing behind it.
// What is written afterwards begins another text, with the same report.
func (s *Stream) Flush() error {
	err := s.write(s.pending, true)
	s.cleaner = cleaner{report: s.cleaner.report}
	return err
}

// Report counts what was changed up to here.
func (s *Stream) Report() Report { return s.cleaner.report }

func (s *Stream) write(text string, last bool) error {
	var out strings.Builder
	from, n := s.cleaner.run(&out, text, last)
	out.WriteString(text[from:n])
	s.pending = text[n:]
	if out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(s.to, out.String())
	return err
}
