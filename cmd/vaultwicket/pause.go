package main

var pauseHelp = description{
	Name: "pause", Usage: "[--agent NAME] [--json]", Group: groupConsent, Summary: "deny every call immediately, in every running server",
	Examples: []example{
		{"stop all agents at once", "vaultwicket pause"},
		{"stop one agent, also a call under way", "vaultwicket pause --agent cursor"},
	},
}

var resumeHelp = description{
	Name: "resume", Usage: "[--agent NAME] [--json]", Group: groupConsent, Summary: "resume after a pause",
	Examples: []example{{"end the pause", "vaultwicket resume"}},
}
