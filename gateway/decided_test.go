package gateway

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The policy is asked about a call where it is planned, where another call takes its
// place and where it is known what it would remove, and nowhere else, in the packages below
// this one either: each of these is passed once by a call, so that what was judged is what
// is run. Permits and permitted only tell a client what would be decided, and nothing is
// run by what they say.
func TestTheFunctionsThatDecide(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Decide" && !isPackage(call.X, "consent") {
					found = append(found, filepath.ToSlash(filepath.Dir(name))+"."+decl.(*ast.FuncDecl).Name.Name)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if want := []string{"..Permits", "..Plan", "..replaced", "..withLoss", "notes.permitted"}; !slices.Equal(found, want) {
		t.Errorf("Decide is called in %v, want %v", found, want)
	}
}

// isPackage reports whether an expression is a package of that name: consent.Decide stores
// what the user decided.
func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
