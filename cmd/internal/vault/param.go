package vault

import "strings"

// kind says what a parameter is.
type kind int

const (
	short   kind = iota // a short value, taken as it is
	content             // text for a note, in which \n and \t are expanded
	flag                // no value
)

// param is one parameter of a command.
type param struct {
	name     string
	hint     string // what stands between angle brackets in the usage
	about    string
	kind     kind
	required bool
	oneOf    []string
}

// usage returns how a parameter is written, without brackets of its own.
func (p param) usage() string {
	switch {
	case p.kind == flag:
		return p.name
	case len(p.oneOf) > 0:
		return p.name + "=" + strings.Join(p.oneOf, "|")
	}
	return p.name + "=<" + p.hint + ">"
}
