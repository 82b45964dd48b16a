package tests

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
)

// names are the names that comments may mention.
type names struct {
	words    map[string]bool            // every identifier of the module, and every word in its string literals
	packages map[string]map[string]bool // declarations by folder: "Name", "Type.Method" and "Type.Field"
	used     map[string]bool            // "path.Name", for each selector of an imported package that the module uses
}

var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

func namesOf(all []source) names {
	n := names{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
	for _, s := range all {
		known := n.packages[s.folder()]
		if known == nil {
			known = map[string]bool{}
			n.packages[s.folder()] = known
		}
		imports := importsOf(s)
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				n.words[node.Name] = true
			case *ast.BasicLit:
				for _, w := range word.FindAllString(node.Value, -1) {
					n.words[w] = true
				}
			case *ast.SelectorExpr:
				if from, ok := node.X.(*ast.Ident); ok && imports[from.Name] != "" {
					n.used[imports[from.Name]+"."+node.Sel.Name] = true
				}
			}
			return true
		})
		for _, d := range s.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				known[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							known[name.Name] = true
						}
					case *ast.TypeSpec:
						known[spec.Name.Name] = true
						ast.Inspect(spec.Type, func(node ast.Node) bool {
							if field, ok := node.(*ast.Field); ok {
								for _, name := range field.Names {
									known[spec.Name.Name+"."+name.Name] = true
								}
							}
							return true
						})
					}
				}
			}
		}
	}
	return n
}

// receiver returns the type of a method with a dot, "" for a function.
func receiver(d *ast.FuncDecl) (prefix string) {
	if d.Recv != nil {
		ast.Inspect(d.Recv.List[0].Type, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok && prefix == "" {
				prefix = name.Name + "."
			}
			return true
		})
	}
	return prefix
}

var versionSuffix = regexp.MustCompile(`^v\d+$`)

// importsOf returns the paths that a file imports by the names it has for them.
func importsOf(s source) map[string]string {
	imports := map[string]string{}
	for _, spec := range s.syntax.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(from)
		if versionSuffix.MatchString(name) {
			name = path.Base(path.Dir(from))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = from
	}
	return imports
}

// A doc comment of an exported name begins with the name, and one that begins with a
// lower-case word begins with the name of what it documents.
func TestDocCommentsBeginWithTheName(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				beginsWith(t, s, d.Doc, d.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					doc := d.Doc
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if d.Lparen.IsValid() {
							doc = spec.Doc
						}
						beginsWith(t, s, doc, spec.Name)
						if fields, ok := spec.Type.(*ast.StructType); ok {
							for _, f := range fields.Fields.List {
								if first, _ := utf8.DecodeRuneInString(f.Doc.Text()); unicode.IsLower(first) {
									beginsWith(t, s, f.Doc, f.Names...)
								}
							}
						}
					case *ast.ValueSpec:
						if d.Lparen.IsValid() {
							doc = spec.Doc
						}
						beginsWith(t, s, doc, spec.Names...)
					}
				}
			}
		}
	}
}

// beginsWith checks a doc comment. An article may come before an exported name.
func beginsWith(t *testing.T, s source, doc *ast.CommentGroup, declared ...*ast.Ident) {
	t.Helper()
	words := strings.Fields(doc.Text())
	if len(words) == 0 || len(declared) == 0 || declared[0].Name == "_" {
		return
	}
	lower, _ := utf8.DecodeRuneInString(words[0])
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	exported := false
	for _, name := range declared {
		if word.FindString(words[0]) == name.Name {
			return
		}
		exported = exported || name.IsExported()
	}
	if exported || unicode.IsLower(lower) {
		t.Errorf("%s: the comment of %s begins with %q", s.set.Position(doc.Pos()), declared[0].Name, words[0])
	}
}

// notNames are words in comments that are written as names in Go are, and are none:
// products, units, and names of other programs, formats and systems.
var notNames = set("ArabicShaping", "CaseFolding", "F2FS", "FileRenameInformationEx", "GiB", "OneDrive", "PowerShell", "StandardizedVariants", "W3C",
	"gRPC", "iCloud", "toLowerCase")

func set(words ...string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		all[w] = true
	}
	return all
}

var (
	docLink    = regexp.MustCompile(`(?:^|[^\[\w])\[\*?([A-Z]\w*(?:\.[A-Z]\w*)?|[a-z]\w*\.[A-Z]\w*(?:\.[A-Z]\w*)?)\](?:[^\](]|$)`)
	mixedCaps  = regexp.MustCompile(`(?:^|[\s("'\[*])((?:[a-z]\w*\.)?[A-Za-z]\w*)`)
	innerUpper = regexp.MustCompile(`[a-z\d][A-Z]`)
)

func TestNamesInCommentsExist(t *testing.T) {
	n := namesOf(everySource(t))
	for _, s := range sources(t) {
		imports := importsOf(s)
		for _, group := range s.syntax.Comments {
			text := group.Text()
			for _, link := range docLink.FindAllStringSubmatch(text, -1) {
				if !n.exists(s.folder(), imports, link[1]) {
					t.Errorf("%s: [%s] does not exist", s.set.Position(group.Pos()), link[1])
				}
			}
			for _, found := range mixedCaps.FindAllStringSubmatch(text, -1) {
				from, name, qualified := strings.Cut(found[1], ".")
				switch {
				case qualified && (imports[from] != "" || n.packages[from] != nil) && unicode.IsUpper(rune(name[0])):
					if !n.exists(s.folder(), imports, found[1]) {
						t.Errorf("%s: %s does not exist", s.set.Position(group.Pos()), found[1])
					}
				case !qualified && innerUpper.MatchString(from) && !n.words[from] && !n.words[strings.TrimSuffix(from, "s")] && !notNames[from]:
					t.Errorf("%s: %s does not exist", s.set.Position(group.Pos()), from)
				}
			}
		}
	}
}

// exists reports whether a name is declared in the package of a folder, or, where it
// begins with the name of a package, in that.
func (n names) exists(folder string, imports map[string]string, name string) bool {
	if n.packages[folder][name] {
		return true
	}
	from, rest, _ := strings.Cut(name, ".")
	if declared, ours := n.packages[strings.TrimPrefix(imports[from], module+"/")]; ours {
		return declared[rest]
	}
	if imports[from] == "" { // a package that another file imports
		for other := range n.packages {
			if path.Base(other) == from && n.packages[other][rest] {
				return true
			}
		}
		imports = map[string]string{from: from}
	}
	if n.used[imports[from]+"."+rest] {
		return true
	}
	return declaredInGo(imports[from], rest)
}

var standard = map[string]names{}

// withGOROOT returns a build context that finds the standard library. The default one of a test that was built with
// -trimpath does not.
var withGOROOT = sync.OnceValue(func() *build.Context {
	c := build.Default
	if c.GOROOT == "" {
		root, _ := exec.Command("go", "env", "GOROOT").Output() // without the go command no package is found
		c.GOROOT = strings.TrimSpace(string(root))
	}
	return &c
})

// declaredInGo reports whether a package of the standard library declares a name.
func declaredInGo(from, name string) bool {
	if _, read := standard[from]; !read {
		files, all := token.NewFileSet(), []source(nil)
		found, _ := withGOROOT().Import(from, "", 0) // of one that is not there nothing is declared
		for _, name := range found.GoFiles {
			if file, err := parser.ParseFile(files, filepath.Join(found.Dir, name), nil, parser.SkipObjectResolution); err == nil {
				all = append(all, source{path.Join(from, "x.go"), file, files})
			}
		}
		standard[from] = namesOf(all)
	}
	return standard[from].packages[from][name]
}
