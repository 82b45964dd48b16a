package policy_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// A call, a permit and a denial cannot be made or changed outside their
// packages. The compiler ensures that; the files in testdata/forgery try it, each
// in the ways that its lines show. Every marked line must fail for the reason
// that is written next to it, and no other line may fail.
func TestForgeriesDoNotCompile(t *testing.T) {
	files, err := filepath.Glob("testdata/forgery/*.go")
	require.That(t, err == nil && len(files) >= 5, "%d files, %v", len(files), err)
	set := token.NewFileSet()
	packages := importer.ForCompiler(set, "source", nil)
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		require.NoError(t, err)
		wants := wantedErrors(set, file)
		assert.Equal(t, filepath.Base(name) == "control.go", (len(wants) == 0), "%s has %d marked lines", name, len(wants))
		failed := map[int]string{}
		config := types.Config{Importer: packages, Error: func(err error) {
			found := err.(types.Error)
			failed[set.Position(found.Pos).Line] += found.Msg + "\n"
		}}
		config.Check("forgery", set, []*ast.File{file}, nil) // its errors went to config.Error
		for line, why := range failed {
			assert.That(t, wants[line] != "", "%s:%d does not compile: %s", name, line, why)
		}
		for line, want := range wants {
			assert.Contains(t, failed[line], want, "%s:%d fails with", name, line)
		}
	}
}

var wantMark = regexp.MustCompile(`^// want "([^"]+)"$`)

// wantedErrors reads the marks // want "…" of a file, by line.
func wantedErrors(set *token.FileSet, file *ast.File) map[int]string {
	wants := map[int]string{}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if mark := wantMark.FindStringSubmatch(comment.Text); mark != nil {
				wants[set.Position(comment.Pos()).Line] = mark[1]
			}
		}
	}
	return wants
}
