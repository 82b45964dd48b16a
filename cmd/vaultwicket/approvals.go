package main

var helpOfApprovals = description{
	Name: "approvals", Usage: "[flags]", Group: groupConsent, Summary: "list pending approvals",
	About: []string{
		"A call that requires approval is pending here for ten minutes, whatever its MCP client shows. approve CODE shows all that it would write.",
	},
	Examples: []example{{"what is pending", "vaultwicket approvals"}},
}

var helpOfApprove = description{
	Name: "approve", Usage: "CODE", Group: groupConsent, Summary: "approve a pending request, at a terminal",
	About: []string{
		"It shows the request and asks at the terminal, so that an agent cannot approve its own calls. The approval is for this call, once.",
	},
	Examples: []example{{"decide on a request by its code", "vaultwicket approve 7ZBC-2GX4"}},
}

var helpOfDeny = description{
	Name: "deny", Usage: "CODE", Group: groupConsent, Summary: "deny a pending request, or withdraw an approval",
	About: []string{
		"An approval can be withdrawn until the call has used it. The same call is then refused for ten minutes.",
	},
	Examples: []example{{"deny a request by its code", "vaultwicket deny 7ZBC-2GX4"}},
}
