package main

var accessHelp = description{
	Name: "access", Usage: "[flags] PATH", Group: groupConfigure, Summary: "what agents can do with a note or folder, and which rule says so",
	Examples: []example{{"may an agent see this folder?", "vaultwicket access --vault ~/Notes Private"}},
}
