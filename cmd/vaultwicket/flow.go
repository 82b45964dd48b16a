package main

var flowHelp = description{
	Name: "flow", Usage: "clear [flags] PATH", Group: groupConfigure, Summary: "clear what a note was made from, for flow rules",
	About: []string{
		"For flow rules, a note that vaultwicket made from another one, by copy, move, merge or template, counts as a note of that place, too. \"vaultwicket access\" shows what a note was made from. \"flow clear\" clears this for a note, for all notes in a folder, or with / for all. Notes that were made from them earlier are not affected.",
	},
	Examples: []example{
		{"the note may go where its own place lets it", "vaultwicket flow clear --vault ~/Notes Shared/Plan.md"},
	},
}
