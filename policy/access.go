package policy

import (
	"path"

	"vaultwicket/allowlist"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// accessAllows holds the paths that a call spells out against the access rules.
//
// A note of level none is not refused here: the call goes to the embedded
// program, which holds the rules and finds no such note, so that the answer is
// that of a note which is missing. What a call touches besides is judged there
// too.
func accessAllows(p Policy, s subject) *Denial {
	if !p.Access.Restrict() && !p.Ignores {
		return nil
	}
	if s.fallsBack {
		return deny(CodeTargetRequired, "access", "requires a target because there are access rules", "name the note with path= or file=")
	}
	for _, spelled := range s.spells {
		has := p.Access.Level(spelled.Path)
		if has == access.None || has >= s.needs(spelled) {
			continue
		}
		return deny(CodeAccess, "access",
			spelled.Param+"= has access "+has.String()+" (needs "+s.needs(spelled).String()+")",
			"the user can raise it in the table [vaults.access] of the settings file")
	}
	return nil
}

func accessPasses(p Policy, _ subject) string {
	if !p.Access.Restrict() && !p.Ignores {
		return "no access rules"
	}
	return "the given paths are allowed; other notes are checked when they are reached"
}

// needs returns the level that a spelled path has to have.
func (s subject) needs(spelled allowlist.NamedPath) access.Level {
	switch {
	case spelled.To:
		return access.Write
	case spelled.Folder:
		return access.None // what is in it is judged, not the folder
	}
	if s.loses != "" && s.access != allowlist.AccessToRead {
		return access.Delete
	}
	switch {
	case s.access == allowlist.AccessToWrite, s.access == allowlist.AccessToMove && !s.leaves(spelled.Path):
		return access.Write
	case s.access == allowlist.AccessToMove:
		return access.Delete
	}
	switch s.effect {
	case tiers.Writes:
		if s.access == allowlist.AccessToRead {
			return access.Read
		}
		return access.Write
	case tiers.Destroys:
		return access.Delete
	}
	return access.Read
}

// leaves reports whether a move takes the note out of its folder.
func (s subject) leaves(from string) bool {
	for _, spelled := range s.spells {
		if !spelled.To {
			continue
		}
		to := spelled.Path
		if !spelled.Folder {
			to = path.Dir(to)
		}
		return path.Clean("/"+to) != path.Dir("/"+from)
	}
	return true
}

// confines reports whether a call may only be run by a program that holds the
// rules: it could tell of notes that are hidden, or touch more than the rules
// allow.
func (p Policy) confines(call allowlist.Call) bool {
	switch {
	case !p.Access.Restrict() && !p.Ignores, call.TouchesNoNote():
		return false
	case !call.TouchesOneNote():
		return p.Ignores || p.Access.Hide() || call.Effect().Mutates() || call.UsesOpenNote()
	case p.Ignores:
		return true
	}
	for _, spelled := range call.NamedPaths() {
		if p.Access.Level(spelled.Path) == access.None {
			return true
		}
	}
	return false
}
