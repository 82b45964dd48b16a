package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// now is the moment at which the work is done.
const now = "2026-11-21T09:30:00Z"

// notes are the vault. The long note and the old one are added by build.
var notes = map[string]string{
	".obsidian/app.json":         `{"alwaysUpdateLinks": true}`,
	".obsidian/templates.json":   `{"folder": "Templates"}`,
	".obsidian/daily-notes.json": `{"folder": "Daily"}`,
	"Daily/2026-11-16.md":        "# Monday\n\n## Log\n- called the plumber\n",
	"Daily/2026-11-18.md":        "# Wednesday\n\n## Log\n- wrote the offer\n- [ ] send the offer 📅 2026-11-19\n",
	"Daily/2026-11-21.md":        "# Saturday\n\n## Todo\n- [ ] water the plants\n\n## Log\n",
	"Templates/Meeting.md":       "# {{title}}\n\nDate: {{date}}\n\n## Present\n\n## Decisions\n",
	"Projects/Garden.md":         "---\nstatus: open\n---\nThe garden needs a fence.\n- [ ] order the fence 📅 2026-11-25\n",
	"Projects/Kitchen.md":        "---\nstatus: open\n---\nTiles from [[Suppliers]].\n",
	"Projects/Cellar.md":         "---\nstatus: open\n---\nDry it first, see [[Suppliers]].\n",
	"Projects/Roof.md":           "---\nstatus: open\n---\nIn spring.\n",
	"Projects/Attic.md":          "---\nstatus: open\n---\nInsulation.\n",
	"Suppliers.md":               "# Suppliers\nTiles, fences, wood.\n",
}

// vault is a vault with a session on it.
type vault struct {
	t       *testing.T
	folder  string
	session *harness.StdioServer
	inText  bool
}

func build(t *testing.T, flags ...string) *vault {
	t.Helper()
	v := &vault{t: t, folder: filepath.Join(t.TempDir(), "Notes"), inText: strings.Contains(strings.Join(flags, " "), "text")}
	for name, text := range notes {
		harness.WriteFile(t, filepath.Join(v.folder, name), []byte(text))
	}
	long := "# Handbook\n"
	for chapter := range 40 {
		long += fmt.Sprintf("\n## Chapter %d\n%s", chapter, strings.Repeat("A line of the handbook that says one thing.\n", 40))
	}
	harness.WriteFile(t, filepath.Join(v.folder, "Handbook.md"), []byte(long))
	harness.WriteFile(t, filepath.Join(v.folder, "Files/Offer.pdf"), []byte(offer()))
	old := filepath.Join(v.folder, "Ideas/Kite.md")
	harness.WriteFile(t, old, []byte("Build a kite.\n"))
	then := time.Date(2025, 5, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(old, then, then))
	env := []string{"HOME=" + t.TempDir(), "VAULTWICKET_NOW=" + now, "TZ=UTC"}
	v.session = harness.StartSessionWith(t, env,
		append([]string{"--config=none", "--backend=embedded", "--vault=" + v.folder, "--tier=v2", "--allow-mutations"},
			flags...)...)
	return v
}

// offer is a PDF with one line of text.
func offer() string {
	const drawn = "BT /F 12 Tf 72 700 Td [(The fence costs)-300(1,240 euros)] TJ ET"
	out, table := "%PDF-1.4\n", "xref\n0 6\n0000000000 65535 f \n"
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>", fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(drawn), drawn),
	} {
		table += fmt.Sprintf("%010d 00000 n \n", len(out))
		out += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return out + table + fmt.Sprintf("trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(out))
}

func (v *vault) note(path string) string {
	v.t.Helper()
	text, err := os.ReadFile(filepath.Join(v.folder, path))
	assert.That(v.t, err == nil, "%v", err)
	return string(text)
}

// piece is a piece of work, and how many calls it may take.
type piece struct {
	name string
	do   func(d *doing)
	most int // calls
}

// doing counts what a piece of work takes.
type doing struct {
	*vault
	calls, tokens int
	surprises     []string
}

// tokensOf counts four bytes as a token.
func tokensOf(text []byte) int { return len(text) / 4 }

// ask calls a tool and returns what a model sees of the answer. It has to contain what is
// wanted, or it is a surprise.
func (d *doing) ask(tool string, arguments map[string]any, wanted ...string) string {
	d.t.Helper()
	sent := require.Value(json.Marshal(arguments))(d.t)
	answer := require.Value(d.session.Exchange("tools/call", map[string]any{"name": tool, "arguments": arguments}))(d.t)
	var message struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		d.t.Fatalf("%.300s: %v", answer, err)
	}
	var seen strings.Builder
	for _, c := range message.Result.Content {
		seen.WriteString(c.Text + "\n")
	}
	d.calls++
	d.tokens += tokensOf(sent) + tokensOf([]byte(seen.String()))
	if message.Result.IsError {
		d.surprises = append(d.surprises, fmt.Sprintf("%s is refused: %.300s", sent, seen.String()))
	}
	for _, want := range wanted {
		if !strings.Contains(seen.String(), want) {
			d.surprises = append(d.surprises, fmt.Sprintf("%s: no %q in %.300s", sent, want, seen.String()))
		}
	}
	return seen.String()
}

// run runs a command.
func (d *doing) run(command string, params map[string]any, wanted ...string) string {
	d.t.Helper()
	return d.ask("obsidianCli", map[string]any{"command": command, "params": params}, wanted...)
}

// changed is a surprise unless a note has a text.
func (d *doing) changed(path, want string) {
	d.t.Helper()
	if got := d.note(path); !strings.Contains(got, want) {
		d.surprises = append(d.surprises, fmt.Sprintf("%s has no %q: %.200q", path, want, got))
	}
}

var pieces = []piece{
	{"last week's notes", func(d *doing) {
		d.run("daily:range", map[string]any{"from": "-7d"}, "called the plumber", "wrote the offer", "water the plants")
	}, 1},
	{"a todo under a heading", func(d *doing) {
		d.run("daily:append", map[string]any{"content": "- [ ] buy seeds", "heading": "Todo"})
		d.changed("Daily/2026-11-21.md", "- [ ] water the plants\n- [ ] buy seeds\n")
	}, 1},
	{"find a note and link it", func(d *doing) {
		d.run("search", map[string]any{"query": "fence needs"}, "Projects/Garden.md")
		d.run("daily:append", map[string]any{"content": "- see [[Garden]]", "heading": "Log"})
		d.changed("Daily/2026-11-21.md", "- see [[Garden]]")
	}, 2},
	{"a rename with its links", func(d *doing) {
		d.run("rename", map[string]any{"path": "Suppliers.md", "name": "Vendors"})
		d.changed("Projects/Kitchen.md", "[[Vendors]]")
		d.changed("Projects/Cellar.md", "[[Vendors]]")
	}, 1},
	{"a status on five notes", func(d *doing) {
		var operations []map[string]any
		for i, name := range []string{"Attic", "Cellar", "Garden", "Kitchen", "Roof"} {
			operations = append(operations, map[string]any{"clientId": fmt.Sprint("c", i), "command": "property:set",
				"params": map[string]any{"path": "Projects/" + name + ".md", "name": "status", "value": "paused"}})
		}
		d.ask("obsidianBatch", map[string]any{"operations": operations, "atomic": true})
		d.changed("Projects/Attic.md", "status: paused")
		d.changed("Projects/Roof.md", "status: paused")
	}, 1},
	{"undo", func(d *doing) { // the five together
		d.run("undo", nil)
		d.changed("Projects/Attic.md", "status: open")
		d.changed("Projects/Roof.md", "status: open")
	}, 1},
	{"an old random note", func(d *doing) {
		d.run("random:read", map[string]any{"folder": "Ideas", "min-age": 90}, "Ideas/Kite.md", "Build a kite.")
	}, 1},
	{"tasks by due date", func(d *doing) {
		got := d.run("tasks", map[string]any{"todo": true, "due-before": "+7d", "sort": "due"}, "send the offer", "order the fence")
		if strings.Index(got, "send the offer") > strings.Index(got, "order the fence") {
			d.surprises = append(d.surprises, "the tasks are not in the order of their dates")
		}
	}, 1},
	{"a part of a long note", func(d *doing) {
		d.run("outline", map[string]any{"path": "Handbook.md"}, "Chapter 31")
		d.run("note:section", map[string]any{"path": "Handbook.md", "heading": "Chapter 31"}, "## Chapter 31", "A line of the handbook")
	}, 2},
	{"a meeting note from a template", func(d *doing) {
		d.run("create", map[string]any{"path": "Meetings/Fence.md", "template": "Meeting"})
		d.changed("Meetings/Fence.md", "# Fence\n\nDate: 2026-11-21\n\n## Present")
	}, 1},
	{"people added to a list", func(d *doing) {
		d.run("property:set", map[string]any{"path": "Projects/Garden.md", "name": "people", "type": "list", "value": "[[Ann]], [[Bob]]"})
		d.changed("Projects/Garden.md", "people:\n  - \"[[Ann]]\"\n  - \"[[Bob]]\"\n")
	}, 1},
	{"a task is done", func(d *doing) {
		d.run("tasks", map[string]any{"todo": true, "path": "Daily/2026-11-18.md", "verbose": true}, "Daily/2026-11-18.md", "send the offer")
		d.run("task", map[string]any{"ref": "Daily/2026-11-18.md:5", "done": true})
		d.changed("Daily/2026-11-18.md", "- [x] send the offer")
	}, 2},
	{"a task for today", func(d *doing) {
		d.run("task:add", map[string]any{"daily": true, "content": "call Ann", "due": "tomorrow"})
		d.changed("Daily/2026-11-21.md", "- [ ] call Ann 📅 2026-11-22")
	}, 1},
	{"projects as a table", func(d *doing) {
		d.run("query", map[string]any{"where": `file.inFolder("Projects") && status == "open"`,
			"select": "file.name, status", "format": "md"}, "|  Garden   |  open  |", "|   Roof    |  open  |")
	}, 1},
	{"what a word changed everywhere would be", func(d *doing) { // to do it needs an approval
		change := map[string]any{"old": "Tiles", "new": "Slates", "query": "path:Projects"}
		d.ask("obsidianCli", map[string]any{"command": "vault:replace", "params": change, "dryRun": true}, "-Tiles from", "+Slates from")
	}, 1},
	{"a note moved into a new folder", func(d *doing) {
		d.run("move", map[string]any{"path": "Vendors.md", "to": "People/"})
		d.changed("People/Vendors.md", "# Suppliers")
	}, 1},
	{"links that lead nowhere", func(d *doing) {
		d.run("unresolved", map[string]any{"verbose": true}, "Ann", "Projects/Garden.md")
	}, 1},
	{"one section replaced", func(d *doing) {
		d.run("note:set-section", map[string]any{"path": "Daily/2026-11-16.md", "heading": "Log", "content": "- called the plumber twice"})
		d.changed("Daily/2026-11-16.md", "## Log\n- called the plumber twice")
	}, 1},
	{"what was changed, and one of it back", func(d *doing) {
		d.run("undo:list", nil, "note:set-section", "Daily/2026-11-16.md")
		d.run("undo", nil)
		d.changed("Daily/2026-11-16.md", "- called the plumber\n")
	}, 2},
	{"a canvas of a plan", func(d *doing) {
		var operations []map[string]any
		for i, words := range []string{"canvas:create|path=Plans/Fence.canvas", "canvas:add|text=Measure",
			"canvas:add|text=Order", "canvas:add|note=Garden", "canvas:connect|from=Measure|to=Order",
			"canvas:connect|from=Order|to=Projects/Garden.md|label=then"} {
			command, rest, _ := strings.Cut(words, "|")
			params := map[string]any{"path": "Plans/Fence.canvas"}
			for word := range strings.SplitSeq(rest, "|") {
				name, value, _ := strings.Cut(word, "=")
				params[name] = value
			}
			operations = append(operations, map[string]any{"clientId": fmt.Sprint("c", i), "command": command, "params": params})
		}
		d.ask("obsidianBatch", map[string]any{"operations": operations})
		d.run("canvas:read", map[string]any{"path": "Plans/Fence.canvas"}, "3 cards, 0 groups, 2 edges",
			"[1] Measure -> [2] Order", "[2] Order -> [3] file: Projects/Garden.md: then")
	}, 2},
	{"a base with two views", func(d *doing) {
		d.run("create", map[string]any{"path": "Projects.base", "content": "filters: file.inFolder(\"Projects\")\n"})
		d.run("base:add-view", map[string]any{"path": "Projects.base", "name": "Open", "filters": `status == "open"`, "order": "file.name"})
		d.run("base:add-view", map[string]any{"path": "Projects.base", "name": "Board", "type": "kanban", "group": "status"})
		d.run("base:query", map[string]any{"path": "Projects.base", "view": "Open", "format": "csv"}, "Garden", "Roof")
	}, 4},
	{"a picture stored and embedded", func(d *doing) {
		const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
		d.run("attachment:write", map[string]any{"name": "fence.png", "data": pixel}, "![[fence.png]] in a note shows it")
		d.run("append", map[string]any{"path": "Projects/Garden.md", "content": "![[fence.png]]"})
		d.run("attachments", map[string]any{"note": "Garden"}, "fence.png")
	}, 3},
	{"a fact from a PDF", func(d *doing) {
		d.run("attachment:text", map[string]any{"path": "Files/Offer.pdf"}, "page 1 of 1", "The fence costs 1,240 euros")
	}, 1},
	{"a list extended", func(d *doing) {
		d.run("property:add", map[string]any{"path": "Projects/Garden.md", "name": "people", "value": "[[Cem]]"})
		d.changed("Projects/Garden.md", "  - \"[[Ann]]\"\n  - \"[[Bob]]\"\n  - \"[[Cem]]\"\n")
	}, 1},
	{"a person renamed", func(d *doing) {
		d.run("create", map[string]any{"path": "People/Ann.md", "content": "# Ann"})
		d.run("rename", map[string]any{"path": "People/Ann.md", "name": "Anna Berg"}, "1 link in 1 note")
		d.changed("Projects/Garden.md", "  - \"[[Anna Berg]]\"\n")
	}, 2},
	{"the attachments of a project moved", func(d *doing) {
		d.run("attachments", map[string]any{"note": "Garden"}, "fence.png")
		d.run("move", map[string]any{"files": "fence.png", "to": "Projects/Files/"})
		d.note("Projects/Files/fence.png")
		d.run("links", map[string]any{"path": "Projects/Garden.md"}, "Projects/Files/fence.png")
	}, 3},
	{"what two notes merged would be", func(d *doing) { // to do it needs an approval
		merge := map[string]any{"path": "Projects/Attic.md", "into": "Projects/Roof.md"}
		d.ask("obsidianCli", map[string]any{"command": "note:merge", "params": merge, "dryRun": true}, "+Insulation.", "approval")
	}, 1},
	{"a chapter made a note", func(d *doing) {
		d.run("note:extract", map[string]any{"path": "Handbook.md", "heading": "Chapter 31", "to": "Handbook/Chapter 31.md"})
		d.changed("Handbook/Chapter 31.md", "A line of the handbook")
		d.changed("Handbook.md", "[[Chapter 31]]")
	}, 1},
	{"a folder archived", func(d *doing) {
		d.run("folder:move", map[string]any{"path": "Ideas", "to": "Archive/"})
		d.changed("Archive/Ideas/Kite.md", "Build a kite.")
	}, 1},
	{"a day begins", func(d *doing) {
		d.run("briefing", nil, "water the plants", "call Ann")
	}, 1},
}

func TestPiecesOfWork(t *testing.T) {
	for _, format := range []struct {
		flag   string
		tokens int // of all pieces together
	}{{"--result-format=json", 6950}, {"--result-format=text", 5150}} {
		v := build(t, format.flag)
		tokens, calls := 0, 0
		for _, p := range pieces {
			d := &doing{vault: v}
			p.do(d)
			for _, surprise := range d.surprises {
				t.Errorf("%s, %s: a surprise: %s", format.flag, p.name, surprise)
			}
			assert.That(t, d.calls <= p.most, "%s, %s: %d calls, want %d", format.flag, p.name, d.calls, p.most)
			t.Logf("%s  %-32s %d calls %5d tokens %d surprises", format.flag, p.name, d.calls, d.tokens, len(d.surprises))
			tokens, calls = tokens+d.tokens, calls+d.calls
		}
		t.Logf("%s  %-32s %d calls %5d tokens", format.flag, "all", calls, tokens)
		assert.That(t, tokens <= format.tokens, "%s: about %d tokens, want at most %d", format.flag, tokens, format.tokens)
	}
}

// TestTheListsOfTools: what every conversation pays. Four bytes count as a token, as in the
// other tests; for these lists that is within a few percent of what a tokenizer counts.
func TestTheListsOfTools(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes")
	harness.WriteFile(t, filepath.Join(folder, "A.md"), []byte("a\n"))
	for _, list := range []struct {
		flags  string
		tokens int
	}{
		{"", 450},
		{"--tier=v1", 800},
		{"--tier=v2 --allow-mutations", 1600},
		{"--tier=v2 --allow-mutations --result-format=text", 1600},
	} {
		s := harness.StartSession(t, t.TempDir(), append([]string{"--config=none", "--backend=embedded", "--vault=" + folder}, strings.Fields(list.flags)...)...)
		answer := require.Value(s.Exchange("tools/list", map[string]any{}))(t)
		t.Logf("%-50s %5d tokens", list.flags, tokensOf(answer))
		got := tokensOf(answer)
		assert.That(t, got <= list.tokens, "%q: about %d tokens, want at most %d", list.flags, got, list.tokens)
	}
}
