package main

var approvalsHelp = description{
	Name: "approvals", Usage: "[flags]", Group: groupConsent, Summary: "list pending approvals",
	About: []string{
		"A call that requires approval is pending for ten minutes, whatever its MCP client shows. \"approve CODE\" shows everything that it would change.",
		"Below the calls are proposals: batches that agents have left for you, with their operations by name. They are kept for seven days.",
	},
	Examples: []example{{"what is pending", "vaultwicket approvals"}},
}

var approveHelp = description{
	Name: "approve", Usage: "[flags] CODE", Group: groupConsent, Summary: "approve a pending request, or take a proposal, at a terminal",
	About: []string{
		"It shows the request and asks at the terminal, so that an agent cannot approve its own calls. The approval is for this call only, once.",
		"You can take all of a proposal, or with --only or --without a part; the rest is declined. It is planned on the notes as they are now, shown, and made at once as one change, with the rights that its agent has at that time.",
	},
	Examples: []example{
		{"decide on a request by its code", "vaultwicket approve 7ZBC-2GX4"},
		{"take a part of a proposal", `vaultwicket approve 7ZBC-2GX4 --without c2 --say "not the second one"`},
	},
}

var denyHelp = description{
	Name: "deny", Usage: "[flags] CODE", Group: groupConsent, Summary: "deny a pending request, decline a proposal, or withdraw an approval",
	About: []string{
		"An approval can be withdrawn until the call has used it. The same call is refused for the next ten minutes.",
	},
	Examples: []example{{"deny a request by its code", "vaultwicket deny 7ZBC-2GX4"}},
}
