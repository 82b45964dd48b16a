// Package command is what a command of the embedded vault CLI is, and how one that
// writes is carried out.
//
// A command that writes returns a [Proposal] and changes nothing itself. [Write]
// judges the proposal by the access rules, keeps the old texts in the journal, does
// the steps, reads the result back and closes the journal entry. The same proposal
// can be shown as a plan, or be carried out by the app and verified afterwards.
package command

import (
	"cmp"

	"vaultwicket/allowlist"
)

// Command is one row of the table of what this program can do. What it can carry and
// what it is for is declared by the row of the same name in package allowlist.
type Command struct {
	Name string
	// Help is for a command that does something else here than in the app.
	Help string
	// Positional names the parameter that a bare word gives, "" if none is taken, and
	// Escaped one in which escapes are expanded as in the text of a note.
	Positional, Escaped string
	// Run answers a command that reads. One that may change the vault has Plan in
	// its place, which says what it would do and touches nothing.
	Run  func(*Vault, Values) (Reply, error)
	Plan func(*Vault, Values) (Proposal, error)
	// OfIndex says that an answer depends on the index, on the day and on the request
	// alone, unless the request is about the active note or today's.
	OfIndex bool
	// OfFiles says the same of an answer for which no index is made where none is current.
	OfFiles bool
	// OnlyReads reports whether a request of a command with a plan only shows
	// something, nil means that none does.
	OnlyReads func(Values) bool
	// Verify judges what the app made of a file, where it is not byte for byte what
	// was planned. With nil nothing else is what was asked for.
	Verify Verifier
}

// Writes reports whether the command changes the vault.
func (c Command) Writes() bool { return c.Plan != nil }

// Syntax returns what a command line of the command can carry, and what it is for. A
// command without a row in allowlist can carry nothing.
func (c Command) Syntax() (s Syntax, help string) {
	row, _ := allowlist.Describe(c.Name)
	return Syntax{Name: c.Name, Params: row.Params, Positional: c.Positional, Escaped: c.Escaped}, cmp.Or(c.Help, row.Summary)
}
