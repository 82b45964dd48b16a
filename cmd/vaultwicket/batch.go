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

var batchHelp = description{
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
	maxBatchInput  = 4 << 20  // bytes, as for an MCP message: 2 MiB of text, which JSON may double
	maxBatchOutput = 16 << 20 // bytes for all operations together, as for one command
)

// runBatch runs "vaultwicket batch", which carries out operations from a file and prints their results as JSON.
func runBatch(ctx context.Context, std terminal.Streams, args []string) error {
	dryRun := false
	propose := ""
	opened, err := bootstrap.Open("batch", std, args, func(f *settings.Flags) {
		f.BoolVar(&dryRun, "dry-run", false, "preview the batch; nothing is changed")
		f.StringVar(&propose, "propose", "", "leave the batch for the owner; with the id of a proposal plan that one again")
		f.Lookup("propose").NoOptDefVal = newProposal
		f.Resident = true
		f.CallsServer()
	})
	if err != nil {
		return err
	}
	if opened.Remote == nil {
		defer opened.Runner.Close()
		defer opened.Gateway.Flush()
	}
	if len(opened.Rest) != 1 {
		return &terminal.UsageError{
			Reason: "batch requires one file",
			Advice: `"-" reads the operations from standard input`,
		}
	}
	input, err := readBatch(ctx, std, opened.Rest[0])
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
		input = withField(input, "propose", proposed(operations)) // for a remote server
	}
	if operations.Propose && isDryRun { // each can be given as a flag or in the file
		return &terminal.UsageError{
			Reason: "batch: a proposal and a dry run cannot be combined",
			Advice: "leave one of --propose and --dry-run out, also of the file",
		}
	}
	user := &oversight.User{Std: opened.Std, Progress: opened.Progress("batch")}
	operations.MaxOutput = maxBatchOutput
	operations.Owner = true
	operations.Ask = user.Asker()
	operations.Caller = bootstrap.AtTerminal
	operations.Client = bootstrap.AtTerminal
	operations.Surface = bootstrap.AtTerminal
	if operations.Propose {
		return proposeBatch(ctx, std, opened, user, operations, input)
	}
	if isDryRun {
		return dryRunBatch(ctx, std, opened, user, operations.Batch, input)
	}
	var result gateway.BatchResult
	if opened.Remote != nil {
		result, err = serverOf(opened, user.RemoteAsker()).Batch(ctx, input)
	} else {
		result = opened.Gateway.DoBatch(bootstrap.Counting(ctx, user.Progress), operations.Batch)
	}
	user.Progress.Stop()
	if err != nil {
		return err
	}
	if user.Declined && result.Error != nil {
		_ = user.PrintCancelled() // the exit status comes from the result
	}
	if opened.MarkUntrusted {
		result = result.Marked()
	}
	status := terminal.ExitDone
	for _, code := range result.Failures() {
		status = max(status, terminal.StatusOfCode(code))
	}
	return terminal.PrintJSON(std.Out, result, status)
}

// dryRunBatch prints the plan of a batch without carrying it out.
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

// proposed returns the argument "propose" of a batch: the id of a proposal, or true for a new one.
func proposed(b mcpserver.BatchCall) any {
	if b.Again != "" {
		return b.Again
	}
	return true
}

// proposeBatch proposes a batch to the owner, and prints the result for the agent.
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

// withField adds a field to the JSON arguments of a batch. Input that is not a JSON object is returned unchanged.
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

// readBatch reads a file, or standard input for "-". It stops waiting for input when ctx is done.
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
		if r.err != nil {
			return nil, &terminal.UsageError{Reason: fmt.Sprintf("batch %q: %v", excerpt.Short(name), r.err)}
		}
		return r.input, checkBatchSize(name, len(r.input))
	}
}

// checkBatchSize returns an error if a batch of this size in bytes is empty or too long.
func checkBatchSize(name string, size int) error {
	switch {
	case size > maxBatchInput:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("batch %q is longer than %d bytes", excerpt.Short(name), maxBatchInput),
			Advice: "split it into several files",
		}
	case size == 0:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("batch %q is empty", excerpt.Short(name)),
			Advice: `send {"operations": [{"clientId": "c1", "command": "daily:read"}]}`,
		}
	}
	return nil
}
