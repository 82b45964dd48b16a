package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// testSources returns the files of tests, with those of the module that drives a browser.
func testSources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, s := range everySource(t) {
		if strings.HasSuffix(s.name, "_test.go") || strings.HasPrefix(s.name, "tests/") {
			all = append(all, s)
		}
	}
	names := require.Value(filepath.Glob("ui/*.go"))(t)
	set := token.NewFileSet()
	for _, name := range names {
		syntax := require.Value(parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		all = append(all, source{"tests/" + filepath.ToSlash(name), syntax, set})
	}
	return all
}

// calls says whether call is the function of the package.
func calls(call *ast.CallExpr, pkg, function string) bool {
	selected, isSelector := call.Fun.(*ast.SelectorExpr)
	if !isSelector || selected.Sel.Name != function {
		return false
	}
	name, isName := selected.X.(*ast.Ident)
	return isName && name.Name == pkg
}

// A failure says which fact fell: a condition of several facts is several assertions.
func TestAnAssertionHasOneFact(t *testing.T) {
	for _, s := range testSources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall || len(call.Args) < 2 {
				return true
			}
			if calls(call, "assert", "That") || calls(call, "require", "That") {
				line := s.set.Position(call.Pos()).Line
				assert.That(t, !joinsFacts(call.Args[1]), "%s:%d: the condition has &&: an assertion for each fact", s.name, line)
			}
			return true
		})
	}
}

// joinsFacts says whether a condition has && outside of the functions that it passes on.
func joinsFacts(condition ast.Expr) bool {
	joins := false
	ast.Inspect(condition, func(n ast.Node) bool {
		if binary, isBinary := n.(*ast.BinaryExpr); isBinary && binary.Op == token.LAND {
			joins = true
		}
		_, isFunction := n.(*ast.FuncLit)
		return !isFunction
	})
	return joins
}

// A test waits for a fact. A sleep that stays has a comment on its line or on the line before it that says what it is
// for. Sleeps in the bubble of synctest move a fake clock: nothing waits for them.
func TestASleepHasItsReason(t *testing.T) {
	for _, s := range testSources(t) {
		reasons := commentedLines(s)
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			if calls(call, "synctest", "Test") {
				return false
			}
			if calls(call, "time", "Sleep") {
				line := s.set.Position(call.Pos()).Line
				assert.That(t, reasons[line] || reasons[line-1], "%s:%d: a sleep without its reason", s.name, line)
			}
			return true
		})
	}
}

// commentedLines are the lines of a file that have a comment.
func commentedLines(s source) map[int]bool {
	lines := map[int]bool{}
	for _, group := range s.syntax.Comments {
		from, to := s.set.Position(group.Pos()).Line, s.set.Position(group.End()).Line
		for line := from; line <= to; line++ {
			lines[line] = true
		}
	}
	return lines
}
