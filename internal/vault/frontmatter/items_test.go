package frontmatter

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Items are added to a list and removed from it, and the bytes of the others stay.
func TestOtherItemsKeepTheirBytes(t *testing.T) {
	tests := []struct{ name, block, change, want string }{
		{"comments and quotes", "l:\n  - 'A a'   # short\n  # formal\n  - plain\nx: 1\n", "+new", "l:\n  - 'A a'   # short\n  # formal\n  - plain\n  - new\nx: 1\n"},
		{"before a comment on what follows", "l:\n- a\n\n# about x\nx: 1\n", "+b", "l:\n- a\n- b\n\n# about x\nx: 1\n"},
		{"in brackets", "n: 0\nl: [1, 02, 1.50, null]  # all\n", "+x", "n: 0\nl: [1, 02, 1.50, null, x]  # all\n"},
		{"a text that needs quotes in brackets", "l: [a]\n", "+b [c]", "l: [a, \"b [c]\"]\n"},
		{"brackets over lines", "l: [\n  \"a, ]b\", # one\n  c  # two\n]\n", "+d", "l: [\n  \"a, ]b\", # one\n  c, d  # two\n]\n"},
		{"a comma at the end", "l: [a, 'it''s', ]\n", "+d", "l: [a, 'it''s', d, ]\n"},
		{"one is removed", "l:\n  - \"a\" # x\n  # on b\n  - b\n  - 02\n", "-b", "l:\n  - \"a\" # x\n  # on b\n  - 02\n"},
		{"the first in brackets", "l: ['a' , \"b\", 1.50]\n", "-a", "l: [\"b\", 1.50]\n"},
		{"the last in brackets", "l: ['a' , \"b\", c]\n", "-c", "l: ['a' , \"b\"]\n"},
		{"several at the end in brackets", "l: ['a' , b, c]\n", "-b -c", "l: ['a']\n"},
		{"some of each", "l: [a, 'b', c, \"d\"]\n", "-a -c", "l: ['b', \"d\"]\n"},
		{"lists and maps as items", "l:\n  - [x, 'y']\n  - k: 'v'\n    m: 2\n  - z\n", "-z +w", "l:\n  - [x, 'y']\n  - k: 'v'\n    m: 2\n  - w\n"},
		{"a text over lines", "l:\n  - >-\n    a\n    # b\n  - c\n", "+d", "l:\n  - >-\n    a\n    # b\n  - c\n  - d\n"},
		{"a dash on a line of its own", "l:\n-\n  'a'\n- b\n", "-b +c", "l:\n-\n  'a'\n- c\n"},
		{"CRLF", "l:\r\n  - 'a'\r\n", "+b", "l:\r\n  - 'a'\r\n  - b\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end := "\n"
			if strings.Contains(tt.block, "\r\n") {
				end = "\r\n"
			}
			text := []byte("---" + end + tt.block + "---" + end + "body")
			list := Get(text, "l").List()
			for _, change := range strings.SplitAfter(tt.change, " ") {
				change = strings.TrimSuffix(change, " ")
				if strings.Contains(tt.change, "[") {
					change = tt.change
				}
				var now []Value
				for _, item := range list {
					if change != "-"+item.Text() {
						now = append(now, item)
					}
				}
				if change[0] == '+' {
					now = append(now, Value{kind: String, text: change[1:]})
				}
				if list = now; change == tt.change {
					break
				}
			}
			got, err := Set(text, "l", ListOf(list))
			require.NoError(t, err)
			want := "---" + end + tt.want + "---" + end + "body"
			assert.That(t, string(got) == want, "got %q\nwant %q", got, want)
		})
	}
}
