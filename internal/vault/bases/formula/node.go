package formula

// [Parse] parses the expressions of bases: filters, formulas and summaries. It does not check whether functions
// and properties exist.
//
// The grammar, lowest precedence first; all binary operators are left-associative:
//
//	||  &&  == != < > <= >=  + -  * / %  prefix ! -  .name [index] (arguments)
//
// There is no object literal, no unary plus, no conditional operator and no template string.

import (
	"fmt"
	"unicode/utf16"
)

// Node is a node of the syntax tree. It is one of the node types of this package.
type Node interface {
	// Position returns the offset of the node in bytes.
	Position() int
}

// at is the position of a node.
type at int

// Position implements [Node].
func (a at) Position() int { return int(a) }

// NullNode is the literal null, and an empty expression.
type NullNode struct{ at }

// BoolNode is the literal true or false.
type BoolNode struct {
	at
	Value bool
}

// NumberNode is a numeric literal.
type NumberNode struct {
	at
	Value float64
}

// StringNode is a string literal, with its escapes resolved.
type StringNode struct {
	at
	Value string
	End   int // offset after the closing quote
}

// RegexNode is a regular expression literal, /Body/Flags.
type RegexNode struct {
	at
	Body, Flags string
}

// NameNode is an identifier: a property, a namespace such as file, or the function of a [CallNode].
type NameNode struct {
	at
	Text string
}

// ListNode is a list literal.
type ListNode struct {
	at
	Items []Node
}

// UnaryNode is a prefix operator and its operand.
type UnaryNode struct {
	at
	Op Operator
	X  Node
}

// BinaryNode is an operator between two operands. Its position is that of the operator.
type BinaryNode struct {
	at
	Op   Operator
	X, Y Node
}

// MemberNode is X.Name. Its position is that of the name.
type MemberNode struct {
	at
	X    Node
	Name string
}

// IndexNode is X[Key]. Its position is that of the bracket.
type IndexNode struct {
	at
	X, Key Node
}

// CallNode is a call of Function; only a [NameNode] or a [MemberNode] can be called. Its position is that
// of the parenthesis.
type CallNode struct {
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

// Walk calls visit for a node and all nodes below it, parents first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	var children []Node
	switch n := n.(type) {
	case *ListNode:
		children = n.Items
	case *UnaryNode:
		Walk(n.X, visit)
	case *BinaryNode:
		Walk(n.X, visit)
		Walk(n.Y, visit)
	case *MemberNode:
		Walk(n.X, visit)
	case *IndexNode:
		Walk(n.X, visit)
		Walk(n.Key, visit)
	case *CallNode:
		Walk(n.Function, visit)
		children = n.Args
	}
	for _, child := range children {
		Walk(child, visit)
	}
}

// SyntaxError is a syntax error in an expression.
type SyntaxError struct {
	// Position is the offset of the error in UTF-16 code units, as in the app, and At is the offset
	// in bytes.
	Position, At int
	Reason       string // the cause, which the app does not report
}

// Error returns the message of the app.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("Unable to parse formula. (position %d)", e.Position)
}

// Units converts an offset in bytes to an offset in UTF-16 code units.
func Units(source string, at int) int { return len(utf16.Encode([]rune(source[:at]))) }
