package vault

import (
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

func TestTags(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Archive/","/^Draft/"]}`,
		"A.md":               "---\ntags: [project, \"#Home\"]\n---\n#project/one #home `#code` #2024 #y2024",
		"B.md":               "#home #Home %% #comment %%\n",
		"Archive/C.md":       "#archived",
		"Draft 1.md":         "#draft",
		"pic.png":            "#no",
	})
	h.expect(command.ExitDone, "#comment\n#Home\n#project\n#project/one\n#y2024\n", "tags")
	h.expect(command.ExitDone, "#comment\t1\n#Home\t4\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts")
	h.expect(command.ExitDone, "#Home\t4\n#comment\t1\n#project\t1\n#project/one\t1\n#y2024\t1\n", "tags", "counts", "sort=count")
	h.expect(command.ExitDone, "5\n", "tags", "total")
	h.expect(command.ExitDone, "#comment\n#Home\n", "tags", "path=B.md")
	h.expect(command.ExitDone, "[\n  {\n    \"tag\": \"#comment\",\n    \"count\": \"1\"\n  },\n  {\n    \"tag\": \"#Home\",\n    \"count\": \"2\"\n  }\n]\n", "tags", "path=B.md", "counts", "format=json")
	h.expect(command.ExitDone, "#archived\n", "tags", "path=Archive/C.md")
	h.expect(command.ExitDone, "No tags found.\n", "tags", "path=pic.png")
	build(t, nil).expect(command.ExitDone, "No tags found.\n", "tags", "format=json")

	h.expect(command.ExitDone, "A.md\nB.md\n", "tag", "name=Home")
	h.expect(command.ExitDone, "#Home\t4\nA.md\nB.md\n", "tag", "name=#Home", "verbose")
	h.expect(command.ExitDone, "4\n", "tag", "name=#Home", "total")
	h.expect(command.ExitFailed, "Error: Tag \"#home\" not found.\n", "tag", "name=home")
	h.expect(command.ExitFailed, "Error: Tag \"#archived\" not found.\n", "tag", "name=#archived")
	h.expect(command.ExitDone, "A.md\n", "tag", "name=project/one")
}

func TestTagsOfTheFocusedNote(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/workspace.json": `{"main":{"id":"m","children":[{"id":"l","state":{"state":{"file":"A.md"}}}]},"active":"l"}`,
		"A.md":                     "#one", "B.md": "#two",
	})
	h.expect(command.ExitDone, "#one\n", "tags", "active")
	h.expect(command.ExitDone, "#one\n#two\n", "tags")
}

func TestTasks(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":          "- [ ] one\n\n  * [x] two\n1. [/] three\n```\n- [ ] code\n```\n",
		"B.md":          "> - [ ] quoted\n- [] none",
		"2026-11-21.md": "- [ ] today",
	})
	h.expect(command.ExitDone, "- [ ] today\n- [ ] one\n* [x] two\n1. [/] three\n- [ ] quoted\n", "tasks")
	h.expect(command.ExitDone, "- [ ] today\n- [ ] one\n- [ ] quoted\n", "tasks", "todo")
	h.expect(command.ExitDone, "* [x] two\n1. [/] three\n", "tasks", "done")
	h.expect(command.ExitDone, "1. [/] three\n", "tasks", "status=/")
	h.expect(command.ExitDone, "5\n", "tasks", "total")
	h.expect(command.ExitDone, "- [ ] today\n", "tasks", "daily", "todo")
	h.expect(command.ExitDone, "A.md\n1: - [ ] one\n3: * [x] two\n4: 1. [/] three\n", "tasks", "path=A.md", "verbose")
	h.expect(command.ExitDone, "[\n  {\n    \"status\": \" \",\n    \"text\": \"- [ ] quoted\",\n    \"file\": \"B.md\",\n    \"line\": \"1\"\n  }\n]\n", "tasks", "path=B.md", "format=json")
	h.expect(command.ExitDone, "No tasks found.\n", "tasks", "path=B.md", "done")
	h.expect(command.ExitDone, "0\n", "tasks", "path=B.md", "done", "total")
	build(t, nil).expect(command.ExitDone, "No tasks found.\n", "tasks", "daily")
}

func TestOutline(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":    "---\na: b\n---\n# One\n### Deep\n## Two **bold** ##\n# Last\nSetext\n------\n",
		"None.md": "text", "pic.png": "x", "One.md": "# One",
	})
	h.expect(command.ExitDone, "├── One\n│   ├── Deep\n│   └── Two **bold**\n└── Last\n    └── Setext\n", "outline", "path=A.md")
	h.expect(command.ExitDone, "# One\n### Deep\n## Two **bold**\n# Last\n## Setext\n", "outline", "path=A.md", "format=md")
	h.expect(command.ExitDone, "5\n", "outline", "path=A.md", "total", "format=json")
	h.expect(command.ExitDone, "[\n  {\n    \"level\": 1,\n    \"heading\": \"One\",\n    \"line\": 1\n  }\n]\n", "outline", "path=One.md", "format=json")
	for _, form := range [][]string{{"outline", "path=None.md"}, {"outline", "path=None.md", "format=json"}, {"outline", "path=None.md", "total"}} {
		h.expect(command.ExitDone, "No headings found.\n", form...)
	}
	h.expect(command.ExitFailed, "Error: File is not a markdown file.\n", "outline", "path=pic.png")
	h.expect(command.ExitFailed, "Error: File \"x.md\" not found.\n", "outline", "path=x.md")
}

func TestWordCountCommand(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\ntitle: not counted\n---\nthree little words\n"})
	h.expect(command.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md")
	h.expect(command.ExitDone, "3\n", "wordcount", "path=A.md", "words")
	h.expect(command.ExitDone, "19\n", "wordcount", "path=A.md", "characters")
	h.expect(command.ExitDone, "words: 3\ncharacters: 19\n", "wordcount", "path=A.md", "words", "characters")
}
