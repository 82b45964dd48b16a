package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Confirm asks on out for a confirmation and reports whether the line that in then
// gives is "yes" or "y". Everything else is a no: another word, the end of the input,
// a line without its end, an answer that comes after ctx has ended.
//
// When ctx ends first, the goroutine that reads the line continues until there is
// one: a read of a terminal cannot be cancelled. The program ends then.
func Confirm(ctx context.Context, in io.Reader, out io.Writer) bool {
	fmt.Fprint(out, `Allow this? Type "yes": `)
	answer := make(chan string, 1)
	go func() { answer <- readAnswer(in) }()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false
	case line := <-answer:
		return ctx.Err() == nil && (line == "yes" || line == "y")
	}
}

const (
	maxAnswer = 64      // "yes" with blanks around it
	maxTyped  = 4 << 10 // a terminal gives no longer line
)

// readAnswer reads one line and nothing after it: that was typed for whoever reads
// the terminal next. A line that is too long for an answer is read to its end,
// because its rest would be a command for the shell.
func readAnswer(in io.Reader) string {
	var line []byte
	var letter [1]byte
	for range maxTyped {
		if _, err := io.ReadFull(in, letter[:]); err != nil {
			return ""
		}
		if letter[0] == '\n' {
			if len(line) > maxAnswer {
				return ""
			}
			return strings.TrimSpace(string(line))
		}
		line = append(line, letter[0])
	}
	return ""
}
