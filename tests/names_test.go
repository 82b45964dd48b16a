package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// otherNames are the files with lists of words that are names of commands, too, and what the words are there.
var otherNames = map[string]string{
	"policy/flow.go": "the places to which flow rules say that text may not go",
}

// TestOnlyTheTableKnowsCommands: what is so of a command is in its row, and code asks the row. A comparison
// with a name, a switch over names, and a list or a map of them forget the command that is added next. Code may name
// the commands that it calls, registers or advises.
func TestOnlyTheTableKnowsCommands(t *testing.T) {
	excepted := map[string]bool{}
	for _, s := range sources(t) {
		if s.folder() == "allowlist" {
			continue
		}
		names := commandNames{constants: constantsOf(t, s.folder())}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			found := names.decidedBy(n)
			switch {
			case found == "":
			case otherNames[s.name] != "":
				excepted[s.name] = true
			default:
				t.Errorf("%s decides by the name of the command %q: its row in package allowlist has to say what is so of it", s.set.Position(n.Pos()), found)
			}
			return true
		})
	}
	for name := range otherNames {
		assert.That(t, excepted[name], "%s has no list of names of commands: the exception is stale", name)
	}
}

// TestDecisionsByNamesAreFound: each form of deciding by a name is found, and what only looks like one is not.
func TestDecisionsByNamesAreFound(t *testing.T) {
	names := commandNames{constants: map[string]string{"undoCommand": "undo"}}
	for code, want := range map[string]string{
		`call.Name() == "web"`: "web", `"search" != whole.Command`: "search", `command == undoCommand`: "undo",
		`q.name == "read"`: "read", `x == "daily:read"`: "daily:read",
		`strings.HasPrefix(call.Name(), "template:")`: "template:", `strings.HasPrefix(q.name, "template")`: "template",
		`slices.Contains(args, "attachment:text")`: "attachment:text",
		`[]string{"files", "search"}`:              "files", `[...]string{"move", "rename", "copy"}`: "move",
		`map[string]bool{"files": true, "search": true}`:               "files",
		`map[string][3]string{"files": {}, "batch": {}, "search": {}}`: "files",
		`f == "file"`: "", `p.Name == "daily"`: "", `call.Name() == "x"`: "", `[]string{"file", "path"}`: "",
		`[]string{"file"}`: "", `gateway.Request{Command: "undo"}`: "",
		`strings.HasPrefix(path, "daily")`: "", `allowlist.Parse("daily:read", nil)`: "", `map[string]string{"links": "file links", "path": "file path"}`: "",
	} {
		found := ""
		ast.Inspect(expression(t, code), func(n ast.Node) bool {
			if name := names.decidedBy(n); name != "" && found == "" {
				found = name
			}
			return true
		})
		assert.Equal(t, found, want, "%s", code)
	}
	var found []string
	ast.Inspect(expression(t, `func() { switch call.Name() { case "a", "find": case "tasks": }; switch kind { case "file": } }`), func(n ast.Node) bool {
		if name := names.decidedBy(n); name != "" {
			found = append(found, name)
		}
		return true
	})
	assert.Equal(t, strings.Join(found, " "), "find", "in switches")
}

// commandNames finds where code decides by the name of a command.
type commandNames struct{ constants map[string]string }

// decidedBy returns the name of a command by which a node decides, "" for none.
func (c commandNames) decidedBy(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.EQL && n.Op != token.NEQ {
			return ""
		}
		return c.either(c.compared(n.X, n.Y), c.compared(n.Y, n.X))
	case *ast.SwitchStmt:
		return c.inSwitch(n)
	case *ast.CallExpr:
		return c.inCall(n)
	case *ast.CompositeLit:
		return c.inList(n)
	}
	return ""
}

func (c commandNames) either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// compared returns the name with which an expression is compared, if that is a command, or with a colon
// could be nothing else.
func (c commandNames) compared(value, with ast.Expr) string {
	name := c.text(with)
	if allowlist.Exists(name) && (isCommand(value) || strings.Contains(name, ":")) {
		return name
	}
	return ""
}

func (c commandNames) inSwitch(n *ast.SwitchStmt) string {
	for _, clause := range n.Body.List {
		for _, value := range clause.(*ast.CaseClause).List {
			if n.Tag == nil {
				continue // a comparison of its own
			}
			if name := c.compared(n.Tag, value); name != "" {
				return name
			}
		}
	}
	return ""
}

// inCall finds comparisons with the beginning of a name, and names looked for in words.
func (c commandNames) inCall(n *ast.CallExpr) string {
	if len(n.Args) != 2 {
		return ""
	}
	name := c.text(n.Args[1])
	switch selector(n.Fun) {
	case "strings.HasPrefix", "strings.CutPrefix", "strings.HasSuffix", "strings.CutSuffix", "strings.Contains", "strings.EqualFold":
		if name != "" && isCommand(n.Args[0]) && slices.ContainsFunc(allowlist.Names(), func(command string) bool { return strings.Contains(command, name) }) {
			return name
		}
	case "slices.Contains", "slices.Index":
		if allowlist.Exists(name) && strings.Contains(name, ":") {
			return name
		}
	}
	return ""
}

// inList returns the first name of a list, or of the keys of a map, of which most texts are names of commands: a
// parameter can be called like a command, but seldom all of them.
func (c commandNames) inList(n *ast.CompositeLit) string {
	if !isListOrMap(n.Type) {
		return ""
	}
	first, commands, sure := "", 0, false
	for _, element := range n.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			element = pair.Key
		}
		name := c.text(element)
		if !allowlist.Exists(name) {
			continue
		}
		commands++
		first = c.either(first, name)
		sure = sure || !slices.Contains(notOnlyCommands, name)
	}
	if !sure || commands < 2 || 2*commands <= len(n.Elts) {
		return ""
	}
	return first
}

// notOnlyCommands are names of commands by which parameters, columns and properties go, too.
var notOnlyCommands = []string{"file", "folder", "tag", "tags", "aliases", "query", "search", "links", "name", "vault", "version", "command", "task"}

// text returns the text of a literal or a constant of the package, "" for everything else.
func (c commandNames) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.Ident:
		return c.constants[e.Name]
	}
	return ""
}

// isCommand reports whether an expression is the name of a command, by what it is called: the method Name of a
// call, a field or a variable Command, or the name of a question to a program.
func isCommand(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		of, ok := e.Fun.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Name" && len(e.Args) == 0
	case *ast.SelectorExpr:
		of, _ := e.X.(*ast.Ident)
		return strings.EqualFold(e.Sel.Name, "command") || e.Sel.Name == "name" && of != nil && of.Name == "q"
	case *ast.Ident:
		return strings.EqualFold(e.Name, "command")
	}
	return false
}

func isListOrMap(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ArrayType:
		of, _ := e.Elt.(*ast.Ident)
		return of != nil && of.Name == "string"
	case *ast.MapType:
		of, _ := e.Key.(*ast.Ident)
		return of != nil && of.Name == "string"
	}
	return false
}

// expression parses code of a test.
func expression(t *testing.T, code string) ast.Expr {
	t.Helper()
	return require.Value(parser.ParseExpr(code))(t)
}

// constantsOf returns the constants of a package that are literal texts.
func constantsOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	constants := map[string]string{}
	for _, s := range sources(t) {
		if s.folder() != folder {
			continue
		}
		for _, declaration := range s.syntax.Decls {
			of, ok := declaration.(*ast.GenDecl)
			if !ok || of.Tok != token.CONST {
				continue
			}
			for _, spec := range of.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if i < len(value.Values) {
						constants[name.Name] = commandNames{}.text(value.Values[i])
					}
				}
			}
		}
	}
	return constants
}
