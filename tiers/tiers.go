// Package tiers has the types on which every decision is based: the [Tier] of a command, the [Effect]
// of a call, and the [Version] of the app.
//
// It decides nothing and imports no other package of vaultwicket. The zero values are the cautious
// ones: [None] enables no command, and [Unknown] counts as the worst effect.
package tiers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	goversion "github.com/hashicorp/go-version"
)

// Tier is a group of commands that are enabled together. Tiers are cumulative:
// a ceiling of [V1] enables v0 and v1.
type Tier uint8

const (
	// None enables nothing. A command of this tier is never enabled.
	None Tier = iota
	// V0 has daily and random notes, help and version.
	V0
	// V1 adds properties, tags, tasks, files and search.
	V1
	// V2 adds history, links, bases, publish and templates.
	V2
	// V3 adds the other harmless commands: workspace, bookmarks, vault facts.
	V3
	// Restricted commands run code or administer the app. No ceiling enables them.
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

// Opens reports whether a ceiling of t enables commands of tier c.
// Restricted and None are never enabled and enable nothing.
func (t Tier) Opens(c Tier) bool {
	isTier := V0 <= c && c <= V3
	isCeiling := t <= V3
	return isTier && isCeiling && c <= t
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

// Effect is the most severe effect of a call: of its command and of its
// parameters.
type Effect uint8

const (
	// Unknown is the zero value and worse than every other effect.
	Unknown Effect = iota
	// Reads changes neither the vault nor the app.
	Reads
	// Shows moves the focus or opens a view; the vault stays as it is.
	Shows
	// Writes creates or changes notes or user data, and can be undone.
	Writes
	// Destroys removes or overwrites something.
	Destroys
	// Publishes changes what the public network can see.
	Publishes
	// Administers changes configuration, plugins or the running app.
	Administers
	// Executes runs code.
	Executes
)

var effectNames = [...]string{
	Unknown: "unknown", Reads: "read", Shows: "ui", Writes: "write",
	Destroys: "destructive", Publishes: "publish", Administers: "admin", Executes: "exec",
}

// String returns the name used in results, such as "write".
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("effect(%d)", uint8(e))
}

// WorseThan reports whether e is more severe than other. Unknown, and any
// value outside the list, is worse than everything that is known.
func (e Effect) WorseThan(other Effect) bool { return e.severity() > other.severity() }

// Mutates reports whether e requires mutations to be on: everything worse than Shows.
func (e Effect) Mutates() bool { return e.WorseThan(Shows) }

// ChangesNotes reports whether e changes files of the vault, and not published notes or the app.
func (e Effect) ChangesNotes() bool { return e == Writes || e == Destroys }

func (e Effect) severity() int {
	if e == Unknown || e > Executes {
		return int(Executes) + 1
	}
	return int(e)
}

// Version is a version of a program, such as 1.12.7 or 1.13.0-beta.1. The zero Version means "not known" and satisfies
// no minimum. Versions can be compared with ==, however they were written.
type Version struct {
	numbers [4]int // missing ones are 0
	pre     string // the suffix of a pre-release, such as beta.1; "" for a release
}

// Release returns the version of a release.
func Release(major, minor, patch int) Version { return Version{numbers: [4]int{major, minor, patch}} }

// MinimumFloor is the lowest minimum version that a setting may have. Before 1.12.2 the
// CLI answered from the current vault when the named one did not exist, and
// "silent" and "all" had the opposite defaults (release notes of 1.12.2).
var MinimumFloor = Version{numbers: [4]int{1, 12, 2}}

// DefaultMinimum is the first release whose installer includes the native CLI
// (release notes of 1.12.7).
var DefaultMinimum = Version{numbers: [4]int{1, 12, 7}}

// ParseVersion parses a version: an optional "v", two to four numbers separated by dots, and an optional suffix of a
// pre-release or a build, as in 2.0, v1.12.7 and 1.13.0-beta.1. The build is dropped.
func ParseVersion(s string) (Version, error) {
	parsed, err := goversion.NewVersion(s)
	// The library also accepts a single number, which any program may print.
	if err != nil || !strings.Contains(s, ".") {
		return Version{}, fmt.Errorf("invalid version %q: want numbers such as 1.12.7", s)
	}
	segments := parsed.Segments()
	v := Version{pre: parsed.Prerelease()}
	if len(segments) > len(v.numbers) {
		return Version{}, fmt.Errorf("invalid version %q: has more than %d numbers", s, len(v.numbers))
	}
	copy(v.numbers[:], segments)
	return v, nil
}

// String returns the version as the app prints it.
func (v Version) String() string {
	numbers := v.numbers[:3]
	if v.numbers[3] != 0 {
		numbers = v.numbers[:]
	}
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	text := strings.Join(parts, ".")
	if v.pre != "" {
		text += "-" + v.pre
	}
	return text
}

// Before reports whether v is earlier than other. A pre-release is earlier than its release.
func (v Version) Before(other Version) bool {
	if order := slices.Compare(v.numbers[:], other.numbers[:]); order != 0 || v.pre == other.pre {
		return order < 0
	}
	if v.pre == "" || other.pre == "" {
		return v.pre != ""
	}
	// Must does not panic: both versions were parsed before.
	first := goversion.Must(goversion.NewVersion(v.String()))
	return first.LessThan(goversion.Must(goversion.NewVersion(other.String())))
}

// Later returns the later of two versions.
func Later(a, b Version) Version {
	if a.Before(b) {
		return b
	}
	return a
}
