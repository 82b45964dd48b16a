package frontmatter

import (
	"testing"

	"vaultwicket/tests/require"
)

func TestUnion(t *testing.T) {
	for _, test := range []struct{ name, block, want string }{
		{"what is there already is not added", "a: [x, y]\nb: [y, z]", `["x","y","z"]`},
		{"an element of another type is another one", "a: [1]\nb: [\"1\", 1, true]", `[1,"1",true]`},
		{"nothing and something", "a: []\nb: [x, x]", `["x"]`},
		{"a text is no list", "a: x\nb: [y]", ""},
		{"nor is nothing", "a: [x]\nb:", ""},
	} {
		p, err := Parse([]byte(test.block + "\n"))
		require.NoError(t, err)
		before := p[0].Value.JSON()
		got, ok := p[0].Value.Union(p[1].Value)
		if ok != (test.want != "") || ok && squeezed(got.JSON()) != test.want {
			t.Errorf("%s: %v, %s", test.name, ok, got.JSON())
		}
		if p[0].Value.JSON() != before {
			t.Errorf("%s: the first list was changed", test.name)
		}
	}
}

// squeezed takes blanks and line breaks out of JSON whose texts hold none.
func squeezed(text string) string {
	out := []rune{}
	for _, r := range text {
		if r != ' ' && r != '\n' {
			out = append(out, r)
		}
	}
	return string(out)
}
