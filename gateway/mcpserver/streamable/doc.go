// Package streamable is the door to the network: MCP over Streamable HTTP. It is
// the only package that serves HTTP.
//
// mcp-go reads the protocol, and nothing reaches it that has not passed here.
// The order is that of [door]: the name the client calls us by, where the request
// comes from, the path, the token, the method, the shape of the message, the
// session. Each step has its file. Whoever has no token learns nothing but that
// there is a server, and can keep nobody out: a connection without a token makes
// room when there is none left.
//
// It knows nothing of commands, notes or tools: it serves any server of mcp-go.
// It opens no connection, reads no cookie, and lets no page of a browser in whose
// origin is not listed.
package streamable
