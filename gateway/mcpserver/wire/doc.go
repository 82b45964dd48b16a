// Package wire is the MCP protocol between clients and the server: messages, sessions, and the
// transport on standard input and output. Package streamable has the other transport, HTTP.
//
// [Decode] decodes JSON-RPC messages strictly. encoding/json takes keys in any case and lets the
// last of two equal keys win, so two readers of one message can see different requests; Decode
// accepts only a message that every JSON reader decodes alike. mcp-go sees no other message.
//
// [Server] answers requests, the same way for both transports: plain calls of tools by their
// handlers, all others by mcp-go. The transports of mcp-go are not used: that on standard
// input loses answers at the end of the input, and both can deliver notifications after the
// response that they belong to. Here a notification has been written when [Notify] returns.
//
// The package decides nothing about tools or commands.
package wire
