package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

var runHelp = description{
	Name: "run", Usage: "[flags] COMMAND [key=value | flag …]", Group: groupUse, Summary: "run a command through the gateway",
	About: []string{
		"Flags come before the command, its parameters after it. \"vaultwicket commands\" lists the commands, \"vaultwicket explain COMMAND\" describes one.",
		"Only the result goes to standard output; bytes are unchanged unless it is a terminal. Notes and errors go to standard error.",
	},
	Examples: []example{
		{"read today's note", "vaultwicket run --vault ~/Notes daily:read"},
		{"search", `vaultwicket run --vault ~/Notes --tier v1 search query="garden shed"`},
		{
			"add lines from standard input",
			"date | vaultwicket run --vault ~/Notes --allow-mutations daily:append content=-",
		},
		{"on a server", "vaultwicket run --url https://notes.example/mcp --token-file ~/notes.token files"},
		{"all of the result, for programs", "vaultwicket run --vault ~/Notes --json random:read"},
	},
}

// runCall runs "vaultwicket run", which runs one command through the gateway. The output of the command is printed
// byte for byte, unless standard output is a terminal.
func runCall(ctx context.Context, std terminal.Streams, args []string) error {
	var hash, key, stdin string
	opened, err := bootstrap.Open("run", std, args, func(f *settings.Flags) {
		f.StringVar(&hash, "expect-hash", "", "change a note only if it has this hash")
		stdinFlag(f, &stdin)
		f.StringVar(&key, "idempotency-key", "", "return the first result for a repeated call with this key")
		f.CallsServer()
	})
	if err != nil {
		return err
	}
	req, err := typedRequest(opened, stdin)
	if err != nil {
		return err
	}
	req.AtTerminal = true
	req.CallPrefix = callPrefix
	req.ExpectHash = hash
	req.IdempotencyKey = key
	return runAndPrint(ctx, opened, req)
}

// runAndPrint carries out a request that was typed in a terminal, and prints the output of the command, or the whole
// result as JSON. An error that the user has already seen is a [terminal.Silent].
func runAndPrint(ctx context.Context, o bootstrap.Opened, req gateway.Request) error {
	defer func() {
		if o.Gateway != nil { // nil for a remote server
			o.Gateway.Flush()
		}
	}()
	user := &oversight.User{Std: o.Std, Progress: o.Progress(req.Command)}
	var result gateway.Result
	var err error
	if o.Remote != nil {
		result, err = serverOf(o, user.RemoteAsker()).Do(ctx, req)
	} else {
		result = o.Gateway.Do(bootstrap.Counting(ctx, user.Progress), typed(user, req))
	}
	user.Progress.Stop()
	if err != nil {
		return err
	}
	if user.Declined && result.Error != nil && !o.JSON {
		return user.PrintCancelled()
	}
	if o.MarkUntrusted {
		result = result.Marked()
	}
	if o.JSON {
		return terminal.PrintJSON(o.Std.Out, result, statusOfCall(ctx, result.Error))
	}
	notices := result.Notices
	if gap := result.Gap(); gap != "" {
		notices = append(notices, gap)
	}
	for _, notice := range notices {
		terminal.Notef(o.Std.Err, "%s", terminal.ForOwner(notice))
	}
	if result.Error != nil {
		if result.Error.Code == "conflict" { // the output is a sentence followed by the difference
			_, difference, _ := strings.Cut(result.Output(), "\n")
			if o.MarkUntrusted {
				difference = result.Stdout
			}
			fmt.Fprint(o.Std.Err, terminal.Visible(difference))
		}
		shown := ownerFailure(o, result.Error)
		return terminal.Fail(statusOfCall(ctx, result.Error), shown.Message, shown.Hint)
	}
	output := result.Output()
	if o.Remote != nil || o.MarkUntrusted || terminal.IsTerminal(o.Std.Out) {
		output = result.Stdout // without control characters
	}
	if o.Remote != nil && terminal.IsTerminal(o.Std.Out) {
		output = terminal.Visible(output) // a remote server may send anything
	}
	return terminal.Write(o.Std.Out, output)
}

// statusOfCall returns the exit status of a typed call. A change that was stopped with Ctrl-C before anything was
// changed counts as interrupted, not as failed.
func statusOfCall(ctx context.Context, cause *failure.Error) int {
	if ctx.Err() != nil && cause != nil && cause.Code == failure.CodeNotApplied {
		return terminal.ExitInterrupted
	}
	return terminal.StatusOfResult(cause)
}

// codeNoCLI has the value of exec.CodeNotFound: there is no Obsidian CLI.
const codeNoCLI = "cli_not_found"

// ownerFailure rewrites the hint of a failure for the owner at the terminal. The failure of a remote server is returned
// unchanged, because the settings here do not apply to it.
func ownerFailure(o bootstrap.Opened, cause *failure.Error) *failure.Error {
	shown := *cause
	switch {
	case o.Remote != nil:
	case shown.Code == codeNoCLI && o.Vault == (settings.Vault{}) && o.Backend == settings.Auto:
		shown.Message = "no vault is given, and no Obsidian app was found whose vault could be used"
		shown.Hint = "add --vault with the folder of your notes, such as --vault ~/Notes, or change into a vault; " +
			`"vaultwicket config set vault FOLDER" keeps it`
	case shown.Approval != nil:
		shown.Hint = `"vaultwicket approvals" lists it, and "vaultwicket approve CODE" asks you in a terminal; ` +
			"then run the same command again"
	default:
		shown.Hint = o.OwnerHint(o.Std, shown.Hint)
	}
	return &shown
}

// typedRequest returns the request for a typed command and its parameters. stdin is the parameter whose value is read
// from standard input, "" for none.
func typedRequest(o bootstrap.Opened, stdin string) (gateway.Request, error) {
	if len(o.Rest) == 0 {
		return gateway.Request{}, &terminal.UsageError{
			Reason: "no vault command given",
			Advice: `"vaultwicket commands" lists what is allowed`,
		}
	}
	command := o.Rest[0]
	words := append([]string{}, o.Rest[1:]...)
	if err := checkPlaces(o.Flags, command, words); err != nil {
		return gateway.Request{}, err
	}
	words, err := withInput(o.Std.In, namePlainWord(command, words), stdin)
	if err != nil {
		return gateway.Request{}, err
	}
	noteLiteralBreaks(o.Std, words)
	req := gateway.Request{Command: command, Words: words}
	if o.Remote != nil {
		req.Vault = o.Vault.Name
	}
	return req, nil
}

// checkPlaces returns an error if the vault is named like a parameter, or a flag of the program follows the command.
func checkPlaces(flags *settings.Flags, command string, words []string) error {
	if vault, isVault := strings.CutPrefix(command, "vault="); isVault {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("%q names a vault, and not a command", excerpt.Short(command)),
			Advice: adviceForVault(flags, vault, strings.Join(words, " ")),
		}
	}
	for _, word := range words {
		if vault, isVault := strings.CutPrefix(word, "vault="); isVault {
			return &terminal.UsageError{
				Reason: "the vault is not a parameter of a command",
				Advice: adviceForVault(flags, vault, command),
			}
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		isFlag := strings.HasPrefix(word, "--") && flags.Lookup(name) != nil
		if isFlag || isVerbosity(word) {
			return &terminal.UsageError{
				Reason: fmt.Sprintf(
					"flag %q must come before the command %q",
					excerpt.Short(word),
					excerpt.Short(command),
				),
				Advice: fmt.Sprintf(
					"put it before the command: vaultwicket %s %s … %s",
					flags.Name(),
					excerpt.Short(word),
					excerpt.Short(command),
				),
			}
		}
	}
	return nil
}

// adviceForVault returns the command line that names the vault by its flag.
func adviceForVault(flags *settings.Flags, vault, command string) string {
	return fmt.Sprintf(
		"name the vault by the flag: vaultwicket %s --vault %s %s",
		flags.Name(),
		excerpt.Short(vault),
		excerpt.Short(command),
	)
}

// withInput returns the words of a command with the value that comes from standard input, if any: that of the parameter
// stdin, or one that is given as content=-. A line break at the end of the input is part of the value.
func withInput(in io.Reader, words []string, stdin string) ([]string, error) {
	i := slices.IndexFunc(words, func(word string) bool {
		key, value, _ := strings.Cut(word, "=")
		return value == fromInput && slices.Contains(inputParams, key)
	})
	switch {
	case i >= 0 && stdin != "":
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("--stdin cannot be combined with %q", excerpt.Short(words[i])),
			Advice: "standard input is one value: leave one of them out",
		}
	case i >= 0:
		stdin, _, _ = strings.Cut(words[i], "=")
		words = slices.Delete(words, i, i+1)
	case strings.Contains(stdin, "="):
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("flag --stdin: %q is not the name of a parameter", excerpt.Short(stdin)),
			Advice: "use --stdin content",
		}
	}
	if stdin == "" {
		return words, nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, &terminal.UsageError{Reason: fmt.Sprintf("read standard input: %v", err)}
	case len(text) > maxInput:
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("standard input is longer than %d bytes", maxInput),
			Advice: "write less at once",
		}
	}
	return append(words, stdin+"="+string(text)), nil
}

// noteLiteralBreaks remarks on values in which "\n" stands for itself. In the Obsidian CLI it is a line break.
func noteLiteralBreaks(std terminal.Streams, words []string) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		isOneLine := !strings.Contains(value, "\n")
		if isOneLine && slices.Contains(inputParams, key) && strings.Contains(value, `\n`) {
			terminal.Notef(
				std.Err,
				`\n in %s= is written as it is, with its backslash; give lines on standard input with %s=-`,
				key,
				key,
			)
		}
	}
}

// fromInput is the value of a parameter that is read from standard input.
const fromInput = "-"

// inputParams are the parameters for text. The value "-" of these means standard input.
var inputParams = []string{"content", "new", "old"}

// maxInput is the maximum size of standard input in bytes. It is more than a parameter may have.
const maxInput = 2 << 20

// stdinFlag adds the flag --stdin.
func stdinFlag(f *settings.Flags, param *string) {
	f.StringVar(param, "stdin", "", "read the value of this parameter from standard input (content=- does the same)")
}

// typed marks a request as typed in a terminal by user, who is asked for approval.
func typed(user *oversight.User, req gateway.Request) gateway.Request {
	req.Owner = true
	req.Ask = user.Asker()
	req.Caller = bootstrap.AtTerminal
	req.Client = bootstrap.AtTerminal
	req.Surface = bootstrap.AtTerminal
	return req
}

// serverOf returns the remote server to call. It asks the user with ask, which may be nil.
func serverOf(o bootstrap.Opened, ask func(ctx context.Context, text string) bool) *bootstrap.RemoteServer {
	return &bootstrap.RemoteServer{URL: o.Remote.URL, Token: o.Remote.Token, Ask: ask}
}
