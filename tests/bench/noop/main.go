// Command noop is an MCP server that does nothing: it answers every line with
// an answer as long as its first argument says. What an exchange with it costs
// is the cost of the pipes and of the client's own code.
package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

func main() {
	size, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(2)
	}
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", size) + "\"}\n")
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		os.Stdout.Write(answer)
	}
}
