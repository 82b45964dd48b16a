package gateway

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"vaultwicket/allowlist"
	"vaultwicket/gateway/notes"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/policy/ignore"
)

// rulesWithDiskNames returns rules that also hold for the names that the disk has for
// their paths.
func (g *vaultGateway) rulesWithDiskNames(rules access.Rules) access.Rules {
	if !rules.Restrict() || g.target().folder == "" {
		return rules
	}
	last := g.ruled.Load()
	if now := time.Now(); last == nil || last.written != rules.String() || now.Sub(last.at) >= respellAfter {
		last = &ruleNames{written: rules.String(), at: now, rules: rules.Named(func(path string) string {
			if name, err := g.names.Name(path); err == nil {
				return name
			}
			return path
		})}
		g.ruled.Store(last)
	}
	return last.rules
}

// rules returns the policy in force for the vault.
func (g *vaultGateway) rules() policy.Policy { return g.rulesAt(visibilityFingerprint{}) }

// rulesAt is rules for a request that has looked for the ignore file already.
func (g *vaultGateway) rulesAt(seen visibilityFingerprint) policy.Policy {
	p := *g.policy.Load()
	p.Access = g.rulesWithDiskNames(p.Access)
	switch folder := g.target().folder; {
	case folder == "" || p.Ignores:
	case seen.looked:
		p.Ignores = seen.ignores
	default:
		_, err := os.Lstat(filepath.Join(folder, ignore.File))
		p.Ignores = err == nil || !errors.Is(err, fs.ErrNotExist)
	}
	return p
}

// identity tells the vault from every other one, also from one of the same name.
func (g *vaultGateway) identity() string {
	at := g.target()
	if at.folder == "" {
		return "app:" + at.app
	}
	return "folder:" + g.folderIdentity()
}

// callerOf names who asks, also for the journal: the caller, or this process where
// that has only one.
func (g *vaultGateway) callerOf(req Request) string { return cmp.Or(req.Caller, g.session, "gateway") }

// withDiskNames returns the call with its paths as the disk has them, so that rules,
// questions, records and the app know one name of a note. hidden says that one of
// them leads to what may not be seen: then the call stays as it is, for the answer
// must not tell the name, and only the embedded program may be asked.
func (g *vaultGateway) withDiskNames(call allowlist.Call) (named allowlist.Call, hidden bool) {
	if g.target().folder == "" || len(call.NamedPaths()) == 0 {
		return call, false
	}
	call = g.withExtensions(call)
	var others []string
	named, err := call.WithPaths(func(path string) string {
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
