package access

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// minReason is how many words a reason has at least.
const minReason = 6

// TestEveryPairHasATestOrAReason: each pair of the features has one row, in the order of the
// features, and each test that it names is known.
func TestEveryPairHasATestOrAReason(t *testing.T) {
	place := map[string]int{} // of a feature, from 1
	for i, cells := range rowsIn(t, "features.tsv", 2) {
		require.Equal(t, place[cells[0]], 0, "the feature %q appears twice", cells[0])
		place[cells[0]] = i + 1
	}
	last := len(place)
	all := testsOf(t, filepath.Join("..", ".."))
	seen := map[[2]int]bool{}
	tested := 0
	for i, cells := range rowsIn(t, "pairs.tsv", 3) {
		pair := [2]int{place[cells[0]], place[cells[1]]}
		isPair := 0 < pair[0] && pair[0] < pair[1]
		assert.That(t, isPair, "line %d: %s and %s are not two features in their order", i+1, cells[0], cells[1])
		assert.That(t, !seen[pair], "line %d: the pair of %s and %s appears twice", i+1, cells[0], cells[1])
		seen[pair] = true
		if reason, ok := strings.CutPrefix(cells[2], "-"); ok {
			assert.That(t, len(strings.Fields(reason)) >= minReason, "line %d: a reason has at least %d words", i+1, minReason)
			continue
		}
		tested++
		for test := range strings.FieldsSeq(cells[2]) {
			assert.That(t, all.has(test), "line %d: there is no test %s", i+1, test)
		}
	}
	assert.Equal(t, len(seen), last*(last-1)/2, "rows for the pairs of %d features", last)
	t.Logf("%d features, %d pairs: %d with tests, %d with a reason", last, len(seen), tested, len(seen)-tested)
}

// rowsIn reads a table. Each row has so many cells, and none of them is empty.
func rowsIn(t *testing.T, name string, cells int) (rows [][]string) {
	t.Helper()
	text := require.Value(os.ReadFile(name))(t)
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Equal(t, len(row), cells, "%s: cells of %q", name, line)
		require.That(t, !slices.Contains(row, ""), "%s: %q has an empty cell", name, line)
		rows = append(rows, row)
	}
	return rows
}

// tests are the tests of the tree: by folder and name, and the texts of the files
// in which a subtest has its name.
type tests struct {
	root  string
	texts map[string]map[string]bool // folder.TestName: the texts of its folder
}

func (s tests) has(test string) bool {
	if strings.HasSuffix(test, ".txtar") {
		_, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(test)))
		return err == nil && strings.HasPrefix(test, "tests/")
	}
	folder, name, _ := strings.Cut(test, ".Test")
	name, part, sub := strings.Cut(name, "/")
	texts, known := s.texts[folder+".Test"+name]
	return known && (!sub || texts[part])
}

// testsOf reads all files of tests below root.
func testsOf(t *testing.T, root string) tests {
	t.Helper()
	found := tests{root, map[string]map[string]bool{}}
	texts := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		rel, err := filepath.Rel(root, filepath.Dir(name))
		require.NoError(t, err)
		folder := path.Clean(filepath.ToSlash(rel))
		if texts[folder] == nil {
			texts[folder] = map[string]bool{}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts[folder][text] = true
				}
			case *ast.FuncDecl:
				if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") && n.Name.Name != "TestMain" {
					found.texts[folder+"."+n.Name.Name] = texts[folder]
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	return found
}
