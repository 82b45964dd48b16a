// Package clients knows the MCP clients: where each keeps its servers, in which form,
// and how an entry for vaultwicket is added and removed there.
//
// The table in table.go is the only place that names a client. What is not known well enough to write
// is printed instead. A change is planned first ([Installer.Install], [Installer.Uninstall]), can be
// shown, and is then written as a whole or not at all; every other byte of the file stays. An entry
// allows no tool by itself, but one with changes has Codex leave the questions to vaultwicket. What a client
// needs to read without a terminal is a rule of its settings, which goes with the entry (reading.go).
//
//go:generate go test -run "TestThePageIsFresh|TestEveryClientHasAFreshPage|TestTheREADMEIsFresh" -update .
package clients

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// Scope says for whom a server is installed.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // every project of this user
	Project Scope = "project" // the project in the current folder
)

// Client is one row of the table.
type Client struct {
	ID, Name string
	systems  []string // GOOS names; nil for all
	user     files
	project  files
	format   format
	place    []string // the keys that servers are below
	list     bool     // servers are elements of a list
	shape    shape
	// unsure and unsureProject say why the file is not written, "" if it is.
	unsure, unsureProject string
	programs              []string // names on the PATH that show that the client is there
	signs                 []string // files or folders that show it, in place of the folder of its file
	byName                bool     // it cannot be told from another one: installed by name only
	own                   string   // a program that changes the client's settings of the user as that of Claude Code does, "" for none
	link                  func(Server, textedit.Object) string
	after                 string // what the user does after a change
	warning               string // what the user should know of the client's own approvals
	asks                  asking
	answerers             []answerer
	does                  behaviour
	reads                 reading
}

// files are the possible paths of a file, by system; all is for the systems without a list of
// their own. The first that exists is used, otherwise the first.
type files struct{ all, darwin, linux, windows []string }

func (f files) on(system string) []string {
	own := f.linux
	switch system {
	case "darwin":
		own = f.darwin
	case "windows":
		own = f.windows
	}
	if own == nil {
		return f.all
	}
	return own
}

func (f files) none() bool {
	hasOwn := f.darwin != nil || f.linux != nil || f.windows != nil
	return f.all == nil && !hasOwn
}

type format string

const (
	noFile      format = ""                   // a form or a page of settings
	strictJSON  format = "JSON"               // neither comments nor trailing commas
	commentJSON format = "JSON with comments" // no trailing commas
	relaxedJSON format = "JSONC"              // both
	tomlFormat  format = "TOML"
	yamlFormat  format = "YAML"
)

// editor returns the editor of files in a format. It refuses what would take seconds or hundreds of megabytes to read: each command looks at the files of all clients.
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

// maxValues is how many values a file in JSON may have: one with years of history of its client has some ten thousand.
const maxValues = 200_000

// Find returns the client with an identifier.
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

// Writes reports whether the client's settings are changed in a scope; where they are not, why says the reason.
func (c Client) Writes(scope Scope) (why string, ok bool) {
	where := c.user
	unsure := c.unsure
	if scope == Project {
		where = c.project
		unsure = c.unsureProject
		if where.none() && unsure == "" {
			unsure = "has no settings of a project"
		}
	}
	if unsure == "" && where.none() {
		unsure = "has no settings file that other programs can edit"
	}
	return unsure, unsure == ""
}

func (c Client) at(name string) textedit.Place {
	return textedit.Place{Path: c.place, Name: name, List: c.list}
}

func (c Client) on(system string) bool { return c.systems == nil || slices.Contains(c.systems, system) }

// maxName keeps server and tool names together below the limits of the clients, the
// lowest of which is 60 characters.
const maxName = 32

// ValidName reports whether a server name fits every client: lower-case letters, digits and hyphens.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
