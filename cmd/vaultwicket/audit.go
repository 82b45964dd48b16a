package main

var helpOfAudit = description{
	Name: "audit", Usage: "list [flags] | what-if [flags] | verify [flags] | export FILE|-", Group: groupReview, Summary: "list, verify or export the audit log",
	About: []string{
		"The log has a line for each decision and each outcome, chained by hashes. It contains names, lengths and digests, and never a text of a note.",
		"\"list\" prints entries, \"verify\" checks that nobody has changed or removed lines, and \"export\" writes all lines as they are.",
		"\"what-if\" counts by day what the content rules would have done with other settings, and without one what they found. It has only the facts of the log: which rules found what, and in which calls.",
		"\"verify --checkpoints\" also compares the log with the signed checkpoints in a file that was kept elsewhere, such as lines that the setting export has sent: that finds a log that was written anew as a whole. --key is the public key that they must be signed with, which it prints otherwise.",
	},
	Examples: []example{
		{"what was denied today", "vaultwicket audit list --decision deny --since today"},
		{"has somebody changed the log?", "vaultwicket audit verify"},
		{"how many calls would be refused?", "vaultwicket audit what-if --secrets block"},
		{"all lines, as JSON", "vaultwicket audit export audit.jsonl"},
		{"does the log match what the collector has?", "vaultwicket audit verify --checkpoints collected.jsonl"},
	},
}
