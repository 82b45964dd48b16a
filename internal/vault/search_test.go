package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/long"
	"github.com/vaultwicket/vaultwicket/tests/require"
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
		"water":          "Alpha.md\nWork/Beta.md\nWork/Deep/Gamma.md\n",
		"tide":           "a9.md\na10.md\nAlpha.md\n",
		"path:work/":     "Work/Beta.md\nWork/Deep/Gamma.md\n",
		"tag:#project":   "Work/Beta.md\n",
		"task-todo:milk": "Alpha.md\n",
		"[rank:>2]":      "Alpha.md\n",
		"\"low water\"":  "Work/Beta.md\n",
	} {
		h.expect(answer.ExitDone, want, "search", "query="+query)
	}
	h.expect(answer.ExitDone, "No matches found.\n", "search", "query=nowhere")
	h.expect(answer.ExitDone, "No matches found.\n", "search", "query=nowhere", "format=json")
	h.expect(answer.ExitDone, "0\n", "search", "query=nowhere", "total")
	h.expect(answer.ExitDone, "3\n", "search", "query=water", "total")
	h.expect(answer.ExitDone, "a9.md\n", "search", "query=tide", "limit=1")
	h.expect(answer.ExitDone, "[\"a9.md\",\"a10.md\",\"Alpha.md\"]\n", "search", "query=tide", "format=json")
	h.expect(answer.ExitDone, "Work/Deep/Gamma.md\n", "search", "query=WATER", "case")
	h.expect(answer.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work")
	h.expect(answer.ExitDone, "Work/Beta.md\nWork/Deep/Gamma.md\n", "search", "query=water", "path=Work/")
	if _, err := os.Stat(h.file("work")); err != nil { // else this file system takes it for "Work"
		h.expect(answer.ExitFailed, "Error: Folder \"work\" not found.\n", "search", "query=water", "path=work")
	}
	h.expect(answer.ExitFailed, "Error: Folder \"../x\" not found.\n", "search", "query=water", "path=../x")
	h.expect(answer.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 100000.\n", "search", "query=x", "limit=0")
	h.expectPrefix(answer.ExitMisuse, "Error: query, character ", "search", "query=\"open")
}

func TestSearchContext(t *testing.T) {
	h := build(t, map[string]string{"A.md": "one water\r\ntwo\nwater and water\n", "Water.md": "its name alone"})
	h.expect(answer.ExitDone, "A.md:1: one water\nA.md:3: water and water\n", "search:context", "query=water")
	h.expect(answer.ExitDone, `[{"file":"A.md","matches":[{"line":1,"text":"one water"},{"line":3,"text":"water and water"}]},{"file":"Water.md","matches":[]}]`+"\n",
		"search:context", "query=water", "format=json")
	h.expect(answer.ExitDone, "A.md:2: two\n", "search:context", "query=two", "limit=1")
	h.expect(answer.ExitDone, "No matches found.\n", "search:context", "query=nothing")
	h.expect(answer.ExitDone, "No matches found.\n", "search:context", "query=nothing", "format=json")
}

func TestProperties(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/types.json": `{"types":{"due":"date","count":"text"}}`,
		"A.md":                 "---\ntitle: Hello\ndue: 2026-01-01\ntags: [a, b]\nCount: 3\nempty:\n---\n",
		"B.md":                 "---\ncount: 4\naliases:\n  - Bee\n  - Second\n---\n",
		"Broken.md":            "---\na: b\na: c\n---\n",
		"None.md":              "text",
	})
	h.expect(answer.ExitDone, "aliases\nCount\ncssclasses\ndue\nempty\ntags\ntitle\n", "properties")
	h.expect(answer.ExitDone, "aliases: 1\nCount: 2\ncssclasses: 0\ndue: 1\nempty: 1\ntags: 1\ntitle: 1\n", "properties", "counts")
	h.expect(answer.ExitDone, "7\n", "properties", "total")
	h.expect(answer.ExitDone, "2\n", "properties", "name=count")
	h.expect(answer.ExitDone, "0\n", "properties", "name=nothing")
	h.expect(answer.ExitDone, "title: Hello\ndue: 2026-01-01\ntags:\n  - a\n  - b\nCount: 3\nempty:\n", "properties", "path=A.md")
	h.expect(answer.ExitDone, "{\n  \"count\": 4,\n  \"aliases\": [\n    \"Bee\",\n    \"Second\"\n  ]\n}\n", "properties", "path=B.md", "format=json")
	h.expect(answer.ExitDone, "5\n", "properties", "path=A.md", "total")
	for _, path := range []string{"path=Broken.md", "path=None.md"} {
		h.expect(answer.ExitDone, "No frontmatter found.\n", "properties", path)
		h.expect(answer.ExitDone, "No frontmatter found.\n", "properties", path, "format=json")
	}
	_, out, _ := h.run("properties", "format=json")
	for _, want := range []string{"    \"name\": \"Count\",\n    \"type\": \"text\",\n    \"count\": 2\n", "    \"name\": \"cssclasses\",\n    \"type\": \"multitext\",\n    \"count\": 0\n", "\"name\": \"due\",\n    \"type\": \"date\""} {
		assert.That(t, strings.Contains(out, want), "%s\nlacks %s", out, want)
	}
	for _, want := range []string{"\"name\": \"aliases\",\n    \"type\": \"aliases\"", "\"name\": \"tags\",\n    \"type\": \"tags\""} {
		assert.That(t, strings.Contains(out, want), "%s\nlacks %s", out, want)
	}
	unused := build(t, map[string]string{"A.md": "text", "Tags.md": "---\nTags: 3\n---\n", ".obsidian/types.json": `{"types":{"aliases":"multitext"}}`})
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(unused.does("properties", "format=json"))))
	assert.Equal(t, compact.String(), `[{"name":"aliases","type":"multitext","count":0},{"name":"cssclasses","type":"multitext","count":0},`+
		`{"name":"Tags","type":"tags","count":1}]`)
	_, out, _ = h.run("properties", "sort=count")
	assert.That(t, strings.HasPrefix(out, "Count\n"), "by count: %q", out)
}

func TestReadingOneProperty(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\ntitle: \"two\\nlines\"\nlist: [a, 2, true]\nempty:\nn: 012\n---\n"})
	h.expect(answer.ExitDone, "two\nlines\n", "property:read", "name=title", "path=A.md")
	h.expect(answer.ExitDone, "a\n2\ntrue\n", "property:read", "name=LIST", "path=A.md")
	h.expect(answer.ExitDone, "(empty)\n", "property:read", "name=empty", "path=A.md")
	h.expect(answer.ExitDone, "12\n", "property:read", "name=n", "path=A.md")
	h.expect(answer.ExitFailed, "Error: Property \"x\" not found. The note has \"title\", \"list\", \"empty\", \"n\".\n", "property:read", "name=x", "path=A.md")
	h.expect(answer.ExitFailed, "Error: File \"B.md\" not found.\n", "property:read", "name=x", "path=B.md")
}

func TestAliasesOfTheVault(t *testing.T) {
	h := build(t, map[string]string{"A.md": "---\naliases: One\n---\n", "B.md": "---\nAliases: [Two, Three]\nalias: no\n---\n", "C.md": ""})
	h.expect(answer.ExitDone, "One\nTwo\nThree\n", "aliases")
	h.expect(answer.ExitDone, "One\tA.md\nTwo\tB.md\nThree\tB.md\n", "aliases", "verbose")
	h.expect(answer.ExitDone, "3\n", "aliases", "total")
	h.expect(answer.ExitDone, "One\n", "aliases", "file=A")
	h.expect(answer.ExitDone, "", "aliases", "path=C.md")
}

// pieces are what random notes and random queries are made of.
var pieces = []string{
	"zebra", "Zebra", "ZEBRA crossing", "straße", "STRASSE", "İstanbul", "istanbul", "\u212aelvin", "kelvin", "naïve", "nai\u0308ve", "снег", "СНЕГ", "日本語の文", "a", "of", "ab-cd",
	"#fruit/apple", "- [ ] buy apples", "- [x] sold pears", "> quoted words", "\n", "\n\n", "# Heading one\n", "```\n", "%%", "[[zebra]]", "\xff", "12.5", "under_score", "end",
}

func randomText(r *rand.Rand) string {
	var text strings.Builder
	if r.IntN(3) == 0 {
		fmt.Fprintf(&text, "---\nstatus: %s\ntags: [fruit]\n---\n", []string{"zebra", "draft", "\"\\u007aebra\""}[r.IntN(3)])
	}
	for range r.IntN(40) {
		text.WriteString(pieces[r.IntN(len(pieces))] + []string{" ", "", "\n"}[r.IntN(3)])
	}
	return text.String()
}

// searches are queries of every kind over the pieces.
func searches(r *rand.Rand, count int) []string {
	var all []string
	for range count {
		word := strings.Fields(strings.ToValidUTF8(pieces[r.IntN(17)], ""))[0]
		other := strings.Fields(pieces[r.IntN(17)])[0]
		all = append(all, []string{
			word, `"` + word + `"`, "-" + word, word + " " + other, word + " OR " + other, word + " -" + other, "line:(" + word + " " + other + ")", "section:" + word,
			"block:-" + word, "task-todo:apples " + word, "match-case:" + word, "file:" + word, "path:Sub " + word, "-path:Sub -" + word, "/" + word + "s?/", "/[a-z]+" + word + "/ OR " + other,
			"content:" + word, "tag:#fruit " + word, "[status:" + word + "]", "[status] -" + word, "(" + word + " OR -" + other + ") -line:" + other,
		}[r.IntN(21)])
	}
	return all
}

// TestSearchesFindTheSameWithFilters has the same queries answered without anything that
// was kept, by processes that find a cache, and by a worker while notes change.
func TestSearchesFindTheSameWithFilters(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	files := map[string]string{"zebra.md": "", "Sub/Naïve.md": "x"}
	for i := range 60 {
		files[fmt.Sprintf("Sub %d/Note %d.md", i%4, i)] = randomText(r)
	}
	h := build(t, files)
	h.env["XDG_CACHE_HOME"] = t.TempDir()
	h.later = time.Hour
	w := h.worker()
	for round := range long.Count(2, 4) {
		if status, _, stderr := h.run("tags"); status != 0 { // which keeps texts without filters
			t.Fatal(status, stderr)
		}
		for _, query := range searches(r, 40) {
			for _, call := range [][]string{{"search", "query=" + query}, {"search:context", "query=" + query, "format=json"}} {
				wantStatus, want, _ := h.without().run(call...)
				status, got, _ := h.run(call...)
				require.That(t, status == wantStatus && got == want, "%q with a cache: %d\n%s\nwant %d\n%s", call, status, got, wantStatus, want)
				answered := w.ask(nil, call...)
				for until := time.Now().Add(20 * time.Second); answered.stdout != want && time.Now().Before(until); answered = w.ask(nil, call...) {
					time.Sleep(5 * time.Millisecond)
				}
				if int(answered.end.Status) != wantStatus || answered.stdout != want {
					t.Fatalf("%q in a worker: %d\n%s\nwant %d\n%s", call, answered.end.Status, answered.stdout, wantStatus, want)
				}
			}
		}
		for i := range 10 {
			h.put(fmt.Sprintf("Sub %d/Note %d.md", i%4, 10*round+i), randomText(r))
		}
	}
}

// maxContextBytes bounds the lines of an answer, in bytes.
const maxContextBytes = 4 << 20

func TestATruncatedSearchSaysSo(t *testing.T) {
	line := strings.Repeat("water ", 160) + "\n"
	h := build(t, map[string]string{"A.md": strings.Repeat(line, maxContextBytes/len(line)+10), "B.md": "water\n"})
	for _, format := range []string{"text", "json"} {
		status, out, remark := h.run("search:context", "query=water", "format="+format)
		if status != answer.ExitDone || len(out) > maxContextBytes*5/4 || remark != "Truncated after 4096 KiB of lines: narrow the query, or search below a folder with path=.\n" {
			t.Errorf("%s: status %d, %d bytes, %q", format, status, len(out), remark)
		}
	}
	status, _, remark := h.run("search:context", "query=water", "path=/")
	assert.That(t, status == answer.ExitDone && remark != "", "status %d, %q", status, remark)
	status, _, remark = h.run("search", "query=water")
	assert.That(t, status == answer.ExitDone && remark == "", "status %d, %q", status, remark)
}
