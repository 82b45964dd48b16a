package policy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestAScopeOnlyNarrows(t *testing.T) {
	scopes := []policy.Scope{policy.ScopeNone, policy.ScopeRead, policy.ScopeWrite, policy.ScopeDestructive, policy.ScopeAll, policy.Scope(9)}
	denied := map[policy.Scope]int{}
	for _, call := range everyCall(t) {
		needs := policy.ScopeRead
		switch {
		case call.Effect().WorseThan(tiers.Writes) || call.Sends():
			needs = policy.ScopeDestructive
		case call.Effect().Mutates() || call.Shows():
			needs = policy.ScopeWrite
		}
		for _, scope := range scopes {
			p := widest()
			before := p.Decide(call, plain).Err()
			scoped := knowing(func(f *policy.Facts) { f.Scope = scope })
			err := p.Decide(call, scoped).Err()
			var denial *policy.Denial
			want := before == nil && (needs > scope || scope > policy.ScopeAll)
			if got := errors.As(err, &denial) && denial.Code() == policy.CodeScope; got != want ||
				got && denial.Scope != needs || !got && (err == nil) != (before == nil) {
				t.Errorf("%s with the scope %d: %v, before %v", call.Name(), scope, err, before)
			}
			if want {
				denied[scope]++
			}
			shown := slices.ContainsFunc(p.Judge(call, scoped), func(v policy.RuleVerdict) bool { return v.Rule == "scope" })
			assert.Equal(t, shown, scope != policy.ScopeAll, "%s with the scope %d: a verdict about it is shown", call.Name(), scope)
		}
	}
	require.That(t, denied[policy.ScopeRead] > denied[policy.ScopeWrite], "denied by scope: %v", denied)
	require.That(t, denied[policy.ScopeWrite] != 0, "denied by scope: %v", denied)
	require.Equal(t, denied[policy.ScopeDestructive]+denied[policy.ScopeAll], 0, "denied by scope")
	assert.That(t, denied[policy.ScopeNone] > denied[policy.ScopeRead], "denied by scope: %v", denied)
}

func TestScopesMeet(t *testing.T) {
	order := []policy.Scope{policy.ScopeNone, policy.ScopeRead, policy.ScopeWrite, policy.ScopeDestructive, policy.ScopeAll} // strictest first
	for i, a := range order {
		for j, b := range order {
			f, g := plain, plain
			f.Scope, g.Scope = a, b
			assert.Equal(t, f.Meet(g).Scope, order[min(i, j)], "%v and %v give", a, b)
		}
	}
	for _, test := range []struct {
		granted []string
		want    policy.Scope
	}{
		{nil, policy.ScopeNone}, {[]string{"", "vault", "vault:", "VAULT:READ", "vault:read ", "vault:all", "read"},
			policy.ScopeNone}, {[]string{"openid", "vault:read"}, policy.ScopeRead},
		{[]string{"vault:write"}, policy.ScopeWrite},
		{[]string{"vault:destructive", "vault:read"}, policy.ScopeDestructive},
		{[]string{"vault:read", "vault:write"}, policy.ScopeWrite},
	} {
		assert.Equal(t, policy.ParseScope(test.granted), test.want, "%q give", test.granted)
	}
	assert.EqualSlices(t, policy.ScopeNames(policy.ScopeWrite), []string{"vault:read", "vault:write"})
}
