package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// Each class of link, with each operation. Where the links of a note lead is read by [leadsTo], which has nothing of the
// program: it reads the notes by expressions of its own and looks names up in the list of files.

// linkClass is a way of naming the note T/Old n.md (or the picture T/pic x.png) in a file.
type linkClass struct {
	name, ext, text string
	part            string // the heading or the block that it leads to, "" for the note
	picture         bool   // leads to the picture
	literal         bool   // is text, and is never changed
}

var linkClasses = []linkClass{
	{name: "wikilink", text: "see [[Old n]] here"},
	{name: "wikilink with a path", text: "[[T/Old n]]"},
	{name: "wikilink with an ending", text: "[[Old n.md]]"},
	{name: "wikilink in other letters", text: "[[old N]]"},
	{name: "wikilink with blanks", text: "[[ Old n ]]"},
	{name: "embed", text: "![[Old n]]"},
	{name: "heading", text: "[[Old n#Part]]", part: "Part"},
	{name: "embedded heading", text: "![[Old n#Part]]", part: "Part"},
	{name: "block", text: "[[Old n#^b1]]", part: "^b1"},
	{name: "alias", text: "[[Old n|the old one]]"},
	{name: "heading and alias", text: "[[Old n#Part|p]]", part: "Part"},
	{name: "alias of a table", text: "| a |\n|---|\n| [[Old n\\|x]] |"},
	{name: "Markdown link", text: "[o](T/Old%20n.md)"},
	{name: "relative Markdown link", text: "[o](../T/Old%20n.md)"},
	{name: "Markdown link without an ending", text: "[o](T/Old%20n)"},
	{name: "angle brackets", text: "[o](<T/Old n.md>)"},
	{name: "angle brackets and title", text: "[o](<T/Old n.md> \"Old n\")"},
	{name: "title", text: "[o](T/Old%20n.md 'a title')"},
	{name: "Markdown link to a heading", text: "[o](T/Old%20n.md#Part)", part: "Part"},
	{name: "Markdown embed", text: "![o](T/Old%20n.md)"},
	{name: "percent-encoded letters", text: "[o](T/%4Fld%20n.md)"},
	{name: "brackets in the text", text: "[a [b] c](T/Old%20n.md)"},
	{name: "image in a link", text: "[![i](https://x.example/i.png)](T/Old%20n.md)"},
	{name: "reference definition", text: "[o][r]\n\n[r]: T/Old%20n.md"},
	{name: "reference definition in angle brackets", text: "[r]\n\n[r]: <T/Old n.md> 'title'"},
	{name: "footnote", text: "x[^1]\n\n[^1]: see [[Old n]]"},
	{name: "inline footnote", text: "x^[see [[Old n]]]"},
	{name: "in a heading", text: "## About [[Old n]]\n\ntext"},
	{name: "in a callout", text: "> [!note] On [[Old n]]\n> text"},
	{name: "in a callout within another", text: "> [!note]\n> > [!tip]\n> > [[Old n]]"},
	{name: "in a quote", text: "> [[Old n]]"},
	{name: "in a list", text: "1. a\n   - [[Old n]]"},
	{name: "in a task", text: "- [ ] read [[Old n]] 📅 2026-12-01"},
	{name: "in a comment", text: "%% [[Old n]] %%"},
	{name: "in bold and marked text", text: "**[[Old n]]** ==[o](T/Old%20n.md)=="},
	{name: "in HTML", text: "<div>\n\n[[Old n]]\n\n</div>"},
	{name: "behind CRLF", text: "a\r\n[[Old n]]\r\nb\r\n"},
	{name: "property", text: "---\nup: \"[[Old n]]\"\n---\ntext"},
	{name: "property in single quotes", text: "---\nup: '[[Old n]]' # mine\n---\ntext"},
	{name: "list property", text: "---\nup:\n  - \"[[Old n]]\" # first\n  - 02\n---\ntext"},
	{name: "flow list property", text: "---\nup: [\"[[Old n|x]]\", 1.50]\n---\ntext"},
	{name: "property with a heading", text: "---\nup: \"[[Old n#Part]]\"\n---\ntext", part: "Part"},
	{name: "picture", text: "![[pic x.png]]", picture: true},
	{name: "picture with a size", text: "![[pic x.png|100x50]]", picture: true},
	{name: "Markdown picture", text: "![a](T/pic%20x.png)", picture: true},
	{name: "Markdown picture with a size", text: "![a|100](<T/pic x.png>)", picture: true},
	{name: "picture in a property", text: "---\ncover: \"[[pic x.png]]\"\n---\n", picture: true},
	{name: "reference to a picture", text: "![a][p]\n\n[p]: T/pic%20x.png", picture: true},
	{name: "file node", ext: "canvas", text: `{"nodes":[{"id":"a","type":"file","file":"T/Old n.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}`},
	{name: "file node of a heading", ext: "canvas",
		text: `{"nodes":[{"id":"a","type":"file","file":"T/Old n.md","subpath":"#Part","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
		part: "Part"},
	{name: "text node", ext: "canvas",
		text: `{"nodes":[{"id":"a","type":"text","text":"see [[Old n]]\nand more","x":0,"y":0,"width":1,"height":1}],"edges":[]}`},
	{name: "background of a group", ext: "canvas",
		text:    `{"nodes":[{"id":"g","type":"group","background":"T/pic x.png","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
		picture: true},
	{name: "inline code", text: "`[[Old n]]` and ``[o](T/Old%20n.md)``", literal: true},
	{name: "code block", text: "```md\n[[Old n]]\n[o](T/Old%20n.md)\n```", literal: true},
	{name: "code block of tildes", text: "~~~\n[[Old n]]\n~~~", literal: true},
	{name: "code block in a list", text: "- a\n  ```\n  [[Old n]]\n  ```", literal: true},
	{name: "HTML comment", text: "<!-- [[Old n]] -->", literal: true},
	{name: "plain text", text: "Old n and T/Old n.md", literal: true},
	{name: "address of the web", text: "[o](https://x.example/T/Old%20n.md) <https://x.example/Old>", literal: true},
	{name: "other note", text: "[[Other]] [x](S/Other.md)", literal: true},
	{name: "property that is no link", text: "---\nname: Old n\n---\ntext", literal: true},
}

// baseClasses are the spellings of a text in a base. Each is a filter that has the rows of [rowsOfBases].
var baseClasses = []struct{ name, filter string }{
	{"double quotes", `file.hasLink("Old n")`},
	{"single quotes", `file.hasLink('Old n')`},
	{"YAML in single quotes", `'file.hasLink("Old n")'`},
	{"YAML in single quotes, doubled", `'file.hasLink(''Old n'')'`},
	{"YAML in double quotes", `"file.hasLink(\"Old n\")"`},
	{"escape of YAML", `"file.hasLink(\"\u004fld n\")"`},
	{"hexadecimal escape of YAML", `"file.hasLink(\"\x4fld n\")"`},
	{"path", `file.hasLink("T/Old n")`},
	{"path with an ending", `file.hasLink("T/Old n.md")`},
	{"link", `file.hasLink(link("Old n"))`},
	{"link with a display text", `file.hasLink(link("Old n", "x"))`},
	{"file", `file.hasLink(file("T/Old n.md"))`},
	{"property", `up == link("Old n")`},
	{"list", `file.links.contains(link("Old n"))`},
	{"folded scalar", ">-\n      file.hasLink(\"Old n\")"},
}

// pathClasses are filters by the path of a note.
var pathClasses = []struct{ name, filter string }{
	{"path", `file.path == "T/Old n.md"`},
	{"path in single quotes", `'file.path == ''T/Old n.md'''`},
	{"path with an escape", `"file.path == \"T/\u004fld n.md\""`},
	{"path on the left", `'"T/Old n.md" == file.path'`},
	{"folder", `file.inFolder("T") && file.ext == "md"`},
	{"folder on the left", `'"T" == file.folder && file.ext == "md"'`},
	{"folder in single quotes", `'file.inFolder(''T'') && file.ext == "md"'`},
}

// baseOf is a base with one filter.
func baseOf(filter string) string {
	return "filters:\n  and:\n    - " + filter + "\n    - file.folder != \"S\"\nviews:\n  - type: table\n    name: t\n"
}

// files of the vault with all classes.
func filesOfClasses() map[string]string {
	files := map[string]string{
		"T/Old n.md": "# Old n\nabout ^b0\n\n## Part\nwords ^b1\n\n## Rest\nmore\n", "T/pic x.png": embedded.OnePixel, "Other.md": "", "U/M.md": "# M\ntext\n",
		"A/linker.md": "---\nup: \"[[Old n]]\"\n---\n[[Old n]]\n", "A/none.md": "no link\n", "A/Into.md": "into\n",
	}
	for i, c := range linkClasses {
		files[c.file(i)] = c.text
	}
	for i, c := range baseClasses {
		files[fmt.Sprintf("B/l%02d.base", i)] = strings.ReplaceAll(baseOf(c.filter), `file.folder != "S"`, `file.inFolder("A")`)
	}
	for i, c := range pathClasses {
		files[fmt.Sprintf("B/p%02d.base", i)] = baseOf(c.filter)
	}
	return files
}

func (c linkClass) file(i int) string {
	ext := c.ext
	if ext == "" {
		ext = "md"
	}
	return fmt.Sprintf("S/c%02d.%s", i, ext)
}

var (
	bracketLinks  = regexp.MustCompile(`!?\[\[([^\[\]]*)\]\]`)
	roundLinks    = regexp.MustCompile(`\]\((<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)`)
	definedLinks  = regexp.MustCompile(`(?m)^\[[^\]^][^\]]*\]:[ \t]*(<[^<>\n]*>|\S+)`)
	schemeOfLinks = regexp.MustCompile(`^[a-z]+:`)
)

// leadsTo returns the files and parts that the links of a text lead to, such as "T/Old n.md#Part", in the order of a file.
func leadsTo(t *testing.T, file, text string, files []string) (targets []string) {
	t.Helper()
	add := func(raw string, isRound bool) {
		raw = strings.TrimSpace(raw)
		if isRound {
			raw = strings.TrimSuffix(strings.TrimPrefix(raw, "<"), ">")
			if decoded, err := url.PathUnescape(raw); err == nil {
				raw = decoded
			}
		}
		if schemeOfLinks.MatchString(raw) {
			return
		}
		name, part, _ := strings.Cut(raw, "#")
		target := lookUpName(file, strings.TrimSpace(name), files)
		if part != "" {
			target += "#" + strings.TrimSpace(part)
		}
		targets = append(targets, target)
	}
	if strings.HasSuffix(file, ".canvas") {
		var canvas struct {
			Nodes []struct{ File, Subpath, Background, Text string }
		}
		if err := json.Unmarshal([]byte(text), &canvas); err != nil {
			t.Fatalf("%s is no JSON: %s", file, text)
		}
		for _, n := range canvas.Nodes {
			for _, named := range []string{n.File, n.Background} {
				if named != "" && slices.Contains(files, named) {
					targets = append(targets, named+n.Subpath)
				} else if named != "" {
					targets = append(targets, "nowhere")
				}
			}
			for _, found := range bracketLinks.FindAllStringSubmatch(n.Text, -1) {
				name, _, _ := strings.Cut(found[1], "|")
				add(name, false)
			}
		}
		return targets
	}
	if strings.Contains(text, "'[[") { // a text of YAML in single quotes
		text = strings.ReplaceAll(text, "''", "'")
	}
	for _, found := range bracketLinks.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(strings.ReplaceAll(found[1], `\|`, "|"), "|")
		add(name, false)
	}
	for _, found := range roundLinks.FindAllStringSubmatch(text, -1) {
		add(found[1], true)
	}
	for _, found := range definedLinks.FindAllStringSubmatch(text, -1) {
		add(found[1], true)
	}
	return targets
}

// lookUpName finds a name as the app does: by its path, relative to the note, or by the end of the path, the shortest first.
func lookUpName(from, name string, files []string) string {
	if name == "" {
		return from
	}
	for _, wanted := range []string{name, name + ".md"} {
		wanted = strings.ToLower(wanted)
		if strings.HasPrefix(wanted, "./") || strings.HasPrefix(wanted, "../") {
			wanted = strings.ToLower(path.Join(path.Dir(from), wanted))
		}
		wanted = strings.TrimPrefix(wanted, "/")
		best := ""
		for _, file := range files {
			lower := strings.ToLower(file)
			if lower == wanted {
				return file
			}
			if strings.HasSuffix(lower, "/"+wanted) && (best == "" || len(file) < len(best)) {
				best = file
			}
		}
		if best != "" {
			return best
		}
	}
	return "nowhere"
}

// operation is one command, and where what led to the note, a part of it or the picture leads afterwards.
type operation struct {
	name    string
	call    []string
	note    string            // "" for where it was
	parts   map[string]string // of the parts that go elsewhere
	picture string
	rows    string // of the filters by paths, "" where no single note has the row
}

var operations = []operation{
	{name: "rename", call: []string{"rename", "path=T/Old n.md", "name=New & o'k"}, note: "T/New & o'k.md", rows: "T/New & o'k.md"},
	{name: "rename to Unicode", call: []string{"rename", "path=T/Old n.md", "name=Straße 東京 n"}, note: "T/Straße 東京 n.md", rows: "T/Straße 東京 n.md"},
	{name: "rename to a name with brackets", call: []string{"rename", "path=T/Old n.md", "name=New (2) n"}, note: "T/New (2) n.md", rows: "T/New (2) n.md"},
	{name: "move", call: []string{"move", "path=T/Old n.md", "to=U/V w/"}, note: "U/V w/Old n.md"},
	{name: "move to the root", call: []string{"move", "path=T/Old n.md", "to=/"}, note: "Old n.md"},
	{name: "move with another name", call: []string{"move", "path=T/Old n.md", "to=U/Moved.md"}, note: "U/Moved.md"},
	{name: "move next to a note of that name", call: []string{"move", "path=T/Old n.md", "to=U/Other.md"}, note: "U/Other.md"},
	{name: "folder:rename", call: []string{"folder:rename", "path=T", "name=T's new n"}, note: "T's new n/Old n.md",
		picture: "T's new n/pic x.png", rows: "T's new n/Old n.md"},
	{name: "folder:move", call: []string{"folder:move", "path=T", "to=U/"}, note: "U/T/Old n.md", picture: "U/T/pic x.png", rows: "U/T/Old n.md"},
	{name: "copy", call: []string{"copy", "path=T/Old n.md", "to=U/Copy.md"}, rows: "T/Old n.md"},
	{name: "merge", call: []string{"note:merge", "path=T/Old n.md", "into=U/M.md"}, note: "U/M.md"},
	{name: "extract", call: []string{"note:extract", "path=T/Old n.md", "heading=Part", "to=U/Taken.md"},
		parts: map[string]string{"Part": "U/Taken.md", "^b1": "U/Taken.md"}, rows: "T/Old n.md"},
	{name: "split", call: []string{"note:split", "path=T/Old n.md", "level=2", "folder=P"},
		parts: map[string]string{"Part": "P/Part.md", "^b1": "P/Part.md"}, rows: "T/Old n.md"},
	{name: "heading:rename", call: []string{"heading:rename", "path=T/Old n.md", "heading=Part", "to=Piece"}, rows: "T/Old n.md"},
	{name: "rename of the picture", call: []string{"rename", "path=T/pic x.png", "name=new y.png"}, picture: "T/new y.png", rows: "T/Old n.md"},
	{name: "move of the picture", call: []string{"move", "path=T/pic x.png", "to=Pics/"}, picture: "Pics/pic x.png", rows: "T/Old n.md"},
	{name: "delete", call: []string{"delete", "path=T/Old n.md"}, note: "nowhere"},
	{name: "folder:delete", call: []string{"folder:delete", "path=T"}, note: "nowhere", picture: "nowhere"},
}

func (o operation) target(c linkClass) string {
	target := "T/Old n.md"
	if o.note != "" {
		target = o.note
	}
	if c.picture {
		target = "T/pic x.png"
		if o.picture != "" {
			target = o.picture
		}
		return target
	}
	part := c.part
	if part == "" {
		return target
	}
	if elsewhere := o.parts[part]; elsewhere != "" {
		target = elsewhere
	}
	if o.name == "heading:rename" && part == "Part" {
		part = "Piece"
	}
	return target + "#" + part
}

func TestEveryClassOfLinkWithEveryOperation(t *testing.T) {
	pairs := 0
	for _, o := range operations {
		h := embedded.New(t, filesOfClasses())
		before := h.Texts(false)
		call := o.call
		if o.note != "" || o.picture != "" || o.parts != nil {
			switch o.call[0] {
			case "move", "rename":
				call = append(slices.Clone(call), "links=update")
			}
		}
		status, out, _ := h.Run(call...)
		assert.Equal(t, status, answer.ExitDone, "%s: %s", o.name, out)
		after := h.Texts(false)
		var files []string
		for file := range after {
			files = append(files, file)
		}
		slices.Sort(files)
		for i, c := range linkClasses {
			pairs++
			file := c.file(i)
			isUnchanged := o.note == "nowhere" && !c.picture || o.picture == "nowhere" && c.picture || o.name == "copy"
			if c.literal || isUnchanged {
				assert.Equal(t, after[file], before[file], "%s, %s: the text", o.name, c.name)
				continue
			}
			targets := leadsTo(t, file, after[file], files)
			want := o.target(c)
			isRight := len(targets) > 0 && !slices.ContainsFunc(targets, func(target string) bool { return target != want })
			assert.That(t, isRight, "%s, %s: leads to %q, want %q: %q", o.name, c.name, targets, want, after[file])
			if c.part == "" && !c.picture && o.parts != nil {
				assert.Equal(t, after[file], before[file], "%s, %s: the text", o.name, c.name)
			}
		}
		checkBases(t, h, o)
		undone, out, _ := h.Run("undo")
		assert.Equal(t, undone, answer.ExitDone, "%s, undone: %s", o.name, out)
		again := h.Texts(false)
		for file, text := range before {
			assert.Equal(t, again[file], text, "%s, undone: %s", o.name, file)
		}
		assert.Equal(t, len(again), len(before), "%s, undone: files", o.name)
	}
	t.Logf("%d pairs of a class and an operation", pairs)
}

// checkBases compares the rows of the bases: those of links keep the rows that they had, and those of paths follow.
func checkBases(t *testing.T, h *embedded.Vault, o operation) {
	t.Helper()
	if o.note == "nowhere" {
		return
	}
	for i, c := range baseClasses {
		out := h.Does("base:query", fmt.Sprintf("path=B/l%02d.base", i), "format=paths")
		assert.Equal(t, strings.TrimSpace(out), "A/linker.md", "%s, base with %s: %s", o.name, c.name, h.Get(fmt.Sprintf("B/l%02d.base", i)))
	}
	if o.rows == "" {
		return
	}
	for i, c := range pathClasses {
		out := h.Does("base:query", fmt.Sprintf("path=B/p%02d.base", i), "format=paths")
		if strings.Contains(c.filter, "n.md") || o.rows == "T/Old n.md" || strings.HasPrefix(o.name, "folder") {
			assert.Equal(t, strings.TrimSpace(out), o.rows, "%s, base by %s: %s", o.name, c.name, h.Get(fmt.Sprintf("B/p%02d.base", i)))
		}
	}
}
