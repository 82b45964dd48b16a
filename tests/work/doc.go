// Package work does pieces of real work over MCP, as an agent does them for its user,
// and counts what they take: calls, tokens and surprises. A surprise is an answer that is
// refused, or that does not have what the next step needs. It also sends the requests that models get
// wrong, of which the first suggestion has to be what was meant.
package work
