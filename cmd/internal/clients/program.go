package clients

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
