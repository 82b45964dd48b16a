package fake

import (
	"fmt"
	"path"
	"strings"
)

// link draws a link of any kind.
func (g *page) link() string {
	to := g.plan.target(g.Rand)
	switch g.IntN(12) {
	case 0, 1, 2:
		return "[[" + g.spelled(to) + "]]"
	case 3:
		return "[[" + g.spelled(to) + pick(g.Rand, []string{"|", " | ", "||"}) + pick(g.Rand, vaultWords) + "]]"
	case 4:
		return "[[" + g.spelled(to) + g.subpath() + "]]"
	case 5:
		return "![[" + g.spelled(to) + g.subpath() + "]]"
	case 6:
		return "![[" + path.Base(pick(g.Rand, g.plan.pictures)) + pick(g.Rand, []string{"", "|200", "#page=2"}) + "]]"
	case 7, 8:
		return g.inlineLink(to)
	case 9:
		return pick(g.Rand, []string{"[[#Own heading]]", "[here](#Own%20heading)", "[[" + stem(g.path) + "]]", "[[#^b1|own block]]"})
	case 10:
		return g.oddLink()
	}
	return "![" + pick(g.Rand, vaultWords) + "](" + encode(pick(g.Rand, g.plan.pictures)) + ")"
}

// oddLink draws a link that leads nowhere, or whose marks are not what they
// seem.
func (g *page) oddLink() string {
	if g.IntN(3) == 0 {
		return pick(g.Rand, []string{
			"[[" + pick(g.Rand, missing) + g.subpath() + "]]", "[gone](" + encode(pick(g.Rand, missing)) + ")", fmt.Sprintf("[[Missing %d]]", g.IntN(40)),
		})
	}
	return pick(g.Rand, []string{
		"[[https://example.org/page]]", "[[pa#th/x]]", "[[Sq]uare]]", "[[T#H [B]]]", "[[a [[Index]] c]]", "[[|]]", "[[|alias]]", "[[/Nowhere]]",
		"[[../../../Outside]]", "[[LICENSE]]", "[[Overview.base]]", "[[Index.MD]]", "[dot](Index%2Emd)",
		"[slash](Archive%2FIndex.md)", "[r](R%26D.md)", "[p](%2e/Index)",
	})
}

// spelled is one of the ways to write the target of a wikilink.
func (g *page) spelled(to string) string {
	bare := strings.TrimSuffix(to, ".md")
	switch g.IntN(10) {
	case 0:
		return bare
	case 1:
		return to
	case 2:
		return "/" + bare
	case 3:
		return strings.ToUpper(stem(to))
	case 4:
		return relative(g.path, bare)
	case 5:
		parts := strings.Split(bare, "/")
		return strings.Join(parts[max(0, len(parts)-2):], "/") // the folder and the name
	case 6:
		return pick(g.Rand, commonNames) // many notes have it
	}
	return stem(to)
}

func (g *page) subpath() string {
	return pick(g.Rand, []string{"", "#Part one", "#Part one#Below", "#^b1", "#[x] y"})
}

func (g *page) inlineLink(to string) string {
	text := pick(g.Rand, []string{"see", "this note", "**bold**"})
	switch g.IntN(6) {
	case 0:
		return "[" + text + "](<" + strings.ReplaceAll(to, "%", "%25") + ">)"
	case 1:
		return "[" + text + "](" + encode(relative(g.path, to)) + ")"
	case 2:
		return "[" + text + "](" + encode(stem(to)) + "#" + encode("Part one") + ")"
	case 3:
		return "[" + text + "](" + encode(to) + ` "a title")`
	case 4:
		// A reserved character that is encoded stays as it is.
		return "[" + text + "](" + strings.ReplaceAll(encode(to), "&", "%26") + ")"
	}
	return "[" + text + "](" + encode(to) + ")"
}

// relative is the way from one file to another, beginning with a dot.
func relative(from, to string) string {
	steps := strings.Split(path.Dir(from), "/")
	if steps[0] == "." {
		steps = nil
	}
	parts := strings.Split(to, "/")
	shared := 0
	for shared < len(steps) && shared < len(parts)-1 && steps[shared] == parts[shared] {
		shared++
	}
	rest := strings.Join(parts[shared:], "/")
	if shared == len(steps) {
		return "./" + rest
	}
	return strings.Repeat("../", len(steps)-shared) + rest
}

// encode writes a path as a Markdown link has it.
func encode(name string) string {
	const plain = "-_.~/&'!*"
	var out strings.Builder
	for _, b := range []byte(name) {
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte(plain, b) >= 0 {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}
