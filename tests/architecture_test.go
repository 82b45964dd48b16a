package tests

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// module is the path of this module.
const module = "github.com/vaultwicket/vaultwicket"

// allowedImports says which packages of this module a package may import. It is a
// statement of policy: do not change it to fix a build.
//
// Both programs of the binary import allowlist/day, allowlist/quote, exec/frame,
// gateway/state/journal, gateway/names, gateway/registry,
// and policy/access: the words for days, what messages repeat, the protocol
// between the two, the journal, the names of files, the app's list of
// vaults, and the access rules. These packages import nothing of this module but
// allowlist/quote, gateway/state/private, which opens private files and locates them, exec/trust, which reads
// the access lists of Windows and opens regular files, and packages below themselves.
const allowedImports = `
tiers                        :
allowlist                    : allowlist/day allowlist/quote tiers
allowlist/day                : allowlist/quote
allowlist/quote              :
policy                       : policy/access allowlist tiers
policy/access                :
exec                         : exec/trust exec/secrets exec/frame exec/process policy allowlist tiers allowlist/quote
exec/frame                   :
exec/secrets                 :
exec/trust                   : allowlist/quote
exec/process                 : exec/frame
gateway                      : allowlist allowlist/quote exec exec/frame exec/secrets gateway/admission gateway/catalog gateway/clean gateway/consent gateway/difference gateway/failure gateway/names gateway/notes gateway/observe gateway/pages gateway/registry gateway/state/audit gateway/state/journal gateway/state/private policy policy/access tiers
gateway/state/audit          : allowlist allowlist/quote gateway/failure gateway/observe gateway/state/private policy tiers
gateway/state/agents         : gateway/state/private
gateway/catalog              : gateway/failure policy policy/access allowlist tiers
gateway/clean                :
gateway/failure              : allowlist/quote gateway/clean
gateway/state/journal        : gateway/state/private
gateway/notes                : gateway/failure gateway/names policy policy/access allowlist allowlist/quote
gateway/admission            : gateway/failure gateway/state/private
gateway/consent              : gateway/clean gateway/difference gateway/failure gateway/state/audit allowlist allowlist/quote tiers gateway/state/private
gateway/httpguard            :
gateway/notify               : exec/process gateway/httpguard gateway/state/private
gateway/oauth                : gateway/httpguard
gateway/oauth/signin         : gateway/httpguard gateway/state/private
gateway/names                :
gateway/pages                : allowlist/quote gateway/failure
gateway/state/private        : exec/trust
gateway/registry             : exec/trust
gateway/observe              : allowlist gateway/failure
gateway/observe/export       : gateway/observe/telemetry gateway/state/audit gateway/state/private
gateway/observe/telemetry    : allowlist/quote exec gateway/failure gateway/observe
gateway/ui/activity          : gateway/state/audit policy
gateway/difference           : gateway/clean
gateway/ui                   : gateway gateway/admission policy policy/access gateway/catalog gateway/clean gateway/consent gateway/difference gateway/failure gateway/httpguard gateway/state/audit gateway/state/journal gateway/state/private gateway/ui/activity gateway/notes tiers
gateway/mcpserver            : allowlist allowlist/day allowlist/quote exec/frame gateway gateway/catalog gateway/clean gateway/consent gateway/failure gateway/mcpserver/streamable gateway/mcpserver/wire gateway/observe policy tiers
gateway/mcpserver/wire       : allowlist/quote
gateway/mcpserver/streamable : exec/trust gateway/httpguard gateway/mcpserver/wire gateway/state/private
cmd/vaultwicket              : allowlist allowlist/day allowlist/quote cmd/internal/clients cmd/internal/doctor cmd/internal/release cmd/internal/remote cmd/internal/settings cmd/internal/terminal cmd/internal/vault cmd/internal/vault/disk exec exec/secrets exec/frame exec/trust gateway gateway/admission gateway/catalog gateway/clean gateway/consent gateway/difference gateway/failure gateway/httpguard gateway/mcpserver gateway/mcpserver/streamable gateway/notes gateway/oauth gateway/oauth/signin gateway/registry gateway/state/agents gateway/state/audit gateway/state/journal gateway/state/private gateway/ui policy policy/access tiers
cmd/internal/remote          : cmd/internal/release cmd/internal/terminal gateway gateway/catalog gateway/failure
cmd/internal/settings        : allowlist allowlist/day allowlist/quote cmd/internal/release cmd/internal/terminal cmd/internal/vault/meaning exec exec/process exec/trust gateway gateway/admission gateway/clean gateway/failure gateway/httpguard gateway/mcpserver/streamable gateway/notes gateway/notify gateway/observe gateway/observe/export gateway/observe/telemetry gateway/registry gateway/state/audit gateway/state/private policy policy/access tiers
cmd/internal/doctor          : allowlist/quote cmd/internal/clients cmd/internal/release cmd/internal/remote cmd/internal/settings cmd/internal/terminal cmd/internal/vault/disk/system exec gateway gateway/admission gateway/clean gateway/consent gateway/failure gateway/oauth gateway/observe/export gateway/registry gateway/state/audit gateway/state/journal gateway/state/private policy policy/access tiers
cmd/internal/terminal        : allowlist/day allowlist/quote gateway/clean gateway/failure tiers
cmd/internal/document        :
cmd/internal/clients         : allowlist/quote cmd/internal/document cmd/internal/terminal exec/process exec/trust gateway/state/private
cmd/internal/vault           : cmd/internal/vault/* cmd/internal/document cmd/internal/release allowlist allowlist/day allowlist/quote exec/frame exec/secrets gateway/httpguard gateway/state/journal gateway/names gateway/state/private gateway/registry policy/access gateway/difference
cmd/internal/release         :
packaging                    :
packaging/pack               : packaging
tests                        :
`

// capabilities says which files alone may import a package. A trailing slash means
// every file of that folder and none below; several are separated by spaces.
var capabilities = []struct{ imported, importers, why string }{
	{"os/exec", "exec/process/", "nothing else starts a process"},
	{"github.com/mark3labs/mcp-go/mcp", "gateway/mcpserver/ gateway/mcpserver/streamable/ gateway/mcpserver/wire/", "the protocol stays at the edge"},
	{"github.com/mark3labs/mcp-go/server", "gateway/mcpserver/ gateway/mcpserver/streamable/ gateway/mcpserver/wire/", "the protocol stays at the edge"},
	{"github.com/spf13/pflag", "cmd/internal/terminal/", "flags are read in one place"},
	{"github.com/hashicorp/go-version", "exec/", "versions are read where they are printed"},
	{"github.com/sourcegraph/conc/panics", "gateway/", "faults are caught where requests live"},
	{"github.com/pelletier/go-toml/v2", "cmd/internal/settings/ cmd/internal/document/", "settings are read in one place, and those of MCP clients in another"},
	{"go.yaml.in/yaml/v4", "cmd/internal/vault/frontmatter/ cmd/internal/document/", "YAML is read where properties are, and where MCP clients keep their settings"},
	{"github.com/dlclark/regexp2/v2", "cmd/internal/vault/regex/", "the dialect of the app is compiled in one place"},
	{"github.com/ledongthuc/pdf", "cmd/internal/vault/pdftext/", "files that may hurt are read in one place"},
	{"golang.org/x/image/draw", "cmd/internal/vault/commands/", "images are scaled for models in one place"},
	{"github.com/blevesearch/snowballstem", "cmd/internal/vault/find/", "word forms are compared in one place"},
	{"github.com/landlock-lsm/go-landlock/landlock", "cmd/internal/vault/disk/system/", "a process locks itself in once"},
	{"github.com/git-pkgs/gitignore", "policy/access/", "patterns hide where files are looked for; its New would start git"},
	{"github.com/clipperhouse/uax29/v2/graphemes", "gateway/pages/", "texts are cut in one place"},
	{"github.com/clipperhouse/displaywidth", "cmd/internal/terminal/", "lines are cut to the terminal in one place"},
	{"golang.org/x/term", "cmd/internal/terminal/", "a terminal is asked for its size in one place"},
	{"golang.org/x/time/rate", "gateway/admission/", "calls are let through in one place"},
	{"github.com/VictoriaMetrics/metrics", "gateway/observe/telemetry/", "what is counted is named in one place, where names of notes are not known"},
	{"unsafe", "exec/process/child_windows.go", "the job object of Windows takes a pointer"},
	{"reflect", "", "types are known"},
	{"plugin", "", "code is linked"},
	{"github.com/go-jose/go-jose/v4", "gateway/oauth/", "access tokens are checked in one place"},
	{"github.com/go-webauthn/webauthn/webauthn", "gateway/oauth/signin/", "the owner signs in in one place"},
	{"github.com/go-oauth2/oauth2/v4", "gateway/oauth/signin/", "access tokens are issued in one place"},
	{"net/http", "gateway/httpguard/ gateway/mcpserver/ gateway/mcpserver/streamable/ gateway/oauth/ gateway/oauth/signin/ gateway/notify/ cmd/vaultwicket/serve_http.go cmd/internal/remote/ gateway/ui/ gateway/observe/telemetry/ cmd/internal/vault/meaning/", "the network is used by servers over HTTP, for traces, for messages to the owner, and for vectors of texts by a server that the user has named only"},
	{"go.opentelemetry.io/otel/sdk/trace", "gateway/observe/telemetry/", "what a collector is told is written in one place"},
	{"go.opentelemetry.io/otel/trace", "gateway/observe/telemetry/", "what a collector is told is written in one place"},
}

func TestOnlyAllowedImports(t *testing.T) {
	allowed := map[string][]string{}
	for line := range strings.Lines(allowedImports) {
		if folder, list, ok := strings.Cut(line, ":"); ok {
			allowed[strings.TrimSpace(folder)] = strings.Fields(list)
		}
	}
	for _, s := range sources(t) {
		folder := s.folder()
		if strings.HasPrefix(folder, "cmd/internal/vault/") {
			folder = "cmd/internal/vault"
		}
		list, known := allowed[folder]
		assert.That(t, known, "%s: allowedImports has no row for %q", s.name, folder)
		for _, spec := range s.syntax.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if ours && !slices.ContainsFunc(list, func(pattern string) bool { return covers(pattern, target) }) {
				t.Errorf("%s imports %s, which its row of allowedImports does not contain", s.name, target)
			}
		}
	}
}

func covers(pattern, target string) bool {
	if prefix, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(target, prefix)
	}
	return pattern == target
}

func TestEachCapabilityHasItsImporters(t *testing.T) {
	imported := map[string]bool{}
	for _, s := range sources(t) {
		for _, spec := range s.syntax.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			for _, c := range capabilities {
				if name != c.imported {
					continue
				}
				imported[name] = true
				if allowed := strings.Fields(c.importers); !slices.Contains(allowed, s.name) && !slices.Contains(allowed, s.folder()+"/") {
					t.Errorf("%s imports %s, which only %q may, because %s", s.name, name, c.importers, c.why)
				}
			}
		}
	}
	for _, name := range []string{"os/exec", "github.com/mark3labs/mcp-go/server", "github.com/spf13/pflag",
		"github.com/hashicorp/go-version", "github.com/sourcegraph/conc/panics", "github.com/pelletier/go-toml/v2"} {
		assert.That(t, imported[name], "nothing imports %s: the list of capabilities is stale", name)
	}
}

// startsProcess names functions that start or replace a process without
// importing os/exec.
var startsProcess = []string{"os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess", "unix.Exec", "windows.CreateProcess"}

func TestOnlyExecStartsProcesses(t *testing.T) {
	for _, s := range sources(t) {
		if s.folder() == "exec/process" {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if name := selector(n); slices.Contains(startsProcess, name) {
				t.Errorf("%s uses %s", s.set.Position(n.Pos()), name)
			}
			return true
		})
	}
}

func TestNoPolicyIsWritten(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if ok && selector(literal.Type) == "policy.Policy" {
				t.Errorf("%s writes a policy", s.set.Position(n.Pos()))
			}
			return true
		})
	}
}

func selector(n ast.Node) string {
	if e, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

func TestEveryPackageHasOneComment(t *testing.T) {
	folders, comments := map[string]bool{}, map[string]int{}
	for _, s := range sources(t) {
		folders[s.folder()] = true
		if s.syntax.Doc != nil {
			comments[s.folder()]++
		}
	}
	for folder := range folders {
		if comments[folder] != 1 {
			t.Errorf("%s has %d package comments, want 1", folder, comments[folder])
		}
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !selfEvident(d) {
					t.Errorf("%s: %s has no doc comment", s.set.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() && d.Doc == nil && named.Doc == nil {
						t.Errorf("%s: %s has no doc comment", s.set.Position(spec.Pos()), named.Name.Name)
					}
				}
			}
		}
	}
}

// selfEvident names methods whose interface says what they do.
func selfEvident(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "Len", "Less", "Swap", "Type"}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	return ok && id.IsExported()
}

// sources returns every Go file of the module except tests and test data.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, s := range everySource(t) {
		if !strings.HasSuffix(s.name, "_test.go") && !strings.HasPrefix(s.name, "tests/") {
			all = append(all, s)
		}
	}
	require.That(t, len(all) >= 50, "found %d source files, want those of the whole module", len(all))
	return all
}
