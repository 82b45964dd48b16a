package handlers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestSearch(t *testing.T) {
	h := embedded.New(t, map[string]string{
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
		"water":          "Alpha.md\nWork/Beta.md\nWork/Deep/Gamma.md\n",
		"tide":           "a9.md\na10.md\nAlpha.md\n",
		"path:work/":     "Work/Beta.md\nWork/Deep/Gamma.md\n",
		"tag:#project":   "Work/Beta.md\n",
		"task-todo:milk": "Alpha.md\n",
		"[rank:>2]":      "Alpha.md\n",
		"\"low water\"":  "Work/Beta.md\n",
	} {
		h.Expect(answer.ExitDone, want, "search", "query="+query)
	}
	h.Expect(answer.ExitDone, "No matches found.\n", "search", "query=nowhere")
	h.Expect(answer.ExitDone, "No matches found.\n", "search", "query=nowhere", "format=json")
	h.Expect(answer.ExitDone, "0\n", "search", "query=nowhere", "total")
	h.Expect(answer.ExitDone, "3\n", "search", "query=water", "total")
	h.Expect(answer.ExitDone, "a9.md\n", "search", "query=tide", "limit=1")
	h.Expect(answer.ExitDone, "[\"a9.md\",\"a10.md\",\"Alpha.md\"]\n", "search", "query=tide", "format=json")
	h.Expect(answer.ExitDone, "Work/Deep/Gamma.md\n", "search", "query=WATER", "case")
	h.Expect(answer.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work")
	h.Expect(answer.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work/")
	if _, err := os.Stat(h.File("work")); err != nil { // else this file system takes it for "Work"
		h.Expect(answer.ExitFailed, "Error: Folder \"work\" not found.\n", "search", "query=water", "path=work")
	}
	h.Expect(answer.ExitFailed, "Error: Folder \"../x\" not found.\n", "search", "query=water", "path=../x")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 100000.\n", "search", "query=x", "limit=0")
	h.ExpectPrefix(answer.ExitMisuse, "Error: query, character ", "search", "query=\"open")
}

func TestSearchContext(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "one water\r\ntwo\nwater and water\n", "Water.md": "its name alone"})
	h.Expect(answer.ExitDone, "A.md:1: one water\nA.md:3: water and water\n", "search:context", "query=water")
	h.Expect(answer.ExitDone,
		`[{"file":"A.md","matches":[{"line":1,"text":"one water"},{"line":3,"text":"water and water"}]},{"file":"Water.md","matches":[]}]`+
			"\n",
		"search:context", "query=water", "format=json")
	h.Expect(answer.ExitDone, "A.md:2: two\n", "search:context", "query=two", "limit=1")
	h.Expect(answer.ExitDone, "No matches found.\n", "search:context", "query=nothing")
	h.Expect(answer.ExitDone, "No matches found.\n", "search:context", "query=nothing", "format=json")
}

func TestProperties(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/types.json": `{"types":{"due":"date","count":"text"}}`,
		"A.md":                 "---\ntitle: Hello\ndue: 2026-01-01\ntags: [a, b]\nCount: 3\nempty:\n---\n",
		"B.md":                 "---\ncount: 4\naliases:\n  - Bee\n  - Second\n---\n",
		"Broken.md":            "---\na: b\na: c\n---\n",
		"None.md":              "text",
	})
	h.Expect(answer.ExitDone, "aliases\nCount\ncssclasses\ndue\nempty\ntags\ntitle\n", "properties")
	h.Expect(answer.ExitDone, "aliases: 1\nCount: 2\ncssclasses: 0\ndue: 1\nempty: 1\ntags: 1\ntitle: 1\n", "properties", "counts")
	h.Expect(answer.ExitDone, "7\n", "properties", "total")
	h.Expect(answer.ExitDone, "2\n", "properties", "name=count")
	h.Expect(answer.ExitDone, "0\n", "properties", "name=nothing")
	h.Expect(answer.ExitDone, "title: Hello\ndue: 2026-01-01\ntags:\n  - a\n  - b\nCount: 3\nempty:\n", "properties", "path=A.md")
	h.Expect(answer.ExitDone, "{\n  \"count\": 4,\n  \"aliases\": [\n    \"Bee\",\n    \"Second\"\n  ]\n}\n", "properties", "path=B.md", "format=json")
	h.Expect(answer.ExitDone, "5\n", "properties", "path=A.md", "total")
	for _, path := range []string{"path=Broken.md", "path=None.md"} {
		h.Expect(answer.ExitDone, "No frontmatter found.\n", "properties", path)
		h.Expect(answer.ExitDone, "No frontmatter found.\n", "properties", path, "format=json")
	}
	_, out, _ := h.Run("properties", "format=json")
	for _, want := range []string{"    \"name\": \"Count\",\n    \"type\": \"text\",\n    \"count\": 2\n",
		"    \"name\": \"cssclasses\",\n    \"type\": \"multitext\",\n    \"count\": 0\n",
		"\"name\": \"due\",\n    \"type\": \"date\""} {
		assert.That(t, strings.Contains(out, want), "%s\nlacks %s", out, want)
	}
	for _, want := range []string{"\"name\": \"aliases\",\n    \"type\": \"aliases\"", "\"name\": \"tags\",\n    \"type\": \"tags\""} {
		assert.That(t, strings.Contains(out, want), "%s\nlacks %s", out, want)
	}
	unused := embedded.New(t, map[string]string{"A.md": "text", "Tags.md": "---\nTags: 3\n---\n", ".obsidian/types.json": `{"types":{"aliases":"multitext"}}`})
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(unused.Does("properties", "format=json"))))
	assert.Equal(t, compact.String(), `[{"name":"aliases","type":"multitext","count":0},{"name":"cssclasses","type":"multitext","count":0},`+
		`{"name":"Tags","type":"tags","count":1}]`)
	_, out, _ = h.Run("properties", "sort=count")
	assert.That(t, strings.HasPrefix(out, "Count\n"), "by count: %q", out)
}

func TestReadingOneProperty(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "---\ntitle: \"two\\nlines\"\nlist: [a, 2, true]\nempty:\nn: 012\n---\n"})
	h.Expect(answer.ExitDone, "two\nlines\n", "property:read", "name=title", "path=A.md")
	h.Expect(answer.ExitDone, "a\n2\ntrue\n", "property:read", "name=LIST", "path=A.md")
	h.Expect(answer.ExitDone, "(empty)\n", "property:read", "name=empty", "path=A.md")
	h.Expect(answer.ExitDone, "12\n", "property:read", "name=n", "path=A.md")
	h.Expect(answer.ExitFailed,
		"Error: Property \"x\" not found. The note has \"title\", \"list\", \"empty\", \"n\".\n", "property:read",
		"name=x", "path=A.md")
	h.Expect(answer.ExitFailed, "Error: File \"B.md\" not found.\n", "property:read", "name=x", "path=B.md")
}

func TestAliasesOfTheVault(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "---\naliases: One\n---\n", "B.md": "---\nAliases: [Two, Three]\nalias: no\n---\n", "C.md": ""})
	h.Expect(answer.ExitDone, "One\nTwo\nThree\n", "aliases")
	h.Expect(answer.ExitDone, "One\tA.md\nTwo\tB.md\nThree\tB.md\n", "aliases", "verbose")
	h.Expect(answer.ExitDone, "3\n", "aliases", "total")
	h.Expect(answer.ExitDone, "One\n", "aliases", "file=A")
	h.Expect(answer.ExitDone, "No aliases found.\n", "aliases", "path=C.md")
}

// maxContextBytes bounds the lines of an answer, in bytes.
const maxContextBytes = 4 << 20

func TestATruncatedSearchSaysSo(t *testing.T) {
	line := strings.Repeat("water ", 160) + "\n"
	h := embedded.New(t, map[string]string{"A.md": strings.Repeat(line, maxContextBytes/len(line)+10), "B.md": "water\n"})
	for _, format := range []string{"text", "json"} {
		status, out, remark := h.Run("search:context", "query=water", "format="+format)
		if status != answer.ExitDone || len(out) > maxContextBytes*5/4 ||
			remark != "Truncated after 4096 KiB of lines: narrow the query, or search below a folder with path=.\n" {
			t.Errorf("%s: status %d, %d bytes, %q", format, status, len(out), remark)
		}
	}
	status, _, remark := h.Run("search:context", "query=water", "path=/")
	assert.Equal(t, status, answer.ExitDone, "status %d", status)
	assert.That(t, remark != "", "status %d, %q", status, remark)
	status, _, remark = h.Run("search", "query=water")
	assert.Equal(t, status, answer.ExitDone, "status %d", status)
	assert.Equal(t, remark, "", "status %d", status)
}
