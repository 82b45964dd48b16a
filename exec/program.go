package exec

import (
	"fmt"
	"path/filepath"
	"runtime"

	"vaultwicket/allowlist"
)

// Program is something a [Runner] can start. [Runner.App] and
// [Runner.Embedded] make one; the zero Program runs nothing.
type Program struct {
	backend backend
	path    string // absolute, links resolved
	name    string // what the program is told it was called as
	folder  string // the vault of the embedded program
	options WriteOptions
}

// WriteOptions says how the embedded program carries out a call that changes
// something. The app knows no such thing.
type WriteOptions struct {
	Task          Task   // the zero Task carries the call out
	Entry         string // id of the journal entry, "" for a generated one
	Expect        string // hash that the note must have, "" for any
	Caller, Batch string // who makes the change, and its batch: for the journal, and the right to undo
	Client        string // the name that the client gave, "" for none
	Sparing       bool   // refuses a change that removes so much that it requires approval
	// Addresses is "ask" if a change is destructive that adds an address with text of another note,
	// "log" if that is only reported, "" if nothing is looked for.
	Addresses string
	// Approved is the digest of the change that a user was shown, from its [Plan], "" for any.
	// Another change is refused.
	Approved string
}

// Task is a part of carrying out a change.
type Task uint8

const (
	Whole Task = iota // carries out the call
	Plan              // works out what the call would change, and changes nothing
	Begin             // does the same and records it in the journal, for a call that another program carries out
	End               // compares the files with that record, and writes the outcome to the journal
)

const writeSwitch = "--write"

var taskSwitches = [...]string{Plan: "--plan", Begin: "--begin", End: "--end"}

// WithOptions returns the program with options for the calls that change something.
func (p Program) WithOptions(m WriteOptions) Program {
	p.options = m
	return p
}

// switches returns the switches before a command that changes something. The program changes
// nothing without --write, which calls that read and plans do not get.
func (m WriteOptions) switches() (args []string) {
	if m.Task != Plan {
		args = append(args, writeSwitch)
	}
	if m.Task != Whole {
		args = append(args, taskSwitches[m.Task])
	}
	for _, s := range [...]struct{ name, value string }{
		{"--change", m.Entry}, {"--expect", m.Expect}, {"--caller", m.Caller}, {"--client", m.Client}, {"--batch", m.Batch}, {"--addresses", m.Addresses},
	} {
		if s.value != "" {
			args = append(args, s.name, s.value)
		}
	}
	if m.Sparing {
		args = append(args, "--sparing")
	}
	if m.Approved != "" {
		args = append(args, "--approved", m.Approved)
	}
	return args
}

type backend uint8

const (
	_ backend = iota
	appBackend
	embeddedBackend
)

// Backend returns "obsidian" or "embedded", "" for the zero Program.
func (p Program) Backend() string {
	switch p.backend {
	case appBackend:
		return "obsidian"
	case embeddedBackend:
		return "embedded"
	}
	return ""
}

// Path returns the absolute path of the binary, "" for the zero Program.
func (p Program) Path() string { return p.path }

// Command is a process to start for a call.
type Command struct {
	Path string
	// Args are the arguments after the name of the program. The first Prefix of
	// them start the embedded program on its vault; the rest is the call.
	Args   []string
	Prefix int
	// Stdin is the value of the parameter StdinParam. With an empty StdinParam nothing is sent.
	StdinParam, Stdin string
}

// Command returns what Run would start for call, and starts nothing. The error is a
// [*allowlist.ParseError] if the call cannot be passed to the program, or [ErrNoProgram].
func (p Program) Command(call allowlist.Call) (Command, error) {
	switch p.backend {
	case appBackend:
		line, err := call.Line(allowlist.ToApp(runtime.GOOS))
		return Command{Path: p.path, Args: line.Argv}, err
	case embeddedBackend:
		var err error
		if call.Vault() != "" { // the app may know the same vault by an id, or by another name
			if call, err = call.In(filepath.Base(p.folder)); err != nil {
				return Command{}, err
			}
		}
		line, err := call.Line(allowlist.ToEmbedded(runtime.GOOS))
		if err != nil {
			return Command{}, err
		}
		args := append(make([]string, 0, 16), "vault", p.folder)
		if line.StdinParam != "" {
			args = append(args, "--stdin", line.StdinParam)
		}
		if call.Effect().Mutates() {
			args = append(args, p.options.switches()...)
		}
		args = append(args, "--facts")
		return Command{Path: p.path, Args: append(args, line.Argv...), Prefix: len(args), StdinParam: line.StdinParam, Stdin: line.Stdin}, nil
	}
	return Command{}, ErrNoProgram
}

func invalidVault(folder, reason string, cause error) *Unavailable {
	return &Unavailable{code: CodeVaultNotFound, reason: fmt.Sprintf("vault %q: %s", folder, reason), cause: cause,
		hint: "the user can set vault to the folder of an existing vault"}
}

func selfNotAbsolute(path string) *Unavailable {
	return &Unavailable{code: CodeNotFound, program: path, reason: "the path of the gateway itself is not absolute",
		hint: "the user can start the gateway by its full path"}
}
