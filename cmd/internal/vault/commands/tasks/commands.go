// Package tasks has the commands about tasks: lists with filters, and changes of one task.
package tasks

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "tasks", OfIndex: true, Run: list},
		{Name: "task", Plan: mark, Verify: meansMarked, OnlyReads: func(p grammar.Values) bool { return !slices.ContainsFunc(taskChanges[:], p.Has) }},
		{Name: "task:add", Plan: add},
		{Name: "task:reschedule", Plan: reschedule},
	}
}
