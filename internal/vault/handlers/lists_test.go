package handlers_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTemplateCommands(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/templates.json": `{"folder":"Forms","dateFormat":"DD.MM.YYYY"}`,
		"Forms/Meeting.md":         "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}",
		"Forms/Work/Review.md":     "no end of line",
		"Forms/picture.png":        "x",
		"Note.md":                  "not here",
	})
	h.Expect(answer.ExitDone, "Meeting\nWork/Review\n", "templates")
	h.Expect(answer.ExitDone, "2\n", "templates", "total")
	h.Expect(answer.ExitDone, "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}\n", "template:read", "name=Meeting")
	h.Expect(answer.ExitDone, "# Standup\n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting", "resolve", "title=Standup")
	h.Expect(answer.ExitDone, "# \n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting.md", "resolve")
	h.Expect(answer.ExitDone, "no end of line\n", "template:read", "name=Work/Review")
	h.Expect(answer.ExitFailed, "Error: Template \"Nothing\" not found.\n", "template:read", "name=Nothing")
	h.Expect(answer.ExitFailed, "Error: Template \"../Note\" not found.\n", "template:read", "name=../Note")
	h.Expect(answer.ExitFailed, "Error: Template \"picture.png\" not found.\n", "template:read", "name=picture.png")
}

func TestTemplatesWithoutAFolder(t *testing.T) {
	for _, settings := range []string{"", `{}`, `{"folder":""}`, `{"folder":"  "}`} {
		files := map[string]string{}
		if settings != "" {
			files[".obsidian/templates.json"] = settings
		}
		h := embedded.New(t, files)
		h.Expect(answer.ExitFailed, "Error: No template folder configured.\n", "templates")
		h.Expect(answer.ExitFailed, "Error: No template folder configured.\n", "template:read", "name=x")
	}
	h := embedded.New(t, map[string]string{".obsidian/templates.json": `{"folder":"/"}`, "A.md": "a"})
	h.Expect(answer.ExitDone, "A\n", "templates")
	h = embedded.New(t, map[string]string{".obsidian/templates.json": `{"folder":"../x"}`})
	h.ExpectPrefix(answer.ExitFailed, "Error: .obsidian/templates.json leads to no folder", "templates")
	embedded.New(t, map[string]string{".obsidian/templates.json": `{"folder":"Gone"}`}).Expect(answer.ExitDone, "No templates found.\n", "templates")
}

func TestRecents(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/workspace.json": `{"lastOpenFiles":["b.md","gone.md","../out.md","a.md",".obsidian/app.json"],"active":"x"}`,
		"a.md":                     "a", "b.md": "b",
	})
	h.Expect(answer.ExitDone, "b.md\na.md\n", "recents")
	h.Expect(answer.ExitDone, "2\n", "recents", "total")
	for _, record := range []string{`{broken`, `{"lastOpenFiles":5}`, `{}`} {
		embedded.New(t, map[string]string{".obsidian/workspace.json": record}).Expect(answer.ExitDone, "No recent files.\n", "recents")
	}
	embedded.New(t, nil).Expect(answer.ExitDone, "No recent files.\n", "recents")
}

func TestBases(t *testing.T) {
	h := embedded.New(t, map[string]string{"B/Books.base": "", "Art.base": "", "Note.md": "", ".hidden.base": ""})
	h.Expect(answer.ExitDone, "Art.base\nB/Books.base\n", "bases")
	embedded.New(t, nil).Expect(answer.ExitDone, "No base files found in vault\n", "bases")
}

func TestTheViewsOfABase(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"B/Books.base": "filters: file.ext == \"md\"\nviews:\n  - type: table\n    name: All\n  - type: cards\n    name: \"Covers\"\n  - type: list\n",
		"Empty.base":   "", "Odd.base": "views: 5\n", "Broken.base": "views:\n  - [", "Note.md": "",
	})
	for _, named := range []string{"path=B/Books.base", "file=Books", "file=Books.base", "file=B/Books"} {
		h.Expect(answer.ExitDone, "All\ttable\nCovers\tcards\n\tlist\n", "base:views", named)
	}
	h.Expect(answer.ExitDone, "", "base:views", "file=Empty")
	h.Expect(answer.ExitDone, "", "base:views", "path=Odd.base")
	h.Expect(answer.ExitFailed, "Error: Base file \"Broken.base\" cannot be read: line 3: did not find expected node content\n", "base:views", "file=Broken")
	h.Expect(answer.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "file=Gone")
	h.Expect(answer.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "path=Gone.base")
	h.Expect(answer.ExitFailed, "Error: Base file not found: ../x.base\n", "base:views", "path=../x.base")
	h.Expect(answer.ExitFailed, "Error: Not a base file: \"Note.md\"\n", "base:views", "path=Note.md")
	h.Expect(answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n", "base:views")
	embedded.New(t, map[string]string{"Note.md": "", ".obsidian/workspace.json": `{"active":"x","main":{"id":"x","state":{"state":{"file":"Note.md"}}}}`}).
		Expect(answer.ExitFailed, "Error: Active file is not a base file: Note.md\n", "base:views")
}

func TestBookmarks(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/bookmarks.json": `{"items":[
		{"type":"file","ctime":1,"path":"a.md","subpath":"#H","title":"A"},
		{"type":"group","title":"Work","items":[
			{"type":"folder","path":"F"},
			{"type":"group","title":"Deep","items":[{"type":"search","query":"tag:#x","title":"X"}]},
			{"type":"graph"}]},
		{"type":"url","url":"https://example.org","title":"two\nlines"}]}`})
	h.Expect(answer.ExitDone, "a.md#H\nF\ntag:#x\ngraph\nhttps://example.org\n", "bookmarks")
	h.Expect(answer.ExitDone, "5\n", "bookmarks", "total")
	h.Expect(answer.ExitDone,
		"file\tA\ta.md#H\t\nfolder\t\tF\tWork\nsearch\tX\ttag:#x\tWork/Deep\ngraph\t\tgraph\tWork\nurl\ttwo lines\thttps://example.org\t\n",
		"bookmarks", "verbose")

}

func TestBookmarksThatAreNotThere(t *testing.T) {
	embedded.New(t, nil).Expect(answer.ExitDone, "No bookmarks found.\n", "bookmarks")
	embedded.New(t, nil).Expect(answer.ExitDone, "[]\n", "bookmarks", "format=json")
	embedded.New(t, map[string]string{".obsidian/bookmarks.json": `{}`}).Expect(answer.ExitDone, "0\n", "bookmarks", "total")
	h := embedded.New(t, map[string]string{".obsidian/bookmarks.json": `{"items":`})
	h.ExpectPrefix(answer.ExitFailed, "Error: Cannot use the bookmarks in .obsidian/bookmarks.json", "bookmarks")
}

func TestVaults(t *testing.T) {
	h := embedded.New(t, nil)
	h.Env["HOME"] = t.TempDir()
	h.Expect(answer.ExitDone, filepath.Base(h.Dir)+"\n", "vaults")
	h.Expect(answer.ExitDone, filepath.Base(h.Dir)+"\t"+h.Dir+"\n", "vaults", "verbose")
	if runtime.GOOS != "linux" {
		t.Skip("the app's list is elsewhere")
	}
	folder := filepath.Join(h.Env["HOME"], ".config", "obsidian")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, test := range [][2]string{
		{`{"vaults":{"a":{"path":"/x/Old","ts":1},"b":{"path":"/x/New","ts":1780596959579,"open":true},"c":{"ts":5}}}`, "New\nOld\n"},
		{`{broken`, filepath.Base(h.Dir) + "\n"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(test[0]), 0o600))
		h.Expect(answer.ExitDone, test[1], "vaults")
	}
	h.Expect(answer.ExitDone, "1\n", "vaults", "total")
}

func TestTags(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Archive/","/^Draft/"]}`,
		"A.md":               "---\ntags: [project, \"#Home\"]\n---\n#project/one #home `#code` #2024 #y2024",
		"B.md":               "#home #Home %% #comment %%\n",
		"Archive/C.md":       "#archived",
		"Draft 1.md":         "#draft",
		"pic.png":            "#no",
	})
	h.Expect(answer.ExitDone, "#comment\n#Home\n#project\n#project/one\n#y2024\n", "tags")
	h.Expect(answer.ExitDone, "#comment\t1\n#Home\t4\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts")
	h.Expect(answer.ExitDone, "#Home\t4\n#comment\t1\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts", "sort=count")
	embedded.New(t, map[string]string{"a.md": "#Oak #oak", "b.md": "#oak #OAK"}).Expect(answer.ExitDone, "#oak\t4\na.md\nb.md\n", "tag", "name=oak", "verbose")
	h.Expect(answer.ExitDone, "5\n", "tags", "total")
	h.Expect(answer.ExitDone, "#comment\n#Home\n", "tags", "path=B.md")
	h.Expect(answer.ExitDone,
		"[\n  {\n    \"tag\": \"#comment\",\n    \"count\": \"1\"\n  },\n  {\n    \"tag\": \"#Home\",\n    \"count\": \"2\"\n  }\n]\n",
		"tags", "path=B.md", "counts", "format=json")
	h.Expect(answer.ExitDone, "#archived\n", "tags", "path=Archive/C.md")
	h.Expect(answer.ExitDone, "No tags found.\n", "tags", "path=pic.png")
	embedded.New(t, nil).Expect(answer.ExitDone, "No tags found.\n", "tags", "format=json")

	h.Expect(answer.ExitDone, "A.md\nB.md\n", "tag", "name=Home")
	h.Expect(answer.ExitDone, "#Home\t4\nA.md\nB.md\n", "tag", "name=#Home", "verbose")
	h.Expect(answer.ExitDone, "4\n", "tag", "name=#Home", "total")
	h.Expect(answer.ExitFailed, "Error: Tag \"#home\" not found.\n", "tag", "name=home")
	h.Expect(answer.ExitFailed, "Error: Tag \"#archived\" not found.\n", "tag", "name=#archived")
	h.Expect(answer.ExitDone, "A.md\n", "tag", "name=project/one")
}

func TestTagsOfTheFocusedNote(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/workspace.json": `{"main":{"id":"m","children":[{"id":"l","state":{"state":{"file":"A.md"}}}]},"active":"l"}`,
		"A.md":                     "#one", "B.md": "#two",
	})
	h.Expect(answer.ExitDone, "#one\n", "tags", "active")
	h.Expect(answer.ExitDone, "#one\n#two\n", "tags")
}

func TestTasks(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md":          "- [ ] one\n\n  * [x] two\n1. [/] three\n```\n- [ ] code\n```\n",
		"B.md":          "> - [ ] quoted\n- [] none",
		"2026-11-21.md": "- [ ] today",
	})
	h.Expect(answer.ExitDone, "- [ ] today\n- [ ] one\n* [x] two\n1. [/] three\n- [ ] quoted\n", "tasks")
	h.Expect(answer.ExitDone, "- [ ] today\n- [ ] one\n- [ ] quoted\n", "tasks", "todo")
	h.Expect(answer.ExitDone, "* [x] two\n1. [/] three\n", "tasks", "done")
	h.Expect(answer.ExitDone, "1. [/] three\n", "tasks", "status=/")
	h.Expect(answer.ExitDone, "5\n", "tasks", "total")
	h.Expect(answer.ExitDone, "- [ ] today\n", "tasks", "daily", "todo")
	h.Expect(answer.ExitDone, "A.md\n1: - [ ] one\n3: * [x] two\n4: 1. [/] three\n", "tasks", "path=A.md", "verbose")
	h.Expect(answer.ExitDone,
		"[\n  {\n    \"status\": \" \",\n    \"text\": \"- [ ] quoted\",\n    \"file\": \"B.md\",\n    \"line\": \"1\"\n  }\n]\n",
		"tasks", "path=B.md", "format=json")
	h.Expect(answer.ExitDone, "No tasks found.\n", "tasks", "path=B.md", "done")
	h.Expect(answer.ExitDone, "0\n", "tasks", "path=B.md", "done", "total")
	embedded.New(t, nil).Expect(answer.ExitDone, "No tasks found.\n", "tasks", "daily")
}

func TestOutline(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md":    "---\na: b\n---\n# One\n### Deep\n## Two **bold** ##\n# Last\nSetext\n------\n",
		"None.md": "text", "pic.png": "x", "One.md": "# One",
	})
	h.Expect(answer.ExitDone, "├── One\n│   ├── Deep\n│   └── Two **bold**\n└── Last\n    └── Setext\n", "outline", "path=A.md")
	h.Expect(answer.ExitDone, "# One\n### Deep\n## Two **bold**\n# Last\n## Setext\n", "outline", "path=A.md", "format=md")
	h.Expect(answer.ExitDone, "5\n", "outline", "path=A.md", "total", "format=json")
	h.Expect(answer.ExitDone,
		"[\n  {\n    \"level\": 1,\n    \"heading\": \"One\",\n    \"line\": 1,\n    \"hash\": \""+
			answer.Digest([]byte(h.Get("One.md")))+"\"\n  }\n]\n", "outline", "path=One.md", "format=json")
	for _, form := range [][]string{{"outline", "path=None.md"}, {"outline", "path=None.md", "format=json"}, {"outline", "path=None.md", "total"}} {
		h.Expect(answer.ExitDone, "No headings found.\n", form...)
	}
	h.Expect(answer.ExitFailed, "Error: File is not a markdown file.\n", "outline", "path=pic.png")
	h.Expect(answer.ExitFailed, "Error: File \"x.md\" not found.\n", "outline", "path=x.md")
}

func TestWordCountCommand(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "---\ntitle: not counted\n---\nthree little words\n"})
	h.Expect(answer.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md")
	h.Expect(answer.ExitDone, "3\n", "wordcount", "path=A.md", "words")
	h.Expect(answer.ExitDone, "19\n", "wordcount", "path=A.md", "characters")
	h.Expect(answer.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md", "words", "characters")
}
