package main

var helpOfScan = description{
	Name: "scan", Usage: "[flags]", Group: groupReview, Summary: "find keys, tokens and passwords in a vault",
	About: []string{
		"One row for each: the file, the line and the kind, never the value. These are what the setting secrets redacts in answers; with --secrets=strict numbers of cards and accounts are listed, too. What cannot be read is named on standard error.",
	},
	Examples: []example{
		{"a vault", "vaultwicket scan --vault ~/Notes"},
		{"in a script, which ends where a secret is found", "vaultwicket scan --vault ~/Notes --strict"},
	},
}
