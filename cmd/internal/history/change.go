package history

import (
	"cmp"
	"fmt"
	"time"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/wiring"
	"vaultwicket/gateway/state/journal"
)

// keptChange is an entry as "journal --json" prints it.
type keptChange struct {
	ID       string           `json:"id"`
	Time     time.Time        `json:"time"`
	State    string           `json:"state"`
	Backend  string           `json:"backend"`
	Session  string           `json:"session,omitempty"`
	Caller   string           `json:"caller,omitempty"`
	Client   string           `json:"client,omitempty"`
	Batch    string           `json:"batch,omitempty"`
	Command  string           `json:"command"`
	Params   []string         `json:"params"`
	Note     string           `json:"note,omitempty"`
	Undoes   string           `json:"undoes,omitempty"`
	Also     []string         `json:"undoesAlso,omitempty"`
	UndoneBy string           `json:"undoneBy,omitempty"`
	Files    []keptChangeFile `json:"files"`
}

type keptChangeFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func keptChangeOf(e journal.Entry) keptChange {
	k := keptChange{
		ID: e.ID, Time: e.Time, State: e.State.String(), Backend: e.Backend, Session: e.Session, Caller: e.Caller, Client: e.Client,
		Batch: e.Batch, Command: e.Command, Params: e.Params, Note: e.Note, Undoes: e.Undoes, Also: e.Also, UndoneBy: e.UndoneBy, Files: []keptChangeFile{},
	}
	for _, s := range e.Steps {
		k.Files = append(k.Files, keptChangeFile{s.Path, s.From, clipHash(s.Before.Hash), clipHash(s.After.Hash)})
	}
	return k
}

// clipHash is the hash of a note as results have it.
func clipHash(hash string) string { return hash[:min(len(hash), 16)] }

func printChanges(o wiring.Opened, s screen.Screen, changes []keptChange) error {
	if o.JSON {
		return exit.JSON(o.Std.Out, changes, exit.Done)
	}
	table := s.Table(
		screen.Column{Title: "change", Below: true}, screen.Column{Title: "when", OnTerminal: true}, screen.Column{Title: "state"},
		screen.Column{Title: "command", Min: 8}, screen.Column{Title: "client", Min: 6}, screen.Column{Title: "files", Min: 10},
	)
	for _, c := range changes {
		table.Add(screen.Text(c.ID), screen.Text(s.Time(c.Time)), screen.Cell{Text: c.State, Style: stateStyles[c.State]},
			screen.Text(c.Command), screen.Text(cmp.Or(c.Client, c.Caller, "-")), screen.Text(filesOf(c)))
	}
	return table.Flush()
}

// stateStyles are the colours of the states of changes.
var stateStyles = map[string]screen.Style{
	journal.Done.String(): screen.Good, journal.Begun.String(): screen.Alert, journal.Undone.String(): screen.Faint, journal.Failed.String(): screen.Bad,
}

func filesOf(c keptChange) string {
	if len(c.Files) == 0 {
		return ""
	}
	text := c.Files[0].Path
	if more := len(c.Files) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func printEntry(s screen.Screen, c keptChange) error {
	facts := s.Facts()
	facts.Add("id", c.ID, screen.Strong)
	facts.Add("time", entryTime(s, c.Time), screen.Plain)
	facts.Add("state", c.State, stateStyles[c.State])
	facts.Add("backend", c.Backend, screen.Plain)
	facts.Add("session", c.Session, screen.Plain)
	facts.Add("caller", c.Caller, screen.Plain)
	facts.Add("client", c.Client, screen.Plain)
	facts.Add("batch", c.Batch, screen.Plain)
	facts.Add("command", c.Command, screen.Plain)
	for _, p := range c.Params {
		facts.Add("parameter", p, screen.Plain)
	}
	facts.Add("note", c.Note, screen.Plain)
	facts.Add("undoes", c.Undoes, screen.Plain)
	for _, id := range c.Also {
		facts.Add("undoes", id, screen.Plain)
	}
	facts.Add("undone by", c.UndoneBy, screen.Plain)
	for _, f := range c.Files {
		line := f.Path
		if f.From != "" {
			line = f.From + " -> " + f.Path
		}
		facts.Add("file", fmt.Sprintf("%s  %s -> %s", line, orNone(f.Before), orNone(f.After)), screen.Plain)
	}
	return facts.Print()
}

// entryTime is the exact time of a change; on a terminal it is also told how long ago that
// was.
func entryTime(s screen.Screen, t time.Time) string {
	exact := t.Format(time.RFC3339)
	if told := s.Time(t); s.IsTerminal() && told != t.UTC().Format(time.RFC3339) {
		return exact + " (" + told + ")"
	}
	return exact
}

func orNone(hash string) string {
	if hash == "" {
		return "none"
	}
	return hash
}
