// Package vault is the embedded vault CLI: a program that speaks the grammar
// of the official Obsidian CLI on a folder of Markdown files, for machines on
// which the app does not run.
//
// It prints what the app would print, errors included, on standard output; but
// its exit status says the truth, which the app's does not. It shows nothing
// to anybody, has no user interface and no network, and starts no process.
// What only the running app knows it refuses to guess: those commands answer
// that they need the app.
//
// The middle is one function, [host.perform], which answers one command line
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

	"vaultwicket/cmd/internal/vault/confine"
	"vaultwicket/cmd/internal/vault/disk"
)

// Main runs the embedded vault CLI: args is FOLDER [--write] [--stdin PARAM]
// [--facts] [--plan] [--change ID] [--expect HASH] [--approved DIGEST] [--caller NAME] [--batch NAME]
// [--sparing] [vault=NAME] COMMAND [key=value | flag …]; it returns the exit status.
//
// Without --write nothing is changed: a command that would is refused, unless
// --plan has it only shown.
//
// The value of PARAM is read from stdin and taken literally. With --facts a
// successful call that concerns one note ends with a line about it on stderr,
// and a failed one with a line that has its code and hint. Nothing else is
// written there but the remark on a truncated answer.
//
// FOLDER --worker is for the gateway alone: requests are read from stdin and
// answered on stdout, in the frames of package frame, until stdin ends. FOLDER
// --status tells what the process is locked into and where it keeps its cache.
//
// On Linux the process locks itself into the vault and its own folders: call
// Main once, in a process that does nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	watchLifeline(env(lifelineVariable))
	debug.SetGCPercent(gcPercent(args))
	return newHost(env, confine.To).run(call{context.Background(), args, stdin, stdout, stderr})
}

// How much garbage the heap may contain, in percent of what is in use. A process
// for one call ends before it matters; a worker stays and keeps the index of a
// whole vault.
const (
	gcPercentOneShot = 400
	gcPercentWorker  = 40
)

func gcPercent(args []string) int {
	if slices.Contains(args, workerSwitch) {
		return gcPercentWorker
	}
	return gcPercentOneShot
}

// run is what Main does with the process: answer one call, or many.
func (h *host) run(c call) int {
	if len(c.args) == 2 && c.args[1] == workerSwitch && isFolder(c.args[0]) {
		status := newWorker(h, func(c call) int { return h.perform(c) }, c.args[0], c.stdout).serve(c.stdin)
		if status == done {
			h.close() // after a fault nothing is kept
		}
		return status
	}
	defer h.close()
	if len(c.args) == 2 && c.args[1] == statusSwitch && isFolder(c.args[0]) {
		said := h.status(c.args[0])
		return said.print(c.stdout)
	}
	return h.perform(c)
}

// perform answers one command line and returns the exit status.
func (h *host) perform(c call) int {
	said, known := h.converse(c)
	defer said.close()
	status := said.print(c.stdout)
	if said.remark != "" {
		fmt.Fprintln(c.stderr, said.remark)
	}
	switch {
	case status == done && known != nil:
		fmt.Fprintln(c.stderr, known.line())
	case status != done && wantsReport(c.args):
		fmt.Fprintln(c.stderr, said.failure().Line())
	}
	return status
}

// converse answers one command line. The facts are nil unless they were asked
// for and there are any.
func (h *host) converse(c call) (reply, *facts) {
	line, err := parseLine(c.args)
	if err != nil {
		return explain(err), nil
	}
	req := request{command: line.command, args: line.args, how: line.how, writes: line.writes}
	if line.stdin != "" {
		if req.literal, err = readLiteral(line.stdin, c.stdin, disk.MaxNote); err != nil {
			return explain(err), nil
		}
	}
	v, err := h.vault(c.ctx, line)
	if err != nil {
		return explain(err), nil
	}
	said := answer(v, req)
	if !line.facts {
		return said, nil
	}
	known := said.facts(v.disk)
	return said, known
}
