package formula

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an expression. They are far above those of expressions written by hand, and bound the stack and the
// memory of the parser and of evaluations.
const (
	maxLength      = 64 << 10 // bytes
	maxSyntaxDepth = 100      // nested parentheses, lists, calls and prefix operators
	maxNodes       = 16 << 10
	maxChain       = 200 // members and calls after an operand, each of which is a level of the tree
)

// Quote returns a text as a string literal with a quotation mark, " or '.
func Quote(text string, mark byte) string {
	escaped := strings.NewReplacer(`\`, `\\`, string(mark), `\`+string(mark), "\n", `\n`, "\r", `\r`, "\t", `\t`).
		Replace(text)
	return string(mark) + escaped + string(mark)
}

// Parse parses an expression. An empty expression is null. The error is a [*SyntaxError].
func Parse(source string) (node Node, err error) {
	p := &parser{source: source}
	if len(source) > maxLength {
		return nil, p.fail(maxLength, "an expression has at most "+strconv.Itoa(maxLength)+" bytes")
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *SyntaxError:
			node = nil
			err = failed
		default:
			panic(failed)
		}
	}()
	p.advance()
	if p.token.kind == end {
		return &NullNode{at(0)}, nil
	}
	node = p.expression(0)
	if p.token.kind != end {
		p.unexpected()
	}
	return node, nil
}

// parser parses an expression by precedence climbing. Its methods report errors by panicking with a
// [*SyntaxError].
//
// It also splits the expression into tokens, because the previous token determines whether a slash divides
// or begins a regular expression.
type parser struct {
	source       string
	at           int
	afterOperand bool  // the previous token ends an operand, so that a slash divides
	token        token // the next token
	depth        int
	nodes        int
}

// advance reads the next token.
func (p *parser) advance() {
	p.nodes++
	if p.nodes > maxNodes {
		panic(p.fail(p.token.at, "an expression has at most "+strconv.Itoa(maxNodes)+" parts"))
	}
	for p.at < len(p.source) {
		r, size := utf8.DecodeRuneInString(p.source[p.at:])
		if !unicode.IsSpace(r) && r != '\ufeff' {
			break
		}
		p.at += size
	}
	p.token = p.read()
	switch p.token.kind {
	case end:
		p.afterOperand = false
	case symbol:
		p.afterOperand = p.token.text == ")" || p.token.text == "]"
	default:
		p.afterOperand = true
	}
}

// binary are the binary operators with their precedence.
var binary = map[string]struct {
	operator   Operator
	precedence int
}{
	"||": {Or, 1},
	"&&": {And, 2},
	"==": {Equal, 3},
	"!=": {NotEqual, 3},
	"<":  {Less, 3},
	">":  {Greater, 3},
	"<=": {LessEqual, 3},
	">=": {GreaterEqual, 3},
	"+":  {Add, 4},
	"-":  {Subtract, 4},
	"*":  {Multiply, 5},
	"/":  {Divide, 5},
	"%":  {Remainder, 5},
}

// expression parses operands and the operators between them with a precedence above minPrecedence.
func (p *parser) expression(minPrecedence int) Node {
	left := p.prefix()
	for p.token.kind == symbol {
		op, known := binary[p.token.text]
		if !known || op.precedence <= minPrecedence {
			break
		}
		position := p.token.at
		p.advance()
		left = &BinaryNode{at(position), op.operator, left, p.expression(op.precedence)}
	}
	return left
}

// nested calls parse one level deeper, and fails if that is too deep.
func (p *parser) nested(parse func() Node) Node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxSyntaxDepth {
		panic(p.fail(p.token.at, "an expression is nested at most "+strconv.Itoa(maxSyntaxDepth)+" levels deep"))
	}
	return parse()
}

// prefix parses prefix operators and their operand.
func (p *parser) prefix() Node {
	op := Operator(0)
	switch {
	case p.is("!"):
		op = Not
	case p.is("-"):
		op = Negate
	default:
		return p.chain()
	}
	position := p.token.at
	p.advance()
	return &UnaryNode{at(position), op, p.nested(p.prefix)}
}

// chain parses an operand with its members and calls.
func (p *parser) chain() Node {
	node := p.operand()
	for n := 0; ; n++ {
		if n == maxChain {
			panic(p.fail(p.token.at, "at most "+strconv.Itoa(maxChain)+" members and calls can follow each other"))
		}
		position := p.token.at
		switch {
		case p.is("("):
			node = &CallNode{at(position), node, p.items(")")}
		case p.is("["):
			p.advance()
			node = &IndexNode{at(position), node, p.inner()}
			p.expect("]")
		case p.is("."):
			p.advance()
			if p.token.kind != name {
				p.unexpected()
			}
			node = &MemberNode{at(p.token.at), node, p.token.text}
			p.advance()
		default:
			return node
		}
	}
}

// operand parses a literal, a name, a list or an expression in parentheses.
func (p *parser) operand() (node Node) {
	t := p.token
	switch {
	case p.is("("):
		p.advance()
		node = p.inner()
		p.expect(")")
	case p.is("["):
		node = &ListNode{at(t.at), p.items("]")}
	case t.kind == number:
		node = &NumberNode{at(t.at), t.value}
	case t.kind == text:
		node = &StringNode{at(t.at), t.text, p.at}
	case t.kind == regex:
		node = &RegexNode{at(t.at), t.text, t.flags}
	case t.kind != name:
		p.unexpected()
	case t.text == "true" || t.text == "false":
		node = &BoolNode{at(t.at), t.text == "true"}
	case t.text == "null":
		node = &NullNode{at(t.at)}
	default:
		node = &NameNode{at(t.at), t.text}
	}
	if t.kind != symbol {
		p.advance()
	}
	return node
}

// is reports whether the next token is a given symbol.
func (p *parser) is(text string) bool { return p.token.kind == symbol && p.token.text == text }

// expect reads the next token, and fails if it is not a given symbol.
func (p *parser) expect(text string) {
	if !p.is(text) {
		p.unexpected()
	}
	p.advance()
}

// inner parses an expression in brackets.
func (p *parser) inner() Node {
	return p.nested(func() Node { return p.expression(0) })
}

// items parses an opening bracket, expressions separated by commas, and the closing bracket.
func (p *parser) items(closing string) (items []Node) {
	p.advance()
	if p.is(closing) {
		p.advance()
		return nil
	}
	for {
		items = append(items, p.inner())
		if !p.is(",") {
			p.expect(closing)
			return items
		}
		p.advance()
	}
}

// unexpected fails at the next token.
func (p *parser) unexpected() {
	if p.token.kind == end {
		panic(p.fail(p.token.at, "the expression ends too early"))
	}
	panic(p.fail(p.token.at, "unexpected "+strconv.Quote(p.source[p.token.at:p.at])))
}

// kind is the kind of a token.
type kind uint8

const (
	end kind = iota
	number
	text
	regex
	name
	symbol // an operator, a bracket, a comma or a dot
)

// token is a lexical element of an expression.
type token struct {
	kind  kind
	at    int
	text  string // a symbol or name, the content of a string, or the body of a regex
	flags string
	value float64
}

// symbols are the symbols. Longer ones are before their prefixes.
var symbols = []string{
	"||", "&&", "==", "!=", "<=", ">=", "<", ">",
	"+", "-", "*", "/", "%", "!",
	"(", ")", "[", "]", ",", ".",
}

// read reads a token.
func (p *parser) read() token {
	start := p.at
	rest := p.source[p.at:]
	if rest == "" {
		return token{kind: end, at: start}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	isFraction := rest[0] == '.' && len(rest) > 1 && isDigit(rest[1])
	switch {
	case isDigit(rest[0]), isFraction && !p.afterOperand:
		return p.number()
	case r == '"' || r == '\'':
		return p.string(rest[0])
	case r == '/' && !p.afterOperand:
		return p.regex()
	case beginsName(r):
		p.at += nameLength(rest)
		return token{kind: name, at: start, text: p.source[start:p.at]}
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			p.at += len(s)
			return token{kind: symbol, at: start, text: s}
		}
	}
	panic(p.fail(start, "unexpected character "+strconv.QuoteRune(r)))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// beginsName reports whether a name may begin with r.
func beginsName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

// nameLength returns the length in bytes of the name at the beginning of s.
func nameLength(s string) int {
	for i, r := range s {
		continues := i > 0 && continuesName(r)
		if !continues && !beginsName(r) {
			return i
		}
	}
	return len(s)
}

// continuesName reports whether a character that cannot begin a name may be within a name.
func continuesName(r rune) bool {
	isJoiner := r == '\u200d' || r == '\u200c'
	return isJoiner || unicode.IsDigit(r) || unicode.IsMark(r)
}

// number reads a number with a fraction and an exponent. A name or a dot must not follow directly: the app
// rejects 1.round() and 12px.
func (p *parser) number() token {
	start := p.at
	skipDigits := func() {
		for p.at < len(p.source) && isDigit(p.source[p.at]) {
			p.at++
		}
	}
	skipDigits()
	if strings.HasPrefix(p.source[p.at:], ".") && p.at+1 < len(p.source) && isDigit(p.source[p.at+1]) {
		p.at++
		skipDigits()
	}
	if rest := p.source[p.at:]; rest != "" && rest[0]|0x20 == 'e' {
		size := 1
		if len(rest) > size && (rest[size] == '+' || rest[size] == '-') {
			size++
		}
		if len(rest) > size && isDigit(rest[size]) {
			p.at += size
			skipDigits()
		}
	}
	r, size := utf8.DecodeRuneInString(p.source[p.at:])
	isAtEnd := size == 0
	if !isAtEnd && (r == '.' || beginsName(r)) {
		panic(p.fail(p.at, "a number cannot be followed by "+strconv.QuoteRune(r)+"; put it in parentheses"))
	}
	value, err := strconv.ParseFloat(p.source[start:p.at], 64)
	if err != nil && !math.IsInf(value, 0) {
		panic(p.fail(start, "not a number"))
	}
	return token{kind: number, at: start, value: value}
}

// escapes are the escape sequences. A backslash before any other character is literal.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}

// string reads a string literal.
func (p *parser) string(quote byte) token {
	start := p.at
	var out strings.Builder
	for i := start + 1; i < len(p.source); i++ {
		switch c := p.source[i]; {
		case c == quote:
			p.at = i + 1
			return token{kind: text, at: start, text: out.String()}
		case c == '\\' && i+1 < len(p.source) && escapes[p.source[i+1]] != 0:
			i++
			out.WriteByte(escapes[p.source[i]])
		default:
			out.WriteByte(c)
		}
	}
	panic(p.fail(start, "the text has no closing quote"))
}

// regex reads /body/flags. A slash that is escaped or in a character class does not end the body.
func (p *parser) regex() token {
	start := p.at
	inClass := false
	for i := start + 1; i < len(p.source); i++ {
		switch c := p.source[i]; {
		case c == '\n':
			panic(p.fail(start, "the regular expression has no closing slash"))
		case c == '\\':
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			p.at = i + 1 + nameLength(p.source[i+1:])
			t := token{kind: regex, at: start, text: p.source[start+1 : i], flags: p.source[i+1 : p.at]}
			if !areValidFlags(t.flags) {
				panic(p.fail(start, "invalid flags of a regular expression: "+strconv.Quote(t.flags)))
			}
			if t.text == "" {
				panic(p.fail(start, "comments are not supported"))
			}
			return t
		}
	}
	panic(p.fail(start, "the regular expression has no closing slash"))
}

// regexFlags are the flags of JavaScript.
const regexFlags = "dgimsuvy"

// areValidFlags reports whether all flags exist and none is repeated.
func areValidFlags(flags string) bool {
	for i, f := range flags {
		isRepeated := strings.ContainsRune(flags[:i], f)
		if isRepeated || !strings.ContainsRune(regexFlags, f) {
			return false
		}
	}
	return true
}

// fail returns the error at an offset in bytes.
func (p *parser) fail(at int, reason string) *SyntaxError {
	return &SyntaxError{Position: Units(p.source, at), At: at, Reason: reason}
}
