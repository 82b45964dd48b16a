package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestReferencesOfAText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a footnote", "a[^1] b\n\n[^1]: note", `use "^1", definition "^1" "[^1]: note"`},
		{"labels are compared in any case and with single blanks", "[x][My  Ref]\n\n[MY ref]: u", `use "my ref", definition "my ref" "[MY ref]: u" -> "u"`},
		{"the three kinds of reference links", "[t][r] [r][] [r] ![i][r]\n\n[r]: <a b> 't'",
			`use "r", use "r", shortcut "r", use "r", definition "r" "[r]: <a b> 't'" -> "a b"`},
		{"links and wikilinks are none", "[t](u) [[w]] [[w|x]] ^[own] [ ] \\[e]", ``},
		{"code, formulas and comments hide them", "`[^1]` $[^1]$ <!-- [^1] -->\n```\n[^1]\n[^1]: x\n```", ``},
		{"a footnote goes on in lines below and in indented ones", "[^a]: one\ntwo\n\n    three\n\nfour", `definition "^a" "[^a]: one\ntwo\n\n    three\n"`},
		{"a definition ends where another begins", "[^a]: one\n[s]: u\n[^b]: two\n# H",
			`definition "^a" "[^a]: one\n", definition "s" "[s]: u\n" -> "u", definition "^b" "[^b]: two\n"`},
		{"an address does not end a paragraph, a footnote does", "text\n[s]: u\n[^a]: x", `definition "^a" "[^a]: x"`},
		{"references in footnotes", "[^a]: see [^b]", `use "^b", definition "^a" "[^a]: see [^b]"`},
		{"in headings, tables and lists", "# h[^1]\n| a[^2] |\n- b[^3]", `use "^1", use "^2", use "^3"`},
		{"a fence that is open", "a\n~~~~\nb", `open "~~~~"`},
		{"a fence that ends with its list", "- ```\n  b", ``},
		{"a comment that is open", "%%\nb", `open "%%"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ScanReferences([]byte(tt.text))
			var got []string
			for _, u := range r.Uses {
				kind := "use"
				if u.Shortcut {
					kind = "shortcut"
				}
				got = append(got, fmt.Sprintf("%s %q", kind, strings.ToLower(u.Label)))
			}
			for _, d := range r.Definitions {
				of := fmt.Sprintf("definition %q %q", strings.ToLower(d.Label), tt.text[d.Span.Start:d.Span.End])
				if d.TargetAt != (Span{}) {
					of += fmt.Sprintf(" -> %q", tt.text[d.TargetAt.Start:d.TargetAt.End])
				}
				got = append(got, of)
			}
			if r.Open != "" {
				got = append(got, fmt.Sprintf("open %q", r.Open))
			}
			want := strings.ReplaceAll(tt.want, "\n", `\n`)
			assert.That(t, strings.Join(got, ", ") == want, "got  %s\nwant %s", strings.Join(got, ", "), want)
		})
	}
}
