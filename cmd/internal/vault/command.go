package vault

import (
	"slices"
	"strings"
	"sync"
)

// command is one row of the table of what this program can do.
type command struct {
	name   string
	about  string
	params []param
	// bare names the value that a bare word stands for, if one is taken.
	bare string
	// run answers a command that reads. One that may change the vault has plan in
	// its place, which says what it would do and touches nothing.
	run  func(*vault, params) (reply, error)
	plan func(*vault, params) (proposal, error)
	// shows reports whether a request of a command with a plan only shows
	// something, nil means that none does.
	shows func(params) bool
	// meant judges what the app made of a file, where it is not byte for byte what
	// was planned. With nil nothing else is what was asked for.
	meant meaning
}

func (c command) writes() bool { return c.plan != nil }

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

// table returns everything this program can do, sorted by name; nobody changes
// what is in it. It is made at its first use, and by a function because help, a
// row of it, reads it.
func table() []command {
	known.once.Do(func() { known.rows = everyRow() })
	return known.rows
}

var known struct {
	once sync.Once
	rows []command
}

func everyRow() []command {
	rows := slices.Concat(generalCommands(), vaultCommands(), fileCommands(), createCommands(), moveCommands(), deleteCommands(), dailyCommands(), randomCommands(),
		templateCommands(), insertCommands(), bookmarkCommands(), bookmarkAddCommands(), uniqueCommands(), recentCommands(), changedCommands(),
		baseCommands(), baseQueryCommands(), baseCreateCommands(), baseSetCommands(), vaultsCommands(), undoCommands(), historyCommands(),
		searchCommands(), linkCommands(), tagCommands(), taskCommands(), taskCommand(), sectionCommands(), noteEditCommands(),
		outlineCommands(), propertyCommands(), propertyWriteCommands())
	slices.SortFunc(rows, func(a, b command) int { return strings.Compare(a.name, b.name) })
	return rows
}

// lookUp returns the row of a command, or the error that the app would print
// for one that it does not have.
func lookUp(name string) (command, error) {
	for _, row := range table() {
		if row.name == name {
			return row, nil
		}
	}
	if isOfficial(name) {
		return command{}, needsApp.failure("%q needs the Obsidian app.", name)
	}
	return command{}, unknownCommand(name)
}

func (c command) param(name string) (param, bool) {
	i := slices.IndexFunc(c.params, func(p param) bool { return p.name == name })
	if i < 0 {
		return param{}, false
	}
	return c.params[i], true
}

// usage returns the line that shows how a command is written.
func (c command) usage() string {
	words := []string{"Usage:", c.name}
	if c.bare != "" {
		words = append(words, "[<"+c.bare+">]")
	}
	for _, p := range c.params {
		if p.required {
			words = append(words, p.usage())
			continue
		}
		words = append(words, "["+p.usage()+"]")
	}
	return strings.Join(words, " ")
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
