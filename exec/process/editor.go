package process

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
)

// Editor is a program with which the owner edits a text at their terminal. It is only created by [EditorAt], which
// no call of an agent can reach.
type Editor struct {
	program []string
	env     []string
	in, out *os.File
}

// ErrNoTerminal is the error of [EditorAt] if there is no terminal at which a user could edit a text.
var ErrNoTerminal = errors.New("standard input or output is not a terminal")

// EditorAt returns the editor for the owner at the terminal in and out. command is a program with arguments, such as
// "code --wait". It is split at blanks, without a shell; it may also be just the path of a program, with blanks in
// it. env is the environment of the editor. The error is [ErrNoTerminal], or says that the program was not found.
func EditorAt(in, out *os.File, command string, env []string) (Editor, error) {
	if !isConsole(in) || !isConsole(out) {
		return Editor{}, ErrNoTerminal
	}
	program := []string{command}
	path, err := osexec.LookPath(command)
	if words := strings.Fields(command); err != nil && len(words) > 1 {
		program = words
		path, err = osexec.LookPath(words[0])
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return Editor{}, fmt.Errorf("editor %q: %w", command, err)
	}
	program[0] = path
	return Editor{program, env, in, out}, nil
}

func isConsole(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Edit lets the owner edit a file, and returns when the editor has ended. Until then the editor controls the
// terminal and gets its signals. The error says that the editor could not be started, or that it ended with a status
// other than 0.
func (e Editor) Edit(file string) error {
	if len(e.program) == 0 {
		return ErrNoTerminal
	}
	arguments := append(e.program[1:len(e.program):len(e.program)], file)
	cmd := osexec.Command(e.program[0], arguments...)
	cmd.Env = append([]string{}, e.env...) // not nil, which would mean the environment of this process
	cmd.Stdin = e.in
	cmd.Stdout = e.out
	cmd.Stderr = e.out
	if err := children.start(cmd.Start, cmd); err != nil {
		return fmt.Errorf("editor %q: %w", e.program[0], err)
	}
	if err := children.wait(cmd); err != nil {
		return fmt.Errorf("editor %q: %w", e.program[0], err)
	}
	return nil
}
