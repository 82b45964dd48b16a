package tiers_test

import (
	"testing"

	goversion "github.com/hashicorp/go-version"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The whole space is small: every ceiling against every tier of a command,
// unnamed values included.
func TestOpens(t *testing.T) {
	rank := map[string]int{"v0": 1, "v1": 2, "v2": 3, "v3": 4}
	for ceiling := range 256 {
		for command := range 256 {
			c, k := rank[tiers.Tier(ceiling).String()], rank[tiers.Tier(command).String()]
			want := c > 0 && k > 0 && k <= c
			require.Equal(t, tiers.Tier(ceiling).Opens(tiers.Tier(command)), want, "%v opens %v", tiers.Tier(ceiling), tiers.Tier(command))
		}
	}
}

func TestTierNames(t *testing.T) {
	for tier, name := range map[tiers.Tier]string{
		tiers.None: "none", tiers.V0: "v0", tiers.V1: "v1", tiers.V2: "v2", tiers.V3: "v3", tiers.Restricted: "restricted", 6: "tier(6)", 255: "tier(255)",
	} {
		assert.That(t, tier.String() == name, "%d is called %q", tier, tier)
		got, err := tiers.ParseTier(name)
		ceiling := tier >= tiers.V0 && tier <= tiers.V3
		if !ceiling {
			assert.That(t, err != nil, "%q is read as %v", name, got)
			assert.Equal(t, got, tiers.None, "%q", name)
			continue
		}
		assert.NoError(t, err, "%q", name)
		assert.Equal(t, got, tier, "%q", name)
	}
	for _, bad := range []string{"", " v0", "v0 ", "v4", "0", "all", "v０"} {
		got, err := tiers.ParseTier(bad)
		assert.That(t, err != nil, "%q is read as %v", bad, got)
		assert.Equal(t, got, tiers.None, "%q is read as %v", bad, got)
	}
}

// Unknown, and whatever has no name, is worse than all that is known.
func TestEffectsAreOrdered(t *testing.T) {
	order := []tiers.Effect{tiers.Reads, tiers.Shows, tiers.Writes, tiers.Destroys, tiers.Publishes, tiers.Administers, tiers.Executes}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, a.WorseThan(b), (i > j), "%v worse than %v", a, b)
		}
		for _, unknown := range []tiers.Effect{tiers.Unknown, tiers.Executes + 1, 255} {
			assert.That(t, unknown.WorseThan(a), "%v is not worse than %v", unknown, a)
			assert.That(t, !a.WorseThan(unknown), "%v is not worse than %v", unknown, a)
		}
		assert.Equal(t, a.Mutates(), (i > 1), "%v mutates", a)
	}
	assert.That(t, tiers.Unknown.Mutates(), "an unknown effect counts as harmless")
	assert.That(t, tiers.Effect(99).Mutates(), "an unknown effect counts as harmless")
}

func TestEffectNames(t *testing.T) {
	for effect, name := range map[tiers.Effect]string{
		tiers.Unknown: "unknown", tiers.Reads: "read", tiers.Shows: "ui", tiers.Writes: "write", tiers.Destroys: "destructive",
		tiers.Publishes: "publish", tiers.Administers: "admin", tiers.Executes: "exec", 8: "effect(8)", 255: "effect(255)",
	} {
		assert.That(t, effect.String() == name, "%d is called %q", effect, effect)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]tiers.Version{"1.12.7": tiers.Release(1, 12, 7), "0.0.0": {}, "65535.0.1": tiers.Release(65535, 0, 1)} {
		got, err := tiers.ParseVersion(text)
		require.Equal(t, err, nil, "%q is read as %v", text, got)
		require.Equal(t, got, want, "%q is read as %v", text, got)
		assert.Equal(t, got.String(), text, "%q is read as %v", text, got)
	}
	for text, want := range map[string]string{
		"2.0": "2.0.0", "v1.12.7": "1.12.7", "1.13.0-beta.1": "1.13.0-beta.1", "v1.13-rc.2": "1.13.0-rc.2",
		"1.12.7+build.5": "1.12.7", "1.12.7.0": "1.12.7", "1.12.7.1": "1.12.7.1",
	} {
		got, err := tiers.ParseVersion(text)
		require.Equal(t, err, nil, "%q is read as %v", text, got)
		assert.Equal(t, got.String(), want, "%q is read as %v", text, got)
		again, err := tiers.ParseVersion(want)
		assert.NoError(t, err, "%q is read as %v, %v, and %q as another version", want, again, err, text)
		assert.Equal(t, again, got, "%q is read as %v, %v, and %q as another version", want, again, err, text)
	}
	for _, bad := range []string{
		"", "1", "v1", "1.12.7 ", " 1.12.7", "1.12.-7", "1.+2.7", "1.12.x", "1..7", "1.1_2.7", "1.12.7.1.5",
		"1.12.99999999999999999999", "1.12.7\n", "1.12.7 beta", "beta", "version 1.12.7",
	} {
		got, err := tiers.ParseVersion(bad)
		assert.That(t, err != nil, "%q is read as %v", bad, got)
		assert.Equal(t, got, tiers.Version{}, "%q is read as %v", bad, got)
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	version := func(text string) tiers.Version { return require.Value(tiers.ParseVersion(text))(t) }
	order := []tiers.Version{
		{}, tiers.Release(0, 99, 99), tiers.Release(1, 9, 9), tiers.Release(1, 12, 1), tiers.MinimumFloor,
		tiers.DefaultMinimum, version("1.12.7.1"), tiers.Release(1, 12, 10),
		version("1.13.0-alpha"), version("1.13.0-beta.1"), version("1.13.0-beta.2"), version("1.13.0-beta.10"),
		version("v1.13.0-rc.1"), version("1.13"), version("2.0"), version("2.0.1-beta"),
	}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, a.Before(b), (i < j), "%v before %v", a, b)
			assert.Equal(t, tiers.Later(a, b), order[max(i, j)], "the later of %v and %v", a, b)
		}
	}
}

// A pre-release of the app meets the minimum of an earlier release. The constraints of the library refuse it, so they are
// not used.
func TestAPreReleaseMeetsAnEarlierMinimum(t *testing.T) {
	t.Parallel()
	beta := require.Value(tiers.ParseVersion("1.13.0-beta.1"))(t)
	assert.That(t, !beta.Before(tiers.MinimumFloor), "%s is before %s", beta, tiers.MinimumFloor)
	assert.That(t, beta.Before(tiers.Release(1, 13, 0)), "%s is not before its release", beta)
	atLeast := require.Value(goversion.NewConstraint(">= " + tiers.MinimumFloor.String()))(t)
	assert.That(t, !atLeast.Check(goversion.Must(goversion.NewVersion(beta.String()))), "a constraint of the library is met by %s", beta)
}
