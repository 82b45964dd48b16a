package allowlist

import "strings"

// PathAccess returns which access the paths of the call need.
func (c Call) PathAccess() PathAccess {
	if c.row == nil {
		return AccessByEffect
	}
	return c.row.access
}

// PrintsNote reports whether the answer of the call is the text of one note, from its
// first byte to its last.
func (c Call) PrintsNote() bool { return c.row != nil && c.row.printsNote }

// IsDaily reports whether the call is about the daily note of some day, so that it may
// be about another note tomorrow.
func (c Call) IsDaily() bool { return c.row != nil && c.row.target == targetDaily }

// IsRandom reports whether the same call has another answer each time.
func (c Call) IsRandom() bool { return c.row != nil && c.row.random }

// OwnAnswer returns what the gateway itself answers the call with.
func (c Call) OwnAnswer() OwnAnswer {
	if c.row == nil {
		return AnswersNothing
	}
	return c.row.ownAnswer
}

// NamedPath is a path that a call names.
type NamedPath struct {
	Param string
	Path  string // canonical, without a slash at its end; "" is the root folder
	// Folder says that it is a folder; To that a file is moved there.
	Folder, To bool
}

// NamedPaths lists the paths of notes and folders that the call names, in the order of
// its arguments, without names that are resolved like links.
func (c Call) NamedPaths() []NamedPath {
	var list []NamedPath
	for _, a := range c.args {
		s := NamedPath{Param: a.key, Path: a.value}
		switch a.kind {
		case kindPath, kindNewPath:
		case kindRef:
			s.Path = a.value[:strings.LastIndexByte(a.value, ':')]
		case kindFolder:
			s.Folder = true
		case kindDestination:
			s.To, s.Folder = true, strings.HasSuffix(a.value, "/")
		default:
			continue
		}
		s.Path = strings.TrimSuffix(s.Path, "/")
		list = append(list, s)
	}
	return list
}

// TouchesOneNote reports whether the call reads and changes no other note than the one
// whose path it names.
func (c Call) TouchesOneNote() bool {
	if c.row == nil || c.row.reach != reachNote || c.has("template") {
		return false
	}
	for _, s := range c.NamedPaths() {
		if !s.Folder && !s.To {
			return true
		}
	}
	return false
}

// TouchesNoNote reports whether the call reads and changes no note at all.
func (c Call) TouchesNoNote() bool { return c.row != nil && c.row.reach == reachNothing }
