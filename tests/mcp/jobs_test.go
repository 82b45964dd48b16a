package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// jobNotes are what the jobs are about, besides the notes of the pieces.
var jobNotes = map[string]string{
	"Clients/Acme.md":     "---\ntype: client\nstatus: active\nrating: 4\nsince: 2024-03-01\ntags: [client, vip, north]\n---\n# Acme\n## Calls\nAsked about prices.[^1]\n## Bills\n- [ ] bill of May 📅 2026-11-10\n\n[^1]: by phone\n",
	"Clients/Beta.md":     "---\ntype: client\nstatus: idle\nrating: 2\n---\nSee [[Acme]] and [[Acme#Bills]].[^1]\n\n[^1]: a letter\n",
	"Clients/Gamma.md":    "---\ntype: client\nrating: 5\n---\n![[plan.png]]\n",
	"Books/Dune.md":       "---\ntype: book\nrating: 5\nauthor: \"[[Frank Herbert]]\"\n---\nSand. #scifi\n",
	"Books/Emma.md":       "---\ntype: book\nrating: 3\n---\nTea. #novel\n",
	"Inbox/a thought.md":  "buy string\n",
	"Inbox/b idea.md":     "a tent, see [[a thought]]\n",
	"Data/costs.csv":      "item,price\nchimney,500\n",
	"Pictures/plan.png":   "\x89PNG\r\n\x1a\n",
	"Pictures/unused.png": "\x89PNG\r\n\x1a\n",
	"Boards/Site.canvas":  `{"nodes":[{"id":"g","type":"group","background":"Pictures/plan.png","x":0,"y":0,"width":9,"height":9},{"id":"n","type":"file","file":"Clients/Acme.md","x":0,"y":0,"width":9,"height":9}],"edges":[]}`,
	"Templates/Client.md": "---\ntags: [client]\nstatus: new\n---\n## Calls\n",
	"Odd.md":              "---\nwhen: 2026-01-02\n---\n",
	"Odder.md":            "---\nwhen: soon\n---\n",
}

// isRefused is a surprise unless a command is refused, with a text in what the model sees.
func (d *doing) isRefused(command string, params map[string]any, beside map[string]any, wanted ...string) {
	d.t.Helper()
	before := len(d.surprises)
	arguments := map[string]any{"command": command, "params": params}
	for name, value := range beside {
		arguments[name] = value
	}
	seen := d.ask("obsidianCli", arguments)
	if len(d.surprises) == before {
		d.surprises = append(d.surprises, fmt.Sprintf("%s is not refused: %.200s", command, seen))
		return
	}
	d.surprises = d.surprises[:before]
	for _, want := range wanted {
		if !strings.Contains(seen, want) {
			d.surprises = append(d.surprises, fmt.Sprintf("%s is refused without %q: %.300s", command, want, seen))
		}
	}
}

// mended sends a call whose expression is in the words of another language, and then again with what the hint says.
func (d *doing) mended(command, param, text string, wanted ...string) {
	d.t.Helper()
	before := len(d.surprises)
	seen := d.ask("obsidianCli", map[string]any{"command": command, "params": map[string]any{param: text}})
	if len(d.surprises) > before {
		d.surprises = d.surprises[:before]
	}
	var answer struct{ Error struct{ Hint string } }
	_ = json.NewDecoder(strings.NewReader(seen)).Decode(&answer)
	right, ok := strings.CutPrefix(answer.Error.Hint, "write ")
	if !ok {
		d.surprises = append(d.surprises, fmt.Sprintf("%s has no expression in its hint: %.300s", text, seen))
		return
	}
	d.run(command, map[string]any{param: right}, wanted...)
}

// lacks is a surprise where a note has a text.
func (d *doing) lacks(path, unwanted string) {
	d.t.Helper()
	if got := d.note(path); strings.Contains(got, unwanted) {
		d.surprises = append(d.surprises, fmt.Sprintf("%s has %q: %.200q", path, unwanted, got))
	}
}

type fields = map[string]any

var jobs = []piece{
	{"the best clients", func(d *doing) {
		got := d.run("query", fields{"where": `type == "client" && rating > 3`, "select": "file.name, rating",
			"sort": "rating DESC", "format": "csv"}, "Gamma", "Acme")
		if strings.Contains(got, "Beta") || strings.Index(got, "Gamma") > strings.Index(got, "Acme") {
			d.surprises = append(d.surprises, "the clients are not in their order: "+got)
		}
	}, 1},
	{"clients without a status", func(d *doing) {
		d.run("query", fields{"where": `type == "client" && status.isEmpty()`, "format": "paths"}, "Clients/Gamma.md")
	}, 1},
	{"a condition of SQL", func(d *doing) {
		d.mended("query", "where", "type = 'client' AND rating >= 4", "Acme", "Gamma")
	}, 2},
	{"a text without quotes", func(d *doing) { d.mended("query", "where", "type == book", "Dune", "Emma") }, 2},
	{"a function of another tool", func(d *doing) { d.mended("query", "where", `contains(tags, "vip")`, "Acme") }, 2},
	{"a path without its folder", func(d *doing) { d.mended("query", "where", `file.path == "Dune"`, "Books/Dune.md") }, 2},
	{"a sort of dates and texts", func(d *doing) {
		d.run("query", fields{"where": "!when.isEmpty()", "sort": "when"}, "several kinds", "1 date", "1 text")
	}, 1},
	{"overdue tasks, one done", func(d *doing) {
		d.run("tasks", fields{"todo": true, "due-before": "today", "verbose": true, "path": "Clients/Acme.md"}, "bill of May", "Clients/Acme.md")
		d.run("task", fields{"ref": "Clients/Acme.md:12", "done": true})
		d.changed("Clients/Acme.md", "- [x] bill of May")
	}, 2},
	{"an item in a list of many notes", func(d *doing) {
		d.run("property:add", fields{"name": "year", "value": "2026", "folder": "Books"}, "2 notes")
		d.changed("Books/Dune.md", "2026")
		d.changed("Books/Emma.md", "2026")
	}, 1},
	{"a tag renamed", func(d *doing) {
		d.run("tag:rename", fields{"name": "scifi", "to": "genre/scifi"}, "1 place")
		d.changed("Books/Dune.md", "#genre/scifi")
	}, 1},
	{"the inbox emptied", func(d *doing) {
		d.run("move", fields{"query": "path:Inbox", "to": "Ideas/"})
		d.changed("Ideas/a thought.md", "buy string")
		d.changed("Ideas/b idea.md", "[[a thought]]")
	}, 1},
	{"who names a client", func(d *doing) { d.run("backlinks", fields{"file": "Acme"}, "Clients/Beta.md", "Boards/Site.canvas") }, 1},
	{"a heading renamed", func(d *doing) {
		d.run("heading:rename", fields{"path": "Clients/Acme.md", "heading": "Bills", "to": "Invoices"}, "1 link updated")
		d.changed("Clients/Beta.md", "[[Acme#Invoices]]")
	}, 1},
	{"a section changed as it was read", func(d *doing) {
		var answer struct{ SectionHash string }
		seen := d.run("note:section", fields{"path": "Clients/Acme.md", "heading": "Calls"}, "Asked about prices")
		require.NoError(d.t, json.NewDecoder(strings.NewReader(seen)).Decode(&answer))
		replace := fields{"path": "Clients/Acme.md", "heading": "Calls", "old": "prices", "new": "discounts"}
		d.ask("obsidianCli", fields{"command": "note:replace", "params": replace, "expectHash": answer.SectionHash})
		d.changed("Clients/Acme.md", "Asked about discounts")
		d.isRefused("note:set-section", fields{"path": "Clients/Acme.md", "heading": "Calls", "content": "x"},
			fields{"expectHash": answer.SectionHash}, "conflict")
		d.changed("Clients/Acme.md", "Asked about discounts")
	}, 3},
	{"a note deleted, and back", func(d *doing) {
		d.run("delete", fields{"path": "Books/Emma.md"})
		d.run("undo", nil, "Books/Emma.md")
		d.changed("Books/Emma.md", "Tea. #novel")
	}, 2},
	{"two notes with the same footnote merged", func(d *doing) {
		d.run("copy", fields{"path": "Clients/Acme.md", "to": "Old/Acme 2025.md"})
		d.run("note:merge", fields{"path": "Old/Acme 2025.md", "into": "Clients/Beta.md"}, "[^1] -> [^2]")
		d.changed("Clients/Beta.md", "[^1]: a letter")
		d.changed("Clients/Beta.md", "[^2]: by phone")
		d.run("undo", nil)
		d.lacks("Clients/Beta.md", "by phone")
	}, 3},
	{"a section taken out with its footnote", func(d *doing) {
		d.run("note:extract", fields{"path": "Clients/Acme.md", "heading": "Calls", "to": "Calls/Acme calls.md"}, "[^1]")
		d.changed("Calls/Acme calls.md", "[^1]: by phone")
		d.changed("Clients/Acme.md", "[[Acme calls]]")
	}, 1},
	{"a name that takes links over", func(d *doing) {
		d.run("create", fields{"path": "Acme.md", "content": "another one"}, "lead here now", "Clients/Acme.md")
		d.run("undo", nil)
	}, 2},
	{"a name that takes no links over", func(d *doing) {
		d.run("create", fields{"path": "Acme.md", "content": "another one", "links": "hold"})
		d.changed("Clients/Beta.md", "[[Clients/Acme")
		d.run("undo", nil)
		d.changed("Clients/Beta.md", "[[Acme]]")
	}, 2},
	{"three tags replaced by one", func(d *doing) {
		d.run("property:set", fields{"path": "Clients/Acme.md", "name": "tags", "value": "urgent"}, "Before: client, vip, north", "After: urgent")
		d.run("undo", nil)
		d.changed("Clients/Acme.md", "[client, vip, north]")
	}, 2},
	{"new properties with their types", func(d *doing) {
		d.run("property:set", fields{"path": "Odd.md", "name": "who", "value": []string{"Ann", "Bob"}}, "Set who")
		d.run("property:set", fields{"path": "Odd.md", "name": "paid", "value": true}, "Type: checkbox")
		d.run("property:set", fields{"path": "Odd.md", "name": "day", "value": "tomorrow"}, "Type: text")
		d.changed("Odd.md", "who:\n  - Ann\n  - Bob\npaid: true\nday: tomorrow\n")
	}, 3},
	{"a line for tomorrow", func(d *doing) {
		d.run("daily:append", fields{"content": "- call Gamma", "date": "tomorrow"}, "Daily/2026-11-22.md")
		d.changed("Daily/2026-11-22.md", "- call Gamma")
	}, 1},
	{"a phrase searched", func(d *doing) { d.run("search", fields{"query": `"Asked about"`}, "Calls/Acme calls.md") }, 1},
	{"a question with typing errors", func(d *doing) {
		d.run("find", fields{"query": "where did I write about the discuonts"}, "Acme calls.md")
	}, 1},
	{"a word in a table file", func(d *doing) { d.run("find", fields{"query": "chimney"}, "Data/costs.csv", "not searched") }, 1},
	{"a base of books", func(d *doing) {
		d.run("create", fields{"path": "Books.base",
			"content": "filters: type == \"book\"\nviews:\n  - type: table\n    name: All\n    order: [file.name, rating]\n"})
		d.run("base:check", fields{"path": "Books.base"})
		d.run("base:query", fields{"path": "Books.base", "format": "csv"}, "Dune", "Emma")
	}, 3},
	{"a missing author", func(d *doing) {
		d.run("unresolved", nil, "Frank Herbert")
		d.run("create", fields{"path": "People/Frank Herbert.md", "content": "# Frank Herbert"})
		if got := d.run("unresolved", nil); strings.Contains(got, "Frank Herbert") {
			d.surprises = append(d.surprises, "the author is still missing: "+got)
		}
	}, 3},
	{"pictures that nothing uses, and one that moves", func(d *doing) {
		got := d.run("attachments", fields{"unused": true}, "Pictures/unused.png")
		if strings.Contains(got, "plan.png") {
			d.surprises = append(d.surprises, "a picture that is used is told as unused: "+got)
		}
		d.run("move", fields{"path": "Pictures/plan.png", "to": "Clients/Files/"})
		d.changed("Boards/Site.canvas", "Clients/Files/plan.png")
	}, 2},
	{"a template into a note", func(d *doing) {
		d.run("template:insert", fields{"path": "Clients/Gamma.md", "name": "Client"})
		d.changed("Clients/Gamma.md", "rating: 5")
		d.changed("Clients/Gamma.md", "status: new")
		d.changed("Clients/Gamma.md", "## Calls")
	}, 1},
	{"a batch looked at first", func(d *doing) {
		operations := []fields{
			{"clientId": "a", "command": "create", "params": fields{"path": "Trips/Rome.md", "content": "# Rome"}},
			{"clientId": "b", "command": "append", "params": fields{"path": "Trips/Rome.md", "content": "pizza"}},
		}
		d.ask("obsidianBatch", fields{"operations": operations, "atomic": true, "dryRun": true}, "+pizza")
		d.ask("obsidianBatch", fields{"operations": operations, "atomic": true})
		d.changed("Trips/Rome.md", "# Rome\npizza")
	}, 2},
	{"access that only the user gives", func(d *doing) {
		d.isRefused("property:set", fields{"path": "Odder.md", "name": "private", "value": true}, nil, "which access agents have")
		d.lacks("Odder.md", "private")
	}, 1},
	{"a name that is nearly right", func(d *doing) {
		d.isRefused("read", fields{"path": "Clients/Acne.md"}, nil, "Clients/Acme.md")
		d.isRefused("daily read", nil, nil, "daily:read")
		d.isRefused("tag:add", fields{"path": "Books/Emma.md", "tag": "tea"}, nil, "property:add")
		d.run("property:add", fields{"path": "Books/Emma.md", "name": "tags", "value": "tea"})
		d.changed("Books/Emma.md", "tea")
	}, 4},
}

// With the pieces of TestPiecesOfWork these are more than sixty jobs of an agent. None is done wrongly without a word, and
// none takes more calls than its row says.
func TestJobs(t *testing.T) {
	v := build(t, "--confirm=never", "--result-format=json")
	for name, text := range jobNotes {
		harness.WriteFile(t, filepath.Join(v.folder, name), []byte(text))
	}
	good := 0
	tokens := 0
	calls := 0
	for _, job := range jobs {
		d := &doing{vault: v}
		job.do(d)
		for _, surprise := range d.surprises {
			t.Errorf("%s: a surprise: %s", job.name, surprise)
		}
		if len(d.surprises) == 0 {
			good++
		}
		assert.That(t, d.calls <= job.most, "%s: %d calls, want %d", job.name, d.calls, job.most)
		t.Logf("%-45s %d calls %5d tokens %d surprises", job.name, d.calls, d.tokens, len(d.surprises))
		tokens += d.tokens
		calls += d.calls
	}
	t.Logf("%d of %d jobs, %d calls, %d tokens; with the pieces %d jobs", good, len(jobs), calls, tokens, len(jobs)+len(pieces))
}
