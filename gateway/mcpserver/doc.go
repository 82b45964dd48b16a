// Package mcpserver is the MCP server of the gateway: it turns tool calls into requests to
// package gateway, and outcomes into tool results. Together with the packages below it, it
// is the only importer of mcp-go.
//
// It decides nothing about a command: the allowlist says what exists, and the policy says
// what is permitted. Every message is decoded strictly by package message before mcp-go
// sees it, because encoding/json takes keys in any case and lets the last of two equal keys
// win: a decision must not depend on which of them a reader looked at.
//
// The packages below it: stdio and streamable are the transports, message decodes JSON-RPC
// messages, arguments decodes the arguments of tools, typed has the typed tools, prompts the
// prompts.
package mcpserver
