package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"vaultwicket/gateway"
)

// atTerminal is the caller, the client and the surface of a command that is typed
// in a terminal. It is the same for all of them, so that a yes given with
// "vaultwicket approve" in one window is good for the command that is typed again
// in another.
const atTerminal = "terminal"

// typed returns a request as one that was typed in a terminal.
func typed(std streams, req gateway.Request) gateway.Request {
	req.Ask, req.Caller, req.Client, req.Surface = asker(std), atTerminal, atTerminal, atTerminal
	return req
}

// asker returns what asks the person at the terminal. It is nil where nobody sits
// in front of both the question and the answer; then the question waits for
// "vaultwicket approve".
func asker(std streams) gateway.Asker {
	if !isTerminal(std.in) || !isTerminal(std.err) {
		return nil
	}
	return func(ctx context.Context, q gateway.Question) gateway.Reply {
		fmt.Fprintln(std.err, q.Text)
		if saysYes(ctx, std) {
			return gateway.Yes
		}
		return gateway.No
	}
}

// isTerminal reports whether a stream is a character device other than the null
// device, which programs are given in place of a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
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

// saysYes reports whether the person types a line that says yes. Nothing else is
// one: no other word, no end of the input, no line without its end, and no answer
// that comes when ctx has ended.
//
// When ctx ends first, what reads the line goes on until there is one: a read of a
// terminal cannot be called off. The program ends then, and this with it.
func saysYes(ctx context.Context, std streams) bool {
	fmt.Fprint(std.err, "Type yes to allow it: ")
	answer := make(chan string, 1)
	go func() { answer <- readAnswer(std.in) }()
	select {
	case <-ctx.Done():
		fmt.Fprintln(std.err)
		return false
	case line := <-answer:
		return ctx.Err() == nil && (line == "yes" || line == "y")
	}
}

const (
	maxAnswer = 64      // "yes", and room for blanks around it
	maxTyped  = 4 << 10 // a terminal gives no longer line
)

// readAnswer reads one line, and nothing behind it: that was typed for whoever
// reads the terminal next. A line that is too long for an answer is read to its
// end, because its rest would be a command for the shell.
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
