package gateway

import (
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/notes"
	"vaultwicket/policy/access"
	"vaultwicket/policy/ignore"
)

// withDiskNames returns the call with its paths as the disk has them, so that rules,
// questions, records and the app know one name of a note. hidden says that one of
// them leads to what may not be seen: then the call stays as it is, for the answer
// must not tell the name, and only the embedded program may be asked.
func (g *vaultGateway) withDiskNames(call allowlist.Call) (named allowlist.Call, hidden bool) {
	if g.target().folder == "" || len(call.Spells()) == 0 {
		return call, false
	}
	var others []string
	named, err := call.Respelled(func(path string) string {
		name, err := g.names.Name(path)
		if err != nil || name == path {
			return path // what cannot be found out, the embedded program says
		}
		others = append(others, name)
		return name
	})
	if len(others) == 0 {
		return call, false
	}
	if err != nil || slices.ContainsFunc(others, g.hides()) {
		return call, true
	}
	return named, false
}

// hides returns what tells whether a note or folder is hidden.
func (g *vaultGateway) hides() func(path string) bool {
	text, ok := notes.Patterns(g.target().folder)
	rules, patterns := g.rules().Access, ignore.New(string(text))
	return func(path string) bool {
		return !ok || rules.Level(path) == access.None && !rules.Opens(path) || patterns.Hides(path, false) || patterns.Hides(path, true)
	}
}
