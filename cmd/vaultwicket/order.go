package main

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

// putCommandFirst returns the words of a command line with the subcommand in front of the flags that were
// given before it, as many programs take them: "--vault Notes run files" becomes "run --vault Notes files".
// Words that do not begin with a flag, or have no subcommand after flags of its own, are returned as they are.
func putCommandFirst(args []string) []string {
	if len(args) == 0 || conventions[args[0]] != "" {
		return args
	}
	for at := 1; at < len(args) && strings.HasPrefix(args[0], "-"); at++ {
		_, found := subcommandNamed(args[at])
		isVault := args[at] == vaultName // another program with flags of its own
		if found && !isVault && flagWords(args[at], args[:at]) == at {
			return slices.Concat([]string{args[at]}, args[:at], args[at+1:])
		}
	}
	return args
}

// flagWords returns how many words at the start of some are flags of a subcommand with their values.
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

// The flags of every subcommand. They are taken from the command line before it reads its own.
var (
	quietFlags     = []string{"-q", "--quiet"}
	verboseFlags   = []string{"-v", "--verbose"}
	verbosityFlags = []terminal.Flag{
		{Name: "quiet", Usage: "print errors only: no notes, hints and progress (-q)"},
		{Name: "verbose", Usage: "print more: all that dry-run knows, and log lines (-v)"},
	}
)

// takeVerbosity returns a command line that begins with its subcommand without --quiet and --verbose, and the streams
// as these want them. Words after a command of the vault, and after "--", are not flags.
func takeVerbosity(args []string, std terminal.Streams) ([]string, terminal.Streams, error) {
	if !slices.ContainsFunc(args, isVerbosity) {
		return args, std, nil
	}
	command := args[0]
	left := []string{command}
	isQuiet := false
	for at := 1; at < len(args); {
		word := args[at]
		isFlag := strings.HasPrefix(word, "-") && word != "-"
		endsFlags := word == "--" || !isFlag && slices.Contains(ownWords, command)
		switch {
		case endsFlags:
			left = append(left, args[at:]...)
			at = len(args)
			continue
		case slices.Contains(quietFlags, word):
			isQuiet = true
			at++
			continue
		case slices.Contains(verboseFlags, word):
			std.Verbose = true
			at++
			continue
		}
		taken := max(1, min(flagWords(command, args[at:at+1]), len(args)-at))
		left = append(left, args[at:at+taken]...)
		at += taken
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
	return left, std, nil
}

func isVerbosity(word string) bool {
	return slices.Contains(quietFlags, word) || slices.Contains(verboseFlags, word)
}

// ownWords are the subcommands of which the words after the first one without a dash are those of another command.
var ownWords = []string{"run", "dry-run"}
