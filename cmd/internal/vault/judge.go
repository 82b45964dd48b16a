package vault

import (
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/policy/access"
)

// judge refuses a proposal that does more than the rules allow. It looks at what
// would be done and not at what was asked for: links in other notes that a move
// rewrites, the note of today, a note that a template makes.
func (v *vault) judge(p proposal) error {
	if v.sight == nil && !v.rules.Restrict() {
		return nil
	}
	for _, s := range p.steps {
		if s.idle() {
			continue
		}
		if err := v.judgeStep(s, p); err != nil {
			return err
		}
	}
	return nil
}

func (v *vault) judgeStep(s step, p proposal) error {
	switch {
	case s.path == disk.Bookmarks() && v.sight != nil:
		return accessDenied.failure("Access denied: the bookmarks may not be changed, because they name notes that are not to be seen.")
	case s.path == disk.Bookmarks():
		return nil // it is no note
	case s.isMove():
		needed := access.Write
		if s.from.Folder() != s.path.Folder() && !p.own {
			needed = access.Delete // the note goes from where it was
		}
		if err := v.needs(s.from, needed, "moved away"); err != nil {
			return err
		}
		return v.needs(s.path, access.Write, "made")
	case !s.after.there && !p.own:
		return v.needs(s.path, access.Delete, "deleted")
	case s.before.there && p.replaces && s.path == p.note:
		return v.needs(s.path, access.Delete, "replaced")
	case s.before.there:
		return v.needs(s.path, access.Write, "changed")
	}
	return v.needs(s.path, access.Write, "made")
}

// needs refuses what a path may not have done to it.
func (v *vault) needs(at disk.Path, level access.Level, what string) error {
	if v.sight.level(at.String(), v.rules) >= level {
		return nil
	}
	return accessDenied.failure("Access denied: %q may not be %s.", verbatim(at.String()), what)
}
