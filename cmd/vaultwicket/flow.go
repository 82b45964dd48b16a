package main

var helpOfFlow = description{
	Name: "flow", Usage: "clear [flags] PATH", Group: groupConfigure, Summary: "clear what a note was made of, for flow rules",
	About: []string{
		"A note that vaultwicket has made of another one, by copy, move, merge or template, counts for flow rules as one of the place where that was. access shows what a note was made of; flow clear forgets it: of a note, of all notes in a folder, or with / of all. Notes that were made of these before keep theirs.",
	},
	Examples: []example{
		{"the note may go where its own place lets it", "vaultwicket flow clear --vault ~/Notes Shared/Plan.md"},
	},
}
