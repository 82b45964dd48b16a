package main

var journalHelp = description{
	Name: "journal", Usage: "[flags] list | show ID", Group: groupReview, Summary: "list changes",
	About: []string{
		"\"list\" prints the latest changes, \"show\" the details of one: its notes with their hashes, who made it, and what undid it. No text of a note is shown.",
	},
	Examples: []example{
		{"the latest changes of a vault", "vaultwicket journal list --vault ~/Notes"},
		{"the changes of one agent", "vaultwicket journal list --vault ~/Notes --agent cursor"},
		{
			"those since yesterday, with exact times",
			"vaultwicket journal list --vault ~/Notes --since yesterday --exact-times",
		},
	},
}
