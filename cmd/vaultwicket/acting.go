package main

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
)

// acting is a subcommand that does something before it prints what it was, so that it was done although the output could
// not be written.
type acting struct {
	look   string                   // where the user sees what was done
	reads  []string                 // words with which it only prints
	isRead func(args []string) bool // in place of the words, may be nil
}

// lookAtNotes is where the user sees what was done to notes.
const lookAtNotes = `"vaultwicket audit list" and "vaultwicket undo list" show what was done`

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

// acts reports whether a subcommand with these arguments does something, and where the user sees that.
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

// runsReading reports whether a command line of run has a command that changes nothing.
func runsReading(args []string) bool {
	for _, arg := range args {
		if described, err := allowlist.Describe(arg); err == nil {
			return !described.Effect.Mutates()
		}
	}
	return true
}
