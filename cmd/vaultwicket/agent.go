package main

var helpOfAgent = description{
	Name: "agent", Usage: "[flags] add NAME | list | show NAME | rotate NAME | revoke NAME | remove NAME", Group: groupConsent,
	Summary: "add and revoke agents and their HTTP tokens",
	About: []string{
		"\"add\" defines an agent in the settings file, unless it is defined there, with the rights of --tier and --allow-mutations (default: v0, no changes), and prints a token for HTTP. It is printed once; only its hash is stored.",
		"\"rotate\" makes a new token, and ends a revocation. \"revoke\" takes all rights from an agent at once, in every running server, also over stdio. \"remove\" forgets its token; the table in the settings file is removed by you, first.",
		"Each of the three ends what was given before: the token, sign-ins of clients, sessions, questions and approvals. Clients that signed in have to do so again.",
	},
	Examples: []example{
		{"an agent that may read all notes", "vaultwicket agent add cursor --tier v1"},
		{"all agents", "vaultwicket agent list"},
		{"take all rights from one", "vaultwicket agent revoke cursor"},
	},
}
