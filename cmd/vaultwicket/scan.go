package main

var scanHelp = description{
	Name: "scan", Usage: "[flags]", Group: groupReview, Summary: "find keys, tokens and passwords in a vault",
	About: []string{
		"One row for each secret: the file, the line and the kind, but never the value; a secret in the name of a file or folder has no line and … in its place. They are what the setting secrets redacts in answers; with --secrets=strict, card and account numbers are listed, too. Files that cannot be read are named on standard error.",
	},
	Examples: []example{
		{"a vault", "vaultwicket scan --vault ~/Notes"},
		{"in a script that must fail if there is a secret", "vaultwicket scan --vault ~/Notes --strict"},
	},
}
