package main

import (
	"context"

	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var undoHelp = description{
	Name: "undo", Usage: "[flags] [list | ID | --batch ID | --session[=ID] | --grant ID]", Group: groupReview,
	Summary: "undo a change (default: the latest), or list what can be undone",
	About:   []string{"It restores the bytes before the change, unless somebody has changed the note since."},
	Examples: []example{
		{"what can be undone", "vaultwicket undo list --vault ~/Notes"},
		{"undo the latest change of a vault", "vaultwicket undo --vault ~/Notes --allow-mutations"},
		{"undo all changes of the latest session", "vaultwicket undo --vault ~/Notes --allow-mutations --session"},
		{"undo all that was made under a grant", "vaultwicket undo --vault ~/Notes --allow-mutations --grant g-k3v9q2wxab"},
	},
}

// undo runs "vaultwicket undo".
func undo(ctx context.Context, std terminal.Streams, args []string) error {
	return oversight.Undo(ctx, std, args, runAndPrint)
}
