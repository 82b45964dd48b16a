package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Confirm asks a question on out and reports whether the next line of in is "yes" or "y".
// Everything else is a no: another word, the end of the input, a line without its end, an answer
// after ctx has ended.
//
// If ctx ends first, the goroutine that reads the line continues until there is one, because a
// read of a terminal cannot be cancelled. The program ends then.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question+" [y/N] ")
	answer, ok := Ask(ctx, in, out)
	return ok && (answer == "yes" || answer == "y")
}

// Pages shows rows on out, a terminal, one screen at a time; each line from in shows the next
// screen. It reports false if ctx or in ends first: then the rest was not seen.
func Pages(ctx context.Context, in io.Reader, out io.Writer, rows []string) bool {
	page := len(rows)
	if height, ok := Height(out); ok && len(rows) > height-2 {
		page = max(1, height-2)
	}
	for at := 0; ; {
		for _, row := range rows[at:min(len(rows), at+page)] {
			fmt.Fprintln(out, row)
		}
		if at += page; at >= len(rows) {
			return ctx.Err() == nil
		}
		fmt.Fprintf(out, "-- row %d of %d; Enter shows more, q stops -- ", at, len(rows))
		if answer, ok := Ask(ctx, in, out); !ok || answer == "q" {
			return false
		}
	}
}

// Ask returns the next line of in; ok is false if ctx or in ends first.
func Ask(ctx context.Context, in io.Reader, out io.Writer) (line string, ok bool) {
	type typed struct {
		line string
		ok   bool
	}
	answer := make(chan typed, 1)
	go func() {
		line, ok := readAnswer(in)
		answer <- typed{line, ok}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", false
	case a := <-answer:
		return a.line, a.ok && ctx.Err() == nil
	}
}

const (
	maxAnswer = 64      // "yes" with blanks around it
	maxTyped  = 4 << 10 // a terminal gives no longer line
)

// readAnswer reads one line and nothing after it, which is for the next reader of the terminal.
// A line that is too long for an answer is read to its end, because its rest would be a command
// for the shell.
func readAnswer(in io.Reader) (answer string, ok bool) {
	var line []byte
	var letter [1]byte
	for range maxTyped {
		if _, err := io.ReadFull(in, letter[:]); err != nil {
			return "", false
		}
		if letter[0] == '\n' {
			if len(line) > maxAnswer {
				return "", false
			}
			return strings.TrimSpace(string(line)), true
		}
		line = append(line, letter[0])
	}
	return "", false
}
