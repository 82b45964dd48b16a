package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestTemplateCommands(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/templates.json": `{"folder":"Forms","dateFormat":"DD.MM.YYYY"}`,
		"Forms/Meeting.md":         "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}",
		"Forms/Work/Review.md":     "no end of line",
		"Forms/picture.png":        "x",
		"Note.md":                  "not here",
	})
	h.expect(answer.ExitDone, "Meeting\nWork/Review\n", "templates")
	h.expect(answer.ExitDone, "2\n", "templates", "total")
	h.expect(answer.ExitDone, "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}\n", "template:read", "name=Meeting")
	h.expect(answer.ExitDone, "# Standup\n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting", "resolve", "title=Standup")
	h.expect(answer.ExitDone, "# \n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting.md", "resolve")
	h.expect(answer.ExitDone, "no end of line\n", "template:read", "name=Work/Review")
	h.expect(answer.ExitFailed, "Error: Template \"Nothing\" not found.\n", "template:read", "name=Nothing")
	h.expect(answer.ExitFailed, "Error: Template \"../Note\" not found.\n", "template:read", "name=../Note")
	h.expect(answer.ExitFailed, "Error: Template \"picture.png\" not found.\n", "template:read", "name=picture.png")
}

func TestTemplatesWithoutAFolder(t *testing.T) {
	for _, settings := range []string{"", `{}`, `{"folder":""}`, `{"folder":"  "}`} {
		files := map[string]string{}
		if settings != "" {
			files[".obsidian/templates.json"] = settings
		}
		h := build(t, files)
		h.expect(answer.ExitFailed, "Error: No template folder configured.\n", "templates")
		h.expect(answer.ExitFailed, "Error: No template folder configured.\n", "template:read", "name=x")
	}
	h := build(t, map[string]string{".obsidian/templates.json": `{"folder":"/"}`, "A.md": "a"})
	h.expect(answer.ExitDone, "A\n", "templates")
	h = build(t, map[string]string{".obsidian/templates.json": `{"folder":"../x"}`})
	h.expectPrefix(answer.ExitFailed, "Error: .obsidian/templates.json leads to no folder", "templates")
	build(t, map[string]string{".obsidian/templates.json": `{"folder":"Gone"}`}).expect(answer.ExitDone, "", "templates")
}

func TestRecents(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/workspace.json": `{"lastOpenFiles":["b.md","gone.md","../out.md","a.md",".obsidian/app.json"],"active":"x"}`,
		"a.md":                     "a", "b.md": "b",
	})
	h.expect(answer.ExitDone, "b.md\na.md\n", "recents")
	h.expect(answer.ExitDone, "2\n", "recents", "total")
	for _, record := range []string{`{broken`, `{"lastOpenFiles":5}`, `{}`} {
		build(t, map[string]string{".obsidian/workspace.json": record}).expect(answer.ExitDone, "", "recents")
	}
	build(t, nil).expect(answer.ExitDone, "", "recents")
}

func TestBases(t *testing.T) {
	h := build(t, map[string]string{"B/Books.base": "", "Art.base": "", "Note.md": "", ".hidden.base": ""})
	h.expect(answer.ExitDone, "Art.base\nB/Books.base\n", "bases")
	build(t, nil).expect(answer.ExitDone, "No base files found in vault\n", "bases")
}

func TestTheViewsOfABase(t *testing.T) {
	h := build(t, map[string]string{
		"B/Books.base": "filters: file.ext == \"md\"\nviews:\n  - type: table\n    name: All\n  - type: cards\n    name: \"Covers\"\n  - type: list\n",
		"Empty.base":   "", "Odd.base": "views: 5\n", "Broken.base": "views:\n  - [", "Note.md": "",
	})
	for _, named := range []string{"path=B/Books.base", "file=Books", "file=Books.base", "file=B/Books"} {
		h.expect(answer.ExitDone, "All\ttable\nCovers\tcards\n\tlist\n", "base:views", named)
	}
	h.expect(answer.ExitDone, "", "base:views", "file=Empty")
	h.expect(answer.ExitDone, "", "base:views", "path=Odd.base")
	h.expect(answer.ExitFailed, "Error: Base file \"Broken.base\" cannot be read: line 3: did not find expected node content\n", "base:views", "file=Broken")
	h.expect(answer.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "file=Gone")
	h.expect(answer.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "path=Gone.base")
	h.expect(answer.ExitFailed, "Error: Base file not found: ../x.base\n", "base:views", "path=../x.base")
	h.expect(answer.ExitFailed, "Error: Not a base file: \"Note.md\"\n", "base:views", "path=Note.md")
	h.expect(answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n", "base:views")
	build(t, map[string]string{"Note.md": "", ".obsidian/workspace.json": `{"active":"x","main":{"id":"x","state":{"state":{"file":"Note.md"}}}}`}).
		expect(answer.ExitFailed, "Error: Active file is not a base file: Note.md\n", "base:views")
}

func TestBookmarks(t *testing.T) {
	h := build(t, map[string]string{".obsidian/bookmarks.json": `{"items":[
		{"type":"file","ctime":1,"path":"a.md","subpath":"#H","title":"A"},
		{"type":"group","title":"Work","items":[
			{"type":"folder","path":"F"},
			{"type":"group","title":"Deep","items":[{"type":"search","query":"tag:#x","title":"X"}]},
			{"type":"graph"}]},
		{"type":"url","url":"https://example.org","title":"two\nlines"}]}`})
	h.expect(answer.ExitDone, "a.md#H\nF\ntag:#x\ngraph\nhttps://example.org\n", "bookmarks")
	h.expect(answer.ExitDone, "5\n", "bookmarks", "total")
	h.expect(answer.ExitDone, "file\tA\ta.md#H\t\nfolder\t\tF\tWork\nsearch\tX\ttag:#x\tWork/Deep\ngraph\t\tgraph\tWork\nurl\ttwo lines\thttps://example.org\t\n", "bookmarks", "verbose")

}

func TestBookmarksThatAreNotThere(t *testing.T) {
	build(t, nil).expect(answer.ExitDone, "", "bookmarks")
	build(t, nil).expect(answer.ExitDone, "[]\n", "bookmarks", "format=json")
	build(t, map[string]string{".obsidian/bookmarks.json": `{}`}).expect(answer.ExitDone, "0\n", "bookmarks", "total")
	h := build(t, map[string]string{".obsidian/bookmarks.json": `{"items":`})
	h.expectPrefix(answer.ExitFailed, "Error: Cannot use the bookmarks in .obsidian/bookmarks.json", "bookmarks")
}

func TestVaults(t *testing.T) {
	h := build(t, nil)
	h.env["HOME"] = t.TempDir()
	h.expect(answer.ExitDone, filepath.Base(h.dir)+"\n", "vaults")
	h.expect(answer.ExitDone, filepath.Base(h.dir)+"\t"+h.dir+"\n", "vaults", "verbose")
	if runtime.GOOS != "linux" {
		t.Skip("the app's list is elsewhere")
	}
	folder := filepath.Join(h.env["HOME"], ".config", "obsidian")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, test := range [][2]string{
		{`{"vaults":{"a":{"path":"/x/Old","ts":1},"b":{"path":"/x/New","ts":1780596959579,"open":true},"c":{"ts":5}}}`, "New\nOld\n"},
		{`{broken`, filepath.Base(h.dir) + "\n"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(test[0]), 0o600))
		h.expect(answer.ExitDone, test[1], "vaults")
	}
	h.expect(answer.ExitDone, "1\n", "vaults", "total")
}

func TestTags(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Archive/","/^Draft/"]}`,
		"A.md":               "---\ntags: [project, \"#Home\"]\n---\n#project/one #home `#code` #2024 #y2024",
		"B.md":               "#home #Home %% #comment %%\n",
		"Archive/C.md":       "#archived",
		"Draft 1.md":         "#draft",
		"pic.png":            "#no",
	})
	h.expect(answer.ExitDone, "#comment\n#Home\n#project\n#project/one\n#y2024\n", "tags")
	h.expect(answer.ExitDone, "#comment\t1\n#Home\t4\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts")
	h.expect(answer.ExitDone, "#Home\t4\n#comment\t1\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts", "sort=count")
	build(t, map[string]string{"a.md": "#Oak #oak", "b.md": "#oak #OAK"}).expect(answer.ExitDone, "#oak\t4\na.md\nb.md\n", "tag", "name=oak", "verbose")
	h.expect(answer.ExitDone, "5\n", "tags", "total")
	h.expect(answer.ExitDone, "#comment\n#Home\n", "tags", "path=B.md")
	h.expect(answer.ExitDone, "[\n  {\n    \"tag\": \"#comment\",\n    \"count\": \"1\"\n  },\n  {\n    \"tag\": \"#Home\",\n    \"count\": \"2\"\n  }\n]\n", "tags", "path=B.md", "counts", "format=json")
	h.expect(answer.ExitDone, "#archived\n", "tags", "path=Archive/C.md")
	h.expect(answer.ExitDone, "No tags found.\n", "tags", "path=pic.png")
	build(t, nil).expect(answer.ExitDone, "No tags found.\n", "tags", "format=json")

	h.expect(answer.ExitDone, "A.md\nB.md\n", "tag", "name=Home")
	h.expect(answer.ExitDone, "#Home\t4\nA.md\nB.md\n", "tag", "name=#Home", "verbose")
	h.expect(answer.ExitDone, "4\n", "tag", "name=#Home", "total")
	h.expect(answer.ExitFailed, "Error: Tag \"#home\" not found.\n", "tag", "name=home")
	h.expect(answer.ExitFailed, "Error: Tag \"#archived\" not found.\n", "tag", "name=#archived")
	h.expect(answer.ExitDone, "A.md\n", "tag", "name=project/one")
}

func TestTagsOfTheFocusedNote(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/workspace.json": `{"main":{"id":"m","children":[{"id":"l","state":{"state":{"file":"A.md"}}}]},"active":"l"}`,
		"A.md":                     "#one", "B.md": "#two",
	})
	h.expect(answer.ExitDone, "#one\n", "tags", "active")
	h.expect(answer.ExitDone, "#one\n#two\n", "tags")
}

func TestTasks(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":          "- [ ] one\n\n  * [x] two\n1. [/] three\n```\n- [ ] code\n```\n",
		"B.md":          "> - [ ] quoted\n- [] none",
		"2026-11-21.md": "- [ ] today",
	})
	h.expect(answer.ExitDone, "- [ ] today\n- [ ] one\n* [x] two\n1. [/] three\n- [ ] quoted\n", "tasks")
	h.expect(answer.ExitDone, "- [ ] today\n- [ ] one\n- [ ] quoted\n", "tasks", "todo")
	h.expect(answer.ExitDone, "* [x] two\n1. [/] three\n", "tasks", "done")
	h.expect(answer.ExitDone, "1. [/] three\n", "tasks", "status=/")
	h.expect(answer.ExitDone, "5\n", "tasks", "total")
	h.expect(answer.ExitDone, "- [ ] today\n", "tasks", "daily", "todo")
	h.expect(answer.ExitDone, "A.md\n1: - [ ] one\n3: * [x] two\n4: 1. [/] three\n", "tasks", "path=A.md", "verbose")
	h.expect(answer.ExitDone, "[\n  {\n    \"status\": \" \",\n    \"text\": \"- [ ] quoted\",\n    \"file\": \"B.md\",\n    \"line\": \"1\"\n  }\n]\n", "tasks", "path=B.md", "format=json")
	h.expect(answer.ExitDone, "No tasks found.\n", "tasks", "path=B.md", "done")
	h.expect(answer.ExitDone, "0\n", "tasks", "path=B.md", "done", "total")
	build(t, nil).expect(answer.ExitDone, "No tasks found.\n", "tasks", "daily")
}

func TestOutline(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":    "---\na: b\n---\n# One\n### Deep\n## Two **bold** ##\n# Last\nSetext\n------\n",
		"None.md": "text", "pic.png": "x", "One.md": "# One",
	})
	h.expect(answer.ExitDone, "├── One\n│   ├── Deep\n│   └── Two **bold**\n└── Last\n    └── Setext\n", "outline", "path=A.md")
	h.expect(answer.ExitDone, "# One\n### Deep\n## Two **bold**\n# Last\n## Setext\n", "outline", "path=A.md", "format=md")
	h.expect(answer.ExitDone, "5\n", "outline", "path=A.md", "total", "format=json")
	h.expect(answer.ExitDone, "[\n  {\n    \"level\": 1,\n    \"heading\": \"One\",\n    \"line\": 1\n  }\n]\n", "outline", "path=One.md", "format=json")
	for _, form := range [][]string{{"outline", "path=None.md"}, {"outline", "path=None.md", "format=json"}, {"outline", "path=None.md", "total"}} {
		h.expect(answer.ExitDone, "No headings found.\n", form...)
	}
	h.expect(answer.ExitFailed, "Error: File is not a markdown file.\n", "outline", "path=pic.png")
	h.expect(answer.ExitFailed, "Error: File \"x.md\" not found.\n", "outline", "path=x.md")
}

func TestWordCountCommand(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\ntitle: not counted\n---\nthree little words\n"})
	h.expect(answer.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md")
	h.expect(answer.ExitDone, "3\n", "wordcount", "path=A.md", "words")
	h.expect(answer.ExitDone, "19\n", "wordcount", "path=A.md", "characters")
	h.expect(answer.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md", "words", "characters")
}

// The two programs have one table: this one answers each command that does not need the
// app and that the gateway does not answer itself, and its effect is that of the row.
func TestTheTableIsWhole(t *testing.T) {
	var want []string
	for c := range allowlist.Commands() {
		if c.NeedsApp && c.Name != "random" || c.Tier == tiers.Restricted || c.Name == "undo:list" || c.Name == "approvals" {
			continue // random prints the path that the app would show
		}
		want = append(want, c.Name)
		row, err := lookUp(c.Name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case (row.Run == nil) == (row.Plan == nil):
			t.Errorf("%s has no function, or two", c.Name)
		case row.Writes() != (c.Worst == tiers.Writes || c.Worst == tiers.Destroys):
			t.Errorf("%s: writes is %v, its effect is %v", c.Name, row.Writes(), c.Worst)
		}
		syntax, help := row.Syntax()
		_, found := syntax.Param(row.Positional)
		assert.That(t, help != "" && (row.Positional == "" || found), "%s lacks a description, or the parameter %q", c.Name, row.Positional)
	}
	slices.Sort(want)
	assert.EqualSlices(t, Commands(), want, "the table")
}

func TestReadingChangesNothing(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text", "sub/b.md": "", ".obsidian/daily-notes.json": `{"folder":"D","template":"a"}`})
	calls := map[string]string{"read": "path=a.md", "file": "path=a.md", "folder": "path=sub"}
	before := h.snapshot()
	for _, row := range table() {
		if row.Writes() {
			continue
		}
		h.run(append([]string{row.Name}, strings.Fields(calls[row.Name])...)...)
		after := h.snapshot()
		assert.That(t, after == before, "%s changed the vault from\n%s to\n%s", row.Name, before, after)
	}
}

// asked returns what a host answers to all questions.
func (h *testVault) asked(at *call.Host) string {
	var all strings.Builder
	for _, q := range questions {
		status, out, stderr := called(at, append([]string{h.dir}, q...)...)
		fmt.Fprintf(&all, "%q %d\n%s%s", q, status, out, stderr)
	}
	return all.String()
}

// eventually asks until the answers are those that a process without memory gives.
func (h *testVault) eventually(t *testing.T, what string, at *call.Host) {
	t.Helper()
	want := h.without().answers()
	got := h.asked(at)
	for until := time.Now().Add(20 * time.Second); got != want && time.Now().Before(until); got = h.asked(at) {
		time.Sleep(5 * time.Millisecond)
	}
	same(t, what, got, want)
}

// What a worker takes out of memory at rest it answers with as before, also where the
// cache was damaged meanwhile, and where notes changed.
func TestAnswersAreTheSameAfterARest(t *testing.T) {
	h := library(t)
	at := h.host()
	defer at.Close()
	at.Knowledge.Resident = true
	h.eventually(t, "at first", at)
	for range 2 {
		at.GiveBack()
		h.eventually(t, "after a rest", at)
	}
	at.GiveBack()
	h.put("Sub/Note 3.md", "#changed zebra [[Note 4]]\n- [ ] other")
	h.put("Sub/New.md", "#b/c zebra [[Note 3]]")
	h.eventually(t, "notes changed at rest", at)
	at.GiveBack()
	packs, err := filepath.Glob(filepath.Join(h.env["XDG_CACHE_HOME"], "vaultwicket", "*.pack"))
	require.That(t, err == nil && len(packs) == 1, "%v %v", packs, err)
	require.NoError(t, os.Truncate(packs[0], 100))
	h.eventually(t, "the cache was cut short at rest", at)
}

// TestAWorkerSeesWhatIsExcluded changes the setting, and then the files, between calls of
// one worker, which keeps the list of files that are not excluded.
func TestAWorkerSeesWhatIsExcluded(t *testing.T) {
	h := build(t, map[string]string{"A.md": "#a", "B/B.md": "#b", "C/C.md": "#c"})
	host := hostOf(nil)
	host.Knowledge.Resident = true
	defer host.Close()
	expect := func(want string) {
		t.Helper()
		for range 2 {
			_, out, _ := called(host, h.dir, "tags")
			require.Equal(t, strings.ReplaceAll(out, "\n", " "), want, "the tags are")
		}
	}
	exclude := func(filters string) {
		t.Helper()
		h.put(".obsidian/app.json", `{"userIgnoreFilters":[`+filters+`]}`)
	}
	expect("#a #b #c ")
	exclude(`"B/"`)
	expect("#a #c ")
	exclude(`"B/","/^C/"`)
	expect("#a ")
	exclude(`"C/"`)
	expect("#a #b ")
	exclude(`"A.md","B","C"`)
	expect("No tags found. ")
	exclude("")
	expect("#a #b #c ")
	exclude(`"B/"`)
	expect("#a #c ")
	h.put("C/D.md", "#d")
	path := require.Value(disk.ParsePath("C/D.md"))(t)
	host.Knowledge.Touch(path) // as after a change by a call
	expect("#a #c #d ")
}
