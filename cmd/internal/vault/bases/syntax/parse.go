package syntax

import "strconv"

// Limits of an expression, far above what is written by hand. They bound the stack and the
// memory of parser and evaluation.
const (
	maxLength = 64 << 10 // bytes
	maxDepth  = 100      // nested parentheses, lists, calls and prefix operators
	maxNodes  = 16 << 10
	maxChain  = 200 // members and calls after one operand: each is a level of the tree
)

// Parse parses an expression. An empty one is null. The error is an [*Error].
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

// binary are the binary operators with their precedence.
var binary = map[string]struct {
	operator   Operator
	precedence int
}{
	"||": {Or, 1}, "&&": {And, 2},
	"==": {Equal, 3}, "!=": {NotEqual, 3}, "<": {Less, 3}, ">": {Greater, 3}, "<=": {LessEqual, 3}, ">=": {GreaterEqual, 3},
	"+": {Add, 4}, "-": {Subtract, 4}, "*": {Multiply, 5}, "/": {Divide, 5}, "%": {Remainder, 5},
}

// expression reads operands and the operators between them whose precedence is above least.
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

// nested calls read one level deeper.
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
		node, err := p.primary()
		for n := 0; err == nil; n++ {
			if n == maxChain {
				return nil, p.fail(p.token.at, "at most "+strconv.Itoa(maxChain)+" members and calls can follow each other")
			}
			position := p.token.at
			switch {
			case p.is("("):
				var args []Node
				args, err = p.items(")")
				node = &Call{at(position), node, args}
			case p.is("["):
				if err = p.advance(); err != nil {
					return nil, err
				}
				key, failed := p.inner()
				if failed != nil {
					return nil, failed
				}
				node, err = &Index{at(position), node, key}, p.take("]")
			case p.is("."):
				if err = p.advance(); err != nil {
					return nil, err
				}
				if p.token.kind != name {
					return nil, p.unexpected()
				}
				node = &Member{at(p.token.at), node, p.token.text}
				err = p.advance()
			default:
				return node, nil
			}
		}
		return nil, err
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

// take reads the next token, which has to be this symbol.
func (p *parser) take(text string) error {
	if !p.is(text) {
		return p.unexpected()
	}
	return p.advance()
}

// inner reads an expression between brackets.
func (p *parser) inner() (Node, error) {
	return p.nested(func() (Node, error) { return p.expression(0) })
}

// items reads an opening bracket, expressions separated by commas, and the closing bracket.
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
	var node Node
	switch {
	case t.kind == number:
		node = &Number{at(t.at), t.value}
	case t.kind == text:
		node = &String{at(t.at), t.text}
	case t.kind == regex:
		node = &Regex{at(t.at), t.text, t.flags}
	case t.kind != name:
		return nil, p.unexpected()
	case t.text == "true" || t.text == "false":
		node = &Bool{at(t.at), t.text == "true"}
	case t.text == "null":
		node = &Null{at(t.at)}
	default:
		node = &Name{at(t.at), t.text}
	}
	return node, p.advance()
}

func (p *parser) unexpected() error {
	if p.token.kind == end {
		return p.fail(p.token.at, "the expression ends too early")
	}
	return p.fail(p.token.at, "unexpected "+strconv.Quote(p.source[p.token.at:p.at]))
}
