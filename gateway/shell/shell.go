// Package shell writes a command as a line that a user can paste into a POSIX shell.
// Nothing here runs a shell.
package shell

import (
	"strings"

	"vaultwicket/exec"
)

// shellLine writes a command as one line that a POSIX shell reads back as
// exactly the same arguments. A value on standard input becomes a printf in
// front. It is for people to paste; the gateway itself has no shell.
func Line(c exec.Command) string { return withNewline(pipeline(c)) }

func pipeline(c exec.Command) string {
	line := quoteAll(append([]string{c.Path}, c.Args...))
	if c.StdinParam == "" {
		return line
	}
	return "printf %s " + quote(c.Stdin) + " | " + line
}

// shellRead is the line that reads the note whose path asking answers.
func ReadLine(asking exec.Command) string {
	read := append([]string{asking.Path}, asking.Args[:len(asking.Args)-1]...)
	return withNewline(quoteAll(append(read, "read")) + ` path="$(` + pipeline(asking) + `)"`)
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

// quote leaves plain words alone and puts others between single quotes, in
// which a POSIX shell changes nothing. A single quote itself is outside of them,
// and a line break is the variable that [withNewline] sets: between quotes it
// would begin a line of its own.
func quote(word string) string {
	if word != "" && strings.Trim(word, plainInShell) == "" {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'`+newline+`'`).Replace(word) + "'"
}

// newline is how a quoted word refers to the variable with a line break. In no
// other place of a line is a dollar sign outside of single quotes before "nl".
const newline = `"$nl"`

// withNewline sets the variable for line breaks in front of a line that uses it.
// A command substitution drops line breaks at its end, so a dot is put behind.
func withNewline(line string) string {
	if !strings.Contains(line, newline) {
		return line
	}
	return `nl="$(printf '\n.')"; nl="${nl%.}"; ` + line
}

// plainInShell are characters without a meaning for a shell, in any place but
// the first of a line, where "=" would make an assignment: the program stands
// there.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
