package main

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

// putCommandFirst moves the subcommand in front of the flags that were given before it, which many programs
// accept: "--vault Notes run files" becomes "run --vault Notes files". If args do not begin with a flag, or the flags
// are not those of the subcommand that follows, they are returned unchanged.
func putCommandFirst(args []string) []string {
	if len(args) == 0 || conventions[args[0]] != "" {
		return args
	}
	for i := 1; i < len(args) && strings.HasPrefix(args[0], "-"); i++ {
		_, found := subcommandNamed(args[i])
		isVault := args[i] == vaultName // another program with flags of its own
		if found && !isVault && flagWords(args[i], args[:i]) == i {
			return slices.Concat([]string{args[i]}, args[:i], args[i+1:])
		}
	}
	return args
}

// flagWords returns the number of words at the beginning that are flags of a subcommand and their values. It is more
// than len(words) if the value of the last flag is missing.
func flagWords(command string, words []string) (n int) {
	takesValue := map[string]bool{}
	for _, f := range flagsOf(command) {
		takesValue["--"+f.Name] = f.Value != ""
	}
	isFlag := func(word string) bool { return strings.HasPrefix(word, "-") && word != "-" && word != "--" }
	for n < len(words) && isFlag(words[n]) {
		if takesValue[words[n]] {
			n++
		}
		n++
	}
	return n
}

// The flags that every subcommand has. They are removed from the command line before the subcommand parses its flags.
var (
	quietFlags     = []string{"-q", "--quiet"}
	verboseFlags   = []string{"-v", "--verbose"}
	verbosityFlags = []terminal.Flag{
		{Name: "quiet", Usage: "print errors only: no notes, hints and progress (-q)"},
		{Name: "verbose", Usage: "print more: all that dry-run knows, and log lines (-v)"},
	}
)

// takeVerbosity removes --quiet and --verbose from args, which begin with the subcommand, and applies them to the
// streams. Words after a command of the vault or after "--" are not flags.
func takeVerbosity(args []string, std terminal.Streams) ([]string, terminal.Streams, error) {
	if !slices.ContainsFunc(args, isVerbosity) {
		return args, std, nil
	}
	command := args[0]
	remaining := []string{command}
	isQuiet := false
	for i := 1; i < len(args); {
		word := args[i]
		isFlag := strings.HasPrefix(word, "-") && word != "-"
		endsFlags := word == "--" || !isFlag && slices.Contains(ownWords, command)
		switch {
		case endsFlags:
			remaining = append(remaining, args[i:]...)
			i = len(args)
			continue
		case slices.Contains(quietFlags, word):
			isQuiet = true
			i++
			continue
		case slices.Contains(verboseFlags, word):
			std.Verbose = true
			i++
			continue
		}
		width := max(1, min(flagWords(command, args[i:i+1]), len(args)-i))
		remaining = append(remaining, args[i:i+width]...)
		i += width
	}
	if isQuiet && std.Verbose {
		return nil, std, &terminal.UsageError{
			Reason: "--quiet cannot be combined with --verbose",
			Advice: "leave one of them out",
		}
	}
	if isQuiet {
		std.Err = terminal.NewQuiet(std.Err)
	}
	return remaining, std, nil
}

// isVerbosity reports whether a word is --quiet or --verbose.
func isVerbosity(word string) bool {
	return slices.Contains(quietFlags, word) || slices.Contains(verboseFlags, word)
}

// ownWords are the subcommands whose first argument that is not a flag is a command of a vault. The words after it
// belong to that command.
var ownWords = []string{"run", "dry-run"}
