package query

// The limits of a query.
const (
	maxLength = 4 << 10 // bytes; a query is typed, or pasted from a sentence
	maxDepth  = 32      // of parentheses, dashes and operators in each other; it bounds the stack
	maxScopes = 4       // of operators that divide a text; each may multiply the work by the depth of headings
	maxTerms  = 256     // each can cost one pass over the text
)
