package guard

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// piecesOfLayouts are what the patterns around names tell apart, among them letters that are like "s" and "k"
// in other cases.
var piecesOfLayouts = []string{
	" ", "\t", "\n", "\r", "\r\n", ":", "::", "=", "=>", "|", "<", ">", "\"", "'", "`", "“", "„", "«",
	"(", "[", "{", ",", ";", "-", "s", "ſ", "\u212a", "ß", "é",
	" is ", " iſ ", " was the ", " as my ", " ist ", " als ", " lautet ", " heißt ",
	"Zk7pQ2mVx4", "correct horse battery", " is \"correct horse battery\"",
	"name: ", "name=\"", "key=", "iſ", "value", "<tr>", "<th>", "</td>", "<code>", "|---|\n", "--",
	"password", "token", "```yaml\n",
}

// drawnLayout draws a text with a name in one of the layouts of values, in which a few pieces are changed. Most
// changes are next to the name.
func drawnLayout(r *rand.Rand, layouts []string) string {
	value := "Zk7pQ2mVx4"
	if r.IntN(2) == 0 {
		value = "correct horse battery"
	}
	text := strings.ReplaceAll(layouts[r.IntN(len(layouts))], "%s", value)
	for range r.IntN(4) {
		at := r.IntN(len(text) + 1)
		name := strings.Index(strings.ToLower(text), "password")
		if name >= 0 && r.IntN(3) > 0 {
			at = min(len(text), max(0, name-12+r.IntN(32)))
		}
		to := min(len(text), at+r.IntN(3))
		text = text[:at] + piecesOfLayouts[r.IntN(len(piecesOfLayouts))] + text[to:]
	}
	return text
}

// TestFastTestsRuleOutNothingElse draws texts with names: where a fast test says that a pattern cannot match, it
// does not match.
func TestFastTestsRuleOutNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 6))
	mixed, inWords := fake.Layouts()
	layouts := append(append(mixed, inWords...),
		"%s is the password.",
		"the password is sunflower", "The password was sunflower. It is another.", "ENV DB_password %s",
		"a password is in the safe",
		"the password of the pier\n\n%s",
		"name: password   \nvalue: %s\n",
		"{\"password\"   \n\n: \"%s\"}",
		"| who | password |\r|---|---|\r| bob | %s |\r",
		"| who | password | of the pier\n|---|---|\n| bob | %s |\n",
	)
	ruledOut := map[string]int{}
	matched := map[string]int{}
	check := func(name string, may, does bool, text, at string) {
		require.That(t, may || !does, "%s rules out %q in %q", name, at, text)
		if !may {
			ruledOut[name]++
		}
		if does {
			matched[name]++
		}
	}
	for range testenv.Count(30000, 200000) {
		text := []byte(drawnLayout(r, layouts))
		for _, name := range []string{"password", "passwort", "token"} {
			at := bytes.Index(bytes.ToLower(text), []byte(name))
			if at < 0 || at+len(name) > len(text) {
				continue
			}
			end := at + len(name)
			before := text[max(0, at-longestName):at]
			s := scan{text: text}
			rest := s.line(end, longestValue)
			around := string(text[at:])
			check("mayNameValue", mayNameValue(before), nameLabel().Match(before), string(text), around)
			check("mayEndWithVerb", mayEndWithVerb(before), valueBefore().Match(before), string(text), around)
			check("mayHavePhrase", mayHavePhrase(rest), phraseValue().Match(rest), string(text), around)
			check("mayEndSentence", mayEndSentence(rest), sentenceEnd().Match(rest), string(text), around)
			check("maySetVariable", maySetVariable(before), variableBefore().Match(before), string(text), around)
			isLaidOut := s.structuredPassword(at, end, rest) || s.structuredSecret(at, end)
			inSentence := (&scan{text: text}).isInSentence(at, end, rest)
			check("isInSentence", !inSentence, isLaidOut, string(text), around)
		}
	}
	for _, name := range []string{"mayNameValue", "mayEndWithVerb", "mayHavePhrase", "isInSentence"} {
		require.That(t, ruledOut[name] > 1000, "%s ruled out %d places", name, ruledOut[name])
		require.That(t, matched[name] > 100, "%d matches of what %s is for", matched[name], name)
	}
}
