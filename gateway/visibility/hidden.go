package visibility

import (
	"cmp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/notes"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// Visible returns what tells whether the note at a path may be seen, by the access rules
// and the ignore file as they are now. With an ignore file that cannot be used, nothing may.
func (r *Rules) Visible() func(path string) bool {
	text, ok := notes.Patterns(r.folder())
	rules, patterns := r.Policy().Access, access.ParseIgnored(string(text))
	return func(path string) bool {
		return ok && rules.Level(path) > access.None && !patterns.Hides(path, false)
	}
}

// hides returns what tells whether a note or folder is hidden.
func (r *Rules) hides() func(path string) bool {
	text, ok := notes.Patterns(r.folder())
	rules, patterns := r.Policy().Access, access.ParseIgnored(string(text))
	return func(path string) bool {
		return !ok || rules.Level(path) == access.None && !rules.Opens(path) || patterns.Hides(path, false) || patterns.Hides(path, true)
	}
}

// HiddenBy returns the rule that hides what a call spells out as a path, and what it
// spells out as a name: "access" for the rules about access, "ignore" for the ignore
// file, "" if nothing of it is hidden. p is the policy by which the call was judged. It is
// for the audit log: the answer is made by the program that enforces the rules.
func (r *Rules) HiddenBy(call allowlist.Call, p policy.Policy) (rule, ofName string) {
	rules := p.Access
	if !call.Valid() || !rules.Hide() && !p.Ignores {
		return "", ""
	}
	var text []byte
	if p.Ignores {
		text, _ = notes.Patterns(r.folder())
	}
	patterns := access.ParseIgnored(string(text))
	by := func(path string, folder bool) string {
		switch {
		case folder && !rules.Opens(path), !folder && rules.Level(path) == access.None:
			return "access"
		case patterns.Hides(path, folder):
			return "ignore"
		}
		return ""
	}
	for _, s := range call.NamedPaths() {
		if rule = by(s.Path, s.Folder); rule != "" {
			return rule, ""
		}
	}
	if name, given := call.Param("file"); given {
		ofName = cmp.Or(by(name, false), by(name+noteExtension, false))
	}
	return "", ofName
}
