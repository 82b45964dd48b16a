package consent

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// waysAround is what no answer to an agent says: a command that approves, the raw
// program, a program to start by hand, or a setting without whose it is to change.
var waysAround = regexp.MustCompile(strings.Join([]string{
	`vaultwicket (approve|vault|run|dry-run|batch|undo)\b`,
	`\b[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}\b`, // the code of a question
	`(?i:\bby hand\b|\bits own CLI\b|\buse the (Obsidian )?(CLI|app)\b|\buse the Obsidian app itself\b)`,
	`(?i:^(start|restart|set|install|update|switch|give the folder|take it off|add it to the setting|run) (the gateway|cli|vault|min-cli|XDG|Obsidian|it by|of the vault))`,
	`(?i:(start|restart) the gateway with)`,
	`--(tier|allow-[a-z]+|confirm|backend|yes|write|enable-only|disable|vault)\b`,
	`a person can`,
}, "|"))

// origin is where a setting comes from, which the policy is open about.
var origin = regexp.MustCompile(`flag --[a-z-]+`)

func wayAround(text string) string {
	return waysAround.FindString(origin.ReplaceAllString(text, "flag"))
}

// notForAgents are files whose texts reach only the user: what is told before a server
// runs, and what the raw program says to the one that started it.
var notForAgents = map[string]string{
	"policy/server.go":                      "the flags of a server that answers over a pipe of ours",
	"internal/vault/call/line.go":           "the usage of the raw program, after a command line that the gateway never makes",
	"gateway/mcpserver/transport/listen.go": "settings of the server, before it listens",
}

func TestNoTextForAgentsShowsAWayAround(t *testing.T) {
	t.Parallel()
	texts := 0
	for _, root := range []string{"allowlist", "policy", "exec", "gateway", "tiers", "internal/vault"} {
		err := filepath.WalkDir(filepath.Join("..", "..", filepath.FromSlash(root)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, _ := filepath.Rel(filepath.Join("..", ".."), path)
			if notForAgents[filepath.ToSlash(name)] != "" {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text := require.Value(strconv.Unquote(literal.Value))(t)
				texts++
				if strings.HasPrefix(text, "--") && !strings.Contains(text, " ") {
					return true // a switch between our own programs
				}
				assert.Equal(t, wayAround(text), "", "%s: %q shows a way around", name, text)
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	assert.That(t, texts >= 2000, "only %d texts were found", texts)
}

// The same of what a running server answers: every command under several policies, run
// and previewed, with every resource, prompt and tool.
func TestNoAnswerToAnAgentShowsAWayAround(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	for i, test := range []struct {
		name  string
		flags []string
	}{
		{"read-only", []string{"--tier=v0"}},
		{"reads", []string{"--tier=v3"}},
		{"changes, asked", []string{"--tier=v3", "--allow-mutations", "--allow-publish", "--confirm=writes"}},
		{"nothing is open", []string{"--tier=v1", "--allow-mutations", "--enable-only=daily:read", "--confirm=destructive"}},
		{"the app, which is not there", []string{"--tier=v3", "--allow-mutations", "--backend=obsidian", "--cli=/nowhere/obsidian"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mine := testenv.Shard(t, 5)
			a := askEverything(t, o, append([]string{"--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0"},
				test.flags...), func(page int) bool { return mine(page + i) })
			assert.That(t, a.answers >= 2*len(allowlist.Names()), "only %d answers", a.answers)
		})
	}
}

// asking is an agent that asks for everything and looks for a way around.
type asking struct {
	*session
	answers int
	secrets []string // places that are no business of an agent
	looked  map[string]bool
}

// askEverything asks for everything, and for some of the pages about commands.
func askEverything(t *testing.T, o *harness.InProcess, flags []string, pages func(int) bool) *asking {
	t.Helper()
	a := &asking{session: startSession(o, false, `{}`, flags), secrets: []string{harness.Binary, o.State}, looked: map[string]bool{}}
	a.session.T = t
	a.ask("tools/list", `{}`)
	a.ask("prompts/list", `{}`)
	uris := []string{"vaultwicket://commands", "vaultwicket://policy", "vaultwicket://status"}
	for i, name := range allowlist.Names() {
		if pages(i) {
			uris = append(uris, "vaultwicket://help/"+name)
		}
	}
	for _, uri := range uris {
		a.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
	}
	for _, prompt := range []string{"morning-review", "evening-journal", "weekly-rollup", "surprise-me"} {
		a.ask("prompts/get", fmt.Sprintf(`{"name":%q}`, prompt))
	}
	for command := range allowlist.Commands() {
		for _, dry := range []string{"", `,"dryRun":true`} {
			a.ask("tools/call", fmt.Sprintf(`{"name":"obsidianCli","arguments":{"command":%q,"params":%s%s}}`, command.Name, paramsFor(command), dry))
		}
	}
	a.ask("tools/call", `{"name":"obsidianCli","arguments":{"command":"help"}}`)
	a.ask("tools/call", `{"name":"obsidianCli","arguments":{"command":"help","params":{"command":"delete"}}}`)
	a.ask("tools/call", `{"name":"obsidianBatch","arguments":{"operations":[{"clientId":"a","command":"delete","params":{"path":"root.md"}}]}}`)
	return a
}

// paramsFor are parameters with which a command can be judged.
func paramsFor(c allowlist.Command) string {
	params := map[string]any{}
	for _, p := range c.Params {
		switch {
		case p.Name == "path" && !strings.HasPrefix(c.Name, "daily"):
			params["path"] = "root.md"
		case p.Required && p.Kind == "number":
			params[p.Name] = "1"
		case p.Required && len(p.Choices) > 0:
			params[p.Name] = p.Choices[0]
		case p.Required:
			params[p.Name] = "x"
		}
	}
	text, _ := json.Marshal(params)
	return string(text)
}

func (a *asking) ask(method, params string) {
	a.T.Helper()
	a.IDs++
	a.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.IDs, method, params))
	line, err := a.Line()
	require.That(a.T, err == nil, "%s %s: %v\n%s", method, params, err, a.Log.String())
	var message any
	require.NoError(a.T, json.Unmarshal(line, &message))
	a.answers++
	a.look(method+" "+params, message)
}

// look looks at every text of an answer by itself, as a hint begins one.
func (a *asking) look(what string, value any) {
	a.T.Helper()
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			assert.That(a.T, name != "shell", "%s: the answer has %q", what, name)
			assert.That(a.T, name != "program", "%s: the answer has %q", what, name)
			a.look(what, inner)
		}
	case []any:
		for _, inner := range value {
			a.look(what, inner)
		}
	case string:
		if a.looked[value] {
			return
		}
		a.looked[value] = true
		var inner any
		if strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &inner) == nil {
			a.look(what, inner)
			return
		}
		found := wayAround(value)
		assert.That(a.T, found == "", "%s: %q shows a way around: %q", what, found, value)
		for _, secret := range a.secrets {
			assert.That(a.T, !strings.Contains(value, secret), "%s: names %q: %q", what, secret, value)
		}
	}
}

// The check itself finds what it is there for.
func TestWaysAroundAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`a person can allow it in a terminal with "vaultwicket approve 7ZBC-2GX4"`, `"vaultwicket vault FOLDER delete"`, "the code is 7ZBC-2GX4",
		"start Obsidian and use its own CLI for this command", "run the client by hand",
		"start the gateway with --tier v1", "set cli to a path", "use the Obsidian app itself for this",
	} {
		assert.That(t, wayAround(text) != "", "%q is not found", text)
	}
	for _, p := range []policy.Policy{{}, {Ceiling: tiers.V3}, {Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmWrites}} {
		for _, l := range gateway.New(gateway.Config{Policy: p}).Listing() {
			if l.Denial != nil && l.Denial.Hint() != "" && !strings.Contains(l.Denial.Hint(), "the user can") && l.Denial.Code() != "target_required" {
				t.Errorf("%s: the hint %q does not say whose move it is", l.Name, l.Denial.Hint())
			}
		}
	}
}
