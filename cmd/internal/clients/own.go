package clients

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/exec/process"
	"vaultwicket/exec/trust"
)

// ownCommand is how a client changes its settings of the user by itself.
type ownCommand struct {
	program string
	// add returns the command lines; present says that the entry has to go first.
	add    func(program, name string, entry document.Object, present bool) [][]string
	remove func(program, name string) [][]string
}

// claudeCommand is for user scope: the default of Claude Code is another one.
var claudeCommand = &ownCommand{
	program: "claude",
	add: func(program, name string, entry document.Object, present bool) [][]string {
		add := []string{program, "mcp", "add-json", name, document.RenderJSONLine(entry), "-s", "user"}
		if present { // add-json refuses a name that exists
			return [][]string{{program, "mcp", "remove", name, "-s", "user"}, add}
		}
		return [][]string{add}
	},
	remove: func(program, name string) [][]string {
		return [][]string{{program, "mcp", "remove", name, "-s", "user"}}
	},
}

// ownProgram returns the path of the client's own command, "" if it is not used: then the file is edited. A
// program that another user, a vault or the working folder could have put there is not started.
func (i Installer) ownProgram(c Client, scope Scope, vaults ...string) string {
	if c.own == nil || i.Run == nil || scope != User {
		return ""
	}
	program := i.System.Program(c.own.program)
	if program == "" {
		return ""
	}
	at := trust.Surroundings{Vaults: func() []string { return vaults }, Home: i.System.home()}
	if reason, err := trust.Place(program, at); reason != "" || err != nil {
		return ""
	}
	return program
}

const (
	timeout   = time.Minute // Claude Code needs some seconds to start
	maxOutput = 8 << 10     // bytes of each output: a message that is repeated, or an answer
)

// Run starts a program and waits for its end, at most a minute. It returns the beginning and the
// end of its output, and an error if it could not be started or did not end with status 0.
func Run(ctx context.Context, argv []string) (output string, err error) {
	printed, complaint, err := Ask(ctx, argv, "")
	return strings.TrimSpace(printed + "\n" + complaint), err
}

// Ask is [Run] for a program that reads a text from standard input. It returns the two outputs.
func Ask(ctx context.Context, argv []string, input string) (printed, complaint string, err error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return "", "", fmt.Errorf("%q is not an absolute path", argv)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	end := process.Child{Path: argv[0], Name: argv[0], Args: argv[1:], Env: os.Environ(), Stdin: input, Keep: maxOutput}.Run(ctx)
	printed, _ = end.Stdout.Text()
	complaint, _ = end.Stderr.Text()
	switch {
	case end.Cause != nil:
		err = end.Cause
	case end.Kind != process.Exited:
		err = fmt.Errorf("%s ended: %s", filepath.Base(argv[0]), end.How)
	case end.Exit != 0:
		err = fmt.Errorf("%s ended with status %d", filepath.Base(argv[0]), end.Exit)
	}
	return printed, complaint, err
}
