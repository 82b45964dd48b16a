package policy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tiers"
)

func TestServerArgs(t *testing.T) {
	p := widest()
	p.Disable, p.EnableOnly = []string{"delete", "move"}, []string{"read", "create"}
	want := []string{"serve", "--config=none", "--backend=embedded", "--vault=-My Vault=", "--tier=v3", "--confirm=never", "--secrets=block", "--suspicious=ask", "--remote-links=ask", "--shadow=", "--exceptions=", "--min-cli-version=1.12.7", "--private-property=", "--private-tags=",
		"--allow-mutations=true", "--allow-publish=true", "--allow-ui=true", "--disable=delete,move", "--enable-only=read,create"}
	assert.EqualSlices(t, p.Server("-My Vault=").Args(), want)
	want = []string{"serve", "--config=none", "--backend=embedded", "--vault=F", "--tier=v0", "--confirm=writes", "--secrets=block", "--suspicious=ask", "--remote-links=ask", "--shadow=", "--exceptions=", "--min-cli-version=1.12.2", "--private-property=", "--private-tags=",
		"--allow-mutations=false", "--allow-publish=false", "--allow-ui=false"}
	assert.EqualSlices(t, (policy.Policy{Ceiling: tiers.V0, MinVersion: tiers.MinimumFloor}).Server("F").Args(), want)
}

// A list of one name closes something too.
func TestServerArgsOfShortLists(t *testing.T) {
	for _, test := range []struct {
		disable, enableOnly, want []string
	}{
		{nil, nil, nil},
		{[]string{}, []string{}, nil},
		{[]string{"delete"}, nil, []string{"--disable=delete"}},
		{nil, []string{"read"}, []string{"--enable-only=read"}},
		{[]string{"delete"}, []string{"read"}, []string{"--disable=delete", "--enable-only=read"}},
	} {
		p := widest()
		p.Disable, p.EnableOnly = test.disable, test.enableOnly
		assert.EqualSlices(t, p.Server("F").Args()[17:], test.want)
	}
}

// What the arguments say, read back, is the policy: no right more, none less.
func TestServerArgsReadBack(t *testing.T) {
	for ceiling := tiers.V0; ceiling <= tiers.V3; ceiling++ {
		for gates := range 8 {
			for confirm := policy.ConfirmWrites; confirm <= policy.ConfirmNever; confirm++ {
				p := policy.Policy{Ceiling: ceiling, Mutations: gates&1 != 0, Publish: gates&2 != 0, UI: gates&4 != 0, Confirm: confirm, MinVersion: tiers.DefaultMinimum}
				got := policy.Policy{}
				for _, arg := range p.Server("F").Args()[1:] {
					flag, value, _ := strings.Cut(arg, "=")
					var err error
					switch flag {
					case "--tier":
						got.Ceiling, err = tiers.ParseTier(value)
					case "--confirm":
						got.Confirm, err = policy.ParseConfirm(value)
					case "--min-cli-version":
						got.MinVersion, err = tiers.ParseVersion(value)
					case "--allow-mutations":
						got.Mutations = value == "true"
					case "--allow-publish":
						got.Publish = value == "true"
					case "--allow-ui":
						got.UI = value == "true"
					case "--disable", "--enable-only":
						t.Errorf("%s without a list", arg)
					}
					assert.That(t, err == nil, "%v", err)
				}
				if got.Ceiling != p.Ceiling || got.Confirm != p.Confirm || got.MinVersion != p.MinVersion || got.Mutations != p.Mutations || got.Publish != p.Publish || got.UI != p.UI {
					t.Errorf("%+v becomes %+v", p, got)
				}
			}
		}
	}
}

func TestTheZeroServerPermitIsWorthless(t *testing.T) {
	var s policy.ServerPermit
	assert.That(t, !s.Valid() && s.Args() == nil, "got %q", s.Args())
	s = widest().Server("")
	assert.That(t, !s.Valid() && s.Args() == nil, "without a folder: %q", s.Args())
}

// A policy that grants nothing starts no server: no such tier can be set.
func TestAZeroPolicyStartsNoServer(t *testing.T) {
	for _, arg := range (policy.Policy{}).Server("F").Args() {
		if value, found := strings.CutPrefix(arg, "--tier="); found {
			_, err := tiers.ParseTier(value)
			assert.That(t, err != nil, "%s is a tier", value)
		}
	}
}

// A name that is no command enables nothing here, but in an argument it could
// read as several names or as an empty list, which closes nothing.
func TestAServerNeedsKnownNames(t *testing.T) {
	for _, names := range [][]string{{""}, {"read,delete"}, {"read", "Delete"}, {"x"}} {
		only, without := widest(), widest()
		only.EnableOnly, without.Disable = names, names
		assert.That(t, !only.Server("F").Valid() && !without.Server("F").Valid(), "a server with the list %q", names)
	}
}

func TestAServerPermitCannotBeChanged(t *testing.T) {
	p := widest()
	p.Disable, p.EnableOnly = []string{"delete"}, []string{"read"}
	permit := p.Server("F")
	before := strings.Join(permit.Args(), " ")
	p.Ceiling, p.Disable[0], p.EnableOnly[0] = tiers.None, "read", "delete"
	permit.Args()[0] = "vault"
	assert.Equal(t, strings.Join(permit.Args(), " "), before, "%s becomes", before)
}

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
