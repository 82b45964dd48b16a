package vault

import (
	"os"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

func TestSearch(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Archive"]}`,
		"Alpha.md":           "---\nstatus: open\nrank: 3\n---\n# Tide\nHigh water, twice a day.\n- [ ] buy milk\n",
		"Work/Beta.md":       "low water\n#project/one\n",
		"Work/Deep/Gamma.md": "Water everywhere. WATER.\n- [x] buy milk\n",
		"Workshop.md":        "nothing of interest",
		"Archive/Old.md":     "water",
		"canvas.canvas":      `{"nodes":[{"text":"water"}]}`,
		"a10.md":             "tide", "a9.md": "tide",
	})
	for query, want := range map[string]string{
		"water":                  "Alpha.md\nWork/Beta.md\nWork/Deep/Gamma.md\n",
		"tide":                   "a9.md\na10.md\nAlpha.md\n",
		"WATER twice":            "Alpha.md\n",
		"water -twice":           "Work/Beta.md\nWork/Deep/Gamma.md\n",
		"interest OR everywhere": "Work/Deep/Gamma.md\nWorkshop.md\n",
		"workshop":               "Workshop.md\n",
		"path:work/":             "Work/Beta.md\nWork/Deep/Gamma.md\n",
		"tag:#project":           "Work/Beta.md\n",
		"task-todo:milk":         "Alpha.md\n",
		"task-done:milk":         "Work/Deep/Gamma.md\n",
		"[status:open]":          "Alpha.md\n",
		"[rank:>2]":              "Alpha.md\n",
		"/wat.r every/":          "Work/Deep/Gamma.md\n",
		"\"low water\"":          "Work/Beta.md\n",
	} {
		h.expect(command.ExitDone, want, "search", "query="+query)
	}
	h.expect(command.ExitDone, "No matches found.\n", "search", "query=nowhere")
	h.expect(command.ExitDone, "No matches found.\n", "search", "query=nowhere", "format=json")
	h.expect(command.ExitDone, "0\n", "search", "query=nowhere", "total")
	h.expect(command.ExitDone, "3\n", "search", "query=water", "total")
	h.expect(command.ExitDone, "a9.md\n", "search", "query=tide", "limit=1")
	h.expect(command.ExitDone, "[\"a9.md\",\"a10.md\",\"Alpha.md\"]\n", "search", "query=tide", "format=json")
	h.expect(command.ExitDone, "Work/Deep/Gamma.md\n", "search", "query=WATER", "case")
	h.expect(command.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work")
	h.expect(command.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work/")
	if _, err := os.Stat(h.file("work")); err != nil { // else this file system takes it for "Work"
		h.expect(command.ExitFailed, "Error: Folder \"work\" not found.\n", "search", "query=water", "path=work")
	}
	h.expect(command.ExitFailed, "Error: Folder \"../x\" not found.\n", "search", "query=water", "path=../x")
	h.expect(command.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 100000.\n", "search", "query=x", "limit=0")
	if status, out, _ := h.run("search", "query=\"open"); status != command.ExitMisuse || !strings.HasPrefix(out, "Error: query, character ") {
		t.Errorf("%d %q", status, out)
	}
}

func TestSearchContext(t *testing.T) {
	h := build(t, map[string]string{
		"A.md":     "one water\r\ntwo\nwater and water\n",
		"Water.md": "its name alone",
	})
	h.expect(command.ExitDone, "A.md:1: one water\nA.md:3: water and water\n", "search:context", "query=water")
	h.expect(command.ExitDone, `[{"file":"A.md","matches":[{"line":1,"text":"one water"},{"line":3,"text":"water and water"}]},{"file":"Water.md","matches":[]}]`+"\n",
		"search:context", "query=water", "format=json")
	h.expect(command.ExitDone, "A.md:2: two\n", "search:context", "query=two", "limit=1")
	h.expect(command.ExitDone, "No matches found.\n", "search:context", "query=nothing")
	h.expect(command.ExitDone, "No matches found.\n", "search:context", "query=nothing", "format=json")
}

func TestProperties(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/types.json": `{"types":{"due":"date","count":"text"}}`,
		"A.md":                 "---\ntitle: Hello\ndue: 2026-01-01\ntags: [a, b]\nCount: 3\nempty:\n---\n",
		"B.md":                 "---\ncount: 4\naliases:\n  - Bee\n  - Second\n---\n",
		"Broken.md":            "---\na: b\na: c\n---\n",
		"None.md":              "text",
	})
	h.expect(command.ExitDone, "aliases\nCount\ncssclasses\ndue\nempty\ntags\ntitle\n", "properties")
	h.expect(command.ExitDone, "aliases: 1\nCount: 2\ncssclasses: 0\ndue: 1\nempty: 1\ntags: 1\ntitle: 1\n", "properties", "counts")
	h.expect(command.ExitDone, "7\n", "properties", "total")
	h.expect(command.ExitDone, "2\n", "properties", "name=count")
	h.expect(command.ExitDone, "0\n", "properties", "name=nothing")
	h.expect(command.ExitDone, "title: Hello\ndue: 2026-01-01\ntags:\n  - a\n  - b\nCount: 3\nempty:\n", "properties", "path=A.md")
	h.expect(command.ExitDone, "{\n  \"count\": 4,\n  \"aliases\": [\n    \"Bee\",\n    \"Second\"\n  ]\n}\n", "properties", "path=B.md", "format=json")
	h.expect(command.ExitDone, "5\n", "properties", "path=A.md", "total")
	for _, path := range []string{"path=Broken.md", "path=None.md"} {
		h.expect(command.ExitDone, "No frontmatter found.\n", "properties", path)
		h.expect(command.ExitDone, "No frontmatter found.\n", "properties", path, "format=json")
	}
	_, out, _ := h.run("properties", "format=json")
	for _, want := range []string{"    \"name\": \"Count\",\n    \"type\": \"text\",\n    \"count\": 2\n", "    \"name\": \"cssclasses\",\n    \"type\": \"multitext\",\n    \"count\": 0\n", "\"name\": \"due\",\n    \"type\": \"date\""} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	for _, want := range []string{"\"name\": \"aliases\",\n    \"type\": \"aliases\"", "\"name\": \"tags\",\n    \"type\": \"tags\""} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	unused := build(t, map[string]string{"A.md": "text", "Tags.md": "---\nTags: 3\n---\n", ".obsidian/types.json": `{"types":{"aliases":"multitext"}}`})
	unused.expect(command.ExitDone, `[
  {
    "name": "aliases",
    "type": "multitext",
    "count": 0
  },
  {
    "name": "cssclasses",
    "type": "multitext",
    "count": 0
  },
  {
    "name": "Tags",
    "type": "tags",
    "count": 1
  }
]
`, "properties", "format=json")
	if _, out, _ := h.run("properties", "sort=count"); !strings.HasPrefix(out, "Count\n") {
		t.Errorf("by count: %q", out)
	}
}

func TestReadingOneProperty(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\ntitle: \"two\\nlines\"\nlist: [a, 2, true]\nempty:\nn: 012\n---\n"})
	h.expect(command.ExitDone, "two\nlines\n", "property:read", "name=title", "path=A.md")
	h.expect(command.ExitDone, "a\n2\ntrue\n", "property:read", "name=LIST", "path=A.md")
	h.expect(command.ExitDone, "(empty)\n", "property:read", "name=empty", "path=A.md")
	h.expect(command.ExitDone, "12\n", "property:read", "name=n", "path=A.md")
	h.expect(command.ExitFailed, "Error: Property \"x\" not found. The note has \"title\", \"list\", \"empty\", \"n\".\n", "property:read", "name=x", "path=A.md")
	h.expect(command.ExitFailed, "Error: File \"B.md\" not found.\n", "property:read", "name=x", "path=B.md")
}

func TestAliasesOfTheVault(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\naliases: One\n---\n", "B.md": "---\nAliases: [Two, Three]\nalias: no\n---\n", "C.md": ""})
	h.expect(command.ExitDone, "One\nTwo\nThree\n", "aliases")
	h.expect(command.ExitDone, "One\tA.md\nTwo\tB.md\nThree\tB.md\n", "aliases", "verbose")
	h.expect(command.ExitDone, "3\n", "aliases", "total")
	h.expect(command.ExitDone, "One\n", "aliases", "file=A")
	h.expect(command.ExitDone, "", "aliases", "path=C.md")
}
