// Package streamable serves MCP over Streamable HTTP.
//
// A request is answered by a [wire.Server] after the checks of [handler], in this order: Host
// header, origin, path, token, method, headers and shape of the message, session. A client
// without the token learns only that there is a server, and cannot keep others out: a connection
// without the token is closed when the limit of connections is reached.
//
// The package knows nothing of commands, notes or tools. It opens no connection, reads no cookie,
// and rejects requests of web pages whose origin is not listed.
package streamable
