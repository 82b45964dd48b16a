package terminal

import (
	"errors"
	"io"
)

// Streams are the input, output and environment of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(string) (string, bool)
	Environ  func() []string
	// Console opens the terminal of the process; nil if there is none.
	Console func() (io.ReadWriteCloser, error)
}

// OpenConsole opens the terminal that the process belongs to.
func (s Streams) OpenConsole() (io.ReadWriteCloser, error) {
	if s.Console == nil {
		return nil, errors.New("this process has no terminal")
	}
	return s.Console()
}

// Getenv returns the value of an environment variable, "" if it is not set.
func (s Streams) Getenv(name string) string {
	value, _ := s.Lookup(name)
	return value
}
