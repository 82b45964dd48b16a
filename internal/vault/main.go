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
// The middle is one function, [Perform], which answers one request
// and is free of process state. [Main] reads the request from a command line, or
// takes it from the gateway, one or many until its input
// ends; the answers are the same, because nothing else makes them.
package vault

import (
	"cmp"
	"context"
	"encoding/json"
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
)

// Main runs the embedded vault CLI: args is FOLDER [--write] [--stdin PARAM]
// [--compact] [--facts] [--plan] [--change ID] [--expect HASH] [--approved DIGEST]
// [vault=NAME] COMMAND [key=value | flag …]; it returns the exit status.
//
// Without --write nothing is changed: a command that would is refused, unless
// --plan has it only shown.
//
// The value of PARAM is read from stdin and taken literally. With --facts a
// successful call that concerns one note ends with a line about it on stderr,
// and a failed one with a line that has its code and hint. Nothing else is written there
// but the remark on a truncated answer.
//
// FOLDER --worker is for the gateway alone: requests are read from stdin and
// answered on stdout, in the frames of package protocol, until stdin ends; with FOLDER
// --once it is one request. FOLDER --status tells what the process is locked into and
// where it keeps its cache.
//
// On Linux the process locks itself into the vault and its own folders: call
// Main once, in a process that does nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	h := call.NewHost(env, system.Confine)
	h.Commits.OwnsProcess = true
	watchLifeline(env(lifelineVariable), &h.Commits)
	debug.SetGCPercent(gcPercentOneShot)
	debug.SetMemoryLimit(manyBytes)
	if slices.Contains(args, call.WorkerSwitch) {
		debug.SetGCPercent(gcPercentWorker)
		budget.KeepProcessor()
	}
	p := Process{
		Args:        args,
		Stdin:       stdin,
		Stdout:      stdout,
		Stderr:      stderr,
		limitMemory: func() { system.LimitMemory(apartMemory) },
	}
	return p.Run(context.Background(), h)
}

// Process is what the program was started with.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	limitMemory    func() // nil where the process is shared, as in tests
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
	// manyBytes is from where on garbage is collected whenever there is some: the first index of 100,000 notes takes less.
	manyBytes = 400 << 20
)

// Run is what Main does with the process: answer a person, or one request of the gateway or many.
func (p Process) Run(ctx context.Context, h *call.Host) int {
	if len(p.Args) != 2 || !call.IsFolder(p.Args[0]) {
		defer h.Close()
		return p.ByHand(ctx, h)
	}
	folder := p.Args[0]
	answers := func(c Call) protocol.Reply { return Perform(h, folder, c) }
	switch p.Args[1] {
	case call.WorkerSwitch:
		status := NewWorker(h, answers, folder, p.Stdout).Serve(p.Stdin)
		if status == answer.ExitDone {
			h.Close() // after a fault nothing is kept
		}
		return status
	case call.OnceSwitch:
		status := AnswerOnce(h, func(c Call) protocol.Reply {
			p.boundMemory(c.Request)
			return answers(c)
		}, folder, p.Stdin, p.Stdout)
		h.Close()
		return status
	case call.StatusSwitch:
		defer h.Close()
		said := status(h, folder)
		return said.Print(p.Stdout)
	}
	defer h.Close()
	return p.ByHand(ctx, h)
}

// boundMemory limits the memory of a process for one request that reads a file of an unknown author, see the row
// of the command.
func (p Process) boundMemory(q protocol.Request) {
	if allowlist.AnswersApart(q.Command) && p.limitMemory != nil {
		p.limitMemory()
	}
}

// ByHand answers a command line that a person has typed.
func (p Process) ByHand(ctx context.Context, h *call.Host) int {
	line, err := call.ParseLine(p.Args)
	reply := protocol.Reply{}
	if err == nil {
		p.boundMemory(line.Request)
		reply = Perform(
			h,
			line.Folder,
			Call{Ctx: ctx, Request: line.Request, Input: p.Stdin, Output: p.Stdout},
		)
	} else {
		said := answer.Explain(err)
		reply.Status, reply.Failure = uint8(said.Print(p.Stdout)), said.Failure()
	}
	report := p.ReportNotice
	if len(p.Args) > 0 && slices.Contains(p.Args[1:], call.FactsSwitch) { // also of a line that cannot be parsed
		report = p.ReportFacts
	}
	report(reply)
	return int(reply.Status)
}

// ReportNotice prints on standard error that the answer is incomplete, if it is.
func (p Process) ReportNotice(reply protocol.Reply) {
	if reply.Facts.Notice != "" {
		fmt.Fprintln(p.Stderr, reply.Facts.Notice)
	}
}

// ReportFacts prints on standard error the facts of an answer, as one line of JSON.
func (p Process) ReportFacts(reply protocol.Reply) {
	var report any
	switch {
	case reply.Failure != (protocol.Failure{}):
		report = reply.Failure
	case reply.Facts != (protocol.Facts{}):
		report = reply.Facts
	}
	if report == nil {
		return
	}
	text, err := json.Marshal(report)
	if err == nil { // strings and numbers always marshal
		fmt.Fprintf(p.Stderr, "vaultwicket-facts: %s\n", text)
	}
}

// Perform answers one request on the vault in a folder. Of a reply without facts the notice is there
// only if the answer is incomplete.
func Perform(h *call.Host, folder string, c Call) (reply protocol.Reply) {
	ctx, end := context.WithCancel(c.Ctx)
	defer end() // what its budget has is given back
	c.Ctx = budget.With(ctx, budget.New(budget.Limits{}))
	said, facts := handle(h, folder, c)
	defer said.Close()
	reply.Status = uint8(said.Print(c.Output))
	switch {
	case reply.Status != answer.ExitDone:
		reply.Failure = said.Failure()
		if len(said.Made) > 0 {
			reply.Partly = &protocol.Partly{Made: said.Made, Unmade: said.Unmade}
		}
	case facts != nil:
		reply.Facts = *facts
	case said.Truncated:
		reply.Facts.Notice = said.Notice
	}
	return reply
}

// handle answers one request. The facts are nil unless they were asked
// for and there are any.
func handle(h *call.Host, folder string, c Call) (answer.Reply, *protocol.Facts) {
	q := c.Request
	var literal map[string]string
	if q.Input != "" {
		var err error
		if literal, err = call.ReadLiteral(q.Input, c.Input, disk.MaxNote); err != nil {
			return answer.Explain(err), nil
		}
	}
	v, err := h.Open(c.Ctx, folder, q)
	if err != nil {
		return answer.Explain(err), nil
	}
	v.Changes = c.Changes
	if q.Input == protocol.VersionInput && q.Write.Restores != "" {
		v.Restores = &call.Version{Of: q.Write.Restores, Text: []byte(literal[q.Input])}
		literal = nil
	}
	recoverChange := change.NoticeUnfinished
	if q.Want.Facts || q.Write.Allowed {
		recoverChange = change.RecoverBefore
	}
	unfinished := recoverChange(v)
	if q.Ask != protocol.AskCommand {
		said, err := v.Narrowed(q.Args)
		if q.Ask == protocol.AskMarked {
			said, err = v.Marked(q.Args)
		}
		if err != nil {
			return answer.Explain(err), nil
		}
		return said, nil
	}
	if v, err = inBatch(h, v, q); err != nil {
		return answer.Explain(err), nil
	}
	if q.Batch.ID != "" && q.Write.Task > protocol.End { // it ends with this call
		defer h.EndBatch(q.Batch.ID)
		if q.Write.Task == protocol.Drop {
			return answer.Reply{}, nil
		}
	}
	v.Tally = protocol.NewTally(c.Progress)
	defer v.Tally.End()
	state := ""
	closed := ""
	if q.Want.Facts {
		state = stateOf(v, q) // before the answer: what changes meanwhile is another state
		if state != "" && state == q.Want.Unless {
			return answer.Reply{}, &protocol.Facts{State: state, Unchanged: true}
		}
		closed = v.ClosedNow(q.Command)
	}
	var said answer.Reply
	switch q.Write.Task {
	case protocol.Commit, protocol.Sum:
		said = endBatch(v, q)
	default:
		said = Respond(v, q, literal).WithoutUnread(len(v.Unread()))
	}
	if unfinished != "" && said.Status == answer.ExitDone {
		said.Truncated = said.Truncated || said.Notice == ""
		said.Notice = strings.Join(
			slices.DeleteFunc([]string{said.Notice, unfinished}, func(text string) bool { return text == "" }),
			"; ",
		)
	}
	ambiguous := v.AmbiguousName()
	if ambiguous != "" && said.Status == answer.ExitDone {
		said.Notice = strings.Join(
			slices.DeleteFunc([]string{ambiguous, said.Notice}, func(text string) bool { return text == "" }),
			"; ",
		)
	}
	if q.Want.Compact {
		said.Compact()
	}
	if !q.Want.Facts {
		return said, nil
	}
	known := said.Facts(v.HashOf)
	if known != nil {
		known.Ambiguous = ambiguous != ""
	}
	if said.Status == answer.ExitDone && state+closed != "" {
		known = cmp.Or(known, &protocol.Facts{})
		known.State = state
		known.Closed = closed
	}
	if isBatch := v.Batch != nil; said.Status == answer.ExitDone && isBatch {
		known = cmp.Or(known, &protocol.Facts{})
		known.Planned = v.Batch.Count()
		known.Stale = said.Stale
		known.Overtaken = said.Overtaken
	}
	if said.Status == answer.ExitDone && state != "" { // the gateway divides no other answer
		known.Rows = said.Rows()
	}
	return said, known
}

// inBatch returns the vault for a call of a batch, see [protocol.Batch]. The one that makes the batch gets the vault as it is.
func inBatch(h *call.Host, v *call.Vault, q protocol.Request) (*call.Vault, error) {
	switch {
	case q.Batch.ID == "" || q.Write.Task == protocol.Drop:
		return v, nil
	case q.Write.Task == protocol.Commit, q.Write.Task == protocol.Sum:
		v.Batch = h.Batch(q.Batch.ID, q.Batch.Planned)
		return v, nil
	}
	row, err := lookUp(q.Command)
	isAdded := q.Write.Task == protocol.Whole || q.Write.Task == protocol.Rehearse
	return change.InBatch(v, q.Batch, err == nil && row.Writes() && isAdded)
}

// endBatch makes what the operations of a batch were worked out to do, or shows it. The command of the request is that of one of
// them.
func endBatch(v *call.Vault, q protocol.Request) answer.Reply {
	v.Caller = q.Write.Caller
	carryOut := change.CommitBatch
	if q.Write.Task == protocol.Sum {
		carryOut = change.ShowBatch
	}
	said, err := carryOut(v, q.Write)
	if err != nil {
		return answer.Explain(call.On(v, q.Command, err))
	}
	return said
}

// table returns everything this program can do, sorted by name. It is set by init because help, a row
// of it, reads it, and made when it is read: the gateway does not.
var table func() []handlers.Command

func init() {
	table = sync.OnceValue(func() []handlers.Command {
		own := []handlers.Command{
			{Name: "help", Help: "Show what this program can do", Positional: "command", Run: help},
			{
				Name: "version",
				Help: "Show the version of this program",
				Run: func(*call.Vault, call.Values) (answer.Reply, error) {
					// It does not have the form of the app's own line, which begins with a number: this program
					// must not be taken for the app.
					return answer.Text("vaultwicket " + release.Version + " (embedded)"), nil
				},
			},
		}
		return slices.SortedFunc(
			slices.Values(append(own, handlers.All()...)),
			func(a, b handlers.Command) int { return strings.Compare(a.Name, b.Name) },
		)
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

// Respond carries out one command. Every error becomes a reply here.
func Respond(v *call.Vault, q protocol.Request, literal map[string]string) answer.Reply {
	row, err := lookUp(q.Command)
	if restoring, ok := handlers.RestoringFromApp(q.Command); ok && v.Restores != nil {
		row = restoring
		err = nil // also where only the app has a history
	}
	if err != nil {
		return answer.Explain(err)
	}
	syntax, _ := row.Syntax()
	values, err := syntax.Parse(q.Args, literal)
	if err == nil {
		err = call.CheckWrite(q.Write)
	}
	if err != nil {
		return answer.Explain(err)
	}
	shows := row.OnlyReads != nil && row.OnlyReads(values)
	writes := row.Writes() && !shows && q.Write.Task.Makes()
	if writes && !q.Write.Allowed {
		return answer.Explain(
			answer.Misuse(
				"%s changes the vault, and this program only reads. Put %s before the command.",
				row.Name,
				call.WriteSwitch,
			),
		)
	}
	said := answer.Reply{}
	err = error(nil)
	switch option := call.OptionOf(q.Write); {
	case row.Writes():
		v.Caller = q.Write.Caller
		said, err = change.Write(v, row.Change(), values, q.Write)
	case option != "":
		err = answer.Misuse("%s changes nothing: it takes no %s.", row.Name, option)
	default:
		said, err = row.Run(v, values)
	}
	if err == nil && (!row.Writes() || !q.Write.Task.Makes()) {
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
// or does not name an open descriptor. A change that is being made is made before, or taken back.
func watchLifeline(number string, commits *call.Commits) {
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
			commits.Close()
			os.Exit(answer.ExitFailed)
		}
	}(lifeline)
}

// lifeline is kept for the life of the process: a file that is collected is
// closed, and a wrong number may name a descriptor that is in use elsewhere.
var lifeline *os.File
