package edit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestLabelsOfAMergedTextAreItsOwn(t *testing.T) {
	tests := []struct{ name, text, other, want, renamed string }{
		{"a footnote", "a[^1]\n\n[^1]: x", "b[^1] c[^2]\n\n[^1]: y", "a[^3]\n\n[^3]: x", "[^1] -> [^3]"},
		{"a named footnote in another case", "a[^Src]\n\n[^src]: x", "b[^SRC]\n\n[^SRC]: y", "a[^src-2]\n\n[^src-2]: x", "[^src] -> [^src-2]"},
		{"the kinds of reference links", "[t][s] [s][] [s]\n\n[s]: u", "[s]: v", "[t][s-2] [s][s-2] [s][s-2]\n\n[s-2]: u", "[s] -> [s-2]"},
		{"what says the same stays", "[t][s][^1]\n\n[s]: u\n[^1]: n\n", "[s]: u\n[^1]: n", "[t][s][^1]\n\n[s]: u\n[^1]: n\n", ""},
		{"a mark of the other text that nothing defines", "a[^1]\n\n[^1]: x", "b[^1]", "a[^2]\n\n[^2]: x", "[^1] -> [^2]"},
		{"marks in code stay", "`[^1]` a[^1]\n\n[^1]: x", "[^1]: y", "`[^1]` a[^2]\n\n[^2]: x", "[^1] -> [^2]"},
		{"a footnote in a footnote", "[^1]: see [^2]\n[^2]: x", "[^2]: y", "[^1]: see [^3]\n[^3]: x", "[^2] -> [^3]"},
		{"nothing in common", "a[^1]\n\n[^1]: x", "b[^2]\n\n[^2]: y", "a[^1]\n\n[^1]: x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, renamed := WithOwnLabels([]byte(tt.text), []byte(tt.other))
			assert.Equal(t, string(got), tt.want)
			assert.Equal(t, strings.Join(renamed, ", "), tt.renamed)
		})
	}
}

func TestDefinitionsGoWithTheTextThatUsesThem(t *testing.T) {
	tests := []struct{ name, parts, want, moved string }{
		{"at the end of the last part", "rest|one [a][r].[^1]\n|two[^2]\n\n[^1]: n1\n[^2]: n2\n[r]: u\n",
			"rest|one [a][r].[^1]\n\n[^1]: n1\n[r]: u\n|two[^2]\n\n[^2]: n2\n", "[^1], [r]"},
		{"used in several", "a[^1]\n\n[^1]: n\n|b[^1]\n", "a[^1]\n\n[^1]: n\n|b[^1]\n\n[^1]: n\n", "[^1]"},
		{"used nowhere", "a\n|b\n\n[^1]: n\n", "a\n|b\n\n[^1]: n\n", ""},
		{"a footnote that uses another", "a[^1]\n|b\n\n[^1]: see [^2] and [x]\n\n    more\n\n[^2]: n\n[x]: u\n",
			"a[^1]\n\n[^1]: see [^2] and [x]\n\n    more\n[^2]: n\n[x]: u\n|b\n", "[^1], [^2], [x]"},
		{"with CRLF", "a[^1]\r\n|b\r\n\r\n[^1]: n", "a[^1]\r\n\r\n[^1]: n\r\n|b\r\n", "[^1]"},
		{"after code that is open", "a[^1]\n```\nx|b\n\n[^1]: n", "a[^1]\n```\nx\n```\n\n[^1]: n\n|b\n", "[^1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			divided, moved := DivideReferences(bytes.Split([]byte(tt.parts), []byte("|")), func(_ int, d []byte) []byte { return d })
			got := string(bytes.Join(divided, []byte("|")))
			assert.Equal(t, got, tt.want)
			assert.Equal(t, strings.Join(moved, ", "), tt.moved)
		})
	}
}
