package main

var helpOfPasskey = description{
	Name: "passkey", Usage: "[flags] add | list | remove ID", Group: groupConsent,
	Summary: "manage passkeys for HTTP sign-in, and revoke clients that used them",
	About: []string{
		"A server with --sign-in passkey lets you sign in with a passkey and grant clients the rights of an agent. \"add\" prints a link to one page of that server, which adds a passkey of the device on which you open it; it is valid once, for 15 minutes.",
		"\"list\" shows the passkeys, and the clients with what was granted to them. \"remove\" takes away one of either, at once.",
	},
	Examples: []example{
		{"a passkey of your phone", "vaultwicket passkey add"},
		{"who may sign in, and which clients have", "vaultwicket passkey list"},
	},
}
