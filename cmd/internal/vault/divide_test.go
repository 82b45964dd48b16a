package vault

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
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
			"A.md": "(missing)", "B.md": "---\ntags:\n  - y\n  - z\n  - x\nstatus: done\nrank: 1\n---\n# Intro\nfrom b [[B#More]]\n\n# End\nlast\n\n# Intro\nfrom a [[#More]] [[B]]\n## More\nmore ^id\n",
			"f/L.md": "[[B]] [[B#End]] ![[B#^id]] [t](B.md#More)", "All.base": "filters: file.hasLink(\"B\")\n", "C.canvas": `{"nodes":[{"type":"file","file":"B.md","subpath":"#More"}]}`,
		}},
		{[]string{"note:merge", "path=A.md", "into=B.md", "heading=Intro"}, "Merged: A.md -> B.md\nKept of B.md: status\n", map[string]string{
			"A.md": "(missing)", "B.md": "---\ntags:\n  - y\n  - z\n  - x\nstatus: done\nrank: 1\n---\n# Intro\nfrom b [[B#More]]\n\n# Intro\nfrom a [[#More]] [[B]]\n## More\nmore ^id\n\n# End\nlast",
		}},
		{[]string{"note:extract", "path=A.md", "heading=More", "to=f/New.md"}, "Extracted: A.md -> f/New.md\n", map[string]string{
			"A.md": "---\ntags: [x, y]\nstatus: open\nrank: 1\n---\n# Intro\nfrom a [[New#More]] [[B]]\n\n[[New]]\n", "f/New.md": "## More\nmore ^id\n", "B.md": strings.Replace(files["B.md"], "A#More", "New#More", 1),
			"f/L.md": "[[A]] [[B#End]] ![[New#^id]] [t](New.md#More)", "C.canvas": `{"nodes":[{"type":"file","file":"f/New.md","subpath":"#More"}]}`, "All.base": files["All.base"],
		}},
		{[]string{"note:split", "path=B.md", "level=1", "folder=parts", "embed"}, "Split: B.md -> parts/Intro.md, parts/End.md\n", map[string]string{
			"B.md": "---\ntags: [y, z]\nstatus: done\n---\n![[Intro]]\n\n![[End]]\n", "parts/Intro.md": "# Intro\nfrom b [[A#More]]\n", "parts/End.md": "# End\nlast", "f/L.md": strings.Replace(files["f/L.md"], "B#End", "End#End", 1),
		}},
		{[]string{"note:split", "path=B.md", "level=3"}, "Error: The note has no heading of level 3.\n", nil},
		{[]string{"note:extract", "path=A.md", "heading=More", "to=B.md"}, "Error: File \"B.md\" already exists.\n", nil},
		{[]string{"note:merge", "path=Same.md", "into=B.md"}, "Error: A link leads to the heading \"Intro\", which it could not tell from another one. Nothing was changed.\n", nil},
		{[]string{"note:merge", "path=A.md", "into=A.md"}, "Error: A note cannot be merged into itself.\n", nil},
	} {
		h := build(t, files)
		before := h.texts(false)
		_, out, _ := h.run(test.call...)
		if out != test.said {
			t.Errorf("%q says %q, want %q", test.call, out, test.said)
		}
		for p, want := range test.want {
			if got := h.get(p); got != want {
				t.Errorf("%q: %s is %q, want %q", test.call, p, got, want)
			}
		}
		if test.want != nil {
			h.run("undo")
		}
		if after := h.texts(false); !maps.Equal(before, after) {
			t.Errorf("%q undone: %q", test.call, after)
		}
	}
}

// TestDividedNotesKeepTheirLinesAndLinks draws notes with headings of equal names on several
// levels, blocks, and links to all of them, and merges, extracts and splits. Every line of text
// is in the vault afterwards as often as before, and each link leads to the same heading or block.
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
				targets = append(targets, "[["+note+"#"+name+"]]", "![["+note+"#^"+mark+"|x]]", "[t]("+note+".md#"+strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(name)+")")
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
		h := build(t, start)
		before := h.texts(false)
		call := rapid.SampledFrom([][]string{
			{"note:merge", "path=A.md", "into=B.md"}, {"note:merge", "path=B.md", "into=A.md", "heading=A own"}, {"note:extract", "path=A.md", "heading=One", "to=f/N.md"}, {"note:extract", "path=A.md", "heading=Two", "to=N.md", "embed"},
			{"note:split", "path=A.md", "level=1"}, {"note:split", "path=A.md"}, {"note:split", "path=B.md", "level=3", "folder=deep/er"},
		}).Draw(rt, "call")
		status, out, _ := h.run(call...)
		after := h.texts(false)
		if status != command.ExitDone {
			if !maps.Equal(before, after) {
				rt.Fatalf("%q says %q and made %q", call, out, after)
			}
			return
		}
		done[call[0]]++
		for _, mark := range marks {
			if n := strings.Count(strings.Join(slices.Collect(maps.Values(after)), "\n"), "line "+mark+" ^"); n != 1 {
				rt.Fatalf("%q: the line %s is there %d times: %q, was %q", call, mark, n, after, before)
			}
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
		if status, out, _ := h.run("undo"); status != command.ExitDone || !maps.Equal(h.texts(false), before) {
			rt.Fatalf("%q, undo: %q, %q", call, out, h.texts(false))
		}
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
		} else if all := edit.LinkedHeadings(found, link.Subpath); all != nil {
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
