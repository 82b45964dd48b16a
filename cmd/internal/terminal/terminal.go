// Package terminal provides what subcommands need of a command line: streams and flags,
// confirmations, tables and colours, messages on standard error, and exit statuses. It is
// the only package that uses pflag, and the only one that prints errors.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// IsTerminal reports whether a stream is a character device other than the null device, which
// programs often get instead of a terminal.
func IsTerminal(stream any) bool {
	file, ok := fileOf(stream)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// File returns the file of a stream that is a terminal, see [IsTerminal]. ok is false if it is not.
func File(stream any) (file *os.File, ok bool) {
	if !IsTerminal(stream) {
		return nil, false
	}
	return fileOf(stream)
}

// fileOf returns the file behind a stream. ok is false if it is not a file.
func fileOf(stream any) (file *os.File, ok bool) {
	switch wrapped := stream.(type) {
	case *Output:
		stream = wrapped.to
	case *Quiet:
		stream = wrapped.to
	}
	file, ok = stream.(*os.File)
	return file, ok
}

// Visible returns text from outside for our own messages: control sequences and invisible characters are
// replaced by visible escapes.
func Visible(s string) string {
	text, _ := sanitize.Text(s)
	return text
}

// The labels of messages.
const (
	Error   = "error"
	Hint    = "hint"
	Warning = "warning"
	Note    = "note"
)

// Message writes "vaultwicket: LABEL: TEXT" and a line break, wrapped at words on a terminal. To a [Quiet] stream it
// only writes errors.
func Message(w io.Writer, label, text string) {
	if _, isQuiet := w.(*Quiet); isQuiet && label != Error {
		return
	}
	fmt.Fprint(w, Fit(w, fmt.Sprintf("vaultwicket: %s: %s\n", label, Visible(text))))
}

// Quiet is a standard error that only shows errors and questions: no notes, hints, warnings or progress.
type Quiet struct{ to io.Writer }

// NewQuiet returns a [Quiet] that writes to a stream.
func NewQuiet(to io.Writer) *Quiet { return &Quiet{to} }

// Write writes to the stream.
func (q *Quiet) Write(text []byte) (int, error) { return q.to.Write(text) }

// Notef writes a note: a fact that the user should know, but not an error.
func Notef(w io.Writer, format string, args ...any) { Message(w, Note, fmt.Sprintf(format, args...)) }

// Streams are the input, output and environment of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(string) (string, bool)
	Environ  func() []string
	Console  func() (io.ReadWriteCloser, error) // opens the terminal of the process; nil if there is none
	Verbose  bool                               // --verbose: details are printed, too
	Hints    *Hints                             // rewrites the hints of the running command; may be nil
}

// IsQuiet reports whether --quiet is given: then Err is a [Quiet].
func (s Streams) IsQuiet() bool {
	_, isQuiet := s.Err.(*Quiet)
	return isQuiet
}

// LogLevel returns the minimum level of log lines: set, which comes from the settings, unless --quiet or --verbose is
// given.
func (s Streams) LogLevel(set slog.Level) slog.Level {
	switch {
	case s.IsQuiet():
		return max(set, slog.LevelError)
	case s.Verbose:
		return min(set, slog.LevelInfo)
	}
	return set
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

// defaultWidth is the assumed number of columns of a terminal that does not report its size.
const defaultWidth = 80

// Width returns the number of columns of a terminal; ok is false if stream is not one.
func Width(stream any) (columns int, ok bool) {
	columns, _, ok = size(stream)
	return columns, ok
}

// size returns the size of a terminal with a default for the columns; rows may be 0. ok is false if stream is not a
// terminal.
func size(stream any) (columns, rows int, ok bool) {
	columns, rows, ok = reportedSize(stream)
	if ok && columns <= 0 {
		return defaultWidth, 0, true
	}
	return columns, rows, ok
}

// reportedSize returns the size that a terminal reports, 0 if it does not; ok is false if stream is not a terminal.
func reportedSize(stream any) (columns, rows int, ok bool) {
	file, isFile := fileOf(stream)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, 0, true
	}
	return columns, rows, true
}

// Confirm asks a question on out and reports whether the next line of in is "yes" or "y". Everything else counts as
// no: another word, the end of the input, a line without its end, an answer after ctx is done.
//
// If ctx is done first, the goroutine that reads the line keeps waiting for it, because reading from a
// terminal cannot be cancelled. The program is expected to end then.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question+" [y/N] ")
	answer, ok := Ask(ctx, in, out)
	return ok && (answer == "yes" || answer == "y")
}

// Pages shows rows on out, a terminal, one screen at a time; each line from in shows the next
// screen. It returns false if the user did not see all rows, because they stopped, in ended or ctx is done.
func Pages(ctx context.Context, in io.Reader, out io.Writer, rows []string) bool {
	page := len(rows)
	_, height, isTerminal := size(out)
	isKnown := isTerminal && height > 0
	if isKnown && len(rows) > height-2 {
		page = max(1, height-2)
	}
	shown := 0
	for {
		for _, row := range rows[shown:min(len(rows), shown+page)] {
			fmt.Fprintln(out, row)
		}
		shown += page
		if shown >= len(rows) {
			return ctx.Err() == nil
		}
		fmt.Fprintf(out, "-- row %d of %d; Enter shows more, q stops -- ", shown, len(rows))
		if answer, ok := Ask(ctx, in, out); !ok || answer == "q" {
			return false
		}
	}
}

// Ask returns the next line of in, without spaces around it. ok is false if the line is longer than a few words, in
// ends first or ctx is done.
func Ask(ctx context.Context, in io.Reader, out io.Writer) (line string, ok bool) {
	return ask(ctx, in, out, maxAnswer)
}

// AskText does the same as [Ask] for a text of up to 4 KiB, such as a path.
func AskText(ctx context.Context, in io.Reader, out io.Writer) (line string, ok bool) {
	return ask(ctx, in, out, maxTyped)
}

// ask reads a line of up to most bytes.
func ask(ctx context.Context, in io.Reader, out io.Writer, most int) (line string, ok bool) {
	type result struct {
		line string
		ok   bool
	}
	answer := make(chan result, 1)
	go func() {
		line, ok := readAnswer(in, most)
		answer <- result{line, ok}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", false
	case a := <-answer:
		if !a.ok && IsTerminal(out) {
			fmt.Fprintln(out) // the cursor is still on the line with the question
		}
		return a.line, a.ok && ctx.Err() == nil
	}
}

const (
	maxAnswer = 64      // "yes" with spaces around it
	maxTyped  = 4 << 10 // the maximum length of a line from a terminal
)

// readAnswer reads one line of up to most bytes. It does not read beyond the line, because the rest is for the next
// reader of the terminal. A line that is too long is read to its end: otherwise the shell would run its rest.
func readAnswer(in io.Reader, most int) (answer string, ok bool) {
	var line []byte
	var char [1]byte
	for range maxTyped {
		if _, err := io.ReadFull(in, char[:]); err != nil {
			return "", false
		}
		if char[0] == '\n' {
			if len(line) > most {
				return "", false
			}
			return strings.TrimSpace(string(line)), true
		}
		line = append(line, char[0])
	}
	return "", false
}
