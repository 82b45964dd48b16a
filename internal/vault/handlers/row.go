package handlers

import (
	"cmp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Command is one row of the table of what this program can do. What it can carry and
// what it is for is declared by the row of the same name in package allowlist.
type Command struct {
	Name       string
	Help       string // "" for that of allowlist; for a command that differs from that of the app
	Positional string // the parameter of a bare word, "" if none is taken
	Escaped    string // a parameter in which escapes are expanded as in the text of a note
	// Run answers a command that reads. One that may change the vault has Plan instead, which
	// changes nothing.
	Run  func(*call.Vault, call.Values) (answer.Reply, error)
	Plan func(*call.Vault, call.Values) (change.Proposal, error)
	// OfIndex says that an answer depends only on the index, the day and the request, unless the
	// request is about the active note or today's. OfFiles says the same of an answer for which
	// no index is made if none is current.
	OfIndex, OfFiles bool
	OnlyReads        func(call.Values) bool // whether a request of a command with a plan only shows something; nil for never
	Verify           change.Verifier        // of a file that differs from the plan after the app has changed it; nil refuses it
	// Elsewhere is that of [change.Command].
	Elsewhere func(*call.Vault, call.Values) ([]disk.Path, error)
}

// Writes reports whether the command changes the vault.
func (c Command) Writes() bool { return c.Plan != nil }

// Change returns what of the row says how the command changes the vault.
func (c Command) Change() change.Command {
	return change.Command{Name: c.Name, Plan: c.Plan, OnlyReads: c.OnlyReads, Verify: c.Verify, Elsewhere: c.Elsewhere}
}

// Syntax returns what a command line of the command can carry, and what it is for. A
// command without a row in allowlist can carry nothing.
func (c Command) Syntax() (s call.Syntax, help string) {
	row, _ := allowlist.Describe(c.Name)
	return call.Syntax{
			Name:       c.Name,
			Params:     row.Params,
			Positional: c.Positional,
			Escaped:    c.Escaped,
		}, cmp.Or(
			c.Help,
			row.Summary,
		)
}
