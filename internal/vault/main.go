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
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/internal/vault/parallel"
	"github.com/vaultwicket/vaultwicket/internal/vault/resident"
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
// answered on stdout, in the frames of package protocol, until stdin ends. Of them a long
// listing can be asked for in parts: --part BYTES before its command, and --kept ID OFFSET
// BYTES in place of one, see package call. FOLDER
// --status tells what the process is locked into and where it keeps its cache.
//
// On Linux the process locks itself into the vault and its own folders: call
// Main once, in a process that does nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	watchLifeline(env(lifelineVariable))
	debug.SetGCPercent(gcPercentOneShot)
	if slices.Contains(args, call.WorkerSwitch) {
		debug.SetGCPercent(gcPercentWorker)
		parallel.Keep()
	} else if slices.ContainsFunc(args, allowlist.AnswersApart) {
		system.LimitMemory(apartMemory)
	}
	return run(call.NewHost(env, system.Confine), resident.Call{Ctx: context.Background(), Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr})
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

// run is what Main does with the process: answer one call, or many.
func run(h *call.Host, c resident.Call) int {
	if len(c.Args) == 2 && c.Args[1] == call.WorkerSwitch && call.IsFolder(c.Args[0]) {
		status := resident.New(h, func(c resident.Call) int { return perform(h, c) }, c.Args[0], c.Stdout).Serve(c.Stdin)
		if status == answer.ExitDone {
			h.Close() // after a fault nothing is kept
		}
		return status
	}
	defer h.Close()
	if len(c.Args) == 2 && c.Args[1] == call.StatusSwitch && call.IsFolder(c.Args[0]) {
		said := status(h, c.Args[0])
		return said.Print(c.Stdout)
	}
	return perform(h, c)
}

// perform answers one command line and returns the exit status.
func perform(h *call.Host, c resident.Call) int {
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
	case status == answer.ExitDone && known != nil:
		fmt.Fprintln(c.Stderr, known.Line())
	case status != answer.ExitDone && len(c.Args) > 0 && slices.Contains(c.Args[1:], call.FactsSwitch): // also of a line that cannot be parsed
		fmt.Fprintln(c.Stderr, protocol.Failure{Code: said.Kind.Code, Hint: said.Kind.Hint, Reason: said.Text}.Line())
	}
	return status
}

// handle answers one command line. The facts are nil unless they were asked
// for and there are any.
func handle(h *call.Host, c resident.Call) (answer.Reply, *protocol.Facts) {
	line, err := call.ParseLine(c.Args)
	if err != nil {
		return answer.Explain(err), nil
	}
	if kept := line.Kept; kept.ID != "" {
		if h.Kept != nil {
			if pieces, ok := h.Kept.Get(kept.ID, kept.From, kept.Bytes); ok {
				return answer.TextOfPieces(pieces), nil
			}
		}
		return answer.Explain(answer.Misuse("%s: nothing is kept there.", call.KeptSwitch)), nil
	}
	if line.Stdin != "" {
		if line.Literal, err = call.ReadLiteral(line.Stdin, c.Stdin, disk.MaxNote); err != nil {
			return answer.Explain(err), nil
		}
	}
	v, err := h.Open(c.Ctx, line)
	if err != nil {
		return answer.Explain(err), nil
	}
	v.Changes = c.Changes
	if line.Question != "" {
		said, err := v.Narrowed(line.Args)
		if line.Question == call.MarkedSwitch {
			said, err = v.Marked(line.Args)
		}
		if err != nil {
			return answer.Explain(err), nil
		}
		return said, nil
	}
	if line.Facts && h.Tally != nil {
		v.Tally = h.Tally(c.Stderr)
		defer v.Tally.End()
	}
	state, closed := "", ""
	if line.Facts {
		state = stateOf(v, line) // before the answer: what changes meanwhile is another state
		if state != "" && state == line.Unless {
			return answer.Reply{}, &protocol.Facts{State: state, Unchanged: true}
		}
		closed = v.ClosedNow(line.Command)
	}
	said := respond(v, line)
	if line.Compact {
		said.Compact()
	}
	if !line.Facts {
		return said, nil
	}
	known := said.Facts(v.HashOf)
	if said.Status == answer.ExitDone && state+closed != "" {
		known = cmp.Or(known, &protocol.Facts{})
		known.State, known.Closed = state, closed
	}
	if state == "" {
		// An answer from no known state is made and sent once more for its next page, to see whether it
		// has changed: it is not divided.
		return said, known
	}
	if whole, ok := said.Divide(line.Part); ok {
		id, _ := h.Kept.Put(whole.Pieces) // what is too large is not divided
		known = cmp.Or(known, &protocol.Facts{})
		known.Whole = &protocol.Whole{ID: id, Bytes: whole.Size, Rows: whole.Rows}
	}
	return said, known
}

// table returns everything this program can do, sorted by name. It is set by init because help, a row
// of it, reads it, and made when it is read: the gateway does not.
var table func() []handlers.Command

func init() {
	table = sync.OnceValue(func() []handlers.Command {
		own := []handlers.Command{
			{Name: "help", Help: "Show what this program can do", Positional: "command", Run: help},
			{Name: "version", Help: "Show the version of this program", Run: func(*call.Vault, call.Values) (answer.Reply, error) {
				// It does not have the form of the app's own line, which begins with a number: this program
				// must not be taken for the app.
				return answer.Text("vaultwicket " + release.Version + " (embedded)"), nil
			}},
		}
		return slices.SortedFunc(slices.Values(append(own, handlers.All()...)), func(a, b handlers.Command) int { return strings.Compare(a.Name, b.Name) })
	})
}

// lookUp returns the row of a command, or the error that the app would print
// for one that it does not have.
func lookUp(name string) (handlers.Command, error) {
	for _, row := range table() {
		if row.Name == name {
			return row, nil
		}
	}
	if row, err := allowlist.Describe(name); err == nil && !row.EmbeddedOnly {
		return handlers.Command{}, answer.NeedsApp.Failure("%q needs the Obsidian app.", name)
	}
	return handlers.Command{}, call.UnknownCommand(name)
}

// Commands returns the names of all that this program answers, sorted.
func Commands() []string {
	return answer.Map(table(), func(row handlers.Command) string { return row.Name })
}

// respond carries out one call. Every error becomes a reply here.
func respond(v *call.Vault, l call.Line) answer.Reply {
	row, err := lookUp(l.Command)
	if err != nil {
		return answer.Explain(err)
	}
	syntax, _ := row.Syntax()
	values, err := syntax.Parse(l)
	if err != nil {
		return answer.Explain(err)
	}
	shows := row.OnlyReads != nil && row.OnlyReads(values)
	if row.Writes() && !shows && !l.MayWrite && l.Options.Mode != call.PlanSwitch {
		return answer.Explain(answer.Misuse("%s changes the vault, and this program only reads. Put %s before the command.", row.Name, call.WriteSwitch))
	}
	said, err := answer.Reply{}, error(nil)
	switch {
	case row.Writes():
		v.Caller = l.Options.Caller
		said, err = change.Write(v, row.Change(), values, l.Options)
	case l.Option != "":
		err = answer.Misuse("%s changes nothing: it takes no %s.", row.Name, l.Option)
	default:
		said, err = row.Run(v, values)
	}
	if err == nil && (!row.Writes() || l.Options.Mode == call.PlanSwitch) {
		err = budget.From(v.Ctx).Exceeded() // a text for which it did not suffice was read as nothing
	}
	if err != nil {
		return answer.Explain(call.On(v, row.Name, err))
	}
	return said
}

// lifelineVariable names an inherited descriptor: the reading end of a pipe
// that the gateway keeps open as long as it lives.
const lifelineVariable = "VAULTWICKET_LIFELINE"

// watchLifeline ends the process when the pipe's other end is closed, so that
// no child outlives a killed gateway. It does nothing if the variable is unset
// or does not name an open descriptor. Ending in the middle of a write is
// safe: a note is only ever replaced as a whole.
func watchLifeline(number string) {
	fd, err := strconv.ParseUint(number, 10, 31)
	const firstInherited = 3
	if err != nil || fd < firstInherited {
		return
	}
	lifeline = os.NewFile(uintptr(fd), "lifeline")
	if lifeline == nil {
		return
	}
	if info, err := lifeline.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func(pipe *os.File) {
		if _, err := io.Copy(io.Discard, pipe); err == nil {
			os.Exit(answer.ExitFailed)
		}
	}(lifeline)
}

// lifeline is kept for the life of the process: a file that is collected is
// closed, and a wrong number may name a descriptor that is in use elsewhere.
var lifeline *os.File
