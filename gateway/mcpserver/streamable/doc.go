// Package streamable serves MCP over Streamable HTTP. It is the only package that serves
// HTTP.
//
// mcp-go decodes the protocol, and no request reaches it before the checks of [handler], in
// this order: Host header, origin, path, token, method, shape of the message, session. Each
// check has its file. A client without the token learns nothing but that there is a server,
// and cannot block others: a connection without the token is closed when the limit of
// connections is reached.
//
// It knows nothing of commands, notes or tools: it serves any server of mcp-go. It opens no
// connection, reads no cookie, and rejects requests of web pages whose origin is not
// listed.
package streamable
