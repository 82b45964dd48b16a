package syntax

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
	text  string // symbol or name as written, content of a string, body of a regex
	flags string
	value float64
}

// lexer splits an expression into tokens. Whether a slash divides or begins a regular
// expression depends on the previous token.
type lexer struct {
	source  string
	at      int
	operand bool // the previous token ends an operand, so that a slash divides
}

// symbols has longer ones before their prefixes.
var symbols = []string{"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]", ",", "."}

func (l *lexer) next() (token, error) {
	for l.at < len(l.source) {
		r, size := utf8.DecodeRuneInString(l.source[l.at:])
		if !unicode.IsSpace(r) && r != '\ufeff' {
			break
		}
		l.at += size
	}
	t, err := l.read()
	if err != nil {
		return token{}, err
	}
	l.operand = t.kind != end && t.kind != symbol || t.text == ")" && t.kind == symbol || t.text == "]" && t.kind == symbol
	return t, nil
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

// number reads digits with a fraction and an exponent. A name or a dot may not follow
// directly: the app refuses 1.round() and 12px.
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
	if rest := l.source[l.at:]; rest != "" && rest[0]|0x20 == 'e' {
		size := 1
		if len(rest) > size && (rest[size] == '+' || rest[size] == '-') {
			size++
		}
		if len(rest) > size && isDigit(rest[size]) {
			l.at += size
			digits()
		}
	}
	if r, _ := utf8.DecodeRuneInString(l.source[l.at:]); l.has(".") || l.at < len(l.source) && beginsName(r) {
		return token{}, l.fail(l.at, "a number cannot be followed by "+strconv.QuoteRune(r)+"; put it in parentheses")
	}
	value, err := strconv.ParseFloat(l.source[start:l.at], 64)
	if err != nil && !math.IsInf(value, 0) {
		return token{}, l.fail(start, "not a number")
	}
	return token{kind: number, at: start, value: value}, nil
}

func (l *lexer) has(s string) bool { return strings.HasPrefix(l.source[l.at:], s) }

// escapes are the escape sequences. A backslash before any other character is literal.
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

// regex reads /body/flags. An escaped slash, or one in a character class, does not end the
// body.
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
			t := token{kind: regex, at: start, text: l.source[start+1 : i], flags: l.source[i+1 : l.at]}
			for i, f := range t.flags {
				if !strings.ContainsRune(regexFlags, f) || strings.ContainsRune(t.flags[:i], f) {
					return token{}, l.fail(start, "invalid flags of a regular expression: "+strconv.Quote(t.flags))
				}
			}
			if t.text == "" {
				return token{}, l.fail(start, "comments are not supported")
			}
			return t, nil
		}
	}
	return token{}, l.fail(start, "the regular expression has no closing slash")
}

// regexFlags are those of JavaScript.
const regexFlags = "dgimsuvy"

func (l *lexer) fail(at int, reason string) error { return newError(l.source, at, reason) }
