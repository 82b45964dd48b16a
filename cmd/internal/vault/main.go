// Package vault is the embedded vault CLI: a program that speaks the grammar
// of the official Obsidian CLI on a folder of Markdown files, for machines on
// which the app does not run.
//
// It prints what the app would print, errors included, on standard output; but
// its exit status says the truth, which the app's does not. It shows nothing
// to anybody, has no user interface and no network but for a server on the machine that the user
// may name for vectors of texts, and starts no process.
// What only the running app knows it refuses to guess: those commands answer
// that they need the app.
//
// The middle is one function, perform, which answers one command line
// and is free of process state. [Main] wraps it into a program that lives for
// one call, or into a worker that answers the gateway's calls until its input
// ends; the answers are the same, because nothing else makes them.
package vault

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/processors"
	"vaultwicket/cmd/internal/vault/resident"
)

// Main runs the embedded vault CLI: args is FOLDER [--write] [--stdin PARAM]
// [--compact] [--facts] [--plan] [--change ID] [--expect HASH] [--approved DIGEST] [--caller NAME]
// [--batch NAME] [--sparing] [vault=NAME] COMMAND [key=value | flag …]; it returns the exit status.
//
// Without --write nothing is changed: a command that would is refused, unless
// --plan has it only shown.
//
// The value of PARAM is read from stdin and taken literally. With --facts a
// successful call that concerns one note ends with a line about it on stderr,
// and a failed one with a line that has its code and hint; one that takes long has
// lines before that with how many files it has read. Nothing else is written there
// but the remark on a truncated answer.
//
// FOLDER --worker is for the gateway alone: requests are read from stdin and
// answered on stdout, in the frames of package frame, until stdin ends. Of them a long
// listing can be asked for in parts: --part BYTES before its command, and --kept ID OFFSET
// BYTES in place of one, see package grammar. FOLDER
// --status tells what the process is locked into and where it keeps its cache.
//
// On Linux the process locks itself into the vault and its own folders: call
// Main once, in a process that does nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	watchLifeline(env(lifelineVariable))
	debug.SetGCPercent(gcPercent(args))
	if slices.Contains(args, command.WorkerSwitch) {
		processors.Keep()
	} else if slices.Contains(args, "attachment:text") { // see the row of the command
		system.LimitMemory(apartMemory)
	}
	return run(command.NewHost(env, system.Confine), resident.Call{Ctx: context.Background(), Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

// apartMemory is what a process may use that reads a file of an unknown author with a library:
// far more than a file of a few hundred pages needs.
const apartMemory = 1 << 30

// How much garbage the heap may contain, in percent of what is in use. A process
// for one call ends before it matters; a worker stays and keeps the index of a
// whole vault.
const (
	gcPercentOneShot = 400
	gcPercentWorker  = 40
)

func gcPercent(args []string) int {
	if slices.Contains(args, command.WorkerSwitch) {
		return gcPercentWorker
	}
	return gcPercentOneShot
}

// run is what Main does with the process: answer one call, or many.
func run(h *command.Host, c resident.Call) int {
	if len(c.Args) == 2 && c.Args[1] == command.WorkerSwitch && command.IsFolder(c.Args[0]) {
		status := resident.New(h, func(c resident.Call) int { return perform(h, c) }, c.Args[0], c.Stdout).Serve(c.Stdin)
		if status == command.ExitDone {
			h.Close() // after a fault nothing is kept
		}
		return status
	}
	defer h.Close()
	if len(c.Args) == 2 && c.Args[1] == command.StatusSwitch && command.IsFolder(c.Args[0]) {
		said := status(h, c.Args[0])
		return said.Print(c.Stdout)
	}
	return perform(h, c)
}

// perform answers one command line and returns the exit status.
func perform(h *command.Host, c resident.Call) int {
	ctx, end := context.WithCancel(c.Ctx)
	defer end() // what its budget has is given back
	c.Ctx = budget.With(ctx, budget.New(budget.Limits{}))
	said, known := handle(h, c)
	defer said.Close()
	status := said.Print(c.Stdout)
	if said.Truncated && known == nil {
		fmt.Fprintln(c.Stderr, said.Notice)
	}
	switch {
	case status == command.ExitDone && known != nil:
		fmt.Fprintln(c.Stderr, known.Line())
	case status != command.ExitDone && command.WantsFacts(c.Args):
		fmt.Fprintln(c.Stderr, said.Report().Line())
	}
	return status
}

// handle answers one command line. The facts are nil unless they were asked
// for and there are any.
func handle(h *command.Host, c resident.Call) (command.Reply, *command.Facts) {
	line, err := command.ParseLine(c.Args)
	if err != nil {
		return command.Explain(err), nil
	}
	if line.Kept.ID != "" {
		return moreOf(h, line.Kept), nil
	}
	req := command.Request{Command: line.Command, Args: line.Args, Options: line.Options, MayWrite: line.MayWrite}
	if line.Stdin != "" {
		if req.Literal, err = command.ReadLiteral(line.Stdin, c.Stdin, disk.MaxNote); err != nil {
			return command.Explain(err), nil
		}
	}
	v, err := h.Open(c.Ctx, line)
	if err != nil {
		return command.Explain(err), nil
	}
	v.Changes = c.Changes
	if line.Question != "" {
		said, err := v.Narrowed(line.Args)
		if line.Question == command.MarkedSwitch {
			said, err = v.Marked(line.Args)
		}
		if err != nil {
			return command.Explain(err), nil
		}
		return said, nil
	}
	if !line.Facts {
		return spaced(respond(v, req), line), nil
	}
	if h.Tally != nil {
		v.Tally = h.Tally(c.Stderr)
		defer v.Tally.End()
	}
	state := stateOf(v, line) // before the answer: what changes meanwhile is another state
	if state != "" && state == line.Unless {
		return command.Reply{}, command.Unchanged(state)
	}
	closed := v.ClosedNow(line.Command)
	said := spaced(respond(v, req), line)
	known := said.Facts(v.Disk)
	if said.Status == command.ExitDone {
		known = known.FromState(state, closed)
	}
	if state != "" {
		known = divided(h, &said, line.Part, known)
	}
	return said, known
}

// divided has a worker print the first part of a reply and keep the whole, if that is asked
// for, and returns the facts with it. It is for an answer from a known state: any other one
// is made and sent once more for its next page, to see whether it has changed.
func divided(h *command.Host, said *command.Reply, part command.Part, known *command.Facts) *command.Facts {
	whole, ok := said.Divide(part)
	if !ok {
		return known
	}
	id, _ := h.Kept.Put(whole.Pieces) // what is too large is not divided
	return known.OfWhole(id, whole)
}

// moreOf returns a part of an answer that a worker has kept.
func moreOf(h *command.Host, k command.Kept) command.Reply {
	if h.Kept != nil {
		if pieces, ok := h.Kept.Get(k.ID, k.From, k.Bytes); ok {
			return command.TextOfPieces(pieces)
		}
	}
	return command.Explain(command.Misuse("%s: nothing is kept there.", command.KeptSwitch))
}

// spaced returns a reply with the space that a line asks for.
func spaced(said command.Reply, line command.Line) command.Reply {
	if line.Compact {
		said.Compact()
	}
	return said
}
