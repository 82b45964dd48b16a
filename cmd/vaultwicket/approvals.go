package main

var helpOfApprovals = description{
	Name: "approvals", Usage: "[flags]", Group: groupConsent, Summary: "list pending approvals",
	About: []string{
		"A call that requires approval is pending here for ten minutes, whatever its MCP client shows. approve CODE shows all that it would write.",
		"Below them are proposals: batches that agents have left for you, with their operations by name. They wait for seven days.",
	},
	Examples: []example{{"what is pending", "vaultwicket approvals"}},
}

var helpOfApprove = description{
	Name: "approve", Usage: "[flags] CODE", Group: groupConsent, Summary: "approve a pending request, or take a proposal, at a terminal",
	About: []string{
		"It shows the request and asks at the terminal, so that an agent cannot approve its own calls. The approval is for this call, once.",
		"Of a proposal you take all, or with --only or --without a part; the rest is declined. It is planned on the notes as they are, shown, and made at once as one change, under the rights that its agent has then by the settings.",
	},
	Examples: []example{
		{"decide on a request by its code", "vaultwicket approve 7ZBC-2GX4"},
		{"take a part of a proposal", `vaultwicket approve 7ZBC-2GX4 --without c2 --say "not the second one"`},
	},
}

var helpOfDeny = description{
	Name: "deny", Usage: "[flags] CODE", Group: groupConsent, Summary: "deny a pending request, decline a proposal, or withdraw an approval",
	About: []string{
		"An approval can be withdrawn until the call has used it. The same call is then refused for ten minutes.",
	},
	Examples: []example{{"deny a request by its code", "vaultwicket deny 7ZBC-2GX4"}},
}
