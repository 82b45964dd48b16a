package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// source is one Go file.
type source struct {
	name   string // slash path below the root
	syntax *ast.File
	set    *token.FileSet
}

// folder is the path of the package.
func (s source) folder() string { return path.Dir(s.name) }

var parseOnce = sync.OnceValues(parseAll)

// everySource returns every Go file of the module except test data, parsed once.
func everySource(t *testing.T) []source {
	t.Helper()
	all := require.Value(parseOnce())(t)
	return all
}

func parseAll() (all []source, err error) {
	set := token.NewFileSet()
	err = walk(func(name, rel string) error {
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		syntax, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{rel, syntax, set})
		return err
	})
	return all, err
}

// notOurs are folders with other modules, and with what is made and not kept.
var notOurs = []string{"tests/clients", "tests/ui", "docs/site/out", "packaging/stage", "dist"}

// walk calls each with every file of the module, except those of other modules, of
// test data and in folders whose name begins with a dot.
func walk(each func(name, rel string) error) error {
	root := ".."
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		if !entry.IsDir() {
			return each(name, rel)
		}
		if base := entry.Name(); base == "testdata" || base == "node_modules" || rel != "." && strings.HasPrefix(base, ".") || slices.Contains(notOurs, rel) {
			return filepath.SkipDir
		}
		return nil
	})
}
