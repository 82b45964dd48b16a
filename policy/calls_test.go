package policy_test

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// widest opens whatever can be opened and asks about nothing.
// plain are the facts of a call that nothing is against, and ignored those of a vault with an ignore file.
var (
	plain   = policy.ClearFacts(time.Date(2027, 1, 2, 12, 0, 0, 0, time.UTC))
	ignored = knowing(func(f *policy.Facts) { f.Ignores = policy.Because("the vault has an ignore file") })
)

// knowing returns the facts of a call of which something is known.
func knowing(change func(*policy.Facts)) policy.Facts {
	facts := plain
	change(&facts)
	return facts
}

func widest() policy.Policy {
	return policy.Policy{Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum}
}

// everyCall returns for each command of the table its smallest call, the one
// that carries as much as goes together, and some that mix the two.
func everyCall(t *testing.T) []allowlist.Call {
	t.Helper()
	var calls []allowlist.Call
	for c := range allowlist.Commands() {
		params := smallest(c)
		calls = append(calls, mustParse(t, c.Name, params))
		for _, p := range c.Params {
			if _, given := params[p.Name]; given {
				continue
			}
			params[p.Name] = sample(p)
			if _, err := allowlist.Parse(c.Name, params); err != nil {
				delete(params, p.Name)
			}
		}
		if len(params) > 0 && c.Tier != tiers.Restricted {
			calls = append(calls, mustParse(t, c.Name, params))
		}
	}
	for _, line := range []string{"task line=3 done", "tasks active", "base:create name=A open",
		"template:insert name=A", "create name=A overwrite", "create path=A.md open newtab"} {
		words := strings.Fields(line)
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		calls = append(calls, call)
	}
	return calls
}

func smallest(c allowlist.Command) allowlist.Params {
	params := allowlist.Params{}
	for _, p := range c.Params {
		if p.Required {
			params[p.Name] = sample(p)
		}
	}
	// Of these one parameter is needed, whichever.
	if name := map[string]string{"create": "name", "attachment:write": "name", "folder:move": "files",
		"canvas:add": "text", "base:set-formula": "expr", "bookmark": "folder", "task": "line", "note:section": "lines",
		"note:insert": "lines", "note:set-section": "lines", "vault:replace": "new"}[c.Name]; name != "" {
		params[name] = allowlist.Text(map[string]string{"name": "A", "folder": "F", "files": "F", "text": "A",
			"expr": "A", "line": "3", "lines": "3", "new": "A"}[name])
	}
	if c.Name == "task:reschedule" { // which task, and what of it
		params["ref"], params["due"] = allowlist.Text("A/B.md:3"), allowlist.Text("2026-11-21")
	}
	return params
}

func sample(p allowlist.Param) allowlist.Value {
	switch p.Kind {
	case "flag":
		return allowlist.Flag(true)
	case "choice":
		return allowlist.Text(p.Choices[0])
	}
	text := map[string]string{
		"number": "3", "path": "A/B.md", "folder/ or path": "C/", "path:line": "A/B.md:3",
		"character": "x", "url": "https://example.org", "word": "read", "date": "2026-11-21",
	}[p.Kind]
	if text == "" {
		text = "A"
	}
	return allowlist.Text(text)
}

func mustParse(t *testing.T, name string, params allowlist.Params) allowlist.Call {
	t.Helper()
	call, err := allowlist.Parse(name, params)
	require.That(t, err == nil, "%s %v: %v", name, params, err)
	return call
}

func mustDecide(t *testing.T, p policy.Policy, line string) policy.Permit {
	t.Helper()
	return mustDecideWith(t, p, plain, line)
}

func mustDecideWith(t *testing.T, p policy.Policy, facts policy.Facts, line string) policy.Permit {
	t.Helper()
	words := strings.Fields(line)
	call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
	return require.Value(p.Decide(call, facts).Permit())(t)
}

// code returns the code of a denial, "" for no error and "?" for an error of
// another type.
func code(err error) string {
	var denial *policy.Denial
	switch {
	case err == nil:
		return ""
	case errors.As(err, &denial):
		return denial.Code()
	}
	return "?"
}

// A call, a permit and a denial cannot be made or changed outside their
// packages. The compiler ensures that; the files in testdata/forgery try it, each
// in the ways that its lines show. Every marked line must fail for the reason
// that is written next to it, and no other line may fail.
func TestForgeriesDoNotCompile(t *testing.T) {
	files, err := filepath.Glob("testdata/forgery/*.go")
	require.Equal(t, err, nil, "%d files, %v", len(files), err)
	require.That(t, len(files) >= 5, "%d files, %v", len(files), err)
	set := token.NewFileSet()
	packages := importer.ForCompiler(set, "gc", exported(t))
	for _, name := range files {
		file := require.Value(parser.ParseFile(set, name, nil, parser.ParseComments))(t)
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

// exported finds what the compiler has written of the packages of forgeries.
func exported(t *testing.T) importer.Lookup {
	t.Helper()
	files := map[string]string{}
	list := require.Value(exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"github.com/vaultwicket/vaultwicket/policy").Output())(t)
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
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
