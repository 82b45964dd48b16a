package main

var todayHelp = description{
	Name: "today", Usage: "[flags]", Group: groupReview, Summary: "what was changed in a vault today, and by whom",
	About: []string{
		"One row for each changed note, newest first: when, which note, the agent and its client program, the command, and how many lines were added and removed. Only changes through vaultwicket are known.",
	},
	Examples: []example{
		{"all changes of today", "vaultwicket today --vault ~/Notes"},
		{"those of one agent since yesterday", "vaultwicket today --vault ~/Notes --since yesterday --agent cursor"},
	},
}
