package fake

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Embedded is the embedded program, started for one call.
type Embedded struct {
	Request protocol.Request
	Input   string // the value of the parameter Request.Input
	out     io.Writer
}

// IsEmbedded reports whether arguments start the embedded program for one call.
func IsEmbedded(args []string) bool {
	return len(args) == 3 && args[0] == "vault" && args[2] == "--once"
}

// StartEmbedded greets the gateway as the program for a folder, and takes its request.
func StartEmbedded(folder string, in io.Reader, out io.Writer) (*Embedded, error) {
	return StartEmbeddedAs(protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: folder}, in, out)
}

// StartEmbeddedAs is [StartEmbedded] with another greeting.
func StartEmbeddedAs(greeting protocol.Hello, in io.Reader, out io.Writer) (*Embedded, error) {
	p := &Embedded{out: out}
	read := protocol.NewReader(in)
	first, err := read.Next()
	if err == nil {
		_, err = protocol.ParseHello(first)
	}
	if err != nil {
		return nil, err
	}
	hello, _ := protocol.AppendHello(nil, greeting)
	if _, err = out.Write(hello); err != nil {
		return nil, err
	}
	f, err := read.Next()
	if err == nil {
		p.Request, err = protocol.ParseRequest(f)
	}
	if err != nil || p.Request.Input == "" {
		return p, err
	}
	var input bytes.Buffer
	for {
		f, err := read.Next()
		if err != nil {
			return nil, err
		}
		if f.Kind != protocol.KindInput {
			return nil, fmt.Errorf("a frame of kind %d in place of input", f.Kind)
		}
		if len(f.Payload) == 0 {
			p.Input = input.String()
			return p, nil
		}
		input.Write(f.Payload)
	}
}

// Write prints a piece of the answer.
func (p *Embedded) Write(text []byte) (int, error) {
	for piece := range slices.Chunk(text, protocol.MaxChunk) {
		if _, err := p.out.Write(protocol.Append(nil, protocol.Frame{Kind: protocol.KindOutput, ID: 1, Payload: piece})); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// Tell reports progress.
func (p *Embedded) Tell(count protocol.Progress) {
	_, _ = p.out.Write(protocol.AppendProgress(nil, 1, count))
}

// Reply ends the answer.
func (p *Embedded) Reply(r protocol.Reply) { _, _ = p.out.Write(protocol.AppendReply(nil, 1, r)) }

var (
	tasks = [...]string{protocol.Plan: "--plan", protocol.Rehearse: "--rehearse", protocol.Begin: "--begin",
		protocol.End: "--end", protocol.Sum: "--sum", protocol.Commit: "--commit", protocol.Drop: "--drop"}
	addresses = [...]string{protocol.AddressesAsk: "ask", protocol.AddressesLog: "log"}
)

// RequestWords writes a request as a command line, without the folder: words that a person types, with
// others of the same kind for what only the gateway asks. Two requests have the same only if
// they are the same.
func RequestWords(q protocol.Request) (words []string) {
	valued := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	set := func(name string, is bool) {
		if is {
			words = append(words, name)
		}
	}
	switch q.Ask {
	case protocol.AskNarrowed:
		return append([]string{"--narrowed"}, q.Args...)
	case protocol.AskMarked:
		return append([]string{"--marked"}, q.Args...)
	}
	valued("--stdin", q.Input)
	set("--write", q.Write.Allowed)
	set(tasks[q.Write.Task], q.Write.Task != protocol.Whole)
	valued("--change", q.Write.Entry)
	valued("--expect", q.Write.Expect)
	valued("--caller", q.Write.Caller)
	valued("--client", q.Write.Client)
	valued("--batch", q.Write.Batch)
	valued("--addresses", addresses[q.Write.Addresses])
	set("--sparing", q.Write.Sparing)
	valued("--approved", q.Write.Approved)
	set("--compact", q.Want.Compact)
	valued("--unless", q.Want.Unless)
	set("--facts", q.Want.Facts)
	if q.Vault != nil {
		words = append(words, "vault="+*q.Vault)
	}
	return append(append(words, q.Command), q.Args...)
}

// SplitRequest takes from the switches before a command those that only the gateway has, which set changes a
// request to. The rest is a command line, without the folder; of a question about notes it is nothing.
func SplitRequest(words []string) (set func(*protocol.Request), rest []string) {
	var sets []func(*protocol.Request)
	add := func(one func(*protocol.Request)) { sets = append(sets, one) }
	set = func(q *protocol.Request) {
		for _, one := range sets {
			one(q)
		}
	}
	for len(words) > 0 {
		value := ""
		if len(words) > 1 {
			value = words[1]
		}
		used := 2
		switch words[0] {
		case "--caller":
			add(func(q *protocol.Request) { q.Write.Caller = value })
		case "--client":
			add(func(q *protocol.Request) { q.Write.Client = value })
		case "--batch":
			add(func(q *protocol.Request) { q.Write.Batch = value })
		case "--addresses":
			add(func(q *protocol.Request) { q.Write.Addresses = protocol.Addresses(slices.Index(addresses[:], value)) })
		case "--rehearse", "--begin", "--end":
			task := protocol.Task(slices.Index(tasks[:], words[0]))
			add(func(q *protocol.Request) { q.Write.Task = task })
			used = 1
		case "--sparing":
			add(func(q *protocol.Request) { q.Write.Sparing = true })
			used = 1
		case "--unless":
			add(func(q *protocol.Request) { q.Want.Unless = value })
		case "--narrowed", "--marked":
			ask := protocol.AskNarrowed
			args := words[1:]
			if words[0] == "--marked" {
				ask = protocol.AskMarked
			}
			add(func(q *protocol.Request) {
				q.Ask = ask
				q.Args = args
			})
			return set, nil
		case "--stdin", "--change", "--expect", "--approved":
			used = min(used, len(words))
			rest = append(rest, words[:used]...)
		case "--facts", "--compact", "--write", "--plan":
			rest = append(rest, words[0])
			used = 1
		default:
			return set, append(rest, words...)
		}
		words = words[min(used, len(words)):]
	}
	return set, rest
}
