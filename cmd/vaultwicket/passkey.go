package main

var passkeyHelp = description{
	Name: "passkey", Usage: "[flags] add | list | remove ID", Group: groupConsent,
	Summary: "manage passkeys for HTTP sign-in, and revoke clients that used them",
	About: []string{
		"A server with --sign-in passkey lets you sign in with a passkey and grant clients the rights of an agent. \"add\" prints a link to a page of that server. Open it on the device whose passkey you want to add; it works once, within 15 minutes.",
		"\"list\" shows the passkeys, and the clients with what was granted to them. \"remove\" removes a passkey or a client at once.",
	},
	Examples: []example{
		{"a passkey of your phone", "vaultwicket passkey add"},
		{"who may sign in, and which clients have", "vaultwicket passkey list"},
	},
}
