// Package mcpserver is the MCP face of the gateway: it turns tool calls into
// requests to package gateway and outcomes into tool results. It is the only
// package that imports mcp-go.
//
// It decides nothing about a command: what exists is the allowlist's business
// and what is permitted is the policy's. It never hands a message to mcp-go that
// it has not read strictly itself, because encoding/json takes keys in any case
// and lets the last of two equal keys win, and a decision must not depend on
// which of them somebody looked at. It keeps to the protocol on its output and
// writes nothing else there.
//
// On stdio it stands on both sides of mcp-go. In front, [intake] bounds every
// line, queues what is too much at once, and keeps the end of the input back
// until every request is answered. Behind, [outlet] writes one message at a
// time and holds back answers to requests that were cancelled. Between the two,
// [calls] knows which requests are open.
package mcpserver
