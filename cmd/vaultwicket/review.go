package main

var reviewHelp = description{
	Name: "review", Usage: "[flags]", Group: groupReview, Summary: "what agents have changed under grants, as one difference a note",
	About: []string{
		"Changes that are in effect, since the last review or in the last day. Below each note are the changes that it is made of, by their ids.",
		"With --undo changes are taken back, each by itself and the latest first; what cannot be is left, and said why.",
	},
	Examples: []example{
		{"a night's changes", "vaultwicket review --vault ~/Notes"},
		{"all that one grant allowed", "vaultwicket review --vault ~/Notes --grant g-k3v9q2wxab"},
		{"take back one change", "vaultwicket review --vault ~/Notes --allow-mutations --undo 20261121T083000.000000000Z-00aa"},
	},
}
