package main

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
)

// acting describes a subcommand that changes something before it prints. If its output cannot be written, the user
// must be told that the change was made.
type acting struct {
	look   string                   // a hint about where the user can see the change
	reads  []string                 // arguments with which the subcommand only prints
	isRead func(args []string) bool // replaces reads, may be nil
}

// lookAtNotes is the hint about where the user can see changes of notes.
const lookAtNotes = `"vaultwicket audit list" and "vaultwicket undo list" show what was done`

// actingCommands are the subcommands that change something.
var actingCommands = map[string]acting{
	"run":       {look: lookAtNotes, isRead: runsReading},
	"batch":     {look: lookAtNotes, reads: []string{"--dry-run"}},
	"undo":      {look: lookAtNotes, reads: []string{"list"}},
	"approve":   {look: lookAtNotes},
	"deny":      {look: `"vaultwicket approvals" lists what still waits`},
	"config":    {look: `"vaultwicket config show" prints the settings`, reads: []string{"show", "check", "path", "schema"}},
	"setup":     {look: `"vaultwicket doctor" checks the installation`},
	"install":   {look: `"vaultwicket install --list" shows what is installed`, reads: []string{"--list", "--print", "--link", "--dry-run"}},
	"uninstall": {look: `"vaultwicket install --list" shows what is installed`, reads: []string{"--dry-run"}},
	"grant":     {look: `"vaultwicket grants" lists the grants`},
	"grants":    {look: `"vaultwicket grants" lists the grants`, isRead: func(args []string) bool { return !slices.Contains(args, "end") }},
	"pause":     {look: `"vaultwicket doctor" says whether it is paused`},
	"resume":    {look: `"vaultwicket doctor" says whether it is paused`},
	"agent":     {look: `"vaultwicket agent list" shows the agents, and "vaultwicket agent rotate NAME" prints another token`, reads: []string{"list", "show"}},
	"passkey":   {look: `"vaultwicket passkey list" shows the passkeys`, reads: []string{"list"}},
	"flow":      {look: `"vaultwicket access PATH" shows what a note is made of`},
}

// acts reports whether a subcommand changes something with these arguments, and where the user can see that.
func acts(name string, args []string) (look string, does bool) {
	command, isActing := actingCommands[name]
	if !isActing {
		return "", false
	}
	isRead := slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(command.reads, arg) })
	if command.isRead != nil {
		isRead = command.isRead(args)
	}
	return command.look, !isRead
}

// runsReading reports whether the arguments of run contain a command that changes nothing, or no command.
func runsReading(args []string) bool {
	for _, arg := range args {
		if described, err := allowlist.Describe(arg); err == nil {
			return !described.Effect.Mutates()
		}
	}
	return true
}
