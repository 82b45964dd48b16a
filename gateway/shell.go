package gateway

import (
	"strings"

	"vaultwicket/exec"
)

// shellLine returns a command as one line that a POSIX shell parses into exactly the
// same arguments. A value on standard input becomes a printf before it. It is for users to
// paste; the gateway itself has no shell.
func shellLine(c exec.Command) string { return withNewline(pipeline(c)) }

func pipeline(c exec.Command) string {
	line := shellWords(append([]string{c.Path}, c.Args...))
	if c.StdinParam == "" {
		return line
	}
	return "printf %s " + shellQuote(c.Stdin) + " | " + line
}

// shellReadLine is the line that reads the note whose path asking answers.
func shellReadLine(asking exec.Command) string {
	read := append([]string{asking.Path}, asking.Args[:len(asking.Args)-1]...)
	return withNewline(shellWords(append(read, "read")) + ` path="$(` + pipeline(asking) + `)"`)
}

func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}

// shellQuote leaves plain words alone and puts others between single quotes, in
// which a POSIX shell changes nothing. A single quote itself is outside of them,
// and a line break is the variable that [withNewline] sets: between quotes it
// would begin a line of its own.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, plainInShell) == "" {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'`+shellNewline+`'`).Replace(word) + "'"
}

// shellNewline is how a quoted word refers to the variable with a line break. In no
// other place of a line is a dollar sign outside of single quotes before "nl".
const shellNewline = `"$nl"`

// withNewline sets the variable for line breaks in front of a line that uses it.
// A command substitution drops line breaks at its end, so a dot is put behind.
func withNewline(line string) string {
	if !strings.Contains(line, shellNewline) {
		return line
	}
	return `nl="$(printf '\n.')"; nl="${nl%.}"; ` + line
}

// plainInShell are characters without a meaning for a shell, in any place but
// the first of a line, where "=" would make an assignment: the program stands
// there.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
