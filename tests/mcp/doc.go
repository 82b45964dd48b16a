// Package mcp tests what a client of MCP sees beyond single messages: typed tools,
// pages of long answers, the order of changes.
package mcp
