package tiers

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of the Obsidian app as major, minor and patch, such as
// 1.12.7. The zero Version stands for "not known" and satisfies no minimum.
type Version [3]int

// MinimumFloor is the lowest minimum a setting may ask for. Before 1.12.2 the
// CLI answered from the current vault when the named one did not exist, and
// "silent" and "all" had the opposite defaults (release notes of 1.12.2).
var MinimumFloor = Version{1, 12, 2}

// DefaultMinimum is the first release whose installer brings the native client
// (release notes of 1.12.7).
var DefaultMinimum = Version{1, 12, 7}

// ParseVersion reads exactly "major.minor.patch" in plain digits.
func ParseVersion(s string) (Version, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("invalid version %q: want three numbers such as 1.12.7", s)
	}
	var v Version
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return Version{}, fmt.Errorf("invalid version %q: want three numbers such as 1.12.7", s)
		}
		v[i] = int(n)
	}
	return v, nil
}

// String returns the version as the app prints it.
func (v Version) String() string {
	return strconv.Itoa(v[0]) + "." + strconv.Itoa(v[1]) + "." + strconv.Itoa(v[2])
}

// Before reports whether v is an earlier release than other.
func (v Version) Before(other Version) bool {
	for i := range v {
		if v[i] != other[i] {
			return v[i] < other[i]
		}
	}
	return false
}

// Later returns the later of two releases.
func Later(a, b Version) Version {
	if a.Before(b) {
		return b
	}
	return a
}
