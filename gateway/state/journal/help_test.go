package journal

import (
	"bytes"
	"io"
	"os"
)

type readCloser = io.ReadCloser

// failingReader fails as a note does that goes away.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, os.ErrNotExist }
func (failingReader) Close() error             { return nil }

func readerOf(text []byte) io.Reader { return bytes.NewReader(text) }
