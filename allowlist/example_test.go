package allowlist

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestEveryCommandHasAnExampleThatIsAccepted: in words and in JSON, and both are the same call, which names its note
// if it can.
func TestEveryCommandHasAnExampleThatIsAccepted(t *testing.T) {
	for c := range Commands() {
		words := Example(c.Name)
		if c.Tier == tiers.Restricted {
			require.That(t, words == nil, "%s has the example %q", c.Name, words)
			require.Equal(t, ExampleLine(c.Name), "", "%s has the example %q", c.Name, words)
			assert.Equal(t, ExampleJSON(c.Name), "", "%s has the example %q", c.Name, words)
			continue
		}
		require.That(t, len(words) > 0, "%s: the example is %q", c.Name, words)
		require.Equal(t, words[0], c.Name, "%s: the example is %q", c.Name, words)
		call, err := ParseWords(words[0], words[1:])
		require.NoError(t, err)
		targeted := slices.ContainsFunc(c.Params, func(p Param) bool { return slices.Contains(targetParams[:], p.Name) && p.Refused == "" })
		assert.That(t, !targeted || !call.UsesOpenNote(), "%s: the example %q works on the open note", c.Name, words)

		var arguments struct {
			Command string
			Params  map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(ExampleJSON(c.Name)), &arguments))
		params := Params{}
		for name, raw := range arguments.Params {
			var text string
			switch {
			case string(raw) == "true":
				params[name] = Flag(true)
			case json.Unmarshal(raw, &text) == nil:
				params[name] = Text(text)
			default:
				params[name] = Number(string(raw))
			}
		}
		same, err := Parse(arguments.Command, params)
		require.NoError(t, err)
		assert.Equal(t, same.String(), call.String())
	}
}

// TestAnExampleHasTheParametersThatAreAskedFor: each that is passed on can be in one, alone with what it needs.
func TestAnExampleHasTheParametersThatAreAskedFor(t *testing.T) {
	for c := range Commands() {
		for _, p := range c.Params {
			if p.Refused != "" || c.Tier == tiers.Restricted {
				continue
			}
			words := Example(c.Name, p.Name)
			require.That(t, words != nil, "%s: no example with %s", c.Name, p.Name)
			call, err := ParseWords(words[0], words[1:])
			require.NoError(t, err)
			assert.That(t, call.has(p.Name), "%s: %q lacks %s", c.Name, words, p.Name)
		}
	}
}
