package eval

import (
	"strings"

	"vaultwicket/cmd/internal/vault/bases/syntax"
	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/regex"
)

// Program is an expression that can be evaluated.
type Program struct {
	source   string
	node     syntax.Node
	err      *syntax.Error
	broken   string // the error that it is, without an expression
	patterns map[*syntax.Regex]value.Value
}

// Compile reads an expression. One that is none can be evaluated all the same:
// it is an error each time.
func Compile(source string) *Program {
	p := &Program{source: source, patterns: map[*syntax.Regex]value.Value{}}
	node, err := syntax.Parse(source)
	if err != nil {
		p.err = err.(*syntax.Error) // Parse has no others
		return p
	}
	p.node = node
	syntax.Walk(node, func(n syntax.Node) {
		if literal, ok := n.(*syntax.Regex); ok {
			p.patterns[literal] = compilePattern(literal.Body, literal.Flags)
		}
	})
	return p
}

// Source returns the expression as it is written.
func (p *Program) Source() string { return p.source }

// IsEmpty reports whether the expression is nothing but blanks.
func (p *Program) IsEmpty() bool {
	return p.broken == "" && strings.TrimFunc(p.source, value.IsSpace) == ""
}

// Problem returns why the expression is none, nil if it is one.
func (p *Program) Problem() *syntax.Error { return p.err }

// Node returns the expression, nil if it is none.
func (p *Program) Node() syntax.Node { return p.node }

// Broken returns a program that is an error with a sentence each time.
func Broken(sentence string) *Program { return &Program{broken: sentence} }

// compilePattern returns a regular expression, or an error if it is none.
func compilePattern(body, flags string) value.Value {
	compiled, err := regex.Compile(body, regex.Flags{
		IgnoreCase: strings.Contains(flags, "i"), Multiline: strings.Contains(flags, "m"),
		DotAll: strings.Contains(flags, "s"), Unicode: strings.ContainsAny(flags, "uv"),
	}, budget.Default.Match)
	if err != nil {
		return value.Failure("Invalid regular expression: /" + body + "/: " + err.Error())
	}
	return value.OfPattern(&value.Pattern{Body: body, Flags: flags, Compiled: compiled})
}
