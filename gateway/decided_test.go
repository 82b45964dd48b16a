package gateway

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The policy is asked about a call where it is planned, where another call takes its
// place and where it is known what it would remove, and nowhere else: each of these is
// passed once by a call, so that what was judged is what is run. Permits and permitted
// only tell a client what would be decided, and nothing is run by what they say.
func TestTheFunctionsThatDecide(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Decide" {
					found = append(found, decl.(*ast.FuncDecl).Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(found)
	if want := []string{"Permits", "Plan", "permitted", "replaced", "withLoss"}; !slices.Equal(found, want) {
		t.Errorf("Decide is called in %v, want %v", found, want)
	}
}
