package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway"
)

// runCommand is "vaultwicket run": one command through the gateway. Standard
// output is the command's own: byte for byte, unless a terminal would read it.
func runCommand(ctx context.Context, std streams, args []string) error {
	var once condition
	o, err := open("run", std, args, once.flags)
	if err != nil {
		return err
	}
	req, err := o.request()
	if err != nil {
		return err
	}
	req.ExpectHash, req.IdempotencyKey = once.hash, once.key
	result := o.gateway.Do(ctx, typed(std, req))
	if o.marks {
		result = result.Marked()
	}
	return o.report(std, result)
}

// report prints a result: the command's own output, or all of it as JSON.
func (o opened) report(std streams, result gateway.Result) error {
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
		if result.Error.Code == "conflict" { // what follows the sentence is the difference
			_, difference, _ := strings.Cut(result.Output(), "\n")
			fmt.Fprint(std.err, visible(difference))
		}
		return tell(std, result.Error)
	}
	output := result.Output()
	if o.marks || isTerminal(std.out) {
		output = result.Stdout // without what a terminal would obey
	}
	if _, err := io.WriteString(std.out, output); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// condition is what a person may ask for besides a change.
type condition struct{ hash, key string }

func (c *condition) flags(f *flags) {
	f.StringVar(&c.hash, "expect-hash", "", "change a note only if it has this hash")
	f.StringVar(&c.key, "idempotency-key", "", "give the first answer again to the same call with this key")
}

// request reads the command and its words.
func (o opened) request() (gateway.Request, error) {
	if len(o.rest) == 0 {
		return gateway.Request{}, &wrongUse{reason: "no command of the vault given", hint: `"vaultwicket commands" lists what is allowed`}
	}
	command, words := o.rest[0], append([]string{}, o.rest[1:]...)
	for _, word := range words {
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") && o.flags.Lookup(name) != nil {
			return gateway.Request{}, &wrongUse{
				reason: fmt.Sprintf("flag %q stands behind the command %q, where its parameters are", quote.Clip(word, maxQuoted), quote.Clip(command, maxQuoted)),
				hint:   fmt.Sprintf("put it before the command: vaultwicket %s %s … %s", o.flags.Name(), quote.Clip(word, maxQuoted), quote.Clip(command, maxQuoted)),
			}
		}
	}
	return gateway.Request{Command: command, Words: words}, nil
}

// tell reports a failure of the gateway on standard error.
func tell(std streams, failure *gateway.Error) error {
	return std.say(statusOfCode(failure.Code), failure.Message, failure.Hint)
}

// say reports a failure on standard error and ends with a status. A hint may be
// "".
func (s streams) say(status int, message, hint string) error {
	fmt.Fprintf(s.err, "vaultwicket: error: %s\n", visible(message))
	if hint != "" {
		fmt.Fprintf(s.err, "vaultwicket: hint: %s\n", visible(hint))
	}
	return statusError(status)
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
