package frontmatter

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What yaml 2.7.1 of npm, the library of the app, makes of documents that the library of Go reads in another way; null is
// an error there.
func TestOddDocumentsAreReadAsByTheApp(t *testing.T) {
	for text, want := range map[string]string{
		"&a: key: &a value\nfoo:\n  *a:\n":                `{"key":"value","foo":"key"}`,
		"a: &:@*!$\"<foo>: scalar a\nb: *:@*!$\"<foo>:\n": `{"a":"scalar a","b":"scalar a"}`,
		"a: &ä x\nb: [*ä , \"&ö\"]\n":                     `{"a":"x","b":["x","&ö"]}`,
		"foo: \"bar\n\tbaz\"\n":                           `null`,
		"foo: \"bar\nbaz\"\n":                             `null`,
		"foo: 'bar\n \tbaz'\n":                            `{"foo":"bar baz"}`,
		"- a\n- \"b\n\tc\"\n":                             `null`,
		"a:\n  b: \"c\n  d\"\n":                           `null`,
		"a:\n  b: \"c\n   d\"\n":                          `{"a":{"b":"c d"}}`,
		"a: [\"c\nd\"]\n":                                 `null`,
		"a: \"b\n\t\n c\"\n":                              `null`,
		"a: \"b\n\n c\"\n":                                `{"a":"b\nc"}`,
		"a:\n- \"b\nc\"\n":                                `null`,
		"a:\n- \"b\n c\"\n":                               `{"a":["b c"]}`,
		"empty block scalar: >\n \n  \n   \n # comment\n": `null`,
		"a: |\n    \n  b\n":                               `null`,
		"a: |2\n    \n  b\n":                              `{"a":"  \nb\n"}`,
		"a: |\n  \n  b\n":                                 `{"a":"\nb\n"}`,
		"a: |\n   \n\nb: 1\n":                             `{"a":"","b":1}`,
		"? []: x\n":                                       `{"{\n  ? []\n  : x\n}":null}`,
		"{ &a [a, &b b]: *b, *a : [c, *b, d]}\n":          `{"[ a, &b b ]":"b","*a":["c","b","d"]}`,
		"&x k: 1\nm:\n  *x : 2\n":                         `{"k":1,"m":{"k":2}}`,
	} {
		got := "null"
		if value, err := ParseDocument([]byte(text)); err == nil {
			got = string(value.appendJSON(nil))
		}
		assert.Equal(t, got, want, "%q", text)
	}
}
