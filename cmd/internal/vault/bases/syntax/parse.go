package syntax

import "strconv"

// Limits of an expression. Nobody writes one by hand that comes near them; they
// bound the stack and the memory of whoever evaluates it.
const (
	maxLength = 64 << 10 // bytes
	maxDepth  = 100      // parentheses, lists, calls and prefix operators within each other
	maxNodes  = 16 << 10
)

// Parse reads an expression. Text without any is null. The error is an [*Error].
func Parse(source string) (Node, error) {
	if len(source) > maxLength {
		return nil, newError(source, maxLength, "an expression has at most "+strconv.Itoa(maxLength)+" bytes")
	}
	p := &parser{lexer: lexer{source: source}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind == end {
		return &Null{at(0)}, nil
	}
	node, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != end {
		return nil, p.unexpected()
	}
	return node, nil
}

// parser reads one expression by precedence climbing.
type parser struct {
	lexer
	token token // the next one
	depth int
	nodes int
}

func (p *parser) advance() (err error) {
	p.nodes++
	if p.nodes > maxNodes {
		return p.fail(p.token.at, "an expression has at most "+strconv.Itoa(maxNodes)+" parts")
	}
	p.token, err = p.next()
	return err
}

// binary are the operators between operands, with their precedence.
var binary = map[string]struct {
	operator   Operator
	precedence int
}{
	"||": {Or, 1}, "&&": {And, 2},
	"==": {Equal, 3}, "!=": {NotEqual, 3}, "<": {Less, 3}, ">": {Greater, 3}, "<=": {LessEqual, 3}, ">=": {GreaterEqual, 3},
	"+": {Add, 4}, "-": {Subtract, 4}, "*": {Multiply, 5}, "/": {Divide, 5}, "%": {Remainder, 5},
}

// expression reads operands and the operators between them that bind tighter
// than least.
func (p *parser) expression(least int) (Node, error) {
	left, err := p.prefix()
	for err == nil && p.token.kind == symbol {
		op, known := binary[p.token.text]
		if !known || op.precedence <= least {
			break
		}
		position := p.token.at
		var right Node
		if err = p.advance(); err == nil {
			right, err = p.expression(op.precedence)
		}
		left = &Binary{at(position), op.operator, left, right}
	}
	return left, err
}

// nested has read run one level deeper.
func (p *parser) nested(read func() (Node, error)) (Node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression is nested at most "+strconv.Itoa(maxDepth)+" levels deep")
	}
	return read()
}

func (p *parser) prefix() (Node, error) {
	op := Operator(0)
	switch {
	case p.is("!"):
		op = Not
	case p.is("-"):
		op = Negate
	default:
		return p.postfix()
	}
	position := p.token.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.nested(p.prefix)
	return &Unary{at(position), op, operand}, err
}

// is reports whether the next token is this symbol.
func (p *parser) is(text string) bool { return p.token.kind == symbol && p.token.text == text }

// take skips the next token, which has to be this symbol.
func (p *parser) take(text string) error {
	if !p.is(text) {
		return p.unexpected()
	}
	return p.advance()
}

// maxChain bounds the members and calls behind one operand: each is a level of
// the tree.
const maxChain = 200

func (p *parser) postfix() (Node, error) {
	node, err := p.primary()
	for n := 0; err == nil; n++ {
		if n == maxChain {
			return nil, p.fail(p.token.at, "at most "+strconv.Itoa(maxChain)+" members and calls can follow each other")
		}
		switch {
		case p.is("."):
			node, err = p.member(node)
		case p.is("["):
			node, err = p.index(node)
		case p.is("("):
			node, err = p.call(node)
		default:
			return node, nil
		}
	}
	return nil, err
}

func (p *parser) member(of Node) (Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind != name {
		return nil, p.unexpected()
	}
	node := &Member{at(p.token.at), of, p.token.text}
	return node, p.advance()
}

func (p *parser) index(of Node) (Node, error) {
	position := p.token.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	key, err := p.inner()
	if err != nil {
		return nil, err
	}
	return &Index{at(position), of, key}, p.take("]")
}

func (p *parser) call(function Node) (Node, error) {
	position := p.token.at
	args, err := p.items(")")
	return &Call{at(position), function, args}, err
}

// inner reads an expression between brackets.
func (p *parser) inner() (Node, error) {
	return p.nested(func() (Node, error) { return p.expression(0) })
}

// items reads an opening bracket, expressions with commas between them, and the
// closing bracket.
func (p *parser) items(closing string) (items []Node, err error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is(closing) {
		return nil, p.advance()
	}
	for {
		item, err := p.inner()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if !p.is(",") {
			return items, p.take(closing)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) primary() (Node, error) {
	t := p.token
	switch {
	case p.is("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		node, err := p.inner()
		if err != nil {
			return nil, err
		}
		return node, p.take(")")
	case p.is("["):
		items, err := p.items("]")
		return &List{at(t.at), items}, err
	}
	node := literal(t)
	if node == nil {
		return nil, p.unexpected()
	}
	return node, p.advance()
}

// literal returns the node that consists of one token, nil if there is none.
func literal(t token) Node {
	switch t.kind {
	case number:
		return &Number{at(t.at), t.value}
	case text:
		return &String{at(t.at), t.text}
	case regex:
		return &Regex{at(t.at), t.text, t.flags}
	case name:
		return named(t)
	}
	return nil
}

func named(t token) Node {
	switch t.text {
	case "true", "false":
		return &Bool{at(t.at), t.text == "true"}
	case "null":
		return &Null{at(t.at)}
	}
	return &Name{at(t.at), t.text}
}

func (p *parser) unexpected() error {
	if p.token.kind == end {
		return p.fail(p.token.at, "the expression ends too early")
	}
	return p.fail(p.token.at, "unexpected "+strconv.Quote(p.source[p.token.at:p.at]))
}
