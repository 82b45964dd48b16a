package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

var helpOfBatch = description{
	Name: "batch", Usage: "[flags] FILE|-", Group: groupUse, Summary: "run several commands from a JSON file",
	About: []string{
		"An operation can use results of earlier ones. With \"atomic\": true either all changes are made or none. The results are JSON.",
		"With --propose nothing is changed and nobody is asked: the batch is kept for you for seven days. You take all of it, a part or nothing, with \"approve\" or on the page, even after the agent has ended.",
		"With --dry-run nothing is changed: the result has the decision, its reason and the difference of every operation, each after the ones before it, and of the batch as a whole.",
	},
	Examples: []example{
		{"from a file", "vaultwicket batch --vault ~/Notes --tier v1 --allow-mutations batch.json"},
		{"preview it", "vaultwicket batch --vault ~/Notes --tier v1 --allow-mutations --dry-run batch.json"},
		{"leave it for the owner", "vaultwicket batch --vault ~/Notes --tier v1 --allow-mutations --propose batch.json"},
		{
			"from standard input",
			`echo '{"operations": [{"clientId": "c1", "command": "daily:read"}]}' | vaultwicket batch --vault ~/Notes -`,
		},
	},
}

const (
	maxBatchInput  = 4 << 20  // as one message of MCP: 2 MiB of text, and JSON may double it
	maxBatchOutput = 16 << 20 // as the output of one command; the operations share it
)

// runBatch is "vaultwicket batch": operations from a file, their results as JSON.
func runBatch(ctx context.Context, std terminal.Streams, args []string) error {
	dryRun := false
	propose := ""
	o, err := bootstrap.Open("batch", std, args, func(f *settings.Flags) {
		f.BoolVar(&dryRun, "dry-run", false, "preview the batch; nothing is changed")
		f.StringVar(&propose, "propose", "", "leave the batch for the owner; with the id of a proposal plan that one again")
		f.Lookup("propose").NoOptDefVal = newProposal
		f.Resident = true
		f.CallsServer()
	})
	if err != nil {
		return err
	}
	if o.Remote == nil {
		defer o.Runner.Close()
		defer o.Gateway.Flush()
	}
	if len(o.Rest) != 1 {
		return &terminal.UsageError{
			Reason: "batch requires one file",
			Advice: `"-" reads the operations from standard input`,
		}
	}
	input, err := readBatch(ctx, std, o.Rest[0])
	if err != nil {
		return err
	}
	operations, err := mcpserver.DecodeBatch(input)
	isDryRun := dryRun || operations.DryRun
	if err != nil && dryRun {
		return terminal.PrintJSON(std.Out, gateway.RejectBatchDryRun("", err), terminal.StatusOf(err))
	}
	if err != nil {
		return terminal.PrintJSON(std.Out, gateway.RejectBatch("", err), terminal.StatusOf(err))
	}
	if propose != "" {
		operations.Propose = true
		operations.Again = strings.TrimPrefix(propose, newProposal)
		input = withField(input, "propose", proposed(operations)) // for a server elsewhere
	}
	if operations.Propose && isDryRun { // by flags or in the file: as in the arguments of the tool
		return &terminal.UsageError{
			Reason: "batch: a proposal and a dry run cannot be combined",
			Advice: "leave one of --propose and --dry-run out, also of the file",
		}
	}
	user := &oversight.User{Std: o.Std, Progress: o.Progress("batch")}
	operations.MaxOutput = maxBatchOutput
	operations.Owner = true
	operations.Ask = user.Asker()
	operations.Caller = bootstrap.AtTerminal
	operations.Client = bootstrap.AtTerminal
	operations.Surface = bootstrap.AtTerminal
	if operations.Propose {
		return proposeBatch(ctx, std, o, user, operations, input)
	}
	if isDryRun {
		return dryRunBatch(ctx, std, o, user, operations.Batch, input)
	}
	var result gateway.BatchResult
	if o.Remote != nil {
		result, err = serverOf(o, user.AsksRemote()).Batch(ctx, input)
	} else {
		result = o.Gateway.DoBatch(bootstrap.Counting(ctx, user.Progress), operations.Batch)
	}
	user.Progress.Stop()
	if err != nil {
		return err
	}
	if user.Declined && result.Error != nil {
		_ = user.Cancelled() // the status is that of the answer
	}
	if o.MarkUntrusted {
		result = result.Marked()
	}
	status := terminal.ExitDone
	for _, code := range result.Failures() {
		status = max(status, terminal.StatusOfCode(code))
	}
	return terminal.PrintJSON(std.Out, result, status)
}

// dryRunBatch prints the plan of a batch, of which nothing is made.
func dryRunBatch(
	ctx context.Context,
	std terminal.Streams,
	o bootstrap.Opened,
	user *oversight.User,
	operations gateway.Batch,
	input []byte,
) error {
	var plan gateway.BatchDryRun
	var err error
	if o.Remote != nil {
		plan, err = serverOf(o, nil).DryRunBatch(ctx, withField(input, "dryRun", true))
	} else {
		plan = o.Gateway.DryRunBatch(bootstrap.Counting(ctx, user.Progress), operations)
	}
	user.Progress.Stop()
	if err != nil {
		return err
	}
	if o.MarkUntrusted {
		plan = plan.Marked()
	}
	if plan.OK {
		return terminal.PrintJSON(std.Out, plan, terminal.ExitDone)
	}
	return terminal.PrintJSON(std.Out, plan, terminal.StatusOfResult(plan.Error))
}

// newProposal is the value of --propose without an id.
const newProposal = "true"

// proposed is the argument "propose" of a batch that is proposed: the id of a proposal, or true for a new one.
func proposed(b mcpserver.BatchCall) any {
	if b.Again != "" {
		return b.Again
	}
	return true
}

// proposeBatch leaves a batch for the owner, and prints what the agent is told of that.
func proposeBatch(
	ctx context.Context,
	std terminal.Streams,
	o bootstrap.Opened,
	user *oversight.User,
	operations mcpserver.BatchCall,
	input []byte,
) error {
	var result gateway.Proposed
	var err error
	if o.Remote != nil {
		result, err = serverOf(o, nil).ProposeBatch(ctx, input)
	} else {
		result = o.Gateway.ProposeBatch(bootstrap.Counting(ctx, user.Progress), operations.Batch, operations.Again)
	}
	user.Progress.Stop()
	if err != nil {
		return err
	}
	if o.MarkUntrusted {
		result = result.Marked()
	}
	if result.OK {
		return terminal.PrintJSON(std.Out, result, terminal.ExitDone)
	}
	return terminal.PrintJSON(std.Out, result, terminal.StatusOfResult(result.Error))
}

// withField returns the arguments of a batch with one more, as JSON. What is no object is left as it is.
func withField(input []byte, name string, value any) []byte {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil || fields == nil {
		return input
	}
	text, err := json.Marshal(value)
	if err != nil {
		return input
	}
	fields[name] = text
	changed, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return changed
}

// readBatch reads a file, or standard input. Nobody waits for input that does not come when a signal does.
func readBatch(ctx context.Context, std terminal.Streams, name string) ([]byte, error) {
	in := std.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, &terminal.UsageError{
				Reason: fmt.Sprintf("batch %q: %v", excerpt.Short(name), errors.Unwrap(err)),
				Advice: `use a JSON file, or "-" for standard input`,
			}
		}
		defer file.Close()
		in = file
	}
	type read struct {
		input []byte
		err   error
	}
	done := make(chan read, 1)
	go func() {
		input, err := io.ReadAll(io.LimitReader(in, maxBatchInput+1))
		done <- read{input, err}
	}()
	select {
	case <-ctx.Done():
		return nil, terminal.Silent(terminal.ExitInterrupted)
	case r := <-done:
		switch {
		case r.err != nil:
			return nil, &terminal.UsageError{Reason: fmt.Sprintf("batch %q: %v", excerpt.Short(name), r.err)}
		case len(r.input) > maxBatchInput:
			return nil, &terminal.UsageError{
				Reason: fmt.Sprintf("batch %q is longer than %d bytes", excerpt.Short(name), maxBatchInput),
				Advice: "split it into several files",
			}
		case len(r.input) == 0:
			return nil, &terminal.UsageError{
				Reason: fmt.Sprintf("batch %q is empty", excerpt.Short(name)),
				Advice: `send {"operations": [{"clientId": "c1", "command": "daily:read"}]}`,
			}
		}
		return r.input, nil
	}
}
