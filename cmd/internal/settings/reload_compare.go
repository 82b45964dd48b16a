package settings

import (
	"slices"

	"vaultwicket/gateway/admission"
	"vaultwicket/policy"
)

// policyParts are the settings of a policy. Each says whether a allows less than
// b in something that the setting decides.
var policyParts = [...]struct {
	name   string
	closes func(a, b policy.Policy) bool
}{
	{"tier", func(a, b policy.Policy) bool { return a.Ceiling < b.Ceiling }},
	{"disable", func(a, b policy.Policy) bool { return !within(a.Disable, b.Disable) }},
	{"enable-only", func(a, b policy.Policy) bool {
		return len(a.EnableOnly) > 0 && (len(b.EnableOnly) == 0 || !within(b.EnableOnly, a.EnableOnly))
	}},
	{"allow-mutations", func(a, b policy.Policy) bool { return !a.Mutations && b.Mutations }},
	{"allow-publish", func(a, b policy.Policy) bool { return !a.Publish && b.Publish }},
	{"allow-ui", func(a, b policy.Policy) bool { return !a.UI && b.UI }},
	{"confirm", func(a, b policy.Policy) bool { return a.Confirm < b.Confirm }}, // the strictest is the first
	{"min-cli-version", func(a, b policy.Policy) bool { return b.MinVersion.Before(a.MinVersion) }},
}

// within reports whether every name of a is in b.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// accessCloses reports whether a allows less than b for one of some paths. With
// every path that one of the two has a rule for it says so of all notes.
func accessCloses(a, b policy.Policy, paths []string) bool {
	return slices.ContainsFunc(append([]string{""}, paths...), func(path string) bool {
		return a.Access.Level(path) < b.Access.Level(path)
	})
}

// limitParts are the settings of the rates.
var limitParts = [...]struct {
	name string
	of   func(admission.Limits) int
}{
	{"rate", func(l admission.Limits) int { return l.Calls }},
	{"rate-mutations", func(l admission.Limits) int { return l.Mutations }},
	{"rate-mutations-hour", func(l admission.Limits) int { return l.MutationsHour }},
}

// limitCloses reports whether a rate of a is less than one of b. 0 is no limit.
func limitCloses(a, b int) bool { return a > 0 && (b <= 0 || a < b) }
