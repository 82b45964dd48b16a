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
