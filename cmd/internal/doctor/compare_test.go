package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// notCompared are reading commands of both backends that cannot be compared: their answers are
// random, belong to one backend, or depend on what is open in the app.
var notCompared = strings.Fields("random:read history history:list history:read diff help property:read task base:views")

func everyRow() []string {
	return slices.Concat(ofVault, ofNote, ofFolder, ofTag, ofBase, ofWord, ofName)
}

func TestEveryReadOfBothBackendsIsCompared(t *testing.T) {
	asked := map[string]bool{}
	for _, row := range everyRow() {
		c := comparedCallOf(row, "A.md")
		asked[c[0]] = true
		call, err := allowlist.ParseWords(c[0], c[1:])
		if err != nil || call.Effect() != tiers.Reads || call.Shows() || call.Sends() || call.IsRandom() || call.EmbeddedOnly() {
			t.Errorf("%s: %v, effect %v", row, err, call.Effect())
		}
	}
	for c := range allowlist.Commands() {
		want := c.Tier != tiers.Restricted && c.Effect == tiers.Reads && !c.NeedsApp && !c.EmbeddedOnly && !c.Sends && !slices.Contains(notCompared, c.Name)
		assert.Equal(t, asked[c.Name], want, "%s is compared", c.Name)
	}
}

func TestACallIsShownAsItIsTyped(t *testing.T) {
	for row, want := range map[string]string{
		"read path=%":            `read path="My \"own\" note.md"`,
		"files":                  "files",
		"search query=% total":   `search query="My \"own\" note.md" total`,
		"base:query format=json": "base:query format=json",
	} {
		assert.Equal(t, comparedCallOf(row, `My "own" note.md`).String(), want, "%s", row)
	}
}

func TestLinesThatDiffer(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		equal bool
		only  string
	}{
		{"a\nb\n", "a\nb", true, ""},
		{"a\nb\n", "b\na\n", false, ""},
		{"a\na\nb\n", "b\na\n", false, "a"},
		{`[{"x": 1, "y": 2}]`, "[\n{\"y\":2,\"x\":1}]\n", true, `[{"x": 1, "y": 2}]`},
		{"[1]", "[2]", false, "[1]"},
		{"1.0", "1.00", true, "1.0"},
		{`{"a": [9007199254740992]}`, `{"a": [9007199254740993]}`, false, `{"a": [9007199254740992]}`},
		{`{"a": [9007199254740993]}`, `{"a":[9007199254740993]}`, true, `{"a": [9007199254740993]}`},
		{"10", "1e1", true, "10"},
		{"1 2", "1  2", false, "1 2"},
	} {
		assert.Equal(t, sameAnswer(test.a, test.b), test.equal, "%q and %q are equal", test.a, test.b)
		got := strings.Join(linesWithout(linesOf(test.a), linesOf(test.b)), "|")
		assert.That(t, got == test.only, "%q without %q: %q, want %q", test.a, test.b, got, test.only)
	}
}

// The sentence of a listing without values is not one of them.
func TestASentenceIsNoValue(t *testing.T) {
	for listing, want := range map[string]string{
		"": "", "#a\n#b\n": "#a|#b", "No tags found.\n": "", "No templates found.": "", "No base files found in vault\n": "",
		"No tags found.\nMore.md\n": "No tags found.|More.md",
	} {
		assert.Equal(t, strings.Join(valuesOf(listing), "|"), want, "%q", listing)
	}
}

func TestSpread(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 2: "a c", 3: "a b d", 5: "a b c d e", 9: "a b c d e"} {
		assert.Equal(t, strings.Join(spreadOver(strings.Fields("a b c d e"), n), " "), want, "%d", n)
	}
}
