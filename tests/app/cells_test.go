package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// behaviour is a way in which an app carries out a call.
type behaviour struct {
	name  string
	fault appFault // without its command; the zero fault is none
	// touches is set for a fault about the note of the call.
	touches bool
	// waits is set where the call runs into its limit.
	waits bool
}

var behaviours = []behaviour{
	{name: "as it should"},
	{name: "silent", fault: appFault{Kind: "says"}},
	{name: "error at exit 0", fault: appFault{Kind: "says", Text: "Error: Something went wrong.\n"}},
	{name: "slow", fault: appFault{Kind: "is slow", Text: "200ms"}},
	{name: "late", fault: appFault{Kind: "does it when the client is gone"}, waits: true},
	{name: "other text", fault: appFault{Kind: "does it and says", Text: "All of it was taken care of.\n"}},
	{name: "plugin touch", fault: appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, touches: true},
	{name: "dies after", fault: appFault{Kind: "crashes"}},
	{name: "dies before", fault: appFault{Kind: "crashes before"}},
}

// releases are what an app of each release line says of its version. How the last one behaves is assumed.
var releases = []string{"1.12.7 (installer 1.12.7)", "1.13.7 (installer 1.12.7)", "1.14.0 (installer 1.14.0)"}

// touchesNothing reports whether the behaviour is that of a plugin, and the app writes no note in which it could touch.
func (b behaviour) touchesNothing(c appCall) bool {
	isNote := c.path != "" && !strings.HasPrefix(c.path, ".")
	return b.touches && (!isNote || askedOf[c.command] != "")
}

// appCall is a call that the app may be asked for.
type appCall struct {
	command string
	pairs   []string
	path    string // of the note that is changed, "" for none
	makes   bool   // the note is made: it is missing before
}

// recordedAnswers are what the app was recorded to print (1.12.7 and 1.13.7), for commands that the fake does not carry out.
var recordedAnswers = map[string]string{
	"folders": "A\nC\n", "folder": "path\tWork\nfiles\t1\nfolders\t0\nsize\t4\n", "vaults": "My Notes\n",
	"outline": "Plan\n", "tags": "#a\n#b\n", "tag": "Plan.md\n",
	"search:context": "Plan.md:8: first\n", "property:read": "The plan\n", "tasks": "- [ ] task\n",
	"backlinks": "Links.md\n", "orphans": "Plain.md\n", "deadends": "Plan.md\n",
	"unresolved": "Nowhere\n", "bases": "B.base\n", "base:views": "All\ttable\n",
	"base:query": "[{\"path\":\"Plan.md\"}]\n", "commands": "app:go-back\n", "open": "Opened: Plan.md\n",
}

// carriedOut are commands that the fake carries out as it was recorded, beside those of changesOfApp.
var carriedOut = []appCall{
	{command: "files"}, {command: "file", pairs: []string{"path", "Plan.md"}}, {command: "read", pairs: []string{"path", "Plan.md"}},
	{command: "search", pairs: []string{"query", "first"}}, {command: "properties", pairs: []string{"path", "Plan.md"}},
	{command: "daily:path"}, {command: "daily:read"}, {command: "vault"},
}

// describedAnswers are what the app prints as others have described it, in tests of their programs or of one that imitates
// the app. Nobody has recorded it.
var describedAnswers = map[string]string{
	"random": "Opened: Plan.md\n", "search:open": "Opened search\n", "tab:open": "Opened new tab\n", "web": "Opened: https://example.com\n",
	"history:open": "Opened\n", "sync:open": "Opened\n", "publish:open": "https://publish.obsidian.md/site/Plan\n",
	"publish:add": "Published: Plan.md\n", "publish:remove": "Unpublished: Plan.md\n", "publish:site": "slug\tsite\n",
	"publish:list": "Plan.md\n", "publish:status": "new\tPlan.md\n",
	"workspace:save": "Saved workspace: Morning\n", "workspace:load": "Loaded workspace: Morning\n", "workspace:delete": "Deleted workspace: Morning\n",
	"workspaces": "Morning (active)\n", "workspace": "main\nleft\nright\n", "tabs": "[markdown] Plan\n", "recents": "Plan.md\n",
	"wordcount": "words: 2\ncharacters: 11\n", "plugin": "type\tcore\nname\tDaily notes\nenabled\ttrue\n",
	"plugins": "daily-notes\n", "plugins:enabled": "daily-notes\n",
	"sync:status": "status: synced\n", "sync:deleted": "2026-08-15 12:00:00: Old.md (120 bytes) [Laptop]\n",
	"history:list": "Plain.md\n", "diff": "Plain.md\n1   Local 2026-08-16 02:38:11       431 B\n",
	"bookmarks": "Plan\n", "hotkeys": "app:go-back\n", "hotkey": "Alt Left\n", "aliases": "The plan\n",
	"links": "Plan.md\n", "templates": "T\n", "template:read": "a template\n",
	"themes": "Minimal\n", "theme": "Minimal\n", "snippets": "wide\n", "snippets:enabled": "wide\n",
}

// assumedOf are the commands of which no answer was recorded although the fake carries them out, or of which the
// text above is from a description.
var assumedOf = []string{
	"random:read", "random", "history", "history:read", "history:restore", "sync:history", "sync:read", "sync:restore",
	"daily:append", "daily:prepend", "move", "property:remove", "task", "bookmark", "unique",
	"daily", "folders", "folder", "workspace:delete", "template:insert",
}

// askedOf are what the app is asked for in place of some commands.
var askedOf = map[string]string{"daily:read": "read", "history:restore": "history:read", "sync:restore": "sync:read"}

// isAssumed reports whether what the app does for a command is not from a recording. That is so of all of 1.14.
func isAssumed(command string) bool {
	isRecorded := recordedAnswers[command] != "" || slices.ContainsFunc(carriedOut, func(c appCall) bool { return c.command == command }) ||
		slices.ContainsFunc(changesOfApp, func(c changeOfApp) bool { return c.command == command })
	return !isRecorded || slices.Contains(assumedOf, command)
}

// appCalls are one call of each command that the app has and that can be enabled, without the two that the gateway
// needs for itself.
func appCalls() (calls []appCall) {
	for c := range allowlist.Commands() {
		if c.EmbeddedOnly || c.Tier == tiers.Restricted || c.Name == "help" || c.Name == "version" {
			continue
		}
		call := appCall{command: c.Name, pairs: pairsOf(allowlist.Example(c.Name))}
		switch c.Name {
		case "history", "sync:history":
			call.pairs = []string{"path", "Plain.md"}
		case "history:read", "sync:read":
			call.pairs = []string{"path", "Plain.md", "version", "1"}
		}
		for _, other := range carriedOut {
			if other.command == c.Name {
				call = other
			}
		}
		for _, change := range changesOfApp {
			if change.command == c.Name {
				call = appCall{change.command, change.pairs, change.path, change.command == "daily"}
			}
		}
		calls = append(calls, call)
	}
	return calls
}

func pairsOf(words []string) (pairs []string) {
	for _, word := range words[1:] {
		key, value, isPair := strings.Cut(word, "=")
		if !isPair {
			value = "true"
		}
		value = strings.NewReplacer("Work/Plan.md", "Plan.md", "Books.base", "B.base").Replace(value)
		pairs = append(pairs, key, value)
	}
	return pairs
}

// way is how calls come.
type way struct {
	name string
	do   func(command string, pairs ...string) gateway.Result
	plan func(command string, pairs ...string) gateway.DryRun
}

// ways are a server for MCP and the terminal, on one vault with one app.
func (a *appVault) ways() []way {
	atTerminal := func(subcommand, command string, pairs []string, into any) {
		args := []string{"--json", command}
		for i := 0; i < len(pairs); i += 2 {
			word := pairs[i] + "=" + pairs[i+1]
			if pairs[i+1] == "true" {
				word = pairs[i]
			}
			args = append(args, word)
		}
		var out, log bytes.Buffer
		c := a.program(subcommand, args...)
		c.Stdout, c.Stderr = &out, &log
		_ = c.Run() // its status is that of the error in the answer
		require.That(a.t, json.Unmarshal(out.Bytes(), into) == nil, "%s %q: %s%s", subcommand, args, &out, &log)
	}
	return []way{
		{"MCP", a.do, func(command string, pairs ...string) (plan gateway.DryRun) {
			a.ask("obsidianCli", command, append(slices.Clone(pairs), "-dryRun", "true")...)
			unmarshalResult(a.t, a.receive(), &plan)
			return plan
		}},
		{"terminal", func(command string, pairs ...string) (result gateway.Result) {
			atTerminal("run", command, pairs, &result)
			return result
		}, func(command string, pairs ...string) (plan gateway.DryRun) {
			atTerminal("dry-run", command, pairs, &plan)
			return plan
		}},
	}
}

// disk is the text of every file of the vault by its path, without the trash, where undo leaves what was moved there.
func (a *appVault) disk() map[string]string {
	a.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(a.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".trash" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, a.dir)] = string(text)
		return err
	})
	require.NoError(a.t, err)
	return all
}

// cell carries out a call by an app that behaves in one way, checks that answer, disk, journal, undo and the dry runs before
// and after agree, and returns what came of it: "ok" or the code of the error, with "+" for a change that is named.
// It is "not asked" where another program answers, or nothing is asked.
func (a *appVault) cell(w way, c appCall, b behaviour) string {
	a.t.Helper()
	where := fmt.Sprintf("%s, %s, %s", c.command, b.name, w.name)
	plansByApp := strings.HasSuffix(c.command, ":restore") // the plan asks the app for the text, too
	if b.fault.Kind != "" {
		fault := b.fault
		fault.Command = cmp.Or(askedOf[c.command], c.command)
		if b.touches {
			fault.Path = c.path
		}
		faults := []appFault{fault}
		if plansByApp {
			faults = append(faults, fault)
		}
		a.tell(false, faults...)
	}
	defer a.tell(false)
	if c.makes {
		text := a.get(c.path)
		require.NoError(a.t, os.Remove(filepath.Join(a.dir, c.path)))
		defer func() { a.put(c.path, text) }()
	}
	before := a.disk()
	planned := w.plan(c.command, c.pairs...)
	assert.That(a.t, maps.Equal(a.disk(), before), "%s: the dry run changed something", where)
	got := w.do(c.command, c.pairs...)
	after := a.disk()
	changed := !maps.Equal(after, before)
	asked := b.fault.Kind == "" || len(a.faultsLeft()) == 0

	code := harness.CodeOf(got)
	assert.Equal(a.t, got.Command, c.command, "%s: the command of the answer", where)
	assert.That(a.t, got.OK == (code == ""), "%s: ok %v with %+v", where, got.OK, got.Error)
	if planned.Error != nil {
		assert.Equal(a.t, code, planned.Error.Code, "%s: the code, after a dry run that would fail with %+v", where, planned.Error)
	}
	switch {
	case c.path == "":
		assert.That(a.t, !changed, "%s: a call that changes nothing: %+v", where, got)
		assert.That(a.t, got.Change == nil, "%s: a call that changes nothing: %+v", where, got)
	case got.OK:
		if !strings.HasPrefix(c.path, ".") {
			assert.That(a.t, changed, "%s: the disk is as before: %+v", where, got)
			assert.That(a.t, got.Change != nil, "%s: a change that was made is not named: %+v", where, got)
			assert.That(a.t, got.Path != "", "%s: a change that was made has no path: %+v", where, got)
		}
	case code == "outcome_unknown":
		assert.That(a.t, !changed || got.Change != nil, "%s: the disk is changed, and the answer names no change: %+v", where, got)
	default:
		assert.That(a.t, !changed, "%s: %s, the disk is changed: %+v", where, code, got)
		assert.That(a.t, got.Change == nil, "%s: %s, the disk is changed: %+v", where, code, got)
	}
	if got.Change != nil {
		listed := w.do("undo:list")
		assert.Contains(a.t, listed.Stdout, got.Change.ID, "%s: the changes that can be undone", where)
		back := w.do("undo", "id", got.Change.ID)
		assert.That(a.t, back.OK, "%s: undo: %+v", where, back.Error)
	}
	for path, text := range before {
		assert.Equal(a.t, a.disk()[path], text, "%s, undone: %s", where, path)
	}
	assert.Equal(a.t, len(a.disk()), len(before), "%s, undone: files", where)
	if b.fault.Kind != "" {
		a.tell(false) // a fault that did not happen
	}
	again := w.plan(c.command, c.pairs...)
	isWhole := b.fault.Kind == "" || !plansByApp // else the first plan met a fault
	isSame := again.OK == planned.OK && again.Decision == planned.Decision && again.Diff == planned.Diff
	assert.That(a.t, isSame || !isWhole, "%s: the dry run before was %+v, after %+v", where, planned, again)

	came := code
	if code == "" {
		came = "ok"
	}
	if got.Change != nil {
		came += "+"
	}
	if !asked {
		came = "not asked, " + came
	}
	return came
}

const cellsFile = "testdata/cells.tsv"

// TestEveryCommandByEveryBehaviour: each command of the app by an app that behaves in each way, over MCP and in the terminal. What
// comes of it is in testdata/cells.tsv, where a row is marked if what the app does is assumed. By default a part of
// the cells is carried out.
func TestEveryCommandByEveryBehaviour(t *testing.T) {
	t.Parallel()
	calls := appCalls()
	kept := readCells(t)
	found := make([][]string, len(calls)) // by call and behaviour, "" for what was not carried out
	for i := range found {
		found[i] = make([]string, len(behaviours))
	}
	t.Run("cells", func(t *testing.T) {
		for at, b := range behaviours {
			for n, name := range []string{"MCP", "terminal"} {
				t.Run(b.name+" "+name, func(t *testing.T) {
					t.Parallel()
					a := vaultOfCells(t, calls, b, releases[(at+n)%len(releases)])
					mine := testenv.Shard(t, 11)
					for i, c := range calls {
						isSample := !b.waits || c.path != "" || i%3 == 0 // each takes the whole limit
						if b.touchesNothing(c) || !mine(i+at+5*n) || !isSample && !testenv.Long() {
							continue
						}
						came := a.cell(a.ways()[n], c, b)
						if n == 0 {
							found[i][at] = came
						}
						want, isKept := kept[c.command+"\t"+b.name]
						if !*testenv.UpdateGolden {
							assert.That(t, isKept, "%s, %s, %s: no row is kept", c.command, b.name, name)
							assert.Equal(t, came, want, "%s, %s, %s", c.command, b.name, name)
						}
					}
				})
			}
		}
	})
	if *testenv.UpdateGolden && testenv.Long() {
		testenv.GoldenFile(t, cellsFile, cellsTable(calls, found))
	}
}

// marksOf says for both columns of releases whether what the app does was recorded. Of 1.14 nothing was.
func marksOf(command string) string {
	if isAssumed(command) {
		return "assumed\tassumed"
	}
	return "recorded\tassumed"
}

func cellsTable(calls []appCall, found [][]string) string {
	var b strings.Builder
	b.WriteString("command\t1.12, 1.13\t1.14")
	for _, way := range behaviours {
		b.WriteString("\t" + way.name)
	}
	for i, c := range calls {
		b.WriteString("\n" + c.command + "\t" + marksOf(c.command) + "\t" + strings.Join(found[i], "\t"))
	}
	return b.String() + "\n"
}

// marks are how many columns of the table are before those of the behaviours.
const marks = 3

// readCells returns what is to come of each cell, by command and behaviour.
func readCells(t *testing.T) map[string]string {
	t.Helper()
	kept := map[string]string{}
	text, err := os.ReadFile(cellsFile)
	require.That(t, err == nil || *testenv.UpdateGolden, "%v", err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	head := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		for i, came := range fields[marks:] {
			kept[fields[0]+"\t"+head[i+marks]] = came
		}
	}
	return kept
}

// vaultOfCells is a vault whose app, of a release, answers every command.
func vaultOfCells(t *testing.T, calls []appCall, b behaviour, release string) *appVault {
	t.Helper()
	a := newAppVault(t, appNotes)
	a.version = release
	a.put("B.base", "views:\n  - type: table\n    name: All\n")
	a.put(appToday+".md", "today\n")
	a.history = map[string][]string{"Plain.md": {"an older text\n"}}
	a.sync = a.history
	a.heads = true
	a.answers = map[string]string{}
	for _, c := range calls {
		if c.command == "workspace:delete" { // the fake has no workspaces
			a.answers[c.command] = describedAnswers[c.command]
			continue
		}
		isCarriedOut := slices.ContainsFunc(carriedOut, func(o appCall) bool { return o.command == c.command }) ||
			slices.ContainsFunc(changesOfApp, func(o changeOfApp) bool { return o.command == c.command }) ||
			slices.Contains([]string{"random:read", "history", "history:read", "sync:history", "sync:read"}, c.command)
		if isCarriedOut {
			continue
		}
		a.answers[c.command] = cmp.Or(recordedAnswers[c.command], describedAnswers[c.command])
		require.That(t, a.answers[c.command] != "", "what the app prints for %s is not said", c.command)
	}
	a.tell(false)
	limit := "--timeout=30s"
	if b.waits {
		limit = "--timeout=3s"
	}
	return a.serve(howNamed[0].settings, "--tier=v3", "--allow-publish", "--rate=0", limit)
}

// TestTheTableOfCellsIsWhole: every command has a row, with its marks, and no cell is empty but those of plugins that touch a
// note, for commands that change none.
func TestTheTableOfCellsIsWhole(t *testing.T) {
	t.Parallel()
	text := string(require.Value(os.ReadFile(cellsFile))(t))
	for _, c := range appCalls() {
		assert.Contains(t, text, "\n"+c.command+"\t"+marksOf(c.command)+"\t", "%s", cellsFile)
	}
	assert.Equal(t, strings.Count(text, "\n"), len(appCalls())+1, "rows")
	cells := readCells(t)
	for _, c := range appCalls() {
		for _, b := range behaviours {
			assert.Equal(t, cells[c.command+"\t"+b.name] == "", b.touchesNothing(c), "%s, %s: an empty cell", c.command, b.name)
		}
	}
}

// provenByDisk are what a change that is seen on the disk comes to, whatever the app has said of it.
const provenByDisk = "ok+"

// TestNoCellIsASuccessThatNothingProves: where an app says nothing, an error, something that nobody knows, or dies, a call is a
// success only if the disk shows it, if the app is not asked at all, or if the answer can be any text.
func TestNoCellIsASuccessThatNothingProves(t *testing.T) {
	t.Parallel()
	cells := readCells(t)
	for _, c := range appCalls() {
		for _, b := range behaviours {
			came := cells[c.command+"\t"+b.name]
			isSuccess := strings.HasSuffix(came, "ok") || strings.HasSuffix(came, provenByDisk)
			isAsItShould := slices.Contains([]string{"as it should", "slow", "plugin touch"}, b.name)
			isProven := isAsItShould || strings.HasSuffix(came, provenByDisk) || strings.HasPrefix(came, "not asked, ")
			isSilent := b.name == "silent" && slices.Contains([]string{"files", "folders"}, c.command)
			isAnyText := b.name == "other text" && slices.Contains(anyText, c.command)
			if isSuccess && !isProven && !isSilent && !isAnyText {
				t.Errorf("%s, %s: %s", c.command, b.name, came)
			}
		}
	}
}

// anyText are the commands that answer with texts or names that people have chosen: an answer of them may be anything.
var anyText = []string{
	"aliases", "bookmarks", "diff", "history", "history:read", "hotkey", "links", "outline", "properties", "property:read", "publish:status", "snippets",
	"snippets:enabled", "sync:deleted", "sync:history", "sync:read", "template:read", "templates", "theme", "themes",
	"unresolved", "vaults", "workspace", "workspaces",
}
