// Package vault is the embedded vault CLI: a program that accepts the command lines of the official Obsidian CLI and
// works directly on a folder of Markdown files, for machines on which the app does not run.
//
// It prints what the app would print, including errors, on standard output; unlike the app's, its exit status is
// correct. It has no user interface, starts no process, and uses no network except for an embeddings server that the
// user may configure. It does not guess what only the running app knows: such commands fail with the error that they
// need the app.
//
// The core is [Perform], which answers one request and has no process state. [Main] reads the request from the
// command line, or one or many requests from the gateway. All answers come from Perform, so they are the same.
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

// Main runs the embedded vault CLI: args is FOLDER [--write] [--stdin PARAM] [--compact] [--facts] [--plan] [--change
// ID] [--expect HASH] [--approved DIGEST] [vault=NAME] COMMAND [key=value | flag …]; it returns the exit status.
//
// Without --write nothing is changed: a command that would change the vault fails, unless --plan is given, which only
// shows the change.
//
// The value of PARAM is read from stdin, without expanding escapes. With --facts, a successful call about a single
// note prints a line about it on stderr at the end, and a failed call a line with its code and hint. Nothing else is
// written to stderr except the remark on a truncated answer.
//
// FOLDER --worker is only for the gateway: requests are read from stdin and answered on stdout, in the frames of
// package protocol, until stdin ends. FOLDER --once does the same for one request. FOLDER --status prints what the
// process is confined to and where its cache is.
//
// On Linux the process confines itself to the vault and its own folders: call Main once, in a process that does
// nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	h := call.NewHost(env, system.Confine)
	h.Commits.OwnsProcess = true
	watchLifeline(env(lifelineVariable), &h.Commits)
	debug.SetGCPercent(gcPercentOneShot)
	debug.SetMemoryLimit(memoryTarget)
	if slices.Contains(args, call.WorkerSwitch) {
		budget.KeepGarbage(gcPercentWorker, garbageOfWorker)
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

// Process contains the arguments and streams of the process.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	limitMemory    func() // nil if the process is shared, as in tests
}

// apartMemory is the memory limit of a process that parses an untrusted file with a library, in bytes: far more than a
// file of a few hundred pages needs.
const apartMemory = 1 << 30

// Settings of the garbage collector. The percentages are of the heap in use. A process for one call ends before garbage
// matters; a worker stays and keeps the index of a whole vault.
const (
	gcPercentOneShot = 400
	gcPercentWorker  = 40
	// garbageOfWorker is the garbage in bytes that a worker may always have.
	garbageOfWorker = 2 << 20
	// memoryTarget is the heap size above which garbage is collected more often: the first index of 100,000 notes
	// needs less.
	memoryTarget = 400 << 20
)

// Run answers a command line, or one or many requests of the gateway, and returns the exit status.
func (p Process) Run(ctx context.Context, h *call.Host) int {
	// Requests of the gateway come as FOLDER and a switch.
	if len(p.Args) != 2 || !call.IsFolder(p.Args[0]) {
		defer h.Close()
		return p.ByHand(ctx, h)
	}
	folder := p.Args[0]
	perform := func(c Call) protocol.Reply { return Perform(h, folder, c) }
	switch p.Args[1] {
	case call.WorkerSwitch:
		status := NewWorker(h, perform, folder, p.Stdout).Serve(p.Stdin)
		if status == answer.ExitDone {
			h.Close() // after an error the cache is not written
		}
		return status
	case call.OnceSwitch:
		status := AnswerOnce(h, func(c Call) protocol.Reply {
			p.boundMemory(c.Request)
			return perform(c)
		}, folder, p.Stdin, p.Stdout)
		h.Close()
		return status
	case call.StatusSwitch:
		defer h.Close()
		reply := status(h, folder)
		return reply.Print(p.Stdout)
	}
	defer h.Close()
	return p.ByHand(ctx, h)
}

// boundMemory limits the memory of the process if the command of the request parses an untrusted file.
func (p Process) boundMemory(q protocol.Request) {
	if allowlist.AnswersApart(q.Command) && p.limitMemory != nil {
		p.limitMemory()
	}
}

// ByHand answers a command line, and returns the exit status.
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
		explained := answer.Explain(err)
		reply.Status = uint8(explained.Print(p.Stdout))
		reply.Failure = explained.Failure()
	}
	report := p.ReportNotice
	if len(p.Args) > 0 && slices.Contains(p.Args[1:], call.FactsSwitch) { // even if the line could not be parsed
		report = p.ReportFacts
	}
	report(reply)
	return int(reply.Status)
}

// ReportNotice prints the remark on an incomplete answer on standard error.
func (p Process) ReportNotice(reply protocol.Reply) {
	if reply.Facts.Notice != "" {
		fmt.Fprintln(p.Stderr, reply.Facts.Notice)
	}
}

// ReportFacts prints the facts of an answer, or its failure, on standard error as a line of JSON.
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
	if err == nil { // always, for strings and numbers
		fmt.Fprintf(p.Stderr, "vaultwicket-facts: %s\n", text)
	}
}

// Perform answers a request on the vault in a folder. If facts were not requested, the reply has a notice only if the
// answer is incomplete.
func Perform(h *call.Host, folder string, c Call) (reply protocol.Reply) {
	ctx, end := context.WithCancel(c.Ctx)
	defer end() // releases what the budget holds
	c.Ctx = budget.With(ctx, budget.New(budget.Limits{}))
	result, facts := handle(h, folder, c)
	defer result.Close()
	reply.Status = uint8(result.Print(c.Output))
	switch {
	case reply.Status != answer.ExitDone:
		reply.Failure = result.Failure()
		if part := result.Part; len(part.Made) > 0 {
			reply.Partly = &protocol.Partly{Made: part.Made, Moved: part.Moved, Unmade: part.Unmade}
		}
	case facts != nil:
		reply.Facts = *facts
	case result.Truncated:
		reply.Facts.Notice = result.Notice.String()
	}
	return reply
}

// handle answers a request. The facts are nil if they were not requested, or if there are none.
func handle(h *call.Host, folder string, c Call) (answer.Reply, *protocol.Facts) {
	q := c.Request
	var literals map[string]string
	if q.Input != "" {
		var err error
		if literals, err = call.ReadLiteral(q.Input, c.Input, disk.MaxNote); err != nil {
			return answer.Explain(err), nil
		}
	}
	v, err := h.Open(c.Ctx, folder, q)
	if err != nil {
		return answer.Explain(err), nil
	}
	v.Changes = c.Changes
	if q.Input == protocol.VersionInput && q.Write.Restores != "" {
		v.Restores = &call.Version{Of: q.Write.Restores, Text: []byte(literals[q.Input])}
		literals = nil
	}
	// A process that may write settles an interrupted change first; any other only mentions it.
	recoverChange := change.NoticeUnfinished
	if q.Want.Facts || q.Write.Allowed {
		recoverChange = change.RecoverBefore
	}
	unfinished := recoverChange(v)
	if q.Ask != protocol.AskCommand {
		return answerQuestion(v, q), nil
	}
	if v, err = inBatch(h, v, q); err != nil {
		return answer.Explain(err), nil
	}
	if q.Batch.ID != "" && q.Write.Task > protocol.End { // the batch ends with this call
		defer h.EndBatch(q.Batch.ID)
		if q.Write.Task == protocol.Drop {
			return answer.Reply{}, nil
		}
	}
	v.Tally = protocol.NewTally(c.Progress)
	defer v.Tally.End()
	state := ""
	hiddenDigest := ""
	if q.Want.Facts {
		state = stateOf(v, q) // before the answer, so that changes during it give another state
		if state != "" && state == q.Want.Unless {
			return answer.Reply{}, &protocol.Facts{State: state, Unchanged: true}
		}
		hiddenDigest = v.ClosedNow(q.Command)
	}
	var reply answer.Reply
	switch q.Write.Task {
	case protocol.Commit, protocol.Sum:
		reply = endBatch(v, q)
	default:
		reply = Respond(v, q, literals).WithoutUnread(len(v.Unread()))
	}
	ambiguous := v.AmbiguousName()
	if reply.Status == answer.ExitDone {
		reply = mention(reply, q, unfinished, ambiguous)
	}
	if q.Want.Compact {
		reply.Compact()
	}
	if !q.Want.Facts {
		return reply, nil
	}
	facts := reply.Facts(v.HashOf)
	if facts != nil {
		facts.Ambiguous = ambiguous != answer.Notice{}
	}
	if reply.Status != answer.ExitDone {
		return reply, facts
	}
	if state != "" || hiddenDigest != "" {
		facts = cmp.Or(facts, &protocol.Facts{})
		facts.State = state
		facts.Closed = hiddenDigest
	}
	if v.Batch != nil {
		facts = cmp.Or(facts, &protocol.Facts{})
		facts.Planned = v.Batch.Count()
		facts.Stale = reply.Stale
		facts.Overtaken = reply.Overtaken
	}
	if state != "" { // the gateway splits only answers with a state into pages
		facts.Rows = reply.Rows()
	}
	return reply, facts
}

// inBatch returns the vault for a call of a batch, see [protocol.Batch]. The call that makes the batch gets the vault
// on the disk.
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

// answerQuestion answers a question about notes that is not a command.
func answerQuestion(v *call.Vault, q protocol.Request) answer.Reply {
	list := v.Narrowed
	if q.Ask == protocol.AskMarked {
		list = v.Marked
	}
	reply, err := list(q.Args)
	if err != nil {
		return answer.Explain(err)
	}
	return reply
}

// mention returns a reply whose notice also has the one about an unfinished change and the one about other files of
// the same name. Both may be empty.
func mention(reply answer.Reply, q protocol.Request, unfinished, ambiguous answer.Notice) answer.Reply {
	if unfinished != (answer.Notice{}) {
		if !q.Want.Facts && !reply.Truncated {
			reply.Notice = answer.Notice{} // only printed with the facts
		}
		reply.Truncated = true // so that the notice is printed without the facts
		reply.Notice = reply.Notice.And(unfinished)
	}
	if ambiguous != (answer.Notice{}) {
		reply.Notice = ambiguous.And(reply.Notice)
	}
	return reply
}

// endBatch makes the planned changes of a batch, or shows them. The command of the request is that of one of its
// operations.
func endBatch(v *call.Vault, q protocol.Request) answer.Reply {
	v.Caller = q.Write.Caller
	carryOut := change.CommitBatch
	if q.Write.Task == protocol.Sum {
		carryOut = change.ShowBatch
	}
	reply, err := carryOut(v, q.Write)
	if err != nil {
		return answer.Explain(call.On(v, q.Command, err))
	}
	return reply
}

// table returns the rows of all commands, sorted by name. It is set in init because help, one of the rows, uses it. The
// table is built on first use, because the gateway does not need it.
var table func() []handlers.Command

func init() {
	table = sync.OnceValue(func() []handlers.Command {
		own := []handlers.Command{
			{Name: "help", Help: "Show what this program can do", Positional: "command", Run: help},
			{
				Name: "version",
				Help: "Show the version of this program",
				Run: func(*call.Vault, call.Values) (answer.Reply, error) {
					// Unlike the app's line it does not begin with a number: this program must not be mistaken for
					// the app.
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

// lookUp returns the row of a command, or the app's error for an unknown command.
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

// Commands returns the sorted names of the commands of this program.
func Commands() []string {
	return answer.Map(table(), func(row handlers.Command) string { return row.Name })
}

// Respond runs a command. It returns every error as a reply.
func Respond(v *call.Vault, q protocol.Request, literal map[string]string) answer.Reply {
	row, err := lookUp(q.Command)
	if restoring, ok := handlers.RestoringFromApp(q.Command); ok && v.Restores != nil {
		row = restoring
		err = nil // the command may only exist in the app
	}
	if err != nil {
		return answer.Explain(err)
	}
	syntax, _ := row.Syntax() // without the help text
	values, err := syntax.Parse(q.Args, literal)
	if err != nil {
		return answer.Explain(err)
	}
	if err := call.CheckWrite(q.Write); err != nil {
		return answer.Explain(err)
	}
	onlyReads := row.OnlyReads != nil && row.OnlyReads(values)
	writes := row.Writes() && !onlyReads && q.Write.Task.Makes()
	if writes && !q.Write.Allowed {
		return answer.Explain(
			answer.Misuse(
				"%s changes the vault, and this program only reads. Put %s before the command.",
				row.Name,
				call.WriteSwitch,
			),
		)
	}
	var reply answer.Reply
	switch option := call.OptionOf(q.Write); {
	case row.Writes():
		v.Caller = q.Write.Caller
		reply, err = change.Write(v, row.Change(), values, q.Write)
	case option != "":
		err = answer.Misuse("%s changes nothing: it takes no %s.", row.Name, option)
	default:
		reply, err = row.Run(v, values)
	}
	if err == nil && (!row.Writes() || !q.Write.Task.Makes()) {
		err = budget.From(v.Ctx).Exceeded() // texts beyond the budget were read as empty
	}
	if err != nil {
		return answer.Explain(call.On(v, row.Name, err))
	}
	return reply
}

// lifelineVariable is the environment variable with the number of an inherited descriptor: the reading end of a pipe
// that the gateway keeps open as long as it runs.
const lifelineVariable = "VAULTWICKET_LIFELINE"

// watchLifeline ends the process when the other end of the pipe is closed, so that no child outlives a killed
// gateway. A change that is being made is completed or rolled back first. It does nothing if number is not that of an
// open pipe.
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
	// After a read error the pipe says nothing about the gateway, and the process goes on.
	go func(pipe *os.File) {
		if _, err := io.Copy(io.Discard, pipe); err == nil {
			commits.Close()
			os.Exit(answer.ExitFailed)
		}
	}(lifeline)
}

// lifeline keeps the file open for the life of the process. Garbage collection would close it, and a wrong number may
// be that of a descriptor in use elsewhere.
var lifeline *os.File
