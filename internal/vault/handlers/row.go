package handlers

import (
	"cmp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Command is a row of the table of commands. Its parameters and its summary are in the row of the same name in
// package allowlist.
type Command struct {
	Name       string
	Help       string // replaces the summary of allowlist if the command differs from the app's; "" keeps it
	Positional string // the parameter that a bare word sets, "" if the command accepts no bare word
	Escaped    string // a parameter in which escapes are expanded as in the text of a note
	// Run answers a command that only reads. A command that may change the vault has Plan instead,
	// which itself changes nothing.
	Run  func(*call.Vault, call.Values) (answer.Reply, error)
	Plan func(*call.Vault, call.Values) (change.Proposal, error)
	// OfIndex reports that an answer depends only on the index, the day and the request, unless the
	// request is about the active note or today's. OfFiles reports the same, but the command does not
	// build an index if there is no current one.
	OfIndex, OfFiles bool
	OnlyReads        func(call.Values) bool // reports whether a request of a command with Plan only reads; nil: never
	Verify           change.Verifier        // judges an app's change that differs from the plan; nil refuses it
	// Elsewhere is documented in [change.Command].
	Elsewhere func(*call.Vault, call.Values) ([]disk.Path, error)
}

// Writes reports whether the command changes the vault.
func (c Command) Writes() bool { return c.Plan != nil }

// Change returns the part of the row that describes how the command changes the vault.
func (c Command) Change() change.Command {
	return change.Command{
		Name:      c.Name,
		Plan:      c.Plan,
		OnlyReads: c.OnlyReads,
		Verify:    c.Verify,
		Elsewhere: c.Elsewhere,
	}
}

// Syntax returns the parameters of the command and its help text. A command without a row in allowlist has no
// parameters.
func (c Command) Syntax() (syntax call.Syntax, help string) {
	row, _ := allowlist.Describe(c.Name)
	syntax = call.Syntax{
		Name:       c.Name,
		Params:     row.Params,
		Positional: c.Positional,
		Escaped:    c.Escaped,
	}
	return syntax, cmp.Or(c.Help, row.Summary)
}
