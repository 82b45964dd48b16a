package gateway

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
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
func (g *vaultGateway) rules() policy.Policy {
	p := *g.policy.Load()
	p.Access = g.rulesWithDiskNames(p.Access)
	if folder := g.target().folder; folder != "" && !p.Ignores {
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
