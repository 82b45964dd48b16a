// Package httpguard has what every server over HTTP of this program checks of a request
// before anything else: the name by which it is called, the page that sent it, and how
// long and how often a client may come. The MCP transport and the local page use it.
//
// It knows no token and no path. Who passes is not yet allowed anything.
package httpguard
