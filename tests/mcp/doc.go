// Package mcp tests what a client of MCP sees. Every .txtar file of the folder wire is a session, played byte for byte on
// standard input and output, and every file of wire/http one over HTTP; the flag -update writes what the server answers
// into the files. Beyond single messages it tests typed tools, pages of long answers and the order of changes, and of
// the server over HTTP what a browser reaches, subscriptions, and many sessions.
//
// It also does pieces of real work, as an agent does them for its user, and counts what they take: calls, tokens and
// surprises. A surprise is an answer that is refused, or that does not have what the next step needs. And it sends the
// requests that models get wrong, of which the first suggestion has to be what was meant.
package mcp
