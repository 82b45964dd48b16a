package pairs

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

//go:embed features.tsv
var featuresText string

//go:embed pairs.tsv
var pairsText string

func TestEveryPairHasATestOrAReason(t *testing.T) {
	features, problems := parseFeatures(featuresText)
	rows, more := parseRows(pairsText)
	all := testsOf(t, filepath.Join("..", ".."))
	problems = append(append(problems, more...), check(features, rows, all.has)...)
	for _, problem := range problems {
		t.Error(problem)
	}
	tested := 0
	for _, r := range rows {
		if len(r.tests) > 0 {
			tested++
		}
	}
	t.Logf("%d features, %d pairs: %d with tests, %d with a reason", len(features), len(rows), tested, len(rows)-tested)
}

func TestAWrongTableIsTold(t *testing.T) {
	const reason = "\t- they are of two programs, which never meet\n"
	known := func(test string) bool { return test == "tests.TestOne" }
	for want, c := range map[string]struct{ features, pairs string }{
		"a and c have no row":          {"a\tx\nb\tx\nc\tx\n", "a\tb\ttests.TestOne\nb\tc" + reason},
		"a and b are on line 1 too":    {"a\tx\nb\tx\n", "a\tb" + reason + "a\tb" + reason},
		"not in the order":             {"a\tx\nb\tx\n", "b\ta" + reason},
		"are not both features":        {"a\tx\nb\tx\n", "a\tz" + reason + "a\tb" + reason},
		"neither a test nor a reason":  {"a\tx\nb\tx\n", "a\tb\t- no\n"},
		"line 1: a and b have neither": {"a\tx\nb\tx\n", "a\tb\t\n"},
		"no test tests.TestTwo":        {"a\tx\nb\tx\n", "a\tb\ttests.TestOne tests.TestTwo\n"},
		"has 2 cells":                  {"a\tx\nb\tx\n", "a\tb" + reason + "a\tb\n"},
		`"a" is there twice`:           {"a\tx\na\tx\n", "a\tb" + reason},
		"is no name and its meaning":   {"a\tx\nb\n", "a\tb" + reason},
	} {
		features, problems := parseFeatures(c.features)
		rows, more := parseRows(c.pairs)
		problems = append(append(problems, more...), check(features, rows, known)...)
		assert.Contains(t, strings.Join(problems, "\n"), want, "%q", c.pairs)
	}
	if problems := check([]string{"a", "b"}, []row{{line: 1, a: "a", b: "b", tests: []string{"tests.TestOne"}}}, known); len(problems) > 0 {
		t.Errorf("a table that is right: %q", problems)
	}
}

func TestTestsAreFound(t *testing.T) {
	all := testsOf(t, filepath.Join("..", ".."))
	for test, want := range map[string]bool{
		"tests/pairs.TestTestsAreFound": true, "tests/pairs.TestNone": false, "tests.TestTestsAreFound": false, "TestTestsAreFound": false,
		"tests/pairs.TestTestsAreFound/has 2 cells": true, "tests/pairs.TestTestsAreFound/another" + " part": false,
		"tests/pairs.testsOf": false, "tests/script/demo.txtar": true, "tests/script/none.txtar": false, "tests/pairs/pairs.tsv": false,
	} {
		assert.Equal(t, all.has(test), want, "%s", test)
	}
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
	folder, name, ok := strings.Cut(test, ".Test")
	name, part, sub := strings.Cut(name, "/")
	texts, known := s.texts[folder+".Test"+name]
	return ok && known && (!sub || texts[part])
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
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
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
