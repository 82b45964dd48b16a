// Package tiers holds the two words every decision is made of: the [Tier] a
// command belongs to and the [Effect] a call has.
//
// It decides nothing and imports nothing of vaultwicket. In both types the zero
// value is the cautious one: [None] opens no command, [Unknown] counts as the
// worst effect.
package tiers

import (
	"fmt"
	"strings"
)

// Tier is a group of commands that is opened together. Tiers are cumulative:
// a ceiling of [V1] opens v0 and v1.
type Tier uint8

const (
	// None opens nothing. As the tier of a command it matches no ceiling.
	None Tier = iota
	// V0 holds daily and random notes, help and version.
	V0
	// V1 adds properties, tags, tasks, files and search.
	V1
	// V2 adds history, links, bases, publish and templates.
	V2
	// V3 adds the other harmless commands: workspace, bookmarks, vault facts.
	V3
	// Restricted commands run code or administer the app. No ceiling opens them.
	Restricted
)

var tierNames = [...]string{None: "none", V0: "v0", V1: "v1", V2: "v2", V3: "v3", Restricted: "restricted"}

// String returns the name used in settings and results, such as "v1".
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// Opens reports whether a ceiling of t lets commands of tier c through.
// Restricted and None are never opened and never open anything.
func (t Tier) Opens(c Tier) bool {
	return t <= V3 && c >= V0 && c <= V3 && c <= t
}

// ParseTier reads a ceiling from a setting: "v0", "v1", "v2" or "v3", in either case.
// Neither "none" nor "restricted" is a ceiling, so both are errors.
func ParseTier(s string) (Tier, error) {
	for t := V0; t <= V3; t++ {
		if strings.EqualFold(tierNames[t], s) {
			return t, nil
		}
	}
	return None, fmt.Errorf("invalid tier %q (use v0, v1, v2 or v3)", s)
}
