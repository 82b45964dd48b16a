// Package work does ten pieces of real work over MCP, as an agent does them for its user,
// and counts what they take: calls, tokens and surprises. A surprise is an answer that is
// refused, or that does not have what the next step needs.
package work
