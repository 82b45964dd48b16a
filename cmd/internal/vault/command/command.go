// Package command is what a command of the embedded vault CLI is, and how one that
// writes is carried out.
//
// A command that writes returns a [Proposal] and changes nothing itself. [Write]
// judges the proposal by the access rules, keeps the old texts in the journal, does
// the steps, reads the result back and closes the journal entry. The same proposal
// can be shown as a plan, or be carried out by the app and verified afterwards.
package command

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// Command is one row of the table of what this program can do.
type Command struct {
	Name   string
	Help   string
	Params []grammar.Param
	// bare names the value that a bare word stands for, if one is taken.
	Positional string
	// run answers a command that reads. One that may change the vault has plan in
	// its place, which says what it would do and touches nothing.
	Run  func(*session.Vault, grammar.Values) (answer.Reply, error)
	Plan func(*session.Vault, grammar.Values) (Proposal, error)
	// OfIndex says that an answer depends on the index, on the day and on the request
	// alone, unless the request is about the active note or today's.
	OfIndex bool
	// OfFiles says the same of an answer for which no index is made where none is current.
	OfFiles bool
	// shows reports whether a request of a command with a plan only shows
	// something, nil means that none does.
	OnlyReads func(grammar.Values) bool
	// meant judges what the app made of a file, where it is not byte for byte what
	// was planned. With nil nothing else is what was asked for.
	Verify Verifier
}

// Writes reports whether the command changes the vault.
func (c Command) Writes() bool { return c.Plan != nil }

// Syntax returns what a command line of the command can carry.
func (c Command) Syntax() grammar.Syntax {
	return grammar.Syntax{Name: c.Name, Params: c.Params, Positional: c.Positional}
}
