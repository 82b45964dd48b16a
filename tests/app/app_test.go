package app

import (
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// fakeApp is the program tests/programs/fakeobsidian, built once.
var fakeApp = sync.OnceValues(func() (string, error) {
	to := filepath.Join(filepath.Dir(harness.Binary), "fakeobsidian")
	return to, harness.Build("github.com/vaultwicket/vaultwicket/tests/programs/fakeobsidian", to)
})

// appVault is a vault, an app that has it open, and a server that speaks MCP.
type appVault struct {
	*harness.StdioServer
	t      *testing.T
	dir    string // the folder of the vault
	home   string
	client string   // the link through which the fake is called
	name   string   // the app's name for the vault
	env    []string // further variables of the server
	// history and sync are the versions that the app keeps, by notes, the newest first.
	history, sync map[string][]string
	answers       map[string]string // of further commands, which do nothing
	version       string            // of the app, "" for 1.12.7
	heads         bool              // the app prints a head before the text of a version
	away          bool              // the app does not run
	minute        string            // that unique notes are named after, "" for the one of the server
	flags         []string          // of the program
}

// appFault is a fault of the fake, see tests/programs/fakeobsidian.
type appFault struct {
	Command string `json:"command"`
	Kind    string `json:"kind"`
	Text    string `json:"text,omitempty"`
	Path    string `json:"path,omitempty"`
}

const appToday = "2026-11-21"

// howNamed are the ways in which the app's name for a vault can differ from the
// name of its folder, each with the settings that go with it.
var howNamed = []struct{ name, app, settings string }{
	{"as its folder", "My Notes", "vault = %q\n"},
	{"by another name", "Work", "[[vaults]]\nname = \"Work\"\nfolder = %q\n"},
	{"by its id", "Other", "[[vaults]]\nname = \"Main\"\nid = \"a1b2c3d4e5f60718\"\nfolder = %q\n"},
}

// newAppVault writes a vault and the files of the app. Nothing is started.
func newAppVault(t *testing.T, notes map[string]string) *appVault {
	t.Helper()
	fake := require.Value(fakeApp())(t)
	root := t.TempDir()
	a := &appVault{t: t, dir: filepath.Join(root, "vaults", "My Notes"), home: filepath.Join(root, "home"),
		client: filepath.Join(root, "bin", "obsidian"), name: "My Notes"}
	for path, text := range notes {
		a.put(path, text)
	}
	for _, folder := range []string{a.dir, a.home, filepath.Dir(a.client)} {
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	require.NoError(t, os.Symlink(fake, a.client))
	a.tell(false)
	return a
}

func (a *appVault) put(path, text string) {
	harness.WriteFile(a.t, filepath.Join(a.dir, filepath.FromSlash(path)), []byte(text))
}

func (a *appVault) get(path string) string {
	text, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(path)))
	if err != nil {
		return "(missing)"
	}
	return string(text)
}

// tell configures the fake.
func (a *appVault) tell(finalBreak bool, faults ...appFault) {
	a.t.Helper()
	text := require.Value(json.Marshal(map[string]any{
		"vaults": []map[string]string{{"id": "a1b2c3d4e5f60718", "name": a.name, "folder": a.dir}},
		"today":  appToday, "finalBreak": finalBreak, "faults": faults, "history": a.history, "sync": a.sync,
		"answers": a.answers, "version": a.version, "away": a.away, "minute": a.minute, "heads": a.heads,
	}))(a.t)
	harness.WriteFile(a.t, a.client+".json", text)
}

// serve starts the server with settings, in which %q stands for the folder.
func (a *appVault) serve(settings string, flags ...string) *appVault {
	a.t.Helper()
	if strings.HasPrefix(settings, "vault") { // the app's list has it
		list, _ := json.Marshal(map[string]any{"vaults": map[string]any{"a1b2c3d4e5f60718": map[string]any{"path": a.dir, "ts": 1}}})
		harness.WriteFile(a.t, filepath.Join(a.home, ".config", "obsidian", "obsidian.json"), list)
	}
	file := filepath.Join(a.home, "settings.toml")
	text := "cli = " + fmt.Sprintf("%q",
		a.client) +
		"\nbackend = \"obsidian\"\ntier = \"v2\"\nallow-mutations = true\nconfirm = \"never\"\nrate-mutations = 0\n" +
		fmt.Sprintf(settings, a.dir)
	require.NoError(a.t, os.WriteFile(file, []byte(text), 0o600))
	a.flags = append([]string{"--config=" + file}, flags...)
	server := a.program("serve")
	a.StdioServer = harness.StartStdio(a.t, server)
	a.t.Cleanup(func() {
		a.End()
		a.strict()
	})
	a.Send(harness.Handshake("{}"))
	a.receive()
	a.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

// program is a subcommand on the vault, with the settings of the server.
func (a *appVault) program(subcommand string, args ...string) *osexec.Cmd {
	c := osexec.Command(harness.Binary, slices.Concat([]string{subcommand}, a.flags, args)...)
	c.Dir = a.home
	c.Env = []string{"HOME=" + a.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "VAULTWICKET_NOW=" + appToday + "T10:42:00Z", "TZ=UTC"}
	c.Env = append(c.Env, a.env...)
	return c
}

// receive returns the next answer.
func (a *appVault) receive() (answer harness.Answer) {
	a.t.Helper()
	for len(answer.ID) == 0 {
		a.Next(&answer)
	}
	return answer
}

// ask sends a call of a tool; arguments are pairs, those that begin with a dash
// are next to the parameters.
func (a *appVault) ask(tool, command string, pairs ...string) {
	a.t.Helper()
	params, arguments := map[string]any{}, map[string]any{"command": command}
	for i := 0; i < len(pairs); i += 2 {
		var value any = pairs[i+1]
		if pairs[i+1] == "true" {
			value = true
		}
		if key, beside := strings.CutPrefix(pairs[i], "-"); beside {
			arguments[key] = value
			continue
		}
		params[pairs[i]] = value
	}
	arguments["params"] = params
	a.askFor(tool, arguments)
}

func (a *appVault) askFor(tool string, arguments map[string]any) {
	a.t.Helper()
	a.IDs++
	params := map[string]any{"name": tool, "arguments": arguments}
	a.Send(harness.JSON(a.t, map[string]any{"jsonrpc": "2.0", "id": a.IDs, "method": "tools/call", "params": params}))
}

// do calls a command and returns its result.
func (a *appVault) do(command string, pairs ...string) (result gateway.Result) {
	a.t.Helper()
	a.ask("obsidianCli", command, pairs...)
	answer := a.receive()
	err := json.Unmarshal(answer.Result.StructuredContent, &result)
	require.That(a.t, err == nil, "%s: %v, %+v", command, err, answer.Error)
	return result
}

// called are the calls that the app got, without vault=.
func (a *appVault) called() (calls []string) {
	a.t.Helper()
	log, _ := os.ReadFile(a.client + ".log")
	for line := range strings.Lines(string(log)) {
		var call struct{ Args []string }
		require.NoError(a.t, json.Unmarshal([]byte(line), &call))
		calls = append(calls, strings.Join(slices.DeleteFunc(call.Args, func(arg string) bool { return strings.HasPrefix(arg, "vault=") }), " "))
	}
	return calls
}

// strict fails the test for calls that must not have come, and for faults that
// never happened.
func (a *appVault) strict() {
	log, _ := os.ReadFile(a.client + ".log")
	for line := range strings.Lines(string(log)) {
		assert.That(a.t, !strings.Contains(line, `"unexpected"`), "the app got %s", line)
	}
	left := a.faultsLeft()
	assert.That(a.t, len(left) == 0, "faults that never happened: %+v", left)
}

// faultsLeft are the faults that have not happened.
func (a *appVault) faultsLeft() []appFault {
	a.t.Helper()
	var left struct{ Faults []appFault }
	require.NoError(a.t, json.Unmarshal(require.Value(os.ReadFile(a.client+".json"))(a.t), &left))
	return left.Faults
}
