// Package mcp tests what a client of MCP sees beyond single messages: typed tools, pages of long answers, the order of
// changes. It also does pieces of real work, as an agent does them for its user, and counts what they take: calls,
// tokens and surprises. A surprise is an answer that is refused, or that does not have what the next step needs. And it
// sends the requests that models get wrong, of which the first suggestion has to be what was meant.
package mcp
