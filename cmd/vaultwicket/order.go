package main

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
)

// putCommandFirst returns the words of a command line with the subcommand in front of the flags that were
// given before it, as many programs take them: "--vault Notes run files" becomes "run --vault Notes files".
// Words that do not begin with a flag, or have no subcommand behind their flags, are returned as they are.
func putCommandFirst(args []string) []string {
	if len(args) == 0 || conventions[args[0]] != "" {
		return args
	}
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "--") {
		at += wordsOfFlag(args[at])
	}
	if at == 0 || at >= len(args) {
		return args
	}
	if _, found := subcommandNamed(args[at]); !found || args[at] == vaultName {
		return args
	}
	ordered := append([]string{args[at]}, args[:at]...)
	return slices.Concat(ordered, args[at+1:])
}

// wordsOfFlag returns how many words a flag of the settings takes: two where its value is the next word.
func wordsOfFlag(word string) int {
	name, _, hasValue := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	flag := settings.NewFlags("").Lookup(name)
	if hasValue || flag == nil || flag.Value.Type() == "bool" {
		return 1
	}
	return 2
}
