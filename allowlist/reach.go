package allowlist

import "strings"

// reach says which notes the answer of a command can depend on, and which it can
// touch.
type reach uint8

// The zero value is any note of the vault.
const (
	// reachNote is the one note that the call names by its path.
	reachNote reach = iota + 1
	// reachNothing is no note at all.
	reachNothing
)

// Spelled is a path that stands in a call.
type Spelled struct {
	Param string
	Path  string // canonical, without a slash at its end; "" is the root folder
	// Folder says that it is a folder; To that a file is moved there.
	Folder, To bool
}

// Spells lists the paths of notes and folders that the call spells out, in the
// order of its arguments. Names that are resolved like links are none.
func (c Call) Spells() []Spelled {
	var list []Spelled
	for _, a := range c.args {
		s := Spelled{Param: a.key, Path: a.value}
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

// Alone reports whether the answer of the call depends on no other note than the
// one whose path it spells out, and whether it touches no other.
func (c Call) Alone() bool {
	if c.row == nil || c.row.reach != reachNote || c.has("template") {
		return false
	}
	for _, s := range c.Spells() {
		if !s.Folder && !s.To {
			return true
		}
	}
	return false
}

// Apart reports whether the call has to do with no note at all.
func (c Call) Apart() bool { return c.row != nil && c.row.reach == reachNothing }
