package main

var grantHelp = description{
	Name: "grant", Usage: "[flags] --agent NAME --commands LIST --in FOLDER", Group: groupConsent,
	Summary: "allow an agent changes in advance, at a terminal",
	About: []string{
		"A grant replaces the question about a change, and nothing else: tier, rights, access rules and scopes still apply. Everything that a change would touch must be within the grant, and the change is counted before it is made, in all servers together.",
		"You are still asked about publishing, new links that contain note text, notes that restrict access to themselves, calls that \"suspicious\" or \"flow\" ask about, and undoing changes of another agent.",
		"It ends when its time or its counts are used up, with \"grants end\", when the agent is revoked, when its rules become stricter, and when the clock is set back. \"pause\" suspends it.",
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

var grantsHelp = description{
	Name: "grants", Usage: "[flags] [end ID]", Group: groupConsent, Summary: "list grants and what is left of them, or end one",
	Examples: []example{
		{"what is in force", "vaultwicket grants"},
		{"end one", "vaultwicket grants end g-k3v9q2wxab"},
	},
}
