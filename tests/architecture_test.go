package tests

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// module is the path of this module.
const module = "github.com/vaultwicket/vaultwicket"

// allowedImports says which packages of this module a package may import, a row for every
// package. It is a statement of policy: do not change it to fix a build.
//
// The binary has two programs. The gateway and its command line never import the embedded
// vault CLI, which they start as a process; only cmd, which has its entry point, does. The
// embedded vault CLI imports nothing of the gateway but the table of commands (allowlist), so
// that a command is declared once. The packages below internal are the ground on which both
// stand: they import nothing of either.
const allowedImports = `
# the gateway
tiers                       :
allowlist                   : internal/date internal/excerpt tiers
policy                      : allowlist internal/access internal/excerpt tiers
exec                        : allowlist exec/process internal/access internal/excerpt internal/guard internal/ownerfiles internal/protocol internal/shares internal/watch policy tiers
exec/process                : internal/protocol
gateway                     : allowlist exec gateway/admission gateway/audit gateway/consent gateway/failure gateway/telemetry internal/access internal/appvaults internal/date internal/difference internal/excerpt internal/filenames internal/guard internal/journal internal/ownerfiles internal/protocol internal/sanitize internal/shares policy tiers
gateway/admission           : gateway/failure internal/excerpt internal/ownerfiles internal/shares policy
gateway/audit               : allowlist gateway/failure gateway/telemetry internal/excerpt internal/filenames internal/ownerfiles policy tiers
gateway/consent             : allowlist exec/process gateway/audit gateway/failure internal/access internal/difference internal/excerpt internal/httpguard internal/ownerfiles internal/sanitize internal/shares policy tiers
gateway/failure             : internal/excerpt internal/sanitize
gateway/mcpserver           : allowlist gateway gateway/consent gateway/failure gateway/mcpserver/transport gateway/telemetry internal/date internal/excerpt internal/protocol policy tiers
gateway/mcpserver/transport : internal/excerpt internal/httpguard internal/ownerfiles internal/shares
gateway/oauth               : internal/httpguard internal/ownerfiles internal/shares
gateway/telemetry           : allowlist gateway/failure internal/excerpt
gateway/ui                  : allowlist gateway gateway/admission gateway/audit gateway/consent gateway/failure gateway/telemetry internal/access internal/difference internal/excerpt internal/guard internal/httpguard internal/journal internal/ownerfiles internal/sanitize policy tiers

# the command line
cmd/internal/bootstrap : cmd/internal/settings cmd/internal/terminal exec exec/process gateway gateway/admission gateway/audit gateway/consent gateway/failure gateway/telemetry internal/access internal/appvaults internal/date internal/excerpt internal/ownerfiles internal/protocol internal/release internal/sanitize internal/vault/ranking policy
cmd/internal/clients   : cmd/internal/terminal exec/process internal/appvaults internal/excerpt internal/filenames internal/ownerfiles internal/protocol internal/textedit
cmd/internal/doctor    : allowlist cmd/internal/bootstrap cmd/internal/clients cmd/internal/settings cmd/internal/terminal exec gateway gateway/admission gateway/audit gateway/consent gateway/failure gateway/oauth internal/access internal/appvaults internal/excerpt internal/filenames internal/journal internal/ownerfiles internal/protocol internal/release internal/sanitize internal/vault/disk/system policy tiers
cmd/internal/oversight : allowlist cmd/internal/bootstrap cmd/internal/settings cmd/internal/terminal gateway gateway/admission gateway/audit gateway/consent gateway/failure gateway/oauth internal/difference internal/excerpt internal/guard internal/journal internal/ownerfiles internal/sanitize internal/vault/disk policy tiers
cmd/internal/serving   : cmd/internal/bootstrap cmd/internal/settings cmd/internal/terminal exec gateway gateway/admission gateway/consent gateway/failure gateway/mcpserver gateway/mcpserver/transport gateway/oauth gateway/ui internal/excerpt internal/httpguard internal/ownerfiles internal/release policy
cmd/internal/settings  : allowlist cmd/internal/terminal exec/process gateway/audit gateway/consent gateway/failure gateway/mcpserver/transport internal/access internal/appvaults internal/excerpt internal/httpguard internal/ownerfiles internal/protocol internal/textedit internal/vault/ranking policy tiers
cmd/internal/terminal  : gateway/failure gateway/telemetry internal/date internal/excerpt internal/sanitize tiers
cmd/vaultwicket        : allowlist cmd/internal/bootstrap cmd/internal/clients cmd/internal/doctor cmd/internal/oversight cmd/internal/serving cmd/internal/settings cmd/internal/terminal gateway gateway/failure gateway/mcpserver gateway/ui internal/excerpt internal/release internal/sanitize internal/vault tiers

# the embedded vault CLI
internal/vault               : allowlist internal/access internal/budget internal/ownerfiles internal/protocol internal/release internal/vault/answer internal/vault/call internal/vault/change internal/vault/disk internal/vault/disk/system internal/vault/handlers
internal/vault/answer        : internal/budget internal/excerpt internal/guard internal/protocol internal/vault/disk internal/vault/disk/system internal/vault/edit
internal/vault/bases         : internal/excerpt internal/filenames internal/vault/bases/formula internal/vault/disk internal/vault/disk/system internal/vault/frontmatter internal/vault/index
internal/vault/bases/formula : internal/budget internal/date internal/filenames internal/vault/frontmatter
internal/vault/call          : allowlist internal/access internal/appvaults internal/budget internal/date internal/excerpt internal/filenames internal/guard internal/journal internal/ownerfiles internal/protocol internal/vault/answer internal/vault/bases internal/vault/disk internal/vault/disk/system internal/vault/frontmatter internal/vault/index internal/vault/lookup internal/vault/markdown internal/vault/ranking internal/vault/search
internal/vault/change        : allowlist internal/access internal/budget internal/difference internal/excerpt internal/guard internal/journal internal/protocol internal/vault/answer internal/vault/bases internal/vault/bases/formula internal/vault/call internal/vault/disk internal/vault/edit internal/vault/frontmatter internal/vault/index internal/vault/lookup internal/vault/markdown internal/vault/search
internal/vault/disk          : internal/access internal/budget internal/filenames internal/guard internal/vault/disk/system
internal/vault/disk/system   :
internal/vault/edit          : internal/vault/bases/formula internal/vault/frontmatter internal/vault/lookup internal/vault/markdown
internal/vault/frontmatter   : internal/vault/markdown
internal/vault/handlers      : allowlist internal/access internal/appvaults internal/budget internal/date internal/difference internal/excerpt internal/filenames internal/guard internal/journal internal/ownerfiles internal/textedit internal/vault/answer internal/vault/bases internal/vault/bases/formula internal/vault/call internal/vault/change internal/vault/disk internal/vault/disk/system internal/vault/edit internal/vault/frontmatter internal/vault/index internal/vault/index/cache internal/vault/lookup internal/vault/markdown internal/vault/ranking internal/vault/search internal/vault/task
internal/vault/index         : internal/budget internal/filenames internal/protocol internal/vault/disk internal/vault/disk/system internal/vault/frontmatter internal/vault/lookup internal/vault/markdown
internal/vault/index/cache   : internal/budget internal/vault/disk/system
internal/vault/lookup        : internal/budget internal/excerpt internal/filenames
internal/vault/markdown      :
internal/vault/ranking       : internal/budget internal/excerpt internal/httpguard internal/ownerfiles internal/vault/index/cache internal/vault/lookup internal/vault/markdown
internal/vault/search        : internal/budget internal/excerpt internal/filenames internal/guard internal/ownerfiles internal/protocol internal/release internal/vault/bases/formula internal/vault/disk internal/vault/disk/system internal/vault/frontmatter internal/vault/index internal/vault/index/cache internal/vault/markdown internal/vault/ranking internal/watch
internal/vault/task          :

# the ground on which both stand
internal/access     :
internal/appvaults  : internal/excerpt internal/ownerfiles
internal/budget     : internal/protocol
internal/date       : internal/excerpt
internal/difference : internal/sanitize
internal/excerpt    :
internal/filenames  :
internal/guard      :
internal/httpguard  :
internal/journal    : internal/access internal/guard internal/ownerfiles internal/shares
internal/ownerfiles : internal/excerpt internal/filenames
internal/protocol   :
internal/release    :
internal/sanitize   :
internal/shares     : internal/ownerfiles
internal/textedit   :
internal/watch      :

# packaging and tests
packaging      :
packaging/pack : packaging
tests          :
`

// capabilities says which files alone may import a package. A trailing slash means
// every file of that folder and none below; several are separated by spaces.
var capabilities = []struct{ imported, importers, why string }{
	{"os/exec", "exec/process/", "nothing else starts a process"},
	{module + "/exec/process", "exec/ cmd/internal/bootstrap/ cmd/internal/clients/ cmd/internal/settings/ gateway/consent/notify.go",
		"what starts a process without a permit starts a program of the owner or of an MCP client"},
	{"github.com/mark3labs/mcp-go/mcp", "gateway/mcpserver/ gateway/mcpserver/transport/", "the protocol stays at the edge"},
	{"github.com/spf13/pflag", "cmd/internal/terminal/", "flags are read in one place"},
	{"github.com/pelletier/go-toml/v2", "cmd/internal/settings/ internal/textedit/", "settings are read in one place, and those of MCP clients in another"},
	{"go.yaml.in/yaml/v4", "internal/vault/frontmatter/ internal/textedit/", "YAML is read where properties are, and where MCP clients keep their settings"},
	{"github.com/dlclark/regexp2/v2", "internal/vault/bases/formula/regex.go", "the dialect of the app is compiled in one place"},
	{"github.com/ledongthuc/pdf", "internal/vault/handlers/pdftext.go", "files that may hurt are read in one place"},
	{"golang.org/x/image/draw", "internal/vault/handlers/", "images are scaled for models in one place"},
	{"github.com/blevesearch/snowballstem", "internal/vault/ranking/", "word forms are compared in one place"},
	{"github.com/landlock-lsm/go-landlock/landlock", "internal/vault/disk/system/", "a process locks itself in once"},
	{"github.com/git-pkgs/gitignore", "internal/access/", "patterns hide where files are looked for; its New would start git"},
	{"github.com/clipperhouse/uax29/v2/graphemes", "gateway/page_cut.go", "texts are cut in one place"},
	{"github.com/clipperhouse/displaywidth", "cmd/internal/terminal/", "lines are cut to the terminal in one place"},
	{"golang.org/x/term", "cmd/internal/terminal/", "a terminal is asked for its size in one place"},
	{"golang.org/x/time/rate", "gateway/admission/", "calls are let through in one place"},
	{"github.com/VictoriaMetrics/metrics", "gateway/telemetry/metrics.go", "what is counted is named in one place, where names of notes are not known"},
	{"unsafe", "exec/process/child_windows.go", "the job object of Windows takes a pointer"},
	{"reflect", "", "types are known"},
	{"plugin", "", "code is linked"},
	{"github.com/go-jose/go-jose/v4", "gateway/oauth/token.go gateway/oauth/keys.go", "access tokens are checked in one place"},
	{"github.com/go-webauthn/webauthn/webauthn", "gateway/oauth/passkeys.go gateway/oauth/server.go gateway/oauth/store.go", "the owner signs in in one place"},
	{"github.com/go-oauth2/oauth2/v4", "gateway/oauth/server.go gateway/oauth/store.go", "access tokens are issued in one place"},
	{"net/http",
		"internal/httpguard/ gateway/mcpserver/ gateway/mcpserver/transport/ gateway/oauth/ gateway/consent/notify.go cmd/internal/serving/ cmd/internal/bootstrap/remote.go gateway/ui/ gateway/telemetry/export.go gateway/telemetry/tracing.go internal/vault/ranking/embeddings.go internal/vault/ranking/embeddings_endpoint.go",
		"the network is used by servers over HTTP, for traces, for messages to the owner, and for vectors of texts by a server that the user has named only"},
	{"go.opentelemetry.io/otel/sdk/trace", "gateway/telemetry/tracing.go gateway/telemetry/export.go", "what a collector is told is written in one place"},
	{"go.opentelemetry.io/otel/trace", "gateway/telemetry/tracing.go", "what a collector is told is written in one place"},
}

func TestOnlyAllowedImports(t *testing.T) {
	allowed := readTable(t)
	used := ownImports(t)
	for folder, targets := range used {
		list, known := allowed[folder]
		assert.That(t, known, "allowedImports has no row for %q", folder)
		for target, files := range targets {
			if !slices.Contains(list, target) {
				t.Errorf("%s imports %s, which its row of allowedImports does not contain", files[0], target)
			}
		}
	}
	for folder, list := range allowed {
		for _, target := range list {
			if used[folder][target] == nil {
				t.Errorf("allowedImports lets %s import %s, which it does not: the row is stale", folder, target)
			}
		}
		assert.That(t, used[folder] != nil || folder == "tests", "allowedImports has a row for %q, which is no package", folder)
	}
}

func TestTheGroundImportsNeitherProgram(t *testing.T) {
	for folder, list := range readTable(t) {
		for _, target := range list {
			switch programOf(folder) {
			case theGround:
				assert.Equal(t, programOf(target), theGround, "%s imports %s", folder, target)
			case theGateway:
				assert.That(t, programOf(target) == theGateway || programOf(target) == theGround, "%s imports %s", folder, target)
			case theVault:
				declares := target == "allowlist" || target == "tiers"
				assert.That(t, declares || programOf(target) == theVault || programOf(target) == theGround, "%s imports %s", folder, target)
			}
		}
	}
}

// The parts of the module, as allowedImports is divided.
const (
	theGateway     = "the gateway"
	theCommandLine = "the command line"
	theVault       = "the embedded vault CLI"
	theGround      = "the ground"
)

func programOf(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	switch {
	case folder == "internal/vault", strings.HasPrefix(folder, "internal/vault/"):
		return theVault
	case first == "internal":
		return theGround
	case slices.Contains([]string{"tiers", "allowlist", "policy", "exec", "gateway"}, first):
		return theGateway
	case first == "cmd":
		return theCommandLine
	}
	return ""
}

// maxChain is how many packages may stand in one chain of imports, so that a reader who
// follows a call is not led through more.
const maxChain = 10

func TestChainsOfImportsAreShort(t *testing.T) {
	allowed := readTable(t)
	chains := map[string][]string{}
	var chain func(folder string) []string
	chain = func(folder string) []string {
		if known, ok := chains[folder]; ok {
			return known
		}
		var longest []string
		for _, target := range allowed[folder] {
			if next := chain(target); len(next) > len(longest) {
				longest = next
			}
		}
		chains[folder] = append([]string{folder}, longest...)
		return chains[folder]
	}
	for folder := range allowed {
		if found := chain(folder); len(found) > maxChain {
			t.Errorf("a chain of %d packages: %s", len(found), strings.Join(found, " → "))
		}
	}
}

// readTable returns allowedImports: the imports that a folder may have.
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	allowed := map[string][]string{}
	for line := range strings.Lines(allowedImports) {
		folder, list, isRow := strings.Cut(line, ":")
		if !isRow || strings.HasPrefix(line, "#") {
			continue
		}
		folder = strings.TrimSpace(folder)
		assert.That(t, allowed[folder] == nil, "allowedImports has two rows for %q", folder)
		allowed[folder] = strings.Fields(list)
	}
	return allowed
}

// ownImports returns, for every folder of the module, the folders of the module that its files
// import, each with the files that do.
func ownImports(t *testing.T) map[string]map[string][]string {
	t.Helper()
	used := map[string]map[string][]string{}
	for _, s := range sources(t) {
		folder := s.folder()
		if used[folder] == nil {
			used[folder] = map[string][]string{}
		}
		for _, spec := range s.syntax.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if ours && !strings.HasPrefix(target, "tests/") {
				used[folder][target] = append(used[folder][target], s.name)
			}
		}
	}
	return used
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
	for _, name := range []string{"os/exec", "github.com/mark3labs/mcp-go/mcp", "github.com/spf13/pflag", "github.com/pelletier/go-toml/v2"} {
		assert.That(t, imported[name], "nothing imports %s: the list of capabilities is stale", name)
	}
}

// bareGoroutines are the files of which a goroutine is in no group of conc, with how many and why. A group carries a
// panic to whoever waits for it, so it is for goroutines that somebody waits for.
var bareGoroutines = map[string]struct {
	count int
	why   string
}{
	"cmd/internal/serving/page.go":                 {2, "reads the terminal, and reaps processes, as long as the process lives"},
	"cmd/internal/serving/pair.go":                 {1, "reading a terminal cannot be ended"},
	"cmd/internal/serving/parent.go":               {1, "a server that does not watch its parent process must not go on"},
	"cmd/internal/serving/serving.go":              {2, "reaps processes as long as the process lives, and writes a file whose absence is no fault"},
	"cmd/internal/settings/reload.go":              {1, "a server that does not see stricter settings must not go on"},
	"cmd/internal/terminal/terminal.go":            {1, "reading a terminal cannot be ended"},
	"cmd/vaultwicket/batch.go":                     {1, "reading standard input cannot be ended"},
	"cmd/vaultwicket/demo.go":                      {1, "the server of the demonstration is the other end of a pipe"},
	"cmd/vaultwicket/main.go":                      {1, "waits for signals as long as the process lives"},
	"exec/exchange.go":                             {1, "stops a timer"},
	"exec/process/child.go":                        {1, "a process is started and awaited on one thread of the system"},
	"exec/worker.go":                               {1, "closes pipes of a process that has ended"},
	"gateway/consent/approvals.go":                 {1, "lives as long as its question"},
	"gateway/mcpserver/ask.go":                     {2, "a dialog of a client may outlive its call"},
	"gateway/mcpserver/transport/access.go":        {1, "a stream whose token nobody watches must not go on"},
	"gateway/mcpserver/transport/http_handler.go":  {1, "turns the end of requests into a channel"},
	"gateway/mcpserver/transport/http_serve.go":    {1, "net/http catches the panics of its handlers"},
	"gateway/mcpserver/transport/stdio.go":         {3, "the connection is the process"},
	"gateway/ui/events.go":                         {1, "looks for changes as long as a page is open"},
	"gateway/ui/health.go":                         {1, "catches its panic itself, and nobody has to wait for it"},
	"gateway/ui/own.go":                            {2, "net/http catches the panics of its handlers, and a page is open as long as a question waits"},
	"gateway/ui/ui.go":                             {2, "net/http catches the panics of its handlers, and the first view of the log waits for no one"},
	"internal/vault/call/commits.go":               {1, "waits for signals as long as the process lives"},
	"internal/vault/disk/system/system_windows.go": {1, "a mutex belongs to a thread, and is held until it is given back"},
	"internal/vault/handlers/find.go":              {1, "is made again by whoever needs it"},
	"internal/vault/main.go":                       {1, "waits for the end of the gateway as long as the process lives"},
	"internal/vault/worker.go":                     {4, "each request catches its panic itself, and the reader of requests ends the worker"},
	"internal/vault/search/store.go": {4,
		"an index for later calls, of which the call that needs it gets the error, and one that a cancelled call leaves behind"},
	"internal/watch/watch.go": {1, "hears of changes until the watch is closed"},
}

func TestEachBareGoroutineHasItsReason(t *testing.T) {
	found := map[string]int{}
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				found[s.name]++
			}
			return true
		})
	}
	for name, count := range found {
		assert.Equal(t, count, bareGoroutines[name].count, "goroutines outside of groups in %s", name)
	}
	for name, bare := range bareGoroutines {
		assert.That(t, found[name] > 0, "%s starts no goroutine, or there is no reason for it", name)
		assert.That(t, bare.why != "", "%s starts no goroutine, or there is no reason for it", name)
	}
}

// regular are the files that ask whether a file is a regular one, with how often and why. Everything else asks package
// filenames: on Windows the files that a cloud program keeps in step, such as those in OneDrive, are no regular ones.
var regular = map[string]struct {
	count int
	why   string
}{
	"cmd/internal/clients/file.go":        {1, "backups, in the state folder"},
	"cmd/internal/clients/system.go":      {1, "programs"},
	"exec/find.go":                        {1, "programs"},
	"gateway/admission/pause.go":          {1, "the mark of a pause, in the state folder"},
	"gateway/ui/health.go":                {1, "the state folder"},
	"internal/filenames/kind.go":          {1, "the one place that asks the system"},
	"internal/ownerfiles/file.go":         {1, "the files of the state folder"},
	"internal/ownerfiles/program.go":      {1, "programs"},
	"internal/vault/disk/place.go":        {1, "the reason why a file was refused"},
	"internal/vault/disk/read.go":         {1, "a stub of iCloud, on macOS alone"},
	"internal/vault/index/cache/cache.go": {1, "the cache folder"},
	"packaging/licences.go":               {1, "a module of Go"},
}

func TestWhoAsksForRegularFilesHasAReason(t *testing.T) {
	found := map[string]int{}
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if selected, ok := n.(*ast.SelectorExpr); ok && selected.Sel.Name == "IsRegular" {
				found[s.name]++
			}
			return true
		})
	}
	for name, count := range found {
		assert.Equal(t, count, regular[name].count, "questions for regular files in %s", name)
	}
	for name, asks := range regular {
		assert.That(t, found[name] > 0, "%s does not ask, or there is no reason for it", name)
		assert.That(t, asks.why != "", "%s does not ask, or there is no reason for it", name)
	}
}

// unjudged are the places in the embedded vault CLI where a text comes in that the guard of secrets has not judged, by
// the function that returns it. Everything else is read from a folder that puts marks in place of secrets.
var unjudged = map[string]struct {
	count int
	why   string
}{
	"internal/vault/call/private.go Raw":                 {1, "which notes narrow the access to themselves; no text is kept"},
	"internal/vault/call/vault.go Raw":                   {1, "the secrets that a change puts back in place of marks"},
	"internal/vault/change/proposal.go Raw":              {1, "what a change writes; it is judged before it is shown"},
	"internal/vault/handlers/attachment_file.go Raw":     {1, "bytes of an attachment; a text is shown by Shown, pages by ShownPages"},
	"internal/vault/handlers/attachments.go Raw":         {1, "bytes of an attachment; a text is shown by Shown"},
	"internal/vault/handlers/history.go Raw":             {1, "lines are counted, and no text is shown"},
	"internal/vault/handlers/attachment_file.go readPDF": {1, "pages of a PDF, which are shown by ShownPages"},
	"internal/vault/handlers/history.go Object":          {2, "versions, which are shown by Redact; whether a removed note was private"},
	"internal/vault/handlers/undo.go Object":             {2, "what an undo writes; its differences are of what Redact returns"},
	"internal/vault/change/settle.go Object":             {1, "what is put back on the disk"},
	"internal/vault/change/transaction.go Object":        {1, "what a step writes to the disk"},
	"internal/vault/change/transaction.go Raw":           {1, "what a copy writes to the disk"},
	"internal/vault/change/outside.go Object":            {2, "what a change is compared with and put back; no text is shown"},
	"internal/vault/handlers/history.go Texts":           {1, "lines are counted, and no text is shown"},
}

// An answer has no text that was not judged: texts come in through the folder of the call, or in one of the places above,
// and answers go out through the writer of the call alone.
func TestEachUnjudgedTextHasItsReason(t *testing.T) {
	found := map[string]int{}
	for _, s := range sources(t) {
		isOfDisk := s.folder() == "internal/vault/disk"
		if !strings.HasPrefix(s.name, "internal/vault/") || isOfDisk {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch name := selector(n); name {
			case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
				t.Errorf("%s uses %s: answers are replies", s.set.Position(n.Pos()), name)
			}
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			if function, ok := call.Fun.(*ast.Ident); ok && function.Name == "readPDF" {
				found[s.name+" readPDF"]++
			}
			method, isMethod := call.Fun.(*ast.SelectorExpr)
			isOfFolder := isMethod && method.Sel.Name == "Raw" && len(call.Args) == 0
			isOfJournal := isMethod && (method.Sel.Name == "Object" || method.Sel.Name == "Texts" && len(call.Args) > 1)
			if isOfFolder || isOfJournal {
				found[s.name+" "+method.Sel.Name]++
			}
			return true
		})
	}
	for name, count := range found {
		assert.Equal(t, count, unjudged[name].count, "texts that were not judged: %s", name)
	}
	for name, place := range unjudged {
		assert.That(t, found[name] > 0, "%s is not there, or there is no reason for it", name)
		assert.That(t, place.why != "", "%s is not there, or there is no reason for it", name)
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

// The editor of the owner is started by the command that they type to edit their settings, and by nothing else.
func TestOnlyTheOwnerStartsAnEditor(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if selector(n) != "process.EditorAt" {
				return true
			}
			found++
			place := s.set.Position(n.Pos())
			isOfCommand := s.folder() == "cmd/internal/settings" && strings.HasSuffix(place.Filename, "/edit.go")
			assert.That(t, isOfCommand, "%s makes an editor", place)
			return true
		})
	}
	assert.Equal(t, found, 1, "places that make an editor")
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

// noSubjects are names that do not say what a package is about: a verb, a form, or what any
// package may be.
var noSubjects = []string{
	"command", "commands", "knowledge", "meaning", "moment", "order", "processors", "notes", "names", "clean", "pages",
	"observe", "document", "quote", "private",
	"util", "common", "helper", "manager", "service", "core", "types",
}

func TestPackagesAreNamedByTheirSubjects(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range []string{s.syntax.Name.Name, path.Base(s.folder())} {
			assert.That(t, !slices.Contains(noSubjects, name), "%s is in package %q, which names no subject", s.name, name)
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
