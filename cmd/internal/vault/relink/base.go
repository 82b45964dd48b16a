package relink

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/markdown"
)

// named finds the texts in the expressions of a base that name a file or a folder:
// link("x"), file("x"), image("x"), file.hasLink("x"), x.linksTo("x"), file.inFolder("x"),
// file.folder == "x" and file.path == "x". In YAML the quotation marks may have a backslash.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(link|file|image|hasLink|linksTo|inFolder)\(\s*(\\?["'])([^"'\\\r\n]+)|\b(?:file|this)(?:\.file)?\.(folder|path)\s*[=!]=\s*(\\?["'])([^"'\\\r\n]+)`)
})

// expressions returns the edits to the names of files and folders in a base. A text is resolved
// as a link in the base; a [[link]] in a text keeps its marks.
func (m *Move) expressions(text []byte, source string) (edits []edit, left []Left) {
	for _, at := range named().FindAllSubmatchIndex(text, -1) {
		kind, mark, name := at[2:4], at[4:6], markdown.Span{Start: at[6], End: at[7]}
		if kind[0] < 0 {
			kind, mark, name = at[8:10], at[10:12], markdown.Span{Start: at[12], End: at[13]}
		}
		if !bytes.HasPrefix(text[name.End:], text[mark[0]:mark[1]]) {
			continue // not the end of the text
		}
		old := string(text[name.Start:name.End])
		var written, reason string
		switch string(text[kind[0]:kind[1]]) {
		case "inFolder", "folder":
			written = m.folder(old)
		case "path":
			written = m.to[old]
		default:
			raw, bare := old, strings.HasPrefix(old, "[[")
			if !bare {
				raw = "[[" + old + "]]"
			}
			if link, ok := markdown.ParseLink(raw); ok {
				var some []edit
				some, reason = m.link(raw, link, source)
				if written = string(apply([]byte(raw), some)); !bare {
					written = strings.TrimSuffix(strings.TrimPrefix(written, "[["), "]]")
				}
			}
		}
		if strings.ContainsAny(written, "\"'\\") || reason != "" {
			left = append(left, Left{1 + bytes.Count(text[:name.Start], []byte("\n")), old, unwritable})
		} else if written != "" && written != old {
			edits = append(edits, edit{name, written})
		}
	}
	return edits, left
}

// folder returns the new path of a folder that moved or is in one, "" for another one.
func (m *Move) folder(old string) string {
	bare := strings.Trim(old, "/")
	for from, to := range m.folders {
		if rest, in := strings.CutPrefix(bare, from); in && (rest == "" || rest[0] == '/') {
			return strings.Replace(old, bare, to+rest, 1)
		}
	}
	return ""
}
