// Package calls carries out commands of the vault that are typed in a terminal: run, dry-run
// and batch. Values of parameters can come from standard input, and the user at the
// terminal is asked for approvals.
package calls

import (
	"context"
	"fmt"
	"io"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
)

// Run is "vaultwicket run": one command through the gateway. Standard
// output is the command's own: byte for byte, unless a terminal would read it.
func Run(ctx context.Context, std terminal.Streams, args []string) error {
	var once condition
	o, err := settings.Open("run", std, args, once.flags)
	if err != nil {
		return err
	}
	req, err := request(o, once.stdin)
	if err != nil {
		return err
	}
	req.AtTerminal = true
	req.ExpectHash, req.IdempotencyKey = once.hash, once.key
	return Do(ctx, o, req)
}

// Do carries out a request that was typed in a terminal, and prints the result: the
// command's own output, or all of it as JSON. An error that the user has seen already is an
// [terminal.Silent].
func Do(ctx context.Context, o settings.Opened, req gateway.Request) error {
	user := newUser(o, req.Command)
	result := o.Gateway.Do(counting(ctx, user.progress), typed(user, req))
	user.progress.Stop()
	if user.declined && result.Error != nil && !o.JSON {
		return user.cancelled()
	}
	if o.MarkUntrusted {
		result = result.Marked()
	}
	return report(o, result)
}

// report prints a result: the command's own output, or all of it as JSON.
func report(o settings.Opened, result gateway.Result) error {
	if o.JSON {
		return terminal.PrintJSON(o.Std.Out, result, terminal.StatusOfResult(result.Error))
	}
	notices := result.Notices
	if gap := result.Gap(); gap != "" {
		notices = append(notices, gap)
	}
	for _, notice := range notices {
		terminal.Notef(o.Std.Err, "%s", notice)
	}
	if result.Error != nil {
		if result.Error.Code == "conflict" { // what follows the sentence is the difference
			_, difference, _ := strings.Cut(result.Output(), "\n")
			if o.MarkUntrusted {
				difference = result.Stdout
			}
			fmt.Fprint(o.Std.Err, terminal.Visible(difference))
		}
		return terminal.FailureOf(result.Error)
	}
	output := result.Output()
	if o.MarkUntrusted || terminal.IsTerminal(o.Std.Out) {
		output = result.Stdout // without what a terminal would obey
	}
	if _, err := io.WriteString(o.Std.Out, output); err != nil {
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
func request(o settings.Opened, stdin string) (gateway.Request, error) {
	if len(o.Rest) == 0 {
		return gateway.Request{}, &terminal.UsageError{Reason: "no vault command given", Advice: `"vaultwicket commands" lists what is allowed`}
	}
	command, words := o.Rest[0], append([]string{}, o.Rest[1:]...)
	for _, word := range words {
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") && o.Flags.Lookup(name) != nil {
			return gateway.Request{}, &terminal.UsageError{
				Reason: fmt.Sprintf("flag %q must come before the command %q", quote.Short(word), quote.Short(command)),
				Advice: fmt.Sprintf("put it before the command: vaultwicket %s %s … %s", o.Flags.Name(), quote.Short(word), quote.Short(command)),
			}
		}
	}
	words, err := withInput(o.Std, words, stdin)
	if err == nil {
		noteEscapes(o.Std, words)
	}
	return gateway.Request{Command: command, Words: words}, err
}
