package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// moved returns a move among files.
func moved(files []string, from, to string, format LinkFormat) *Move {
	after := slices.Clone(files)
	for i, p := range after {
		if p == from {
			after[i] = to
		}
	}
	return NewMove(map[string]string{from: to}, nil, nil, lookup.New(files), lookup.New(after), format).Holding()
}

func TestRewrite(t *testing.T) {
	files := []string{"A.md", "Old.md", "img.png", "f/B.md", "g/B.md", "f/Dup.md", "g/Dup.md", "f/c.canvas", "longer/folder/X.md"}
	tests := []struct {
		name, source, from, to string
		format                 LinkFormat
		text, want             string
	}{
		{"a wikilink", "A.md", "Old.md", "New.md", "", "a [[Old]] b", "a [[New]] b"},
		{"an embed", "A.md", "img.png", "pic.png", "", "![[img.png|100]]", "![[pic.png|100]]"},
		{"heading, block and display text stay", "A.md", "Old.md", "New.md", "", "[[Old#H|x]] [[ Old#^b | y ]]", "[[New#H|x]] [[ New#^b | y ]]"},
		{"a display text that was the name follows", "A.md", "Old.md", "New.md", "",
			"[[Old|Old]] [Old](Old.md) [[Old#h|Old]]", "[[New|New]] [New](New.md) [[New#h|New]]"},
		{"that of an embed does not", "A.md", "img.png", "pic.png", "", "![[img.png|img]]", "![[pic.png|img]]"},
		{"an ending that was written goes", "A.md", "Old.md", "New.md", "", "[[Old.md]]", "[[New]]"},
		{"a Markdown link has one", "A.md", "Old.md", "f/New name.md", "", "[t](Old) ![t](Old.md#H \"title\")",
			"[t](New%20name.md) ![t](New%20name.md#H \"title\")"},
		{"angle brackets stay, and blanks in them", "A.md", "Old.md", "New name.md", "", "[t](<Old.md#a b>)", "[t](<New name.md#a b>)"},
		{"round brackets are encoded if they must be", "A.md", "Old.md", "N (x).md", "", "[t](Old.md) [t](Old.md)", "[t](N%20(x).md) [t](N%20(x).md)"},
		{"and if they come alone", "A.md", "Old.md", "N) x.md", "", "[t](Old.md)", "[t](N%29%20x.md)"},
		{"a percent sign that would be read", "A.md", "Old.md", "100%41.md", "", "[t](Old.md) [[Old]]", "[t](100%2541.md) [[100%41]]"},
		{"in a table the bar keeps its backslash", "A.md", "Old.md", "New.md", "", "| [[Old\\|x]] | [[Old#h\\|Old]] |", "| [[New\\|x]] | [[New#h\\|New]] |"},
		{"an image within a link", "A.md", "img.png", "pic.png", "", "[![i](img.png)](img.png)", "[![i](pic.png)](pic.png)"},
		{"a link over two lines", "A.md", "Old.md", "New.md", "", "> [a\n> b](Old.md)", "> [a\n> b](New.md)"},
		{"not in code nor in HTML comments", "A.md", "Old.md", "New.md", "",
			"`[[Old]]` <!-- [[Old]] -->\n```\n[[Old]]\n```\n%% [[Old]] %%",
			"`[[Old]]` <!-- [[Old]] -->\n```\n[[Old]]\n```\n%% [[New]] %%"},
		{"properties", "A.md", "Old.md", "New.md", "",
			"---\nup: \"[[Old]]\" # c\nall: [ '[[Old|Old]]', \"[t](Old.md)\" ]\nno: [[Old]]\n---\n[[Old]]",
			"---\nup: \"[[New]]\" # c\nall: [ '[[New|New]]', \"[t](New.md)\" ]\nno: [[Old]]\n---\n[[New]]"},
		{"a link that still leads there is left", "A.md", "Old.md", "f/Old.md", "", "[[Old]] [t](Old.md) [[/Old]]", "[[Old]] [t](Old.md) [[Old]]"},
		{"the name alone if it leads there, else the path", "A.md", "Old.md", "longer/B.md", "", "[[Old]]", "[[longer/B]]"},
		{"absolute", "A.md", "Old.md", "f/New.md", AbsoluteLinks, "[[Old]] [t](Old.md)", "[[f/New]] [t](f/New.md)"},
		{"relative", "f/B.md", "Old.md", "g/New.md", RelativeLinks, "[[Old]] [t](../Old.md)", "[[../g/New]] [t](../g/New.md)"},
		{"relative in the own folder", "f/B.md", "Old.md", "f/New.md", RelativeLinks, "[[Old]]", "[[New]]"},
		{"relative where the bare name would lead elsewhere", "f/B.md", "Old.md", "f/A.md", RelativeLinks, "[[Old]]", "[[./A]]"},
		{"own relative links are counted from the new place", "f/B.md", "f/B.md", "longer/B.md", "",
			"[[./Dup]] [t](../g/B.md) [[../Old#h|x]]", "[[../f/Dup]] [t](../g/B.md) [[../Old#h|x]]"},
		{"and also those deeper down", "f/B.md", "f/B.md", "f/deep/B.md", "", "[[./Dup]] [t](../g/B.md)", "[[../Dup]] [t](../../g/B.md)"},
		{"own links that would find a neighbour", "f/B.md", "f/B.md", "g/C.md", "", "[[Dup]] [[Old]] [[#h]] [[B]]", "[[f/Dup]] [[Old]] [[#h]] [[C]]"},
		{"a link that the new name would catch", "longer/folder/X.md", "Old.md", "longer/folder/B.md", "", "[[B]] [[Old]]", "[[f/B]] [[longer/folder/B]]"},
		{"a name that another note has too is no link", "A.md", "f/Dup.md", "longer/Dup.md", "",
			"[[f/Dup]] [t](f/Dup.md)", "[[longer/Dup]] [t](longer/Dup.md)"},
		{"also where the bare name would lead there", "A.md", "g/Dup.md", "e/Dup.md", "", "[[g/Dup|x]] ![[g/Dup#h]]", "[[e/Dup|x]] ![[e/Dup#h]]"},
		{"a name that another note has in other letters", "A.md", "Old.md", "e/DUP.md", "", "[[Old]]", "[[e/DUP]]"},
		{"but it is where nothing else can be written", "A.md", "Old.md", "#/Dup.md", "", "[[Old]]", "[[Dup]]"},
		{"a link that led nowhere is none", "A.md", "Old.md", "New.md", "", "[[New]] [[Nope]]", "[[New]] [[Nope]]"},
		{"CRLF and a byte order mark", "A.md", "Old.md", "New.md", "",
			"\ufeff---\r\nup: \"[[Old]]\"\r\n---\r\n[[Old]]\r\n", "\ufeff---\r\nup: \"[[New]]\"\r\n---\r\n[[New]]\r\n"},
		{"only the case changes", "A.md", "Old.md", "OLD.md", "", "[[Old]]", "[[Old]]"},
		{"file nodes of a canvas", "f/c.canvas", "Old.md", "f/N \"x\".md", "",
			"{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"Old.md\",\"subpath\":\"#h\"},\n\t\t{\"file\" : \"A.md\", \"type\":\"file\"}\n\t],\"edges\":[]}",
			"{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"f/N \\\"x\\\".md\",\"subpath\":\"#h\"},\n\t\t{\"file\" : \"A.md\", \"type\":\"file\"}\n\t],\"edges\":[]}"},
		{"text nodes of a canvas", "f/c.canvas", "Old.md", "Néw.md", "",
			`{"nodes":[{"type":"text","text":"\ud83d\ude00 \u00e9ö\n[[Old\\|x]] ` + "`[[Old]]`" +
				`\t[t](Old.md)","x":1.0}, 3, {"type":"link","url":"Old.md"}]}`,
			`{"nodes":[{"type":"text","text":"\ud83d\ude00 \u00e9ö\n[[Néw\\|x]] ` + "`[[Old]]`" +
				`\t[t](Néw.md)","x":1.0}, 3, {"type":"link","url":"Old.md"}]}`},
		{"the case of a file node counts", "f/c.canvas", "Old.md", "OLD.md", "",
			`{"nodes":[{"type":"file","file":"Old.md"}]}`, `{"nodes":[{"type":"file","file":"OLD.md"}]}`},
		{"a canvas that is broken", "f/c.canvas", "Old.md", "New.md", "", `{"nodes":[{"type":"file","file":"Old.md"}`,
			`{"nodes":[{"type":"file","file":"Old.md"}`},
		{"expressions of a base", "f/x.base", "f/B.md", "f/New.md", "",
			"filters:\n  or:\n    - file.hasLink(\"f/B\") && link('[[f/B|x]]') # hasLink(\"f/B\")\n    - 'file.path == \"f/B.md\"'\n    - \"file.hasLink(\\\"f/B\\\")\"\n    - file.name == \"f/B\" || file.hasLink(\"A\")\n",
			"filters:\n  or:\n    - file.hasLink(\"New\") && link('[[New|x]]') # hasLink(\"f/B\")\n    - 'file.path == \"f/New.md\"'\n    - \"file.hasLink(\\\"New\\\")\"\n    - file.name == \"f/B\" || file.hasLink(\"A\")\n"},
		{"a base in a code block", "A.md", "f/B.md", "f/New.md", "",
			"---\nx: 1\n---\n[[f/B]]\n```base\nfilters: file.hasLink(\"f/B\")\n```\n- ~~~~ base \r\n  ~~~: 1\r\n  x:\r\n  - link('f/B')\r\n  ~~~~\n```dataview\nlink(\"f/B\")\n```\n[[f/B]]\n> ```base\n> - file.path == \"f/B.md\"",
			"---\nx: 1\n---\n[[New]]\n```base\nfilters: file.hasLink(\"New\")\n```\n- ~~~~ base \r\n  ~~~: 1\r\n  x:\r\n  - link('New')\r\n  ~~~~\n```dataview\nlink(\"f/B\")\n```\n[[New]]\n> ```base\n> - file.path == \"f/New.md\""},
		{"a base in a node of a canvas", "f/c.canvas", "Old.md", "New.md", "",
			`{"nodes":[{"type":"text","text":"é\n` + "```base" + `\nlink('Old')\n` + "```" + `\n[[Old]]"}]}`,
			`{"nodes":[{"type":"text","text":"é\n` + "```base" + `\nlink('New')\n` + "```" + `\n[[New]]"}]}`},
		{"a name with a quote in a code block", "A.md", "Old.md", "N\"x'y.md", "",
			"```base\n- link('Old')\n- link(\"Old\")\n```", "```base\n- link('N\"x\\'y')\n- link(\"N\\\"x'y\")\n```"},
		{"addresses of reference links", "A.md", "Old.md", "f/N (x).md", "",
			"see [t][r]\n\n[r]: Old.md#h 'title'\n[s]: <Old.md>\n[^1]: Old.md\n[u]: https://x/Old.md\n\ntext\n[v]: Old.md\n",
			"see [t][r]\n\n[r]: N%20(x).md#h 'title'\n[s]: <N (x).md>\n[^1]: Old.md\n[u]: https://x/Old.md\n\ntext\n[v]: Old.md\n"},
		{"the background of a group", "f/c.canvas", "img.png", "f/new.png", "",
			`{"nodes":[{"type":"group","background":"img.png","label":"img.png"}]}`,
			`{"nodes":[{"type":"group","background":"f/new.png","label":"img.png"}]}`},
		{"other files have no links", "img.png", "Old.md", "New.md", "", "[[Old]]", "[[Old]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, changed, left := moved(files, tt.from, tt.to, tt.format).Rewrite([]byte(tt.text), tt.source)
			assert.Equal(t, string(got), tt.want)
			assert.Equal(t, len(left), 0)
			assert.Equal(t, changed > 0, tt.text != tt.want)
		})
	}
}

func TestWhatCannotBeWrittenIsLeft(t *testing.T) {
	tests := []struct {
		name, to, text string
		want           []StaleLink
	}{
		{"a name with a bar", "N|x.md", "x\n[[Old]]", []StaleLink{{2, "Old", unwritable}}},
		{"in a code block", "N|x.md", "a\n```base\n- link('Old')\n```", []StaleLink{{3, "Old", unwritable}}},
		{"a name with a number sign", "N#x.md", "[t](Old.md)", []StaleLink{{1, "Old.md", unwritable}}},
		{"a file without an extension", "LICENSE", "[[Old]]", []StaleLink{{1, "Old", unwritable}}},
		{"a name that hides another link", "a$b.md", "$c [[Old]] [[A]]", []StaleLink{{1, "Old", disturbed}}},
		{"in the properties", "N|x.md", "---\na: 1\nup: \"[[Old]]\"\n---\n", []StaleLink{{3, "Old", unwritable}}},
		{"a folded property", "New.md", "---\nup: >-\n  [[Old#x\n  y]]\n---\n", []StaleLink{{2, "Old#x y", unlocated}}},
	}
	for _, tt := range tests {
		got, changed, left := moved([]string{"A.md", "Old.md"}, "Old.md", tt.to, "").Rewrite([]byte(tt.text), "A.md")
		assert.Equal(t, string(got), tt.text, "%s", tt.name)
		assert.Equal(t, changed, 0, "%s", tt.name)
		assert.EqualSlices(t, left, tt.want, "%s", tt.name)
	}
	m := moved([]string{"C.canvas", "Old.md"}, "Old.md", "N|x.md", "")
	canvas := "{\"nodes\":[\n{\"type\":\"text\",\"text\":\"x\\n[[Old]]\"}]}"
	if got, changed, left := m.Rewrite([]byte(canvas), "C.canvas"); string(got) != canvas || changed != 0 ||
		!slices.Equal(left, []StaleLink{{2, "Old", unwritable}}) {
		t.Errorf("a canvas: got %q, %d, %v", got, changed, left)
	}
}

// pathsOf returns the paths of all links of a file, in their order: those of
// properties first, file nodes with a slash in front.
func pathsOf(text []byte, source string) (links []markdown.Link) {
	if strings.HasSuffix(source, ".canvas") {
		if !json.Valid(text) {
			return nil
		}
		for _, n := range canvasNodes(text) {
			if n.kind == "file" {
				links = append(links, markdown.Link{Path: "/" + unquote(text[n.file.Start:n.file.End])})
				continue
			}
			links = append(links, markdown.Scan([]byte(unquote(text[n.text.Start:n.text.End]))).Links...)
		}
		return links
	}
	found := markdown.Scan(text)
	p, _ := frontmatter.Parse(text[found.Frontmatter.Start:found.Frontmatter.End])
	for _, link := range frontmatter.Links(p) {
		links = append(links, link.Link)
	}
	return append(links, found.Links...)
}

// sound checks what is true for every text: a link that led somewhere leads
// there, unless it is named as left; all else is as it was.
func sound(t require.T, m *Move, text []byte, source string) {
	input := bytes.Clone(text)
	edited, changed, left := m.Rewrite(text, source)
	require.That(t, bytes.Equal(text, input), "%q was modified", input)
	require.That(t, changed != 0 || bytes.Equal(edited, text), "%q became %q without a change", text, edited)
	old, now := pathsOf(text, source), pathsOf(edited, source)
	require.That(t, len(old) == len(now), "%v in %s: %q became %q with other links", m.to, source, text, edited)
	wrong := 0
	for i := range old {
		a, b := old[i], now[i]
		was, ok := m.before.Resolve(a.Path, source)
		if !ok {
			require.That(t, a.Path == b.Path, "%q: a link that led nowhere changed: %q", text, edited)
			continue
		}
		wanted := cmp.Or(m.to[m.before.Path(was)], m.before.Path(was))
		is, ok := m.after.Resolve(b.Path, m.place(source))
		if (!ok || m.after.Path(is) != wanted) && b.Path != "/"+wanted { // a node names a path exactly
			wrong++
		}
		require.Equal(t, a.Subpath, b.Subpath, "%q: link %d is of another kind: %q", text, i, edited)
		require.Equal(t, a.Style, b.Style, "%q: link %d is of another kind: %q", text, i, edited)
		require.Equal(t, a.Embed, b.Embed, "%q: link %d is of another kind: %q", text, i, edited)
	}
	require.That(t, wrong <= len(left), "%v in %s, format %q: %q became %q: %d links lead elsewhere, left %v", m.to,
		source, m.format, text, edited, wrong, left)
	if m.format == "" {
		for i := range old {
			if now[i].Path != old[i].Path && len(left) == 0 {
				bareIsUnique(t, m, now[i], text, edited)
			}
		}
	}
	require.That(t, !strings.HasSuffix(source, ".md") || masked(text) == masked(edited), "%q became %q in addition to its links", text, edited)
}

// bareIsUnique checks that a rewritten link is a bare name only if one file alone
// has the name, or if a link cannot contain the path.
func bareIsUnique(t require.T, m *Move, link markdown.Link, text, edited []byte) {
	if strings.Contains(link.Path, "/") {
		return
	}
	named := 0
	for i := range m.after.Len() {
		p := m.after.Path(i)
		base := lookup.Fold(p[strings.LastIndexByte(p, '/')+1:])
		if base == lookup.Fold(link.Path) || base == lookup.Fold(link.Path+".md") {
			named++
		}
		if lookup.Fold(p) == lookup.Fold(link.Path) || lookup.Fold(p) == lookup.Fold(link.Path+".md") {
			return // it is the whole path
		}
	}
	if named > 1 && !strings.ContainsAny(strings.Join(slices.Collect(maps.Values(m.to)), ""), "#|[]") {
		t.Fatalf("%v: %q became %q: %d files have the name %q", m.to, text, edited, named, link.Path)
	}
}

// masked is the body with its links taken out.
func masked(text []byte) string {
	var out strings.Builder
	found := markdown.Scan(text)
	at := found.Body
	for _, l := range found.Links {
		if l.Span.Start >= at {
			out.Write(text[at:l.Span.Start])
			out.WriteString("<>")
			at = l.Span.End
		}
	}
	out.Write(text[at:])
	return out.String()
}

var formats = []LinkFormat{"", RelativeLinks, AbsoluteLinks}

var files = []string{"A.md", "B.md", "f/A.md", "f/C.md", "f/g/B.md", "g/C.md", "g/x y.md", "g/i.png", "i.png", "D.e.md", "c.canvas", "f/c.canvas"}

func TestLinksLeadWhereTheyLed(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"[[A]]", "[[B|B]]", "[[f/A#h]]", "![[i.png|9]]", "[t](A.md)", "[C](../g/C.md)", "[t](<g/x y.md#s t>)",
		"[[./A]]", "[[../B]]", "[[C]]", "[[/A]]", "[[#h]]", "[[x y]]",
		"[[D.e]]", "[![i](i.png)](C)", "[a\nb](x%20y.md)", "| [[C\\|C]] |", "`", "$", "%%", "<!--", "\n", "\n\n",
		"```\n", "> ", "- ", "[[", "]]", "[", "](", "#tag", " ", "\\",
	})
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(files).Draw(t, "from")
		to := rapid.SampledFrom([]string{"A.md", "N.md", "f/B.md", "f/x y.md", "g/A.md", "h/(p.md", "D.e", "f/a$b`.md",
			"f/N.png", "N|.md", "g/h/i.png", "f/g/100%41.md", "ö.md", "a.MD", "g/'q.md"}).Draw(t, "to")
		if slices.Contains(files, to) {
			return
		}
		source := rapid.SampledFrom([]string{"A.md", "f/A.md", "f/g/B.md", "D.e.md", "c.canvas", "f/c.canvas"}).Draw(t, "source")
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "properties") && strings.HasSuffix(source, ".md") {
			text = "---\nu: \"[[A]]\"\nv: ['[[C|C]]', \"[t](B.md)\"]\nw: |-\n  [[x y]]\n---\n" + text
		}
		m := moved(files, from, to, rapid.SampledFrom(formats).Draw(t, "format"))
		if strings.HasSuffix(source, ".canvas") {
			text = `{"nodes":[{"type":"file","file":"f/A.md"},{"type":"text","text":` + string(quote("é"+text)) + `}]}`
		}
		sound(t, m, []byte(text), source)
	})
}

// TestLinksLeadWhereTheyLedInAnyVault moves a file of a random vault, in which
// many files share a name, and looks at every link of every file.
func TestLinksLeadWhereTheyLedInAnyVault(t *testing.T) {
	folders := []string{"", "A/", "B/", "C/", "A/B/", "C/A/", "Long name/"}
	names := []string{"Note.md", "note.md", "Other.md", "Third.md", "pic.png", "v1.2.md"}
	path := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(folders).Draw(t, "folder") + rapid.SampledFrom(names).Draw(t, "name")
	})
	rewritten := 0
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfNDistinct(path, 2, 12, rapid.ID[string]).Draw(t, "files")
		from, to := rapid.SampledFrom(files).Draw(t, "from"), path.Draw(t, "to")
		if slices.Contains(files, to) {
			return
		}
		var text strings.Builder
		for _, target := range append(slices.Clone(files), "Note.md", "other.md", "../Note.md", "./Other.md", "../A/Note.md", "B/Note.md") {
			short := strings.TrimSuffix(target, ".md")
			text.WriteString("[[" + short + "]] ![[" + target + "|x]] [[" + short + "#h|" + short + "]] [t](" +
				strings.ReplaceAll(target, " ", "%20") + ") [[/" + short + "]]\n")
		}
		for _, format := range formats {
			m := moved(files, from, to, format)
			for _, source := range files {
				if strings.HasSuffix(source, ".md") {
					sound(t, m, []byte(text.String()), source)
					_, changed, _ := m.Rewrite([]byte(text.String()), source)
					rewritten += changed
				}
			}
		}
	})
	t.Logf("%d links were rewritten", rewritten)
	assert.That(t, rewritten != 0, "no link was rewritten: the test shows nothing")
}

func FuzzRewrite(f *testing.F) {
	for _, text := range []string{"[[A]] [t](f/A.md \"x\") ![[i.png|1]]", "---\nu: \"[[A]]\"\n---\n[C](<../g/C.md>)", "| [[A\\|x]] |\n[![i](i.png)](A.md)",
		`{"nodes":[{"type":"file","file":"A.md"},{"type":"text","text":"\ud83d\ude00[[A]] \n[[f/A|A]]"}]}`} {
		f.Add([]byte(text), uint8(0), "f/New (name).md", uint8(4), uint8(0))
		f.Add([]byte(text), uint8(2), "N%41.md", uint8(10), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, from uint8, to string, source, format uint8) {
		if to == "" || strings.Contains("/"+to+"/", "//") || strings.Contains("/"+to+"/", "/./") ||
			strings.Contains("/"+to+"/", "/../") || slices.Contains(files, to) || len(text) > 1<<14 {
			return
		}
		m := moved(files, files[int(from)%len(files)], to, formats[format%3])
		if note := files[int(source)%len(files)]; !strings.HasSuffix(note, ".png") {
			sound(t, m, text, note)
		}
	})
}

// Each spelling of a name in an expression, in each spelling of a text in YAML, follows a file and a folder.
func TestNamesInExpressionsFollowInEachSpelling(t *testing.T) {
	files := lookup.New([]string{"Bob's \"x\"/Mum O'Härä.md", "x.base"})
	to := map[string]string{"Bob's \"x\"/Mum O'Härä.md": "A, 'B' #\\1/New: \"y\".md"}
	after := lookup.New([]string{"A, 'B' #\\1/New: \"y\".md", "x.base"})
	m := NewMove(to, map[string]string{"Bob's \"x\"": "A, 'B' #\\1"}, nil, files, after, "")
	folders := []string{`file.inFolder("Bob's \"x\"")`, `file.inFolder('Bob\'s "x"') && 1`,
		`a || "Bob's \"x\"" == file.folder`, `(["a", 'Bob\'s \"x\"']).contains(this.file.folder)`,
		`file.folder != "Bob's \"x\"/"`}
	paths := []string{`file.path == "Bob's \"x\"/Mum O'Härä.md"`}
	const folder, file = `A, 'B' #\1`, `A, 'B' #\1/New: "y".md`
	spell := map[string]func(string) string{
		"plain":   func(e string) string { return e },
		"single":  func(e string) string { return "'" + strings.ReplaceAll(e, "'", "''") + "'" },
		"double":  func(e string) string { return strings.ReplaceAll(strconv.Quote(e), "ä", `\u00e4`) },
		"hex":     func(e string) string { return strings.ReplaceAll(strconv.Quote(e), "ä", `\xe4`) },
		"literal": func(e string) string { return "|\n      " + e },
		"folded":  func(e string) string { return ">-\n      " + strings.ReplaceAll(e, " && ", "\n      && ") },
		"lines": func(e string) string {
			return "'" + strings.ReplaceAll(strings.ReplaceAll(e, "'", "''"), " ", "\n      ") + "'"
		},
	}
	for name, spelled := range spell {
		for n, expression := range append(folders, paths...) {
			text := "filters:\n  and:\n    - " + spelled(expression) + " \n    - file.name == \"z\" # kept\n"
			got, changed, left := m.Rewrite([]byte(text), "x.base")
			wanted := folder
			if n >= len(folders) {
				wanted = file
			}
			names := namedIn(t, got)
			assert.Equal(t, changed, 1, "%s %s", name, expression)
			assert.Equal(t, len(left), 0, "%s %s", name, expression)
			assert.That(t, strings.HasSuffix(string(got), "# kept\n"), "%s %s: %d, %v, %s", name, expression, changed, left, got)
			assert.That(t, slices.ContainsFunc(names, func(s string) bool { return strings.Trim(s, "/") == wanted }),
				"%s %s: %q in %s", name, expression, names, got)
		}
	}
}

// namedIn returns the string literals in the expressions of a base.
func namedIn(t *testing.T, base []byte) (names []string) {
	t.Helper()
	frontmatter.RewritePieces(base, func(s frontmatter.Scalar) []frontmatter.Patch {
		node, err := formula.Parse(s.Text)
		require.That(t, err == nil, "%q: %v", s.Text, err)
		formula.Walk(node, func(n formula.Node) {
			if literal, ok := n.(*formula.StringNode); ok {
				names = append(names, literal.Value)
			}
		})
		return nil
	})
	return names
}

// Unless it holds, a move changes of other files only the links to what moves.
func TestOtherLinksAreHeldOnlyIfAskedFor(t *testing.T) {
	files := []string{"Old.md", "a/b/New.md", "s.md"}
	after := []string{"New.md", "a/b/New.md", "s.md"}
	m := NewMove(map[string]string{"Old.md": "New.md"}, nil, nil, lookup.New(files), lookup.New(after), "")
	for source, want := range map[string][2]string{
		"s.md":   {"[[New]] [[New]]", "[[New]] [[a/b/New]]"},
		"Old.md": {"[[New]] [[a/b/New]]", "[[New]] [[a/b/New]]"}, // in what moves all links lead where they led
	} {
		for i, m := range []*Move{m, m.Holding()} {
			got, _, _ := m.Rewrite([]byte("[[Old]] [[New]]"), source)
			assert.Equal(t, string(got), want[i], source)
		}
	}
}
