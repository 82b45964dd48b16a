package syntax

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind says what a token is.
type kind uint8

const (
	end kind = iota
	number
	text
	regex
	name
	symbol // an operator, a bracket, a comma or a dot
)

// token is one word of an expression.
type token struct {
	kind  kind
	at    int
	text  string // of a symbol and a name as written, of a string what it says, of a regex its body
	flags string
	value float64
}

// lexer takes an expression apart. Whether a slash divides or begins a regular
// expression depends on the token before it.
type lexer struct {
	source  string
	at      int
	operand bool // the token before was an operand, so that a slash divides
}

// symbols are ordered so that a longer one is found before its beginning.
var symbols = []string{"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]", ",", "."}

func (l *lexer) next() (token, error) {
	l.skipSpace()
	t, err := l.read()
	if err != nil {
		return token{}, err
	}
	l.operand = t.kind != end && t.kind != symbol || t.text == ")" && t.kind == symbol || t.text == "]" && t.kind == symbol
	return t, nil
}

func (l *lexer) skipSpace() {
	for l.at < len(l.source) {
		r, size := utf8.DecodeRuneInString(l.source[l.at:])
		if !unicode.IsSpace(r) && r != '\ufeff' {
			return
		}
		l.at += size
	}
}

func (l *lexer) read() (token, error) {
	start, rest := l.at, l.source[l.at:]
	if rest == "" {
		return token{kind: end, at: start}, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]) && !l.operand:
		return l.number()
	case r == '"' || r == '\'':
		return l.string(rest[0])
	case r == '/' && !l.operand:
		return l.regex()
	case beginsName(r):
		l.at += nameLength(rest)
		return token{kind: name, at: start, text: l.source[start:l.at]}, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			l.at += len(s)
			return token{kind: symbol, at: start, text: s}, nil
		}
	}
	return token{}, l.fail(start, "unexpected character "+strconv.QuoteRune(r))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func beginsName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

func nameLength(s string) int {
	for i, r := range s {
		if !beginsName(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\u200d' && r != '\u200c') {
			return i
		}
	}
	return len(s)
}

// number reads digits with a fraction and an exponent. Directly behind it no
// name and no dot may follow: the app refuses 1.round() and 12px.
func (l *lexer) number() (token, error) {
	start := l.at
	digits := func() {
		for l.at < len(l.source) && isDigit(l.source[l.at]) {
			l.at++
		}
	}
	digits()
	if l.has(".") && l.at+1 < len(l.source) && isDigit(l.source[l.at+1]) {
		l.at++
		digits()
	}
	l.exponent(digits)
	if r, _ := utf8.DecodeRuneInString(l.source[l.at:]); l.has(".") || l.at < len(l.source) && beginsName(r) {
		return token{}, l.fail(l.at, "a number cannot be followed by "+strconv.QuoteRune(r)+"; put it in parentheses")
	}
	value, err := strconv.ParseFloat(l.source[start:l.at], 64)
	if err != nil && !math.IsInf(value, 0) {
		return token{}, l.fail(start, "not a number")
	}
	return token{kind: number, at: start, value: value}, nil
}

// exponent reads one, if a digit follows the letter and its sign.
func (l *lexer) exponent(digits func()) {
	rest := l.source[l.at:]
	if rest == "" || rest[0]|0x20 != 'e' {
		return
	}
	size := 1
	if len(rest) > size && (rest[size] == '+' || rest[size] == '-') {
		size++
	}
	if len(rest) > size && isDigit(rest[size]) {
		l.at += size
		digits()
	}
}

func (l *lexer) has(s string) bool { return strings.HasPrefix(l.source[l.at:], s) }

// escapes are the characters behind a backslash that mean something else. A
// backslash before any other character is a character of the text.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}

func (l *lexer) string(quote byte) (token, error) {
	start := l.at
	var out strings.Builder
	for i := start + 1; i < len(l.source); i++ {
		switch c := l.source[i]; {
		case c == quote:
			l.at = i + 1
			return token{kind: text, at: start, text: out.String()}, nil
		case c == '\\' && i+1 < len(l.source) && escapes[l.source[i+1]] != 0:
			i++
			out.WriteByte(escapes[l.source[i]])
		default:
			out.WriteByte(c)
		}
	}
	return token{}, l.fail(start, "the text has no closing quote")
}

// regex reads /body/flags. A slash that is escaped or in a character class does
// not end the body.
func (l *lexer) regex() (token, error) {
	start, class := l.at, false
	for i := start + 1; i < len(l.source); i++ {
		switch c := l.source[i]; {
		case c == '\n':
			return token{}, l.fail(start, "the regular expression has no closing slash")
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.at = i + 1 + nameLength(l.source[i+1:])
			return l.checkedRegex(token{kind: regex, at: start, text: l.source[start+1 : i], flags: l.source[i+1 : l.at]})
		}
	}
	return token{}, l.fail(start, "the regular expression has no closing slash")
}

// regexFlags are those of JavaScript.
const regexFlags = "dgimsuvy"

func (l *lexer) checkedRegex(t token) (token, error) {
	for i, f := range t.flags {
		if !strings.ContainsRune(regexFlags, f) || strings.ContainsRune(t.flags[:i], f) {
			return token{}, l.fail(t.at, "invalid flags of a regular expression: "+strconv.Quote(t.flags))
		}
	}
	if t.text == "" {
		return token{}, l.fail(t.at, "comments are not supported")
	}
	return t, nil
}

func (l *lexer) fail(at int, reason string) error { return newError(l.source, at, reason) }
