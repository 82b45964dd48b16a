package command

import (
	"errors"
	"io/fs"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/policy/access"
)

// AccessVariable holds the access rules of a vault, as package access writes
// them. With rules that cannot be read nothing is answered.
const AccessVariable = "VAULTWICKET_ACCESS"

// Sight is what of a vault is there for a call: what the rules do not hide, and
// the patterns of the ignore file (gitignore(5)) do not either. The patterns can
// hide more than the rules do, and never show what they hide. It implements
// [disk.View].
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

// badRules answers every call where the rules cannot be read.
func badRules(err error) error {
	return Misuse("%s cannot be read, so nothing is answered: %v", AccessVariable, err)
}

// Sees reports whether a path that a call did not ask for, but that stands in a
// record, may be named. Of what is no path of a file it is not known what it
// means, and the bookmarks name what is hidden.
func (v *Vault) Sees(path string) bool {
	if v.Sight == nil {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.Sees(at, false)
}

// SeesFolder is sees for a folder.
func (v *Vault) SeesFolder(path string) bool {
	at, err := v.FolderOf(path)
	return err == nil && v.Disk.Sees(at, true)
}

// patternsOf returns the patterns of the ignore file of a folder.
func patternsOf(folder *disk.Folder) (string, error) {
	patterns, err := folder.Ignored()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", Failure("Cannot use %s, so nothing is answered: %v", access.IgnoreFile, err)
	}
	return string(patterns), nil
}
