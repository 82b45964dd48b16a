package handlers

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Mentions are counted in one pass over the text, and as if each were looked for in all links.
func TestMentionsAreThoseOutsideOfLinks(t *testing.T) {
	pieces := []string{"t", "t", "u t", "[[", "]]", "[[t]]", "![[t|t]]", "[t](t.md)", "[![t](t.md)](t)", " ", "\n",
		"---\n", "up: ", `"`, "[", "]", "`t`", "é", "- "}
	names := []string{"t", "u t", "[t"}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), ""))
		if rapid.Bool().Draw(t, "properties") {
			text = append([]byte("---\n"), text...)
			text = append(text, "\n---\nt\n"...)
		}
		for n := range len(names) {
			got, want := mentionsIn(text, names[:n+1]), mentionsOneByOne(text, names[:n+1])
			require.That(t, got == want, "%q: %d mentions, want %d", text, got, want)
		}
	})
}

// mentionsOneByOne counts as mentionsIn does, and looks at all links and the whole line for each.
func mentionsOneByOne(text []byte, names []string) (count int) {
	found := markdown.Scan(text)
	for _, name := range names {
		for at := 0; ; at += len(name) {
			n := bytes.Index(text[at:], []byte(name))
			if n < 0 {
				break
			}
			at += n
			before, _ := utf8.DecodeLastRune(text[:at])
			after, _ := utf8.DecodeRune(text[at+len(name):])
			line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
			isPart := isLetter(before) || isLetter(after)
			inLink := slices.ContainsFunc(found.Links, func(l markdown.Link) bool { return l.Span.Start <= at && at < l.Span.End })
			inProperty := at < found.Body && bytes.Count(line, []byte("[[")) > bytes.Count(line, []byte("]]"))
			if !isPart && !inLink && !inProperty {
				count++
			}
		}
	}
	return count
}
