package main

var helpOfGrant = description{
	Name: "grant", Usage: "[flags] --agent NAME --commands LIST --in FOLDER", Group: groupConsent,
	Summary: "allow an agent changes in advance, at a terminal",
	About: []string{
		"A grant answers the question about a change, and nothing else: tier, rights, access rules and scopes apply as before. It is judged by all that a change would touch, and counted before the change is made, in every server.",
		"Publishing, addresses that carry text of notes, notes with private marks, and what is asked because of \"suspicious\", \"flow\" or a change of another agent are asked about all the same.",
		"It ends with its time and its counts, with \"grants end\", when the agent is revoked, when its rules are narrowed, and when the clock was set back. \"pause\" suspends it.",
	},
	Examples: []example{
		{
			"a job of two hours in one folder",
			"vaultwicket grant --agent cursor --vault ~/Notes --commands append,create,property:set --in Projects --notes 40 --changes 100 --for 2h",
		},
		{
			"clean up drafts, up to 200 lines in all",
			"vaultwicket grant --agent cursor --vault ~/Notes --commands delete --in Drafts --destructive --notes 10 --lines 200",
		},
	},
}

var helpOfGrants = description{
	Name: "grants", Usage: "[flags] [end ID]", Group: groupConsent, Summary: "list what you have allowed in advance with what is left of it, or end it",
	Examples: []example{
		{"what is in force", "vaultwicket grants"},
		{"end one", "vaultwicket grants end g-k3v9q2wxab"},
	},
}
