// Package syntax parses the expressions of bases: filters, formulas and
// summaries. It evaluates nothing, and knows neither functions nor properties.
//
// The grammar, lowest precedence first; all binary operators are
// left-associative:
//
//	||  &&  == != < > <= >=  + -  * / %  prefix ! -  .name [index] (arguments)
//
// There is no object literal, no unary plus, no conditional operator and no
// template string.
package syntax

// Node is a part of an expression. The types of this package are all there are.
type Node interface {
	// Position is where the part begins, in bytes from the start of the text.
	Position() int
}

// at is the position of a node.
type at int

// Position implements [Node].
func (a at) Position() int { return int(a) }

// Null is the literal null, and an expression without any text.
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

// String is a quoted text, its escapes resolved.
type String struct {
	at
	Value string
}

// Regex is a regular expression literal, /Body/Flags.
type Regex struct {
	at
	Body, Flags string
}

// Name is a bare name: of a property, of a namespace such as file, or, as the
// function of a [Call], of a function.
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

// Call is a call of Function, which is a [Name] or a [Member] in every
// expression that can be evaluated. Its position is that of the parenthesis.
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

var operatorTexts = [...]string{
	Or: "||", And: "&&", Equal: "==", NotEqual: "!=", Less: "<", Greater: ">", LessEqual: "<=", GreaterEqual: ">=",
	Add: "+", Subtract: "-", Multiply: "*", Divide: "/", Remainder: "%", Not: "!", Negate: "-",
}

// String returns the operator as it is written.
func (o Operator) String() string { return operatorTexts[o] }

// Walk visits a node and all nodes below it, a node before those below it.
func Walk(n Node, visit func(Node)) {
	visit(n)
	switch n := n.(type) {
	case *List:
		walkAll(n.Items, visit)
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
		walkAll(n.Args, visit)
	}
}

func walkAll(nodes []Node, visit func(Node)) {
	for _, n := range nodes {
		Walk(n, visit)
	}
}
