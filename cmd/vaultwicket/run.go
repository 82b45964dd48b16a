package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
)

// runCommand is "vaultwicket run": one command through the gateway. Standard
// output is the command's own: byte for byte, unless a terminal would read it.
func runCommand(ctx context.Context, std terminal.Streams, args []string) error {
	var once condition
	o, err := open("run", std, args, once.flags)
	if err != nil {
		return err
	}
	req, err := o.request(std, once.stdin)
	if err != nil {
		return err
	}
	req.AtTerminal = true
	req.ExpectHash, req.IdempotencyKey = once.hash, once.key
	return o.do(ctx, std, req)
}

// do carries out a request that was typed in a terminal, and reports the result.
func (o opened) do(ctx context.Context, std terminal.Streams, req gateway.Request) error {
	user := o.newUser(std, req.Command)
	result := o.gateway.Do(counting(ctx, user.progress), typed(user, req))
	user.progress.Stop()
	if user.declined && result.Error != nil && !o.JSON {
		return user.cancelled()
	}
	if o.MarkUntrusted {
		result = result.Marked()
	}
	return o.report(std, result)
}

// report prints a result: the command's own output, or all of it as JSON.
func (o opened) report(std terminal.Streams, result gateway.Result) error {
	if o.JSON {
		return exit.JSON(std.Out, result, exit.StatusOfResult(result.Error))
	}
	notices := result.Notices
	if gap := result.Gap(); gap != "" {
		notices = append(notices, gap)
	}
	for _, notice := range notices {
		terminal.Notef(std.Err, "%s", notice)
	}
	if result.Error != nil {
		if result.Error.Code == "conflict" { // what follows the sentence is the difference
			_, difference, _ := strings.Cut(result.Output(), "\n")
			fmt.Fprint(std.Err, terminal.Visible(difference))
		}
		return exit.Of(result.Error)
	}
	output := result.Output()
	if o.MarkUntrusted || terminal.IsTerminal(std.Out) {
		output = result.Stdout // without what a terminal would obey
	}
	if _, err := io.WriteString(std.Out, output); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// condition is what a person may ask for besides a change.
type condition struct{ hash, key, stdin string }

func (c *condition) flags(f *settings.Flags) {
	f.StringVar(&c.hash, "expect-hash", "", "change a note only if it has this hash")
	stdinFlag(f, &c.stdin)
	f.StringVar(&c.key, "idempotency-key", "", "return the first result for a repeated call with this key")
}

// request reads the command and its words, and the value of one parameter from standard
// input if that is asked for.
func (o opened) request(std terminal.Streams, stdin string) (gateway.Request, error) {
	if len(o.rest) == 0 {
		return gateway.Request{}, &exit.UsageError{Reason: "no vault command given", Advice: `"vaultwicket commands" lists what is allowed`}
	}
	command, words := o.rest[0], append([]string{}, o.rest[1:]...)
	for _, word := range words {
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") && o.Flags.Lookup(name) != nil {
			return gateway.Request{}, &exit.UsageError{
				Reason: fmt.Sprintf("flag %q must come before the command %q", quote.Short(word), quote.Short(command)),
				Advice: fmt.Sprintf("put it before the command: vaultwicket %s %s … %s", o.Flags.Name(), quote.Short(word), quote.Short(command)),
			}
		}
	}
	words, err := withInput(std, words, stdin)
	if err == nil {
		noteEscapes(std, words)
	}
	return gateway.Request{Command: command, Words: words}, err
}
