package main

var agentHelp = description{
	Name: "agent", Usage: "[flags] add NAME | list | show NAME | rotate NAME | revoke NAME | remove NAME", Group: groupConsent,
	Summary: "add and revoke agents and their HTTP tokens",
	About: []string{
		"\"add\" defines an agent in the settings file, unless it is already defined, with the rights of --tier and --allow-mutations (default: v0, no changes), and prints a token for HTTP. The token is printed once; only its hash is stored.",
		"\"rotate\" makes a new token, and ends a revocation. \"revoke\" takes all rights from an agent at once, in every running server, also over stdio. \"remove\" deletes its token; first remove its table from the settings file yourself.",
		"All three invalidate what the agent had before: the token, sign-ins of clients, sessions, questions and approvals. Clients must sign in again.",
	},
	Examples: []example{
		{"an agent that may read all notes", "vaultwicket agent add cursor --tier v1"},
		{"all agents", "vaultwicket agent list"},
		{"take all rights from one", "vaultwicket agent revoke cursor"},
	},
}
