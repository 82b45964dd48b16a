// Package clients adds entries for vaultwicket to the settings of MCP clients, and removes them. It describes for each
// client where its settings are and which form an entry has.
//
// Only the table in table.go names clients. If the settings of a client are not known well enough to edit them, the
// entry is printed instead. A change is planned first ([Installer.Install], [Installer.Uninstall]), can be
// shown, and is then written as a whole or not at all; every other byte of the file stays the same. An entry
// approves no tool in advance, except for Codex, if the entry allows changes. The rule that a client needs to read
// notes without a terminal is added and removed together with the entry (reading.go).
//
//go:generate go test -run "TestThePageIsFresh|TestEveryClientHasAFreshPage|TestTheREADMEIsFresh" -update .
package clients

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// Scope is where a server is installed for.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // every project of this user
	Project Scope = "project" // the project in the current folder
)

// Client is one row of the table.
type Client struct {
	ID, Name string
	systems  []string // the GOOS values on which it exists, nil for all
	user     files    // the settings file of the user
	project  files    // the settings file of a project
	format   format
	place    []string // the keys of the table or list that contains the servers
	list     bool     // the servers are in a list
	shape    shape
	// unsure and unsureProject are the reasons why the file is not written, "" if it is.
	unsure, unsureProject string
	programs              []string                             // programs on the PATH that show that the client is installed
	signs                 []string                             // files or folders that show it, nil for the folder of the user's file
	byName                bool                                 // never detected, because it looks the same as another client
	own                   string                               // a program with the command line of Claude Code that edits the user's settings, "" for none
	link                  func(Server, textedit.Object) string // returns an installation link, nil for none
	after                 string                               // what the user has to do after a change
	warning               string                               // what the user should know about the client's own approvals
	asks                  asking
	answerers             []answerer
	does                  behaviour
	reads                 reading
}

// files are the possible paths of a file on each system; all is for systems without a list of
// their own. The first existing path is used, or the first one if none exists.
type files struct{ all, darwin, linux, windows []string }

// on returns the paths on a system, a value of GOOS.
func (f files) on(system string) []string {
	paths := f.linux
	switch system {
	case "darwin":
		paths = f.darwin
	case "windows":
		paths = f.windows
	}
	if paths == nil {
		return f.all
	}
	return paths
}

func (f files) none() bool {
	hasOwn := f.darwin != nil || f.linux != nil || f.windows != nil
	return f.all == nil && !hasOwn
}

// format is the syntax of a settings file.
type format string

const (
	noFile      format = ""                   // the client has no settings file
	strictJSON  format = "JSON"               // neither comments nor trailing commas
	commentJSON format = "JSON with comments" // no trailing commas
	relaxedJSON format = "JSONC"              // comments and trailing commas
	tomlFormat  format = "TOML"
	yamlFormat  format = "YAML"
)

// editor returns the editor for files in a format. It rejects very large JSON files, because some commands read the
// files of all clients.
func (f format) editor() textedit.Editor {
	switch f {
	case tomlFormat:
		return textedit.TOML{}
	case yamlFormat:
		return textedit.YAML{}
	case strictJSON:
		return textedit.JSON{MaxValues: maxValues}
	case commentJSON:
		return textedit.JSON{Comments: true, MaxValues: maxValues}
	}
	return textedit.JSON{Comments: true, TrailingCommas: true, MaxValues: maxValues}
}

// maxValues is the maximum number of values in a JSON file. A file with years of history of its client has some ten
// thousand.
const maxValues = 200_000

// Find returns the client with this identifier.
func Find(id string) (Client, bool) {
	i := slices.IndexFunc(table, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return table[i], true
}

// All returns the clients in the order of the table.
func All() []Client { return slices.Clone(table) }

// IDs returns the identifiers in the order of the table.
func IDs() []string {
	var ids []string
	for _, c := range table {
		ids = append(ids, c.ID)
	}
	return ids
}

// Writes reports whether the client's settings file is written in a scope. If not, why is the reason.
func (c Client) Writes(scope Scope) (why string, ok bool) {
	paths := c.user
	reason := c.unsure
	if scope == Project {
		paths = c.project
		reason = c.unsureProject
		if paths.none() && reason == "" {
			reason = "has no settings of a project"
		}
	}
	if reason == "" && paths.none() {
		reason = "has no settings file that other programs can edit"
	}
	return reason, reason == ""
}

// at returns the place of an entry in the settings file.
func (c Client) at(name string) textedit.Place {
	return textedit.Place{Path: c.place, Name: name, List: c.list}
}

// on reports whether the client exists on a system, a value of GOOS.
func (c Client) on(system string) bool { return c.systems == nil || slices.Contains(c.systems, system) }

// maxName is the maximum length of a server name. Clients limit the length of server and tool name together; the
// lowest limit is 60 characters.
const maxName = 32

// ValidName reports whether a server name fits every client: lower-case letters, digits and hyphens.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
