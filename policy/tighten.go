package policy

import (
	"slices"

	"vaultwicket/tiers"
)

// Tighten returns the policy that allows what both p and q allow, and asks where
// one of them asks. A server that is running takes new settings in this way, so
// that nobody can open it behind the back of the person who started it. The
// origins are those of q.
func (p Policy) Tighten(q Policy) Policy {
	t := Policy{
		Ceiling:   min(p.ceiling(), q.ceiling()),
		Mutations: p.Mutations && q.Mutations, Publish: p.Publish && q.Publish, UI: p.UI && q.UI,
		Confirm: min(p.confirm(), q.confirm()), // the strictest is the first
		Disable: slices.Concat(p.Disable, q.Disable),
		Access:  p.Access.Meet(q.Access), Ignores: p.Ignores || q.Ignores,
		Origins:    q.Origins,
		MinVersion: tiers.Later(p.MinVersion, q.MinVersion),
	}
	if p.MinVersion.Before(tiers.MinimumFloor) || q.MinVersion.Before(tiers.MinimumFloor) {
		t.MinVersion = tiers.Version{} // one of the two grants nothing
	}
	switch {
	case len(p.EnableOnly) == 0:
		t.EnableOnly = q.EnableOnly
	case len(q.EnableOnly) == 0:
		t.EnableOnly = p.EnableOnly
	default:
		t.EnableOnly = slices.DeleteFunc(slices.Clone(p.EnableOnly), func(name string) bool { return !slices.Contains(q.EnableOnly, name) })
		if len(t.EnableOnly) == 0 {
			t.Ceiling = tiers.None // an empty list would close nothing
		}
	}
	slices.Sort(t.Disable)
	t.Disable = slices.Compact(t.Disable)
	return t
}

// ceiling returns the ceiling, None for a value that opens nothing.
func (p Policy) ceiling() tiers.Tier {
	if p.Ceiling > tiers.V3 {
		return tiers.None
	}
	return p.Ceiling
}

// confirm returns what is asked about, every change for a value that is none.
func (p Policy) confirm() Confirm {
	if p.Confirm > ConfirmNever {
		return ConfirmWrites
	}
	return p.Confirm
}
