package policy_test

import (
	"maps"
	"slices"
	"testing"

	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tiers"
)

// What two policies make together, field by field: the stricter of the two, in
// whichever order they come.
func TestTightenOfEveryField(t *testing.T) {
	for _, test := range []struct {
		name       string
		p, q, want func(*policy.Policy)
	}{
		{"nothing", func(*policy.Policy) {}, func(*policy.Policy) {}, func(*policy.Policy) {}},
		{"the lower ceiling", func(p *policy.Policy) { p.Ceiling = tiers.V2 }, func(p *policy.Policy) { p.Ceiling = tiers.V1 }, func(p *policy.Policy) { p.Ceiling = tiers.V1 }},
		{"a ceiling that opens nothing", func(p *policy.Policy) { p.Ceiling = tiers.Restricted }, func(p *policy.Policy) { p.Ceiling = tiers.V1 }, func(p *policy.Policy) { p.Ceiling = tiers.None }},
		{"no mutations", func(p *policy.Policy) { p.Mutations = false }, func(*policy.Policy) {}, func(p *policy.Policy) { p.Mutations = false }},
		{"no publishing", func(p *policy.Policy) { p.Publish = false }, func(*policy.Policy) {}, func(p *policy.Policy) { p.Publish = false }},
		{"no focus", func(p *policy.Policy) { p.UI = false }, func(*policy.Policy) {}, func(p *policy.Policy) { p.UI = false }},
		{"the consent before more", func(p *policy.Policy) { p.Confirm = policy.ConfirmDestructive }, func(p *policy.Policy) { p.Confirm = policy.ConfirmWrites }, func(p *policy.Policy) { p.Confirm = policy.ConfirmWrites }},
		{"a consent that is none", func(p *policy.Policy) { p.Confirm = policy.ConfirmNever + 1 }, func(*policy.Policy) {}, func(p *policy.Policy) { p.Confirm = policy.ConfirmWrites }},
		{"both lists of what is closed", func(p *policy.Policy) { p.Disable = []string{"read", "file"} }, func(p *policy.Policy) { p.Disable = []string{"append", "read"} }, func(p *policy.Policy) { p.Disable = []string{"append", "file", "read"} }},
		{"one list of what is open", func(p *policy.Policy) { p.EnableOnly = []string{"read", "append"} }, func(*policy.Policy) {}, func(p *policy.Policy) { p.EnableOnly = []string{"read", "append"} }},
		{"both lists of what is open", func(p *policy.Policy) { p.EnableOnly = []string{"read", "append", "file"} }, func(p *policy.Policy) { p.EnableOnly = []string{"read", "move", "file"} }, func(p *policy.Policy) { p.EnableOnly = []string{"read", "file"} }},
		{"two lists of what is open that have nothing in common", func(p *policy.Policy) { p.EnableOnly = []string{"read"} }, func(p *policy.Policy) { p.EnableOnly = []string{"file"} }, func(p *policy.Policy) { p.Ceiling = tiers.None }},
		{"patterns", func(p *policy.Policy) { p.Ignores = true }, func(*policy.Policy) {}, func(p *policy.Policy) { p.Ignores = true }},
		{"the newer app", func(p *policy.Policy) { p.MinVersion = tiers.MinimumFloor }, func(p *policy.Policy) { p.MinVersion = tiers.Version{1, 13, 0} }, func(p *policy.Policy) { p.MinVersion = tiers.Version{1, 13, 0} }},
		{"the oldest app", func(p *policy.Policy) { p.MinVersion = tiers.MinimumFloor }, func(p *policy.Policy) { p.MinVersion = tiers.MinimumFloor }, func(p *policy.Policy) { p.MinVersion = tiers.MinimumFloor }},
		{"an app that is too old", func(p *policy.Policy) { p.MinVersion = tiers.Version{1, 12, 1} }, func(*policy.Policy) {}, func(p *policy.Policy) { p.MinVersion = tiers.Version{} }},
	} {
		p, q, want := widest(), widest(), widest()
		test.p(&p)
		test.q(&q)
		test.want(&want)
		for order, got := range []policy.Policy{p.Tighten(q), q.Tighten(p)} {
			if got.Ceiling != want.Ceiling || got.Mutations != want.Mutations || got.Publish != want.Publish || got.UI != want.UI || got.Confirm != want.Confirm ||
				got.Ignores != want.Ignores || got.MinVersion != want.MinVersion || !slices.Equal(got.Disable, want.Disable) || !slices.Equal(got.EnableOnly, want.EnableOnly) {
				t.Errorf("%s, order %d: %+v, want %+v", test.name, order, got, want)
			}
		}
	}
}

// The origins are those of the settings that are new, and the policies that were
// tightened are still what they were: they may be in use.
func TestTightenLeavesBothAsTheyAre(t *testing.T) {
	p, q := widest(), widest()
	p.Origins, q.Origins = map[string]string{"tier": "flag"}, map[string]string{"tier": "file"}
	p.Disable, q.Disable = []string{"read", "append"}, []string{"move", "append"}
	p.EnableOnly, q.EnableOnly = []string{"create", "read", "file"}, []string{"file"}
	hides := require.Value(access.New(map[string]access.Level{"A": access.None}))(t)
	q.Access = hides
	got := p.Tighten(q)
	assert.That(t, maps.Equal(got.Origins, q.Origins) && got.Access.Hide() && !p.Access.Restrict(), "got %+v", got)
	if !slices.Equal(p.Disable, []string{"read", "append"}) || !slices.Equal(q.Disable, []string{"move", "append"}) ||
		!slices.Equal(p.EnableOnly, []string{"create", "read", "file"}) || !slices.Equal(q.EnableOnly, []string{"file"}) {
		t.Errorf("%+v and %+v", p, q)
	}
}
