package command

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/policy/access"
)

// judge refuses a proposal that does more than the rules allow. It looks at what
// would be done and not at what was asked for: links in other notes that a move
// rewrites, the note of today, a note that a template makes.
func judge(v *session.Vault, p Proposal) error {
	if v.Sight == nil && !v.Rules.Restrict() {
		return nil
	}
	loses := p.Undoes == "" && p.loss() != "" // to take a change back is to write
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		if err := judgeStep(v, s, p); err != nil {
			return err
		}
		if loses && s.Before.Exists && s.Path != disk.Bookmarks() {
			if err := needs(v, s.source(), access.Delete, "overwritten: the change "+p.loss()); err != nil {
				return err
			}
		}
	}
	return nil
}

func judgeStep(v *session.Vault, s Step, p Proposal) error {
	switch {
	case s.Path == disk.Bookmarks() && v.Sight != nil:
		return answer.AccessDenied.Failure("Access denied: the bookmarks may not be changed, because they name notes that are not to be seen.")
	case s.Path == disk.Bookmarks():
		return nil // it is no note
	case s.IsMove():
		needed := access.Write
		if s.From.Folder() != s.Path.Folder() && !p.OwnChange {
			needed = access.Delete // the note goes from where it was
		}
		if err := needs(v, s.From, needed, "moved away"); err != nil {
			return err
		}
		return needs(v, s.Path, access.Write, "made")
	case !s.After.Exists && !p.OwnChange:
		return needs(v, s.Path, access.Delete, "deleted")
	case s.Before.Exists && p.Replaces && s.Path == p.Note:
		return needs(v, s.Path, access.Delete, "replaced")
	case s.Before.Exists:
		return needs(v, s.Path, access.Write, "changed")
	}
	return needs(v, s.Path, access.Write, "made")
}

// needs refuses what a path may not have done to it.
func needs(v *session.Vault, at disk.Path, level access.Level, what string) error {
	if v.Sight.Level(at.String(), v.Rules) >= level {
		return nil
	}
	return answer.AccessDenied.Failure("Access denied: %q may not be %s.", answer.Verbatim(at.String()), what)
}
