package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestEveryRuleAboutTextsHasItsPlaces(t *testing.T) {
	off := widest()
	off.Secrets, off.Suspicious, off.RemoteLinks = policy.SecretsAllow, policy.SuspiciousOff, true
	on := widest()
	on.Flows = []policy.Flow{{Name: "journal", From: []string{"Journal"}}}
	private := require.Value(access.NewPrivate([]string{"agent"}, []string{"private"}))(t)
	on.Private, on.Origins = private, map[string]string{"secrets": "flag", "private-property": "default"}
	want := map[string]string{
		"flow": "journal", "private": "agent, #private", "secrets": "block", "remote-links": "ask", "suspicious": "ask",
	}
	require.Equal(t, len(want), len(policy.TextRules()), "%q", policy.TextRules())
	command := require.Value(allowlist.Describe("append"))(t)
	call := mustParse(t, "append", allowlist.Params{"path": allowlist.Text("A.md"), "content": allowlist.Text("x")})
	for i, rule := range on.TextRules() {
		if rule.State != want[rule.Name] || rule.Shadow || rule.Exceptions != nil ||
			rule.Origin != map[string]string{"secrets": "flag", "private": "default"}[rule.Name] {
			t.Errorf("%+v", rule)
		}
		p := on
		p.Shadow = []string{rule.Name}
		p.Exceptions = access.Exceptions{{Rule: rule.Name, Path: "Docs", Comment: "samples"}}
		said := rule.Looks + ": " + rule.State + "; in shadow, without effect; not for Docs (samples)"
		of := p.TextRulesOf(command)
		require.Equal(t, len(of), len(want), "%s", rule.Name)
		require.Equal(t, of[i].String(), said, "%s", rule.Name)
		assert.That(t, off.TextRulesOf(command) == nil, "%s: %+v", rule.Name, of)
		verdicts := p.Judge(call, plain)
		at := slices.IndexFunc(verdicts, func(v policy.RuleVerdict) bool { return v.Rule == rule.Name })
		require.That(t, at >= 0, "%s: %+v", rule.Name, verdicts)
		require.Equal(t, verdicts[at].Why, said, "%s", rule.Name)
		assert.Equal(t, verdicts[at].Verdict, policy.Pass, "%s", rule.Name)
		assert.That(t, !slices.ContainsFunc(off.Judge(call, plain),
			func(v policy.RuleVerdict) bool { return v.Rule == rule.Name }), "%s has a verdict and is off", rule.Name)
	}
	// What a session has read, or a call adds, requires approval also without confirm.
	for rule, known := range map[string]func(*policy.Facts){
		"suspicious":   func(f *policy.Facts) { f.Suspected = policy.Because("signs and addresses") },
		"remote-links": func(f *policy.Facts) { f.Carries = policy.Because("signs and addresses") },
	} {
		var denial *policy.Denial
		if _, err := widest().Decide(call, knowing(known)).Permit(); !errors.As(err, &denial) || denial.Rule != rule ||
			!denial.NeedsApproval() || !strings.Contains(denial.Reason, "signs and addresses") {
			t.Errorf("%s: %+v", rule, denial)
		}
	}
	// A private note narrows nothing in shadow, but whether it would is asked.
	shadow := on
	shadow.Shadow = []string{policy.RulePrivate}
	for name, p := range map[string]policy.Policy{"on": on, "shadow": shadow, "tightened": shadow.Meet(on), "both in shadow": shadow.Meet(shadow)} {
		permit := require.Value(p.Decide(call, plain).Permit())(t)
		question := p.Question()
		narrows := name == "on" || name == "tightened"
		assert.Equal(t, permit.Access() != "", narrows, "%s: %q, %q", name, permit.Access(), question.Access())
		assert.That(t, question.Access() != "", "%s: %q, %q", name, permit.Access(), question.Access())
	}
}

func TestEverySettingHasItsValue(t *testing.T) {
	p := widest()
	p.Publish, p.Secrets, p.Disable, p.EnableOnly, p.Shadow = false, policy.SecretsStrict, []string{"delete"}, []string{"read", "files"}, []string{"flow"}
	p.Private = require.Value(access.NewPrivate([]string{"agent"}, []string{"private"}))(t)
	p.Exceptions = require.Value(access.ParseExceptions([]string{"secrets Docs # samples"}, "secrets"))(t)
	got := ""
	for _, name := range policy.SettingNames() {
		got += fmt.Sprintf("%s=%v ", name, p.Setting(name))
	}
	assert.Equal(t, got,
		"tier=v3 disable=[delete] enable-only=[read files] allow-mutations=true allow-publish=false allow-ui=true confirm=never ask=terminal min-answer-time=1s max-grant=none secrets=strict suspicious=ask "+
			"remote-links=ask shadow=[flow] private-property=[agent] private-tags=[private] exceptions=[secrets Docs # samples] min-cli-version=1.12.7 rate=0 rate-mutations=0 rate-mutations-hour=0 ")
	assert.That(t, p.Setting("access") == nil, "the access rules are a setting")
}
