package call_test

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// kitchen is a vault with names that are easily mistaken, a part of it hidden.
func kitchen(t *testing.T) *embedded.Vault {
	h := embedded.New(t, map[string]string{
		".obsidian/templates.json":     `{"folder":"Templates"}`,
		"Ideas/Bread.md":               "---\nstatus: draft\ndue: 2026-12-01\n---\n# Bread\n## Ingredients\nflour ^dough\n## Method\n- [ ] knead\n#baking #recipe/bread\n",
		"Ideas/Sourdough starter.md":   "starter\n",
		"Projects/Meeting notes.md":    "notes\n",
		"Templates/Meeting.md":         "# {{title}}\n",
		"Books.base":                   "views:\n  - type: table\n    name: Unread\n",
		"Ideas/.Cloudy.md.icloud":      "stub",
		"Private/.Gone.md.icloud":      "stub",
		"Pictures/oven.png":            "x",
		"Private/Broad plan.md":        "---\nstate: x\n---\n# Secret\n#bakery\n",
		"Ideas/Breads of the past.md":  "hidden",
		"Templates/Meetings secret.md": "hidden",
	})
	h.Put(".vaultwicketignore", "Private/\n*past.md\n*secret.md\n")
	return h
}

func TestWhatWasNotFoundNamesWhatIsNear(t *testing.T) {
	h := kitchen(t)
	for _, tt := range []struct{ args, hint string }{
		{"read|path=Ideas/Braed.md", `did you mean "Ideas/Bread.md"?`},
		{"read|file=sourdough", `did you mean "Ideas/Sourdough starter.md"?`},
		{"outline|path=Idea/Bread.md", `did you mean "Ideas/Bread.md"?`},
		{"backlinks|file=Braed", `did you mean "Ideas/Bread.md"?`},
		{"read|path=Ideas", `"Ideas" is a folder: list its notes with files folder="Ideas"`},
		{"read|path=ideas/", `"Ideas" is a folder: list its notes with files folder="Ideas"`},
		{"read|path=Pictres/zzz.md", `folder "Pictres" not found; did you mean "Pictures"?`},
		{"read|path=Zebra.md", protocol.HintNotFound},
		{"move|path=Ideas|to=Old/", `"Ideas" is a folder: use folder:move path="Ideas"`},
		{"append|path=Zebra.md|content=x", protocol.HintNotFound + "; create makes a note"},
		{"property:read|path=Ideas/Breads.md|name=x", `did you mean "Ideas/Bread.md"?`},
		{"property:read|path=Projects/Meeting notes.md|name=x", "property:set sets one"},
		{"files|folder=Idea", `did you mean "Ideas"?`},
		{"folder|path=Idaes", `did you mean "Ideas"?`},
		{"folders|folder=Ideas/Bread.md", `did you mean "Ideas"? "Ideas/Bread.md" is a file in it`},
		{"files|folder=Books.base", `did you mean "/"? "Books.base" is a file in it`},
		{"random:read|folder=Project", `did you mean "Projects"?`},
		{"search|query=x|path=Project", `did you mean "Projects"?`},
		{"files|folder=Zebra", "names are case-sensitive; the command folders lists the folders"},
		{"read|path=Ideas/Cloudy.md", answer.HintInCloud},
		{"outline|path=Ideas/Cloudy", answer.HintInCloud},
		{"read|path=Private/Gone.md", protocol.HintNotFound},
		{"tag:rename|name=bakin|to=x", `did you mean "#baking"?`},
		{"tag:rename|name=bakery2|to=x|folder=Idea", `did you mean "Ideas"?`},
		{"property:rename|name=statu|to=x", `did you mean "status"?`},
		{"property:rename|name=state|to=x", `did you mean "status"?`}, // a hidden note has it
		{"periodic:read|period=week|date=2026-W02", "periodic:append makes it, where changes are allowed; from= prints the notes of several periods"},
		{"property:set|path=Ideas/Bread.md|name=due|type=date|value=2026-W02-3", `"2026-W02-3" is value=2026-01-07`},
		{"note:section|path=Ideas/Bread.md|heading=Methd", `did you mean "Method"?`},
		{"note:section|path=Ideas/Bread.md|heading=Bread#ingredient", `did you mean "Ingredients"?`},
		{"note:section|path=Ideas/Bread.md|heading=Zebra", answer.NotFoundHeading.Hint},
		{"note:section|path=Ideas/Bread.md|block=dogh", `did you mean "dough"?`},
		{"note:section|path=Ideas/Bread.md|lines=40", "the command outline shows the lines of headings; wordcount tells how long the note is"},
		{"tag|name=bakin", `did you mean "#baking"?`},
		{"tag|name=#Baking", `did you mean "#baking"?`},
		{"tag|name=bread", `did you mean "#recipe/bread"?`},
		{"property:read|path=Ideas/Bread.md|name=Staus", `did you mean "status"?`},
		{"template:read|name=meting", `did you mean "Meeting"?`},
		{"base:query|file=Book", `did you mean "Books.base"?`},
		{"base:query|file=Books|view=unraed", `did you mean "Unread"?`},
		{"base:query|file=Books|view=zebra", `the views are "Unread"`},
		{"task|path=Ideas/Bread.md|line=8", `did you mean "Ideas/Bread.md:9"?`},
		{"search|query=modified:today", `use the command "recent"`},
		{"search|query=tags:x", `did you mean "tag:x"?`},
		// What is hidden is never suggested, and gets the advice of what is missing.
		{"read|path=Private/Broad plan.md", protocol.HintNotFound},
		{"read|path=Private/Broad paln.md", protocol.HintNotFound},
		{"read|path=Ideas/Breads of the past.md", `did you mean "Ideas/Bread.md"?`},
		{"read|path=Ideas/Breads of the pats.md", `did you mean "Ideas/Bread.md"?`},
		{"files|folder=Private", "names are case-sensitive; the command folders lists the folders"},
		{"files|folder=Privat", "names are case-sensitive; the command folders lists the folders"},
		{"tag|name=bakery", "the command tags lists the tags of the vault"},
		{"template:read|name=Meetings secret", `did you mean "Meeting"?`},
	} {
		got := h.Failure(strings.Split(tt.args, "|")...)
		assert.That(t, strings.HasPrefix(got.Hint, tt.hint) || strings.Contains(got.Hint, "use the command \"recent\""),
			"%s: %q, want %q", tt.args, got.Hint, tt.hint)
	}
}

// TestAnEmptyAnswerSaysWhy: in the report, and nothing that is hidden is counted.
func TestAnEmptyAnswerSaysWhy(t *testing.T) {
	h := kitchen(t)
	for _, tt := range []struct{ args, notice string }{
		{"files|folder=Pictures|ext=md", `no file with the extension "md" in "Pictures" (1 file; extensions: "png")`},
		{"folders|folder=Ideas", `"Ideas" has no folders`},
		{"random:read|folder=Pictures", `"Pictures" has no notes`},
		{"random:read|folder=Ideas|min-age=-90d", `no note older than 90 days in "Ideas" (2 notes)`},
		{"recent|since=9000-01-01", "no note was changed since 9000-01-01 (4 notes in the vault)"},
		{"search|query=zebra", "none of the 4 notes in the vault matches"},
		{"search|query=zebra|path=Ideas", `none of the 2 notes in "Ideas" matches`},
		{"search|query=-a zebra", "none of the 4 notes in the vault matches; query read as: -a zebra"},
		{"search|query=zebra AND NOT lion", "none of the 4 notes in the vault matches; AND, NOT, && and = are text here; did you mean query=zebra -lion?"},
		{"search:context|query=zebra|path=Pictures", `"Pictures" has no notes`},
		{"search:context|query=path:Ideas", "2 notes by name and none by a line of its text: the command search lists them"},
		{"tasks|done", "no finished task in the vault (1 task of another kind)"},
		{`query|where=statsu == "x"`, `no note has the property "statsu"; did you mean "status"?`},
		{`query|where=state == "x"`, `no note has the property "state"; did you mean "status"?`},
		{`query|where=status == "x"`, "no row passes the filters; explain says how many each of them dropped"},
		{`query|where=file.tags.filter(value == "none").length > 0`, "no row passes the filters; explain says how many each of them dropped"},
		{"aliases", "the vault has no aliases"},
		{"aliases|path=Ideas/Bread.md", `"Ideas/Bread.md" has no aliases`},
		{"bookmarks", "the vault has no bookmarks"},
		{"recents", "the app has recorded no opened files; recent lists the notes that were changed last"},
		{"tasks|path=Projects/Meeting notes.md", `"Projects/Meeting notes.md" has no tasks`},
		{"tasks|status=x", `no task with the status "x" in the vault (1 task of other status)`},
		{"tags|path=Projects/Meeting notes.md", `"Projects/Meeting notes.md" has no tags`},
		{"backlinks|path=Ideas/Bread.md", `no file links to "Ideas/Bread.md"`},
		{"links|path=Ideas/Bread.md", `"Ideas/Bread.md" links to nothing`},
		{"search|query=tag:#baking", "query read as: tag:#baking"},
		{"recent|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"recent|limit=1|since=2000-01-01", "1 of 4 notes are listed; a higher limit lists more"},
		{"search|query=e|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"search:context|query=e|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"query|limit=1", "1 of 4 rows are listed; a higher limit lists more"},
		{"query|limit=1|offset=3", ""},
	} {
		status, _, stderr := h.Run(append([]string{"--facts"}, strings.Split(tt.args, "|")...)...)
		rest, facts, _ := embedded.CutReport(stderr)
		assert.Equal(t, status, answer.ExitDone, "%s: status %d, %q", tt.args, status, stderr)
		assert.Equal(t, facts.Notice, tt.notice, "%s: status %d, %q", tt.args, status, stderr)
		assert.Equal(t, rest, "", "%s: status %d, %q", tt.args, status, stderr)
	}
}

// TestAdviceStaysInWhatTheRulesShow for the access rules of a vault.
func TestAdviceStaysInWhatTheRulesShow(t *testing.T) {
	h := kitchen(t)
	h.Env[call.AccessVariable] = `[{"/":"r","Ideas":"none"}]`
	for _, args := range []string{"read|path=Ideas/Braed.md", "read|path=Bread.md", "read|file=Braed",
		"files|folder=Idea", "tag|name=bakin", "search|query=x|path=Ideas"} {
		got := h.Failure(strings.Split(args, "|")...)
		assert.That(t, !strings.Contains(got.Hint, "Bread"), "%s: %q", args, got.Hint)
		assert.That(t, !strings.Contains(got.Hint, `"Ideas`), "%s: %q", args, got.Hint)
		assert.That(t, !strings.Contains(got.Hint, "baking"), "%s: %q", args, got.Hint)
	}
}

// An alias is no name of a note. That of a hidden note says nothing.
func TestAnAliasNamesItsNote(t *testing.T) {
	h := embedded.New(t, map[string]string{"Jonathan.md": "---\naliases: [Joni]\n---\n", "Private/p.md": "---\naliases: [Nat]\n---\n"})
	h.Put(".vaultwicketignore", "Private/\n")
	for name, want := range map[string]string{"joni": `"joni" is an alias of path="Jonathan.md"`, "Nat": protocol.HintNotFound} {
		assert.Equal(t, h.Failure("read", "file="+name).Hint, want, "%s", name)
	}
}
