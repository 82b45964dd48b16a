package command

import (
	"vaultwicket/policy/access"
)

// AccessVariable has the access rules of a vault, as package access writes them. Nothing is
// answered if they are invalid.
const AccessVariable = "VAULTWICKET_ACCESS"

// ExceptionsVariable has the files for which rules about texts do not apply, a line each, as package
// access writes them.
const ExceptionsVariable = "VAULTWICKET_EXCEPTIONS"

// Sight is the visible part of a vault: what neither the rules nor the patterns of the ignore
// file (gitignore(5)) hide. It implements the interface View of package disk.
type Sight struct {
	rules   access.Rules
	ignored *access.Ignored // nil if there is no file of patterns
}

// NewSight returns the view of a vault, nil where everything is seen. Patterns
// is the text of the ignore file.
func NewSight(rules access.Rules, patterns string) *Sight {
	s := &Sight{rules: rules, ignored: access.ParseIgnored(patterns)}
	if s.ignored == nil && !rules.Hide() {
		return nil
	}
	return s
}

// Sees reports whether a file, or a folder, may be shown to the caller.
func (s *Sight) Sees(path string, folder bool) bool {
	return s.rules.Level(path) > access.None && !s.ignored.Hides(path, folder)
}

// Enters reports whether something in a folder can be shown to the caller.
func (s *Sight) Enters(folder string) bool {
	return s.rules.Opens(folder) && !s.ignored.Hides(folder, true)
}

// Level returns what may be done with the file at a path.
func (s *Sight) Level(path string, rules access.Rules) access.Level {
	if s != nil && s.ignored.Hides(path, false) {
		return access.None
	}
	return rules.Level(path)
}

// Sees reports whether a path from a record may be named. Text that is no path of a file may not,
// nor the bookmarks, which name hidden files.
func (v *Vault) Sees(path string) bool {
	if !v.Hides() {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.Sees(at, false)
}

// SeesPlace is [Vault.Sees] by the access rules and the patterns alone. A note that its text closes is
// then as if it were gone.
func (v *Vault) SeesPlace(path string) bool {
	if v.Sight == nil {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.Judging(nil).Sees(at, false)
}

// SeesFolder is [Vault.Sees] for a folder.
func (v *Vault) SeesFolder(path string) bool {
	at, err := v.FolderOf(path)
	return err == nil && v.Disk.Sees(at, true)
}
