package vault

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestTemplateCommands(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/templates.json": `{"folder":"Forms","dateFormat":"DD.MM.YYYY"}`,
		"Forms/Meeting.md":         "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}",
		"Forms/Work/Review.md":     "no end of line",
		"Forms/picture.png":        "x",
		"Note.md":                  "not here",
	})
	h.expect(command.ExitDone, "Meeting\nWork/Review\n", "templates")
	h.expect(command.ExitDone, "2\n", "templates", "total")
	h.expect(command.ExitDone, "# {{title}}\n{{date}} {{time}} {{date:YYYY}} {{unknown}}\n", "template:read", "name=Meeting")
	h.expect(command.ExitDone, "# Standup\n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting", "resolve", "title=Standup")
	h.expect(command.ExitDone, "# \n21.11.2026 09:05 2026 {{unknown}}\n", "template:read", "name=Meeting.md", "resolve")
	h.expect(command.ExitDone, "no end of line\n", "template:read", "name=Work/Review")
	h.expect(command.ExitFailed, "Error: Template \"Nothing\" not found.\n", "template:read", "name=Nothing")
	h.expect(command.ExitFailed, "Error: Template \"../Note\" not found.\n", "template:read", "name=../Note")
	h.expect(command.ExitFailed, "Error: Template \"picture.png\" not found.\n", "template:read", "name=picture.png")
}

func TestTemplatesWithoutAFolder(t *testing.T) {
	for _, settings := range []string{"", `{}`, `{"folder":""}`, `{"folder":"  "}`} {
		files := map[string]string{}
		if settings != "" {
			files[".obsidian/templates.json"] = settings
		}
		h := build(t, files)
		h.expect(command.ExitFailed, "Error: No template folder configured.\n", "templates")
		h.expect(command.ExitFailed, "Error: No template folder configured.\n", "template:read", "name=x")
	}
	h := build(t, map[string]string{".obsidian/templates.json": `{"folder":"/"}`, "A.md": "a"})
	h.expect(command.ExitDone, "A\n", "templates")
	h = build(t, map[string]string{".obsidian/templates.json": `{"folder":"../x"}`})
	if status, out, _ := h.run("templates"); status != command.ExitFailed || !strings.HasPrefix(out, "Error: .obsidian/templates.json leads to no folder") {
		t.Errorf("%d %q", status, out)
	}
	build(t, map[string]string{".obsidian/templates.json": `{"folder":"Gone"}`}).expect(command.ExitDone, "", "templates")
}

func TestRecents(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/workspace.json": `{"lastOpenFiles":["b.md","gone.md","../out.md","a.md",".obsidian/app.json"],"active":"x"}`,
		"a.md":                     "a", "b.md": "b",
	})
	h.expect(command.ExitDone, "b.md\na.md\n", "recents")
	h.expect(command.ExitDone, "2\n", "recents", "total")
	for _, record := range []string{`{broken`, `{"lastOpenFiles":5}`, `{}`} {
		build(t, map[string]string{".obsidian/workspace.json": record}).expect(command.ExitDone, "", "recents")
	}
	build(t, nil).expect(command.ExitDone, "", "recents")
}

func TestBases(t *testing.T) {
	h := build(t, map[string]string{"B/Books.base": "", "Art.base": "", "Note.md": "", ".hidden.base": ""})
	h.expect(command.ExitDone, "Art.base\nB/Books.base\n", "bases")
	build(t, nil).expect(command.ExitDone, "No base files found in vault\n", "bases")
}

func TestTheViewsOfABase(t *testing.T) {
	h := build(t, map[string]string{
		"B/Books.base": "filters: file.ext == \"md\"\nviews:\n  - type: table\n    name: All\n  - type: cards\n    name: \"Covers\"\n  - type: list\n",
		"Empty.base":   "", "Odd.base": "views: 5\n", "Broken.base": "views:\n  - [", "Note.md": "",
	})
	for _, named := range []string{"path=B/Books.base", "file=Books", "file=Books.base", "file=B/Books"} {
		h.expect(command.ExitDone, "All\ttable\nCovers\tcards\n\tlist\n", "base:views", named)
	}
	h.expect(command.ExitDone, "", "base:views", "file=Empty")
	h.expect(command.ExitDone, "", "base:views", "path=Odd.base")
	h.expect(command.ExitFailed, "Error: Base file \"Broken.base\" cannot be read: line 3: did not find expected node content\n", "base:views", "file=Broken")
	h.expect(command.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "file=Gone")
	h.expect(command.ExitFailed, "Error: Base file not found: Gone.base\n", "base:views", "path=Gone.base")
	h.expect(command.ExitFailed, "Error: Base file not found: ../x.base\n", "base:views", "path=../x.base")
	h.expect(command.ExitFailed, "Error: Not a base file: \"Note.md\"\n", "base:views", "path=Note.md")
	h.expect(command.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n", "base:views")
	build(t, map[string]string{"Note.md": "", ".obsidian/workspace.json": `{"active":"x","main":{"id":"x","state":{"state":{"file":"Note.md"}}}}`}).
		expect(command.ExitFailed, "Error: Active file is not a base file: Note.md\n", "base:views")
}

func TestBookmarks(t *testing.T) {
	h := build(t, map[string]string{".obsidian/bookmarks.json": `{"items":[
		{"type":"file","ctime":1,"path":"a.md","subpath":"#H","title":"A"},
		{"type":"group","title":"Work","items":[
			{"type":"folder","path":"F"},
			{"type":"group","title":"Deep","items":[{"type":"search","query":"tag:#x","title":"X"}]},
			{"type":"graph"}]},
		{"type":"url","url":"https://example.org","title":"two\nlines"}]}`})
	h.expect(command.ExitDone, "a.md#H\nF\ntag:#x\ngraph\nhttps://example.org\n", "bookmarks")
	h.expect(command.ExitDone, "5\n", "bookmarks", "total")
	h.expect(command.ExitDone, "file\tA\ta.md#H\t\nfolder\t\tF\tWork\nsearch\tX\ttag:#x\tWork/Deep\ngraph\t\tgraph\tWork\nurl\ttwo lines\thttps://example.org\t\n", "bookmarks", "verbose")

}

func TestBookmarksThatAreNotThere(t *testing.T) {
	build(t, nil).expect(command.ExitDone, "", "bookmarks")
	build(t, nil).expect(command.ExitDone, "[]\n", "bookmarks", "format=json")
	build(t, map[string]string{".obsidian/bookmarks.json": `{}`}).expect(command.ExitDone, "0\n", "bookmarks", "total")
	h := build(t, map[string]string{".obsidian/bookmarks.json": `{"items":`})
	if status, out, _ := h.run("bookmarks"); status != command.ExitFailed || !strings.HasPrefix(out, "Error: Cannot use the bookmarks in .obsidian/bookmarks.json") {
		t.Errorf("%d %q", status, out)
	}
}

func TestRowsInEveryForm(t *testing.T) {
	r := command.Table{Columns: []string{"file", "count"}, Rows: [][]string{{"a\tb.md", "2"}, {`"<&>"`, ""}}}
	for form, want := range map[string]string{
		command.FormatTSV:  "a b.md\t2\n\"<&>\"\t\n",
		command.FormatCSV:  "a\tb.md,2\n\"\"\"<&>\"\"\",\n",
		command.FormatJSON: "[\n  {\n    \"file\": \"a\\tb.md\",\n    \"count\": \"2\"\n  },\n  {\n    \"file\": \"\\\"<&>\\\"\",\n    \"count\": \"\"\n  }\n]",
	} {
		assert.Equal(t, r.Print(form), want, "%s", form)
	}
	assert.Equal(t, (command.Table{}).Print(command.FormatJSON), "[]", "no rows in JSON are")
}

func TestVaults(t *testing.T) {
	h := build(t, nil)
	h.env["HOME"] = t.TempDir()
	h.expect(command.ExitDone, filepath.Base(h.dir)+"\n", "vaults")
	h.expect(command.ExitDone, filepath.Base(h.dir)+"\t"+h.dir+"\n", "vaults", "verbose")
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
		h.expect(command.ExitDone, test[1], "vaults")
	}
	h.expect(command.ExitDone, "1\n", "vaults", "total")
}
