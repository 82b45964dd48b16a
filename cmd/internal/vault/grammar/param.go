package grammar

import "strings"

// kind says what a parameter is.
type kind int

const (
	short   kind = iota // a short value, taken as it is
	Content             // text for a note, in which \n and \t are expanded
	Flag                // no value
)

// Param is one parameter of a command.
type Param struct {
	Name     string
	Hint     string // what stands between angle brackets in the usage
	Help     string
	Kind     kind
	Required bool
	OneOf    []string
}

// Usage returns how a parameter is written, without brackets of its own.
func (p Param) Usage() string {
	switch {
	case p.Kind == Flag:
		return p.Name
	case len(p.OneOf) > 0:
		return p.Name + "=" + strings.Join(p.OneOf, "|")
	}
	return p.Name + "=<" + p.Hint + ">"
}
