package gateway

import (
	"strings"

	"vaultwicket/exec"
)

// shellLine writes a command as one line that a POSIX shell reads back as
// exactly the same arguments. A value on standard input becomes a printf in
// front. It is for people to paste; the gateway itself has no shell.
func shellLine(c exec.Command) string {
	line := quoteAll(append([]string{c.Path}, c.Args...))
	if c.StdinParam == "" {
		return line
	}
	return "printf %s " + quote(c.Stdin) + " | " + line
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

// quote leaves plain words alone and puts others between single quotes, in
// which a POSIX shell changes nothing. A single quote itself stands outside.
func quote(word string) string {
	if word != "" && strings.Trim(word, plainInShell) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plainInShell are characters without a meaning for a shell, in any place but
// the first of a line, where "=" would make an assignment: the program stands
// there.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
