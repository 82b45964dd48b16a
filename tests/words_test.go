package tests

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The files of the folder words, tables of cells separated by tabs:
//
//   - identifiers.tsv: a word that is kept out of names, and what to say instead
//   - phrases.tsv: a regular expression, which is kept out of messages and documents,
//     and what to say instead
//   - exceptions.tsv: "identifier" or "phrase", where it occurs, and the reason
//
// Where an identifier occurs is the identifier itself, or the path of a file or folder
// that is named so; where a phrase occurs is the text around it as the test shows it.
const (
	identifiersFile = "words/identifiers.tsv"
	phrasesFile     = "words/phrases.tsv"
	exceptionsFile  = "words/exceptions.tsv"
)

func TestRetiredWordsAreInNoIdentifier(t *testing.T) {
	retired := map[string]string{}
	for _, row := range rowsOf(t, identifiersFile, 2) {
		retired[row[0]] = row[1]
	}
	found := map[string]string{}
	see := func(where, name string) {
		if _, known := found[name]; known {
			return
		}
		if word := retiredWord(retired, path.Base(name)); word != "" {
			found[name] = fmt.Sprintf("%s: %q has the retired word %q; say: %s", where, name, word, retired[word])
		}
	}
	for _, s := range everySource(t) {
		see(s.name, strings.TrimSuffix(s.name, ".go"))
		for folder := s.folder(); folder != "."; folder = path.Dir(folder) {
			see(s.name, folder)
		}
		for _, name := range declared(s.syntax) {
			see(s.set.Position(name.Pos()).String(), name.Name)
		}
	}
	compare(t, "identifier", found)
}

func TestRetiredWordsAreFound(t *testing.T) {
	retired := map[string]string{"door": "x", "hang up": "x", "bury": "x"}
	for name, want := range map[string]string{
		"door": "door", "openDoors": "door", "DOOR": "door", "hangUpNow": "hang up", "hang_up_test": "hang up", "httpDoorURL": "door",
		"indoor": "", "hangs": "", "upHang": "", "buryAll": "bury", "vault": "",
	} {
		assert.Equal(t, retiredWord(retired, name), want, "%s", name)
	}
}

// retiredWord returns the first retired word or pair of words that a name has.
func retiredWord(retired map[string]string, name string) string {
	words := wordsOf(name)
	for i, word := range words {
		if i+1 < len(words) && retired[word+" "+words[i+1]] != "" {
			return word + " " + words[i+1]
		}
		for _, form := range []string{word, strings.TrimSuffix(word, "s")} {
			if retired[form] != "" {
				return form
			}
		}
	}
	return ""
}

// wordsOf splits a name in camel or snake case into lower-case words.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// declared returns the names that a file declares: of the package, of functions,
// types, fields, parameters, variables and labels.
func declared(file *ast.File) (names []*ast.Ident) {
	names = append(names, file.Name)
	add := func(all ...*ast.Ident) { names = append(names, all...) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		case *ast.LabeledStmt:
			add(n.Label)
		case *ast.ImportSpec:
			if n.Name != nil {
				add(n.Name)
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					add(name)
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{n.Key, n.Value} {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					add(name)
				}
			}
		}
		return true
	})
	return names
}

func TestRetiredPhrasesAreInNoMessage(t *testing.T) {
	type phrase struct {
		pattern *regexp.Regexp
		instead string
	}
	var phrases []phrase
	for _, row := range rowsOf(t, phrasesFile, 2) {
		phrases = append(phrases, phrase{regexp.MustCompile("(?i)" + row[0]), row[1]})
	}
	found := map[string]string{}
	see := func(where, text string) {
		for _, p := range phrases {
			for _, at := range p.pattern.FindAllStringIndex(text, -1) {
				around := excerpt(text, at[0], at[1])
				found[around] = fmt.Sprintf("%s: %q has the retired phrase %q; say: %s", where, around, text[at[0]:at[1]], p.instead)
			}
		}
	}
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					see(s.set.Position(n.Pos()).String(), text)
				}
			}
			return true
		})
	}
	for _, name := range documents(t) {
		text := require.Value(os.ReadFile("../" + name))(t)
		see(name, strings.Join(strings.Fields(string(text)), " "))
	}
	compare(t, "phrase", found)
}

// documents are the documents for users. CHANGELOG.md is a record and stays as it was
// written.
func documents(t *testing.T) (names []string) {
	t.Helper()
	if err := walk(func(_, rel string) error {
		if strings.HasSuffix(rel, ".md") && rel != "CHANGELOG.md" && !strings.HasPrefix(rel, "tests/") {
			names = append(names, rel)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// excerpt is what a text says at a phrase, with up to 30 bytes on either side.
func excerpt(text string, from, to int) string {
	from, to = max(from-30, 0), min(to+30, len(text))
	return strings.ToValidUTF8(strings.Join(strings.Fields(text[from:to]), " "), "")
}

// compare compares what was found with the exceptions: each find has to be listed, and
// each row of the list has to be found.
func compare(t *testing.T, kind string, found map[string]string) {
	t.Helper()
	left := maps.Clone(found)
	for _, row := range rowsOf(t, exceptionsFile, 3) {
		if row[0] != kind {
			continue
		}
		if left[row[1]] == "" {
			t.Errorf("%s: %q does not occur: remove the row", exceptionsFile, row[1])
		}
		delete(left, row[1])
	}
	for _, where := range slices.Sorted(maps.Keys(left)) {
		t.Error(left[where])
	}
}

// rowsOf reads a table. Each row has so many cells, and none of them is empty.
func rowsOf(t *testing.T, name string, cells int) (rows [][]string) {
	t.Helper()
	text := require.Value(os.ReadFile(name))(t)
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Equal(t, len(row), cells, "%s: %q has not %d cells", name, line, cells)
		require.That(t, !slices.Contains(row, ""), "%s: %q has not %d cells", name, line, cells)
		rows = append(rows, row)
	}
	return rows
}
