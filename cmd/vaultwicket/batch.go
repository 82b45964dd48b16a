package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
	},
	Examples: []example{
		{"from a file", "vaultwicket batch --vault ~/Notes --tier v1 --allow-mutations batch.json"},
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
	o, err := bootstrap.Open("batch", std, args, func(f *settings.Flags) {
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
	if err != nil {
		return terminal.PrintJSON(std.Out, gateway.RejectBatch("", err), terminal.StatusOf(err))
	}
	user := &oversight.User{Std: o.Std, Progress: o.Progress("batch")}
	operations.MaxOutput = maxBatchOutput
	operations.Owner = true
	operations.Ask = user.Asker()
	operations.Caller = bootstrap.AtTerminal
	operations.Client = bootstrap.AtTerminal
	operations.Surface = bootstrap.AtTerminal
	var result gateway.BatchResult
	if o.Remote != nil {
		result, err = serverOf(o, user.AsksRemote()).Batch(ctx, input)
	} else {
		result = o.Gateway.DoBatch(bootstrap.Counting(ctx, user.Progress), operations)
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
