// Package program runs the commands that clients have for their own settings, such as
// "claude mcp add-json". The installer uses it on behalf of the user who typed the
// command, and nothing that serves an agent does. It starts absolute paths from the
// table of clients with the user's own environment, without a shell.
package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vaultwicket/exec/process"
)

const (
	timeout   = time.Minute // Claude Code needs some seconds to start
	maxOutput = 2 << 10     // of a message that is repeated
)

// Run starts a program and waits for its end, at most a minute. It returns the
// beginning and the end of what the program printed, and an error if it could not be started or
// did not end with status 0.
func Run(ctx context.Context, argv []string) (output string, err error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return "", fmt.Errorf("%q is not an absolute path", argv)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	end := process.Child{Path: argv[0], Name: argv[0], Args: argv[1:], Env: os.Environ(), Keep: maxOutput}.Run(ctx)
	printed, _ := end.Stdout.Text()
	complaint, _ := end.Stderr.Text()
	output = strings.TrimSpace(printed + "\n" + complaint)
	switch {
	case end.Cause != nil:
		return output, end.Cause
	case end.Kind != process.Exited:
		return output, fmt.Errorf("%s ended: %s", filepath.Base(argv[0]), end.How)
	case end.Exit != 0:
		return output, fmt.Errorf("%s ended with status %d", filepath.Base(argv[0]), end.Exit)
	}
	return output, nil
}
