package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"vaultwicket/gateway"
)

// runCommand is "vaultwicket run": one command through the gateway. Standard
// output is the command's own, byte for byte.
func runCommand(ctx context.Context, std streams, args []string) error {
	o, err := open("run", std, args, nil)
	if err != nil {
		return err
	}
	req, err := request(o.rest)
	if err != nil {
		return err
	}
	result := o.gateway.Do(ctx, req)
	if o.json {
		return printJSON(std.out, result, statusOfResult(result.Error))
	}
	notices := result.Notices
	if gap := result.Gap(); gap != "" {
		notices = append(notices, gap)
	}
	for _, notice := range notices {
		fmt.Fprintf(std.err, "vaultwicket: note: %s\n", visible(notice))
	}
	if result.Error != nil {
		return tell(std, result.Error)
	}
	if _, err := io.WriteString(std.out, result.Output()); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// request reads the command and its words.
func request(rest []string) (gateway.Request, error) {
	if len(rest) == 0 {
		return gateway.Request{}, &wrongUse{reason: "no command of the vault given", hint: `"vaultwicket commands" lists what is allowed`}
	}
	return gateway.Request{Command: rest[0], Words: append([]string{}, rest[1:]...)}, nil
}

// tell reports a failure of the gateway on standard error.
func tell(std streams, failure *gateway.Error) error {
	fmt.Fprintf(std.err, "vaultwicket: error: %s\n", visible(failure.Message))
	if failure.Hint != "" {
		fmt.Fprintf(std.err, "vaultwicket: hint: %s\n", visible(failure.Hint))
	}
	return statusError(statusOfCode(failure.Code))
}

func statusOfResult(failure *gateway.Error) int {
	if failure == nil {
		return statusDone
	}
	return statusOfCode(failure.Code)
}

// printJSON prints one value and ends with a status.
func printJSON(out io.Writer, value any, status int) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	if status != statusDone {
		return statusError(status)
	}
	return nil
}
