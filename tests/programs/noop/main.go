// Command noop is an MCP server that does next to nothing. With a number it answers every
// line with as many bytes: what an exchange with it costs is the cost of the pipes and of
// the client's own code. With the path of a note it answers with what the note contains:
// the least that any server has to do for a read.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

func main() {
	answer := reads(os.Args[1])
	if size, err := strconv.Atoi(os.Args[1]); err == nil {
		line := []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", size) + "\"}\n")
		answer = func() []byte { return line }
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		os.Stdout.Write(answer())
	}
}

// reads returns what answers with the text of a note, read anew each time.
func reads(note string) func() []byte {
	return func() []byte {
		text, err := os.ReadFile(note)
		if err != nil {
			os.Exit(1)
		}
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1,
			"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}}})
		if err != nil {
			os.Exit(1)
		}
		return append(line, '\n')
	}
}
