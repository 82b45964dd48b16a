package gateway_test

import (
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestEveryExampleIsAcceptedOrSaysWhatItNeeds: where every tier is enabled and nothing else, the policy permits the example of
// each command, or the text names the setting that permits it.
func TestEveryExampleIsAcceptedOrSaysWhatItNeeds(t *testing.T) {
	facts := policy.ClearFacts(time.Now())
	reading := policy.Policy{Ceiling: tiers.V3, Confirm: policy.ConfirmNever, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum}
	settings := map[string]func(*policy.Policy){
		"allow-mutations": func(p *policy.Policy) { p.Mutations = true },
		"allow-ui":        func(p *policy.Policy) { p.UI = true },
		"allow-publish":   func(p *policy.Policy) { p.Publish = true },
	}
	for c := range allowlist.Commands() {
		if c.Tier == tiers.Restricted {
			continue
		}
		listing, err := gateway.ExplainCommand([]gateway.CatalogVault{{Policy: reading, Facts: facts, Programs: gateway.Programs{App: true, Embedded: true}}}, c.Name)
		require.NoError(t, err)
		explained := listing.Explained()
		for _, text := range []string{explained.Text(), explained.TextAtTerminal("program run")} {
			assert.Contains(t, text, "\n  Example: ", "%s", c.Name)
		}
		assert.Contains(t, explained.TextAtTerminal("program run"), "program run "+allowlist.ExampleLine(c.Name)+"\n", "%s", c.Name)
		assert.Contains(t, explained.Text(), allowlist.ExampleJSON(c.Name)+"\n", "%s", c.Name)

		words := allowlist.Example(c.Name)
		call, err := allowlist.ParseWords(words[0], words[1:])
		require.NoError(t, err)
		opened := reading
		for _, needed := range explained.Needs {
			assert.Contains(t, explained.Text(), needed, "%s", c.Name)
			settings[needed](&opened)
		}
		_, refusal := reading.Decide(call, facts).Approved()
		assert.That(t, refusal == nil || len(explained.Needs) > 0, "%s: the example is refused, and does not say what it needs: %v", c.Name, refusal)
		_, refusal = opened.Decide(call, facts).Approved()
		assert.That(t, refusal == nil, "%s: the example is refused with %q: %v", c.Name, explained.Needs, refusal)
	}
}
