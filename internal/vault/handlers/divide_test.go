package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestMergeExtractAndSplit(t *testing.T) {
	files := map[string]string{
		"A.md":     "---\ntags: [x, y]\nstatus: open\nrank: 1\n---\n# Intro\nfrom a [[#More]] [[B]]\n## More\nmore ^id\n",
		"B.md":     "---\ntags: [y, z]\nstatus: done\n---\n# Intro\nfrom b [[A#More]]\n\n# End\nlast",
		"f/L.md":   "[[A]] [[B#End]] ![[A#^id]] [t](../A.md#More)",
		"Same.md":  "# Intro\n[[#Intro]]",
		"All.base": "filters: file.hasLink(\"A\")\n", "C.canvas": `{"nodes":[{"type":"file","file":"A.md","subpath":"#More"}]}`,
	}
	for _, test := range []struct {
		call []string
		said string
		want map[string]string
	}{
		{[]string{"note:merge", "path=A.md", "into=B.md"}, "Merged: A.md -> B.md\nKept of B.md: status\n", map[string]string{
			"A.md":   "(missing)",
			"B.md":   "---\ntags: [y, z, x]\nstatus: done\nrank: 1\n---\n# Intro\nfrom b [[B#More]]\n\n# End\nlast\n\n# Intro\nfrom a [[#More]] [[B]]\n## More\nmore ^id\n",
			"f/L.md": "[[B]] [[B#End]] ![[B#^id]] [t](B.md#More)", "All.base": "filters: file.hasLink(\"B\")\n",
			"C.canvas": `{"nodes":[{"type":"file","file":"B.md","subpath":"#More"}]}`,
		}},
		{[]string{"note:merge", "path=A.md", "into=B.md", "heading=Intro"}, "Merged: A.md -> B.md\nKept of B.md: status\n", map[string]string{
			"A.md": "(missing)",
			"B.md": "---\ntags: [y, z, x]\nstatus: done\nrank: 1\n---\n# Intro\nfrom b [[B#More]]\n\n# Intro\nfrom a [[#More]] [[B]]\n## More\nmore ^id\n\n# End\nlast",
		}},
		{[]string{"note:extract", "path=A.md", "heading=More", "to=f/New.md"}, "Extracted: A.md -> f/New.md\n", map[string]string{
			"A.md":     "---\ntags: [x, y]\nstatus: open\nrank: 1\n---\n# Intro\nfrom a [[New#More]] [[B]]\n\n[[New]]\n",
			"f/New.md": "## More\nmore ^id\n", "B.md": strings.Replace(files["B.md"], "A#More", "New#More", 1),
			"f/L.md":   "[[A]] [[B#End]] ![[New#^id]] [t](New.md#More)",
			"C.canvas": `{"nodes":[{"type":"file","file":"f/New.md","subpath":"#More"}]}`,
			"All.base": files["All.base"],
		}},
		{[]string{"note:split", "path=B.md", "level=1", "folder=parts", "embed"}, "Split: B.md -> parts/Intro.md, parts/End.md\n", map[string]string{
			"B.md":           "---\ntags: [y, z]\nstatus: done\n---\n![[Intro]]\n\n![[End]]\n",
			"parts/Intro.md": "# Intro\nfrom b [[A#More]]\n", "parts/End.md": "# End\nlast",
			"f/L.md": strings.Replace(files["f/L.md"], "B#End", "End#End", 1),
		}},
		{[]string{"note:split", "path=B.md", "level=3"}, "Error: The note has no heading of level 3.\n", nil},
		{[]string{"note:extract", "path=A.md", "heading=More", "to=B.md"}, "Error: File \"B.md\" already exists.\n", nil},
		{[]string{"note:merge", "path=Same.md", "into=B.md"},
			"Error: A link leads to the heading \"Intro\", which it could not tell from another one. Nothing was changed.\n",
			nil},
		{[]string{"note:merge", "path=A.md", "into=A.md"}, "Error: A note cannot be merged into itself.\n", nil},
	} {
		h := embedded.New(t, files)
		before := h.Texts(false)
		_, out, _ := h.Run(test.call...)
		assert.Equal(t, out, test.said, "%q says", test.call)
		for p, want := range test.want {
			assert.Equal(t, h.Get(p), want, "%q: %s", test.call, p)
		}
		if test.want != nil {
			h.Run("undo")
		}
		after := h.Texts(false)
		assert.That(t, maps.Equal(before, after), "%q undone: %q", test.call, after)
	}
}

// TestDividedNotesKeepTheirLinesAndLinks draws notes with headings of equal names on several
// levels, blocks, and links to all of them, and merges, extracts and splits. Every line of text
// is in the vault afterwards as often as before, and each link leads to the same heading or block.
// A footnote and a reference link lead where they led, wherever their text goes.
func TestFootnotesAndReferencesStayWithTheirTexts(t *testing.T) {
	files := map[string]string{
		"A.md":    "Alpha.[^1] [site][s].\n\n[^1]: Source of alpha\n[s]: https://a.example\n",
		"B.md":    "Beta.[^1] [it][s].\n\n[^1]: Source of beta\n[s]: https://b.example\n",
		"Open.md": "# H\n```sh\nls",
		"L.md":    "# Long\n\n## One\nfirst [a][r].[^1]\n\n## Two\nsecond.[^2]\n\n[^1]: see [t](./B.md)\n[^2]: note two\n[r]: https://x.example\n",
	}
	for _, test := range []struct {
		call []string
		said string
		want map[string]string
	}{
		{[]string{"note:merge", "path=A.md", "into=B.md"}, "Merged: A.md -> B.md\nLabels: [^1] -> [^2], [s] -> [s-2]\n", map[string]string{
			"B.md": files["B.md"] + "\nAlpha.[^2] [site][s-2].\n\n[^2]: Source of alpha\n[s-2]: https://a.example\n",
		}},
		{[]string{"note:merge", "path=A.md", "into=Open.md"}, "Merged: A.md -> Open.md\n",
			map[string]string{"Open.md": "# H\n```sh\nls\n```\n\n" + files["A.md"]}},
		{[]string{"note:merge", "path=A.md", "into=Open.md", "heading=H"}, "Merged: A.md -> Open.md\n",
			map[string]string{"Open.md": "# H\n```sh\nls\n```\n" + files["A.md"]}},
		{[]string{"note:split", "path=L.md", "folder=f"}, "Split: L.md -> f/One.md, f/Two.md\nDefinitions taken along: [^1], [r]\n", map[string]string{
			"L.md":     "# Long\n\n[[One]]\n\n[[Two]]\n",
			"f/One.md": "## One\nfirst [a][r].[^1]\n\n[^1]: see [t](../B.md)\n[r]: https://x.example\n",
			"f/Two.md": "## Two\nsecond.[^2]\n\n[^2]: note two\n",
		}},
		{[]string{"note:extract", "path=L.md", "heading=Two", "to=Two.md"},
			"Extracted: L.md -> Two.md\nDefinitions taken along: [^1], [r]\n", map[string]string{
				"L.md":   "# Long\n\n## One\nfirst [a][r].[^1]\n\n[[Two]]\n\n[^1]: see [t](./B.md)\n[r]: https://x.example\n",
				"Two.md": "## Two\nsecond.[^2]\n\n[^2]: note two\n",
			}},
	} {
		h := embedded.New(t, files)
		_, said, _ := h.Run(test.call...)
		assert.Equal(t, said, test.said, "%q says", test.call)
		texts := h.Texts(false)
		for name, want := range test.want {
			assert.Equal(t, texts[name], want, "%q leaves in %s", test.call, name)
		}
	}
}

func TestDividedNotesKeepTheirLinesAndLinks(t *testing.T) {
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		start := map[string]string{}
		var marks []string // each line under a heading has a mark of its own
		targets := []string{"[[A]]", "[[B]]", "[[B#^b1]]", "[[A#^a1]]"}
		for _, note := range []string{"A", "B"} {
			text := note + " begins\n"
			above := map[int]string{}
			for i := range rapid.IntRange(1, 5).Draw(rt, note) {
				level := rapid.IntRange(1, 3).Draw(rt, "level")
				name := rapid.SampledFrom([]string{"One", "Two", "Three", "Four (4)", note + " own"}).Draw(rt, "name")
				mark := fmt.Sprintf("%s%d", strings.ToLower(note), i)
				text += strings.Repeat("#", level) + " " + name + "\n\nline " + mark + " ^" + mark + "\n"
				marks = append(marks, mark)
				above[level] = name
				targets = append(targets, "[["+note+"#"+name+"]]", "![["+note+"#^"+mark+"|x]]",
					"[t]("+note+".md#"+strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(name)+")")
				if above[level-1] != "" {
					targets = append(targets, "[["+note+"#"+above[level-1]+"#"+name+"]]")
				}
			}
			start[note+".md"] = text
		}
		for _, note := range []string{"A.md", "B.md", "f/L.md"} {
			for range rapid.IntRange(1, 4).Draw(rt, "links") {
				link := rapid.SampledFrom(targets).Draw(rt, "link")
				if rapid.Bool().Draw(rt, "own") {
					link = strings.Replace(link, "[["+strings.TrimSuffix(note, ".md")+"#", "[[#", 1)
				}
				start[note] += "see " + link + "\n"
			}
		}
		h := embedded.New(t, start)
		before := h.Texts(false)
		call := rapid.SampledFrom([][]string{
			{"note:merge", "path=A.md", "into=B.md"}, {"note:merge", "path=B.md", "into=A.md", "heading=A own"},
			{"note:extract", "path=A.md", "heading=One", "to=f/N.md"},
			{"note:extract", "path=A.md", "heading=Two", "to=N.md", "embed"},
			{"note:split", "path=A.md", "level=1"}, {"note:split", "path=A.md"}, {"note:split", "path=B.md", "level=3", "folder=deep/er"},
		}).Draw(rt, "call")
		status, out, _ := h.Run(call...)
		after := h.Texts(false)
		if status != answer.ExitDone {
			require.That(rt, maps.Equal(before, after), "%q says %q and made %q", call, out, after)
			return
		}
		done[call[0]]++
		for _, mark := range marks {
			n := strings.Count(strings.Join(slices.Collect(maps.Values(after)), "\n"), "line "+mark+" ^")
			require.That(rt, n == 1, "%q: the line %s is there %d times: %q, was %q", call, mark, n, after, before)
		}
		was, is := lookup.New(sortedPaths(before)), lookup.New(sortedPaths(after))
		var old, now []string
		for _, p := range []string{"A.md", "B.md", "f/L.md"} {
			old = append(old, placesOf(was, before, p)...)
		}
		for _, p := range sortedPaths(after) {
			now = append(now, placesOf(is, after, p)...)
		}
		for _, place := range old {
			if i := slices.Index(now, place); i >= 0 {
				now = slices.Delete(now, i, i+1)
			} else {
				rt.Fatalf("%q: no link leads to %q any more, but to %q: %q, was %q", call, place, now, after, before)
			}
		}
		status, out, _ = h.Run("undo")
		require.Equal(rt, status, answer.ExitDone, "%q, undo: %q, %q", call, out, h.Texts(false))
		require.That(rt, maps.Equal(h.Texts(false), before), "%q, undo: %q, %q", call, out, h.Texts(false))
	})
	t.Log(done)
}

// placesOf returns where the links of a note lead: the line with a mark below the heading, or that
// of the block.
func placesOf(files *lookup.Files, texts map[string]string, note string) (places []string) {
	for _, link := range markdown.Scan([]byte(texts[note])).Links {
		i, ok := files.Resolve(link.Path, note)
		if !ok || link.Subpath == "" {
			continue
		}
		text := texts[files.Path(i)]
		found := markdown.Scan([]byte(text))
		at := -1
		if id, isBlock := strings.CutPrefix(link.Subpath, "#^"); isBlock {
			if block, ok := found.Block(id); ok {
				at = block.Span.Start
			}
		} else if all := edit.NewOutline(found).Linked(link.Subpath); all != nil {
			at = found.Headings[all[len(all)-1]].At
		}
		if at < 0 {
			places = append(places, "nowhere")
			continue
		}
		rest := text[at:]
		_, rest, _ = strings.Cut(rest, "line ")
		mark, _, _ := strings.Cut(rest, " ")
		places = append(places, path.Base(mark))
	}
	return places
}

func TestTaskIsShown(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "text\n- [x] done one\n", "2026-11-21.md": "- [ ] today", "b.txt": "- [ ] no"})
	const shown = "status\tx\ntext\t- [x] done one\nfile\tA.md\nline\t2\n"
	h.Expect(answer.ExitDone, shown, "task", "path=A.md", "line=2")
	h.Expect(answer.ExitDone, shown, "task", "file=A", "line=2")
	h.Expect(answer.ExitDone, shown, "task", "ref=A.md:2")
	h.Expect(answer.ExitDone, "status\t \ntext\t- [ ] today\nfile\t2026-11-21.md\nline\t1\n", "task", "daily", "line=1")
	h.Expect(answer.ExitFailed, "Error: Task \"A.md:1\" not found. The nearest are line 2 \"- [x] done one\".\n", "task", "path=A.md", "line=1")
	h.Expect(answer.ExitFailed, "Error: Task \"b.txt:1\" not found. Only Markdown notes have tasks.\n", "task", "path=b.txt", "line=1")
	h.Expect(answer.ExitFailed, "Error: File \"C.md\" not found.\n", "task", "ref=C.md:1")
	h.Expect(answer.ExitFailed, "Error: File \"../C.md\" not found.\n", "task", "ref=../C.md:1")
	h.Expect(answer.ExitMisuse, "Error: Invalid ref: A.md. Use <path>:<line>.\n", "task", "ref=A.md")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 0\n", "task", "ref=A.md:0")
	h.Expect(answer.ExitMisuse, "Error: Missing required parameter: line=<n>\n", "task", "path=A.md")
	h.Expect(answer.ExitMisuse, "Error: ref=<path:line> names the note and the line: leave out file, path, daily and line.\n", "task", "ref=A.md:2", "line=2")
	h.Expect(answer.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n", "task", "path=A.md", "daily", "line=2")
}

func TestNoteSection(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md":    "---\na: b\n---\n# One\nintro\n## Log\nfirst log\n### Deep\ndeep\n# Two: (more)\r\n## Log\r\nsecond log\r\na block ^id1\r\n",
		"pic.png": "x",
	})
	h.Expect(answer.ExitDone, "# One\nintro\n## Log\nfirst log\n### Deep\ndeep\n", "note:section", "path=A.md", "heading=One")
	h.Expect(answer.ExitDone, "### Deep\ndeep\n", "note:section", "path=A.md", "heading=#deep")
	h.Expect(answer.ExitDone, "## Log\nfirst log\n### Deep\ndeep\n", "note:section", "path=A.md", "heading=One#Log")
	h.Expect(answer.ExitDone, "### Deep\ndeep\n", "note:section", "path=A.md", "heading=One#Deep")
	h.Expect(answer.ExitDone, "## Log\r\nsecond log\r\na block ^id1\r\n", "note:section", "path=A.md", "heading=two more#log")
	h.Expect(answer.ExitFailed, "Error: Heading \"Log\" is ambiguous: lines 6, 11.\n", "note:section", "path=A.md", "heading=Log")
	h.Expect(answer.ExitFailed,
		"Error: Heading \"Two#Deep\" not found. The note has \"One\" (line 4), \"Log\" (line 6), \"Deep\" (line 8), \"Two: (more)\" (line 10), \"Log\" (line 11).\n",
		"note:section", "path=A.md", "heading=Two#Deep")
	h.Expect(answer.ExitDone, "# One\nintro\n", "note:section", "path=A.md", "lines=4-5")
	h.Expect(answer.ExitDone, "intro\n", "note:section", "path=A.md", "lines=5")
	h.Expect(answer.ExitDone, "a block ^id1\r\n", "note:section", "path=A.md", "lines=13-99")
	h.Expect(answer.ExitFailed, "Error: Line \"14\" not found. The note has 13 lines.\n", "note:section", "path=A.md", "lines=14-15")
	h.Expect(answer.ExitFailed, "Error: Block \"no\" not found. The note has \"id1\".\n", "note:section", "path=A.md", "block=no")
	for _, lines := range []string{"0", "2-1", "x", "1-x", "-1"} {
		h.Expect(answer.ExitMisuse, "Error: Invalid lines: "+lines+". Use <n> or <n-m>, counted from 1.\n", "note:section", "path=A.md", "lines="+lines)
	}
	h.Expect(answer.ExitMisuse, "Error: Missing required parameter: heading=<text>, block=<id> or lines=<n-m>\n", "note:section", "path=A.md")
	h.Expect(answer.ExitMisuse, "Error: Use heading=<text>, block=<id> or lines=<n-m>, not several.\n", "note:section", "path=A.md", "lines=1", "heading=One")
	h.Expect(answer.ExitFailed, "Error: File is not a markdown file.\n", "note:section", "path=pic.png", "lines=1")
	status, out, _ := h.Run("note:section", "path=A.md", "block=^id1")
	assert.Equal(t, status, answer.ExitDone)
	assert.That(t, out != "", "%d %q", status, out)
}

// What shows a part of a note tells the path and the hash of the whole one, so
// that a change of the part can be tied to what was read.
func TestAPartHasTheHashOfItsNote(t *testing.T) {
	const text = "# One\nintro\n## Two\nend ^id\n"
	h := embedded.New(t, map[string]string{"Notes/A.md": text, "Empty.md": ""})
	for _, args := range [][]string{
		{"note:section", "file=A", "heading=Two"}, {"note:section", "path=Notes/A.md", "block=id"}, {"note:section", "path=Notes/A.md", "lines=2"},
		{"outline", "file=A"}, {"outline", "file=A", "total"}, {"outline", "file=A", "format=json"}, {"outline", "file=A", "format=md"},
	} {
		status, _, facts := h.Run(append([]string{"--facts"}, args...)...)
		want := `vaultwicket-facts: {"path":"Notes/A.md","hash":"` + answer.Digest([]byte(text)) + `"`
		assert.Equal(t, status, answer.ExitDone, "%q", args)
		assert.That(t, strings.HasPrefix(facts, want), "%q: %d, %q, want %q", args, status, facts, want)
	}
	_, _, facts := h.Run("--facts", "outline", "path=Empty.md")
	assert.Equal(t, facts, `vaultwicket-facts: {"path":"Empty.md","hash":"`+answer.Digest(nil)+"\"}\n", "an empty note has the facts")
	if status, _, facts := h.Run("--facts", "note:section", "file=A", "heading=None"); status != answer.ExitFailed ||
		!strings.HasPrefix(facts, `vaultwicket-facts: {"code":"not_found"`) {
		t.Errorf("a part that is not there has the facts %q", facts)
	}
}

// A listing in JSON has no space between its tokens where the gateway asks for that; the
// tokens, and every other answer, are the same.
func TestCompactJSONHasTheSameTokens(t *testing.T) {
	w := embedded.Sample(t).Worker()
	for _, words := range [][]string{{"tags", "counts", "format=json"}, {"files", "format=json"},
		{"tasks", "format=json"}, {"links", "path=Moon.md", "format=json"}, {"tags", "counts"},
		{"read", "path=Moon.md"}} {
		spaced := w.Ask(nil, append([]string{"--facts"}, words...)...)
		compact := w.Ask(nil, append([]string{"--compact", "--facts"}, words...)...)
		require.That(t, spaced.End.Status == compact.End.Status, "%q: %+v, and compact %+v", words, spaced, compact)
		want := spaced.Stdout
		var tight bytes.Buffer
		if words[len(words)-1] == "format=json" && spaced.End.Status == answer.ExitDone && json.Compact(&tight, []byte(spaced.Stdout)) == nil {
			want = tight.String() + "\n"
		}
		assert.Equal(t, compact.Stdout, want, "%q", words)
	}
	tags := w.Ask(nil, "--compact", "tags", "counts", "format=json")
	assert.That(t, bytes.HasPrefix([]byte(tags.Stdout), []byte(`[{"tag":"`)), "not compact: %q", tags.Stdout)
}
