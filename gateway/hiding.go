package gateway

import (
	"crypto/sha256"

	"vaultwicket/gateway/notes"
	"vaultwicket/policy/access"
	"vaultwicket/policy/ignore"
)

// visibilityFingerprint looks at what hides notes of the vault. Where the patterns cannot be read
// no call succeeds, so it does not matter what they are.
func (g *vaultGateway) visibility() visibilityFingerprint {
	text, ok := notes.Patterns(g.target().folder)
	h := visibilityFingerprint{policy: g.policy.Load(), looked: true, ignores: !ok || text != nil}
	if ok && text != nil {
		h.patterns = sha256.Sum256(text)
	}
	return h
}

// Visible returns what tells whether the note at a path in a vault may be seen, by the
// access rules and the ignore file as they are now. Of a vault that the gateway does
// not have, and with an ignore file that cannot be used, nothing may.
func (g *Gateway) Visible(vault string) func(path string) bool {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return func(string) bool { return false }
	}
	return d.visible()
}

func (g *vaultGateway) visible() func(path string) bool {
	text, ok := notes.Patterns(g.target().folder)
	rules, patterns := g.rules().Access, ignore.New(string(text))
	return func(path string) bool {
		return ok && rules.Level(path) > access.None && !patterns.Hides(path, false)
	}
}

// hiddenBy returns the rule that hides what a call spells out as a path, and what it
// spells out as a name: "access" for the rules about access, "ignore" for the ignore
// file, "" if nothing of it is hidden. It is for the audit log: the answer is made by
// the program that enforces the rules.
func (g *vaultGateway) hiddenBy(plan Plan) (rule, ofName string) {
	call, rules := plan.call, plan.policy.Access
	if !call.Valid() || !rules.Hide() && !plan.policy.Ignores {
		return "", ""
	}
	var text []byte
	if plan.policy.Ignores {
		text, _ = notes.Patterns(g.target().folder)
	}
	patterns := ignore.New(string(text))
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
		ofName = firstOf(by(name, false), by(name+".md", false))
	}
	return "", ofName
}
