// Package syntax parses the expressions of bases: filters, formulas and summaries. It does
// not know functions or properties.
//
// The grammar, lowest precedence first; all binary operators are
// left-associative:
//
//	||  &&  == != < > <= >=  + -  * / %  prefix ! -  .name [index] (arguments)
//
// There is no object literal, no unary plus, no conditional operator and no
// template string.
package syntax

import (
	"fmt"
	"unicode/utf16"
)

// Node is a node of the syntax tree, one of the types of this package.
type Node interface {
	// Position is the offset of the node in bytes.
	Position() int
}

// at is the position of a node.
type at int

// Position implements [Node].
func (a at) Position() int { return int(a) }

// Null is the literal null, and an empty expression.
type Null struct{ at }

// Bool is the literal true or false.
type Bool struct {
	at
	Value bool
}

// Number is a numeric literal.
type Number struct {
	at
	Value float64
}

// String is a string literal, with its escapes resolved.
type String struct {
	at
	Value string
	End   int // the offset after its closing quote
}

// Regex is a regular expression literal, /Body/Flags.
type Regex struct {
	at
	Body, Flags string
}

// Name is an identifier: a property, a namespace such as file, or the function of a [Call].
type Name struct {
	at
	Text string
}

// List is a list literal.
type List struct {
	at
	Items []Node
}

// Unary is a prefix operator and its operand.
type Unary struct {
	at
	Op Operator
	X  Node
}

// Binary is an operator between two operands. Its position is that of the operator.
type Binary struct {
	at
	Op   Operator
	X, Y Node
}

// Member is X.Name. Its position is that of the name.
type Member struct {
	at
	X    Node
	Name string
}

// Index is X[Key]. Its position is that of the bracket.
type Index struct {
	at
	X, Key Node
}

// Call is a call of Function; only a [Name] or a [Member] can be called. Its position is that
// of the parenthesis.
type Call struct {
	at
	Function Node
	Args     []Node
}

// Operator is a prefix or binary operator.
type Operator uint8

// The operators.
const (
	_ Operator = iota
	Or
	And
	Equal
	NotEqual
	Less
	Greater
	LessEqual
	GreaterEqual
	Add
	Subtract
	Multiply
	Divide
	Remainder
	Not
	Negate
)

// Walk visits a node and all nodes below it, parents first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	var children []Node
	switch n := n.(type) {
	case *List:
		children = n.Items
	case *Unary:
		Walk(n.X, visit)
	case *Binary:
		Walk(n.X, visit)
		Walk(n.Y, visit)
	case *Member:
		Walk(n.X, visit)
	case *Index:
		Walk(n.X, visit)
		Walk(n.Key, visit)
	case *Call:
		Walk(n.Function, visit)
		children = n.Args
	}
	for _, child := range children {
		Walk(child, visit)
	}
}

// Error is a syntax error.
type Error struct {
	// Position is the offset of the error in UTF-16 code units, as in the app, and At in
	// bytes.
	Position, At int
	Reason       string // the cause, which the app does not tell
}

// Error returns the sentence of the app.
func (e *Error) Error() string {
	return fmt.Sprintf("Unable to parse formula. (position %d)", e.Position)
}

// Units converts an offset in bytes to one in UTF-16 code units.
func Units(source string, at int) int { return len(utf16.Encode([]rune(source[:at]))) }
