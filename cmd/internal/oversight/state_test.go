package oversight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What a user of Windows reads from approvals, journal, undo and pause, if another state folder is there: one that a
// packaged program has, or an earlier one.
func TestWhichStateACommandIsAbout(t *testing.T) {
	home := t.TempDir()
	used := filepath.Join(home, ".vaultwicket")
	local := filepath.Join(home, "Local")
	packaged := filepath.Join(local, "Packages", "Claude_x", "LocalCache", "Local", "vaultwicket")
	values := map[string]string{"USERPROFILE": home, "LOCALAPPDATA": local}
	env := func(name string) string { return values[name] }
	require.NoError(t, os.MkdirAll(filepath.Join(used, "journal"), 0o700))
	assert.Equal(t, stateNote("windows", env, used), "", "with one state folder")
	require.NoError(t, os.MkdirAll(filepath.Join(packaged, "approvals"), 0o700))
	want := fmt.Sprintf(`this is about servers with the state folder %q, not those with %q; see "vaultwicket doctor"`, used, packaged)
	assert.Equal(t, stateNote("windows", env, used), want, "with two")
	assert.Equal(t, stateNote("linux", env, used), "", "on Linux")
}

// silentAboutState are the functions that ask for the state folder and leave it to another one to say which it is.
var silentAboutState = map[string]string{
	"Approve":      "questionOf says it",
	"Deny":         "questionOf says it",
	"takeProposal": "a proposal was found in it",
	"Agents":       "for other commands",
	"Revoke":       "for other commands",
}

func TestEachCommandSaysWhichStateItIsAbout(t *testing.T) {
	files := require.Value(filepath.Glob("*.go"))(t)
	asked := 0
	for _, name := range files {
		file := require.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			asks, says := false, false
			ast.Inspect(function, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					asks = asks || n.Sel.Name == "StateFolder" && fmt.Sprint(n.X) == "settings"
				case *ast.Ident:
					says = says || n.Name == "noteState"
				}
				return true
			})
			if !asks {
				continue
			}
			asked++
			isSilent := silentAboutState[function.Name.Name] != ""
			assert.That(t, says != isSilent, "%s: %s asks for the state folder; says which: %v", name, function.Name.Name, says)
		}
	}
	assert.That(t, asked >= 10, "%d functions ask for the state folder", asked)
}
