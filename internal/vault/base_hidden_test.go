package vault_test

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// Every expression that pries, wherever an expression can be given, has the same
// value whatever the hidden part of a vault contains, and no value contains it.
func TestBasesDoNotDependOnWhatIsHidden(t *testing.T) {
	seen := map[string]string{
		"Plan.md":       "---\nprop: 1\ntags: [tag]\n---\n[[Hid/Plan]] [[zqa]] [[Note]] ![[Hid/pic.png]]\n",
		"A/Note.md":     "---\nprop: 2\nlooks: \"[[Hid/Plan]]\"\n---\n[[Plan]]\n",
		"Hid/Open/B.md": "[[Plan]] [[Hid/Note]]\n",
	}
	contents := []map[string]string{
		{},
		{
			"Hid/Plan.md": "---\nprop: zqx\nzqaprop: zqx\ntags: [zqxtag, tag]\naliases: [Plan, zqxalias]\n---\n[[Plan]] [[Note]] #zqxtag\n",
			"Hid/Note.md": "[[Plan]] [[Hid/Plan]]\n", "Hid/zqa.md": "zqx [[A/Note]]\n", "Hid/pic.png": "zqx", "Hid/zqx/deep.md": "[[B]]",
		},
		{"Hid/Plan.md": "", "Hid/Books.base": "views: [{type: table, name: zqx}]\n", "Hid/B.md": "[[B]]", "Hid/zqa.md": "---\nprop: 3\n---\n"},
	}
	pry := func(hidden map[string]string) (answers []string, answered int) {
		h := embedded.New(t, seen)
		h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Hid": "none", "Hid/Open": "r"}).String()
		for path, text := range hidden {
			h.Put(path, text)
		}
		ask := func(args ...string) {
			status, stdout, stderr := h.Run(args...)
			assert.That(t, !strings.Contains(stdout+stderr, canary), "%q tells what is hidden: %s%s", args, stdout, stderr)
			if status == answer.ExitDone {
				answered++
			}
			answers = append(answers, strings.Join(args, " ")+"\n"+stdout+stderr)
		}
		for i, expression := range prying {
			if testing.Short() && i%3 != 0 {
				continue
			}
			h.Put("Look.base", "filters: "+answer.QuoteJSON(expression)+"\nformulas: {look: "+
				answer.QuoteJSON(expression)+
				"}\nviews:\n  - {type: table, name: One, order: [file.path, formula.look], summaries: {formula.look: Unique}}\n"+
				"  - {type: table, name: Two, order: [file.path, formula.look], groupBy: {property: formula.look, direction: ASC}}\n")
			ask("base:query", "path=Look.base", "summaries", "groups", "explain")
			ask("base:query", "path=Look.base", "view=Two", "this=Plan.md", "values=typed", "groups")
			ask("query", "where="+expression, "select=file.path", "all", "explain")
			ask("query", "select=file.path, "+expression, "all", "values=typed", "this=Plan.md")
			ask("query", "select=file.path", "all", "sort="+expression, "group="+expression, "groups", "format=json")
			ask("base:eval", "path=Plan.md", "expr="+expression)
			ask("base:eval", "path=A/Note.md", "expr="+expression, "base=Look.base", "format=json")
			ask("base:set", "--plan", "path=Look.base", "name=prop", "value=1")
			ask("base:check", "path=Look.base")
		}
		for _, path := range []string{"Hid/Books.base", "Hid/missing.base"} {
			ask("base:query", "path="+path)
			ask("base:check", "path="+path)
			ask("base:eval", "path=Plan.md", "expr=1", "base="+path)
		}
		return answers, answered
	}
	want, answered := pry(contents[0])
	for _, hidden := range contents[1:] {
		got, _ := pry(hidden)
		for i := range got {
			assert.That(t, got[i] == want[i], "%s\nwithout what is hidden: %s", got[i], want[i])
		}
	}
	t.Logf("%d expressions, %d answers for each of %d contents, %d of them rows or values", len(prying), len(want), len(contents), answered)
	assert.That(t, answered >= len(want)*3/4, "only %d of %d requests have rows or a value: too few to mean anything", answered, len(want))
}
