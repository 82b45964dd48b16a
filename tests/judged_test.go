package tests

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// opened are the functions in the embedded vault CLI, outside of the packages that write texts, that look into a text which
// the guard of secrets has not judged.
var opened = map[string]string{
	"internal/vault/call ActiveNote":           "the record of the app says which note is focused; its path is looked up",
	"internal/vault/call Narrowed":             "which notes narrow the access to themselves; no text is kept",
	"internal/vault/call ReadConfig":           "settings of the app, which say where notes are",
	"internal/vault/call ReadSource":           "the secrets that a change puts back in place of marks",
	"internal/vault/handlers add":              "the line of a task that a change adds, as the caller sees it",
	"internal/vault/handlers addBookmark":      "the bookmarks that a change writes",
	"internal/vault/handlers changeLinks":      "the links that a change writes",
	"internal/vault/handlers dailyNote":        "the daily note that a change writes, as the caller sees it",
	"internal/vault/handlers filledIn":         "compares",
	"internal/vault/handlers init":             "compares what the app has written with what it was asked for",
	"internal/vault/handlers linksToHeadings":  "the headings before and after a change, as the caller sees them",
	"internal/vault/handlers listBookmarks":    "the bookmarks, each of whose texts is judged",
	"internal/vault/handlers listJournal":      "lines are counted, and no text is shown",
	"internal/vault/handlers listRecents":      "paths of the record of the app, which are looked up",
	"internal/vault/handlers judgeCreated":     "compares",
	"internal/vault/handlers verifyAdded":      "compares what the app has written with what it was asked for",
	"internal/vault/handlers verifyBookmark":   "compares what the app has written with what it was asked for",
	"internal/vault/handlers verifyMarked":     "compares what the app has written with what it was asked for",
	"internal/vault/handlers verifySet":        "compares what the app has written with what it was asked for",
	"internal/vault/handlers readAttachment":   "the bytes of an image, and of which type a file is; a text is shown by Shown",
	"internal/vault/handlers relink":           "the links that a change writes",
	"internal/vault/handlers restoreVersion":   "whether the text ends its last line",
	"internal/vault/handlers requestedVersion": "the version that a change writes",
	"internal/vault/handlers seesNoteOf":       "whether a removed note was private",
	"internal/vault/handlers tell":             "properties before and after a change, as the caller sees them",
	"internal/vault/handlers attachmentText":   "whether a file is a text or a PDF; a text is shown by Shown",
	"internal/vault/handlers textOfPDF":        "the pages, which are shown by ShownPages",
}

// replies are the functions among them, and among those that write texts, that make a reply from a string, too.
var replies = map[string]string{
	"internal/vault/call Narrowed":           "levels and paths, for the gateway",
	"internal/vault/change reply":            "numbers of lines, hashes and paths",
	"internal/vault/handlers listBookmarks":  "what is judged of the bookmarks",
	"internal/vault/handlers listJournal":    "numbers of lines and what the journal says of changes",
	"internal/vault/handlers readAttachment": "what is judged of a text, and an image in base64",
	"internal/vault/handlers attachmentText": "what is judged of a text",
	"internal/vault/handlers textOfPDF":      "what is judged of the pages",
}

// A text that was not judged is of type guard.Unjudged. Whoever looks into one makes no reply from a string, but for a few
// that are read: so what a reply is made of was judged, or has been a constant.
func TestNoTextIsOpenedWhereRepliesAreMade(t *testing.T) {
	foundOpened, foundReplies := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		writes := s.folder() == "internal/vault/change" || s.folder() == "internal/vault/disk"
		if !strings.HasPrefix(s.name, "internal/vault/") {
			continue
		}
		for _, d := range s.syntax.Decls {
			f, isFunction := d.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			name := s.folder() + " " + f.Name.Name
			opens, makes := opensAndMakes(f)
			if opens && !writes {
				foundOpened[name] = true
			}
			if opens && makes {
				foundReplies[name] = true
			}
		}
	}
	assert.Equal(t, keysOf(foundOpened), keysOf(opened), "functions that look into texts which were not judged")
	assert.Equal(t, keysOf(foundReplies), keysOf(replies), "functions that do so and make a reply from a string")
	for _, why := range slices.Concat(slices.Collect(maps.Values(opened)), slices.Collect(maps.Values(replies))) {
		assert.That(t, why != "", "a function has no reason")
	}
}

// failures are the functions that look into a text which was not judged, and say something in an error or a notice.
var failures = map[string]string{
	"internal/vault/change checkFileKinds":     "paths, and what is wrong with a base as the caller sees it",
	"internal/vault/change restore":            "paths and marks",
	"internal/vault/handlers add":              "what the caller asked for, and the number of a line",
	"internal/vault/handlers addBookmark":      "what the caller asked for, and where JSON is wrong",
	"internal/vault/handlers attachmentText":   "the type of a file",
	"internal/vault/handlers listBookmarks":    "where JSON is wrong",
	"internal/vault/handlers listJournal":      "a date",
	"internal/vault/handlers listRecents":      "that the record of the app is empty",
	"internal/vault/handlers readAttachment":   "the type of a file, and what is wrong with an image",
	"internal/vault/handlers requestedVersion": "what the caller asked for",
	"internal/vault/handlers textOfPDF":        "numbers of pages, and what is wrong with a PDF",
}

// A text of an error or a notice is made of a format and of names, numbers and what the caller wrote. Whoever looks into
// a text that was not judged says nothing else, but for a few that are read; bytes are not made a string there; and
// no other package writes the text of a fault.
func TestErrorsAndNoticesAreMadeOfWhatCallersMaySee(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.name, "internal/vault/") {
			continue
		}
		for _, d := range s.syntax.Decls {
			f, isFunction := d.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			said := saidTo(f)
			opens, _ := opensAndMakes(f)
			if opens && len(said) > 0 {
				found[s.folder()+" "+f.Name.Name] = true
			}
			for _, part := range said {
				assert.That(t, !convertsBytes(part), "%s: bytes are said as a string", s.set.Position(part.Pos()))
			}
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			literal, isLiteral := n.(*ast.CompositeLit)
			if isLiteral && s.folder() != "internal/vault/answer" {
				kind, isOfPackage := literal.Type.(*ast.SelectorExpr)
				isFault := isOfPackage && selector(kind) == "answer.Fault"
				assert.That(t, !isFault, "%s: a fault is made here", s.set.Position(n.Pos()))
			}
			return true
		})
	}
	assert.Equal(t, keysOf(found), keysOf(failures), "functions that look into texts which were not judged, and say something")
	for function, why := range failures {
		assert.That(t, why != "", "%s has no reason", function)
	}
}

// failing are the functions that make an error or a notice of a format and of what it says.
var failing = []string{"Nothing", "Remark", "Failure", "Misuse", "MisuseWithHint", "DidYouMean", "InPart"}

// saidTo returns what a function puts into the texts of errors, and into notices.
func saidTo(f *ast.FuncDecl) (said []ast.Expr) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			method, isMethod := n.Fun.(*ast.SelectorExpr)
			if isMethod && slices.Contains(failing, method.Sel.Name) && len(n.Args) > 1 {
				said = append(said, n.Args...)
			}
		case *ast.KeyValueExpr:
			if key, isName := n.Key.(*ast.Ident); isName && key.Name == "Notice" {
				said = append(said, n.Value)
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if field, isField := to.(*ast.SelectorExpr); isField && field.Sel.Name == "Notice" {
					said = append(said, n.Rhs...)
				}
			}
		}
		return true
	})
	return said
}

// convertsBytes reports whether an expression makes a string of bytes, or looks into a text that was not judged.
func convertsBytes(part ast.Expr) (converts bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			converts = converts || f.Name == "string"
		case *ast.SelectorExpr:
			converts = converts || f.Sel.Name == "ForProgram"
		}
		return true
	})
	return converts
}

func keysOf[V any](of map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(of)), "\n") }

// opensAndMakes reports whether a function looks into a text that was not judged, and whether it makes a reply from a string.
func opensAndMakes(f *ast.FuncDecl) (opens, makes bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		switch method, isMethod := call.Fun.(*ast.SelectorExpr); {
		case !isMethod:
		case method.Sel.Name == "ForProgram":
			opens = true
		case method.Sel.Name == "Saying" || method.Sel.Name == "Reply" && len(call.Args) == 2:
			makes = true
		case slices.Contains([]string{"answer.From", "answer.FromNote", "answer.FromPart", "answer.Rows"}, selector(method)):
			makes = true
		}
		return true
	})
	return opens, makes
}

// The folder that a reply is made from is that of the call, whose files are read with marks in place of secrets.
func TestAReplyIsMadeFromTheFolderOfTheCall(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.name, "internal/vault/") {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			method, isMethod := call.Fun.(*ast.SelectorExpr)
			if isMethod && method.Sel.Name == "Redacting" && s.folder() != "internal/vault/disk" {
				assert.Equal(t, s.name, "internal/vault/call/host.go", "what a folder puts in place of secrets is decided here")
			}
			made := isMethod && slices.Contains([]string{"answer.From", "answer.FromNote", "answer.FromPart", "answer.Rows"}, selector(method))
			if made || isMethod && method.Sel.Name == "Saying" && s.folder() != "internal/vault/answer" {
				folder, isField := call.Args[0].(*ast.SelectorExpr)
				const wrong = "%s: a reply is not made from the folder of the call"
				require.That(t, isField, wrong, s.set.Position(n.Pos()))
				assert.Equal(t, folder.Sel.Name, "Disk", wrong, s.set.Position(n.Pos()))
			}
			return true
		})
	}
}
