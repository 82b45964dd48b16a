// Package mcpserver is the MCP server of the gateway: it turns tool calls into requests to
// package gateway, and outcomes into tool results. Together with the packages below it, it
// is the only importer of mcp-go.
//
// It decides nothing about a command: the allowlist says what exists, and the policy says
// what is permitted. Messages, and the arguments in them, are decoded strictly: encoding/json
// takes keys in any case and lets the last of two equal keys win, and a decision must not
// depend on which of them a reader looked at.
//
// Package wire has messages, sessions and standard input and output, package streamable HTTP.
package mcpserver
