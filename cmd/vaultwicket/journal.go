package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// showJournal is "vaultwicket journal": what was changed, and what undo can take
// back. It shows names of notes and of parameters, and never a text.
func showJournal(_ context.Context, std terminal.Streams, args []string) error {
	var q journalQuery
	o, err := open("journal", std, args, q.flags)
	if err != nil {
		return err
	}
	wanted, err := q.filter(time.Now())
	if err != nil {
		return err
	}
	kept, err := o.gateway.Journal("")
	if err != nil {
		return exit.Of(failure.Of(err))
	}
	switch {
	case len(o.rest) == 1 && o.rest[0] == "list" && q.limit > 0:
		return o.listJournal(std, kept, wanted)
	case len(o.rest) == 2 && o.rest[0] == "show":
		return o.showEntry(std, kept, o.rest[1])
	}
	return &exit.UsageError{Reason: "usage: vaultwicket journal list | show ID", Advice: `"vaultwicket help journal" shows the flags`}
}

// journalQuery is which changes a person wants to see.
type journalQuery struct {
	limit        int
	since, until string
}

func (q *journalQuery) flags(f *settings.Flags) {
	f.IntVar(&q.limit, "limit", 50, "maximum number of changes")
	f.StringVar(&q.since, "since", "", "start time: "+flags.MomentHelp)
	f.StringVar(&q.until, "until", "", "end time, in the same formats (dates inclusive)")
}

func (q *journalQuery) filter(now time.Time) (f journal.Filter, err error) {
	f.Limit = q.limit
	if f.Since, err = flags.Moment("since", q.since, now, false); err != nil {
		return f, err
	}
	f.Until, err = flags.Moment("until", q.until, now, true)
	return f, err
}

// keptChange is an entry as "journal --json" prints it.
type keptChange struct {
	ID       string           `json:"id"`
	Time     time.Time        `json:"time"`
	State    string           `json:"state"`
	Backend  string           `json:"backend"`
	Session  string           `json:"session,omitempty"`
	Caller   string           `json:"caller,omitempty"`
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
		ID: e.ID, Time: e.Time, State: e.State.String(), Backend: e.Backend, Session: e.Session, Caller: e.Caller,
		Batch: e.Batch, Command: e.Command, Params: e.Params, Note: e.Note, Undoes: e.Undoes, Also: e.Also, UndoneBy: e.UndoneBy, Files: []keptChangeFile{},
	}
	for _, s := range e.Steps {
		k.Files = append(k.Files, keptChangeFile{s.Path, s.From, clipHash(s.Before.Hash), clipHash(s.After.Hash)})
	}
	return k
}

// clipHash is the hash of a note as results have it.
func clipHash(hash string) string { return hash[:min(len(hash), 16)] }

func (o opened) listJournal(std terminal.Streams, kept *journal.Journal, wanted journal.Filter) error {
	entries, damage, err := kept.Entries(wanted)
	if err != nil {
		return exit.Of(&failure.Error{Code: "not_found", Message: err.Error()})
	}
	for _, d := range damage {
		terminal.Notef(std.Err, "the journal is damaged: %s, byte %d: %s", d.File, d.Offset, d.Reason)
	}
	changes := []keptChange{}
	sees := o.gateway.Visible("")
	for _, e := range entries {
		if seesAll(sees, e) {
			changes = append(changes, keptChangeOf(e))
		}
	}
	return o.printChanges(std, changes)
}

func (o opened) printChanges(std terminal.Streams, changes []keptChange) error {
	if o.JSON {
		return exit.JSON(std.Out, changes, exit.Done)
	}
	w := tabwriter.NewWriter(std.Out, 0, 8, 2, ' ', 0)
	for _, c := range changes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.State, terminal.Visible(c.Command), terminal.Visible(cmp.Or(c.Caller, "-")), terminal.Visible(filesOf(c)))
	}
	return w.Flush()
}

// seesAll reports whether all may be seen that an entry concerns. One that concerns
// more is not there.
func seesAll(sees func(path string) bool, e journal.Entry) bool {
	for _, s := range e.Steps {
		if !sees(s.Path) || !sees(s.Source()) {
			return false
		}
	}
	return true
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

func (o opened) showEntry(std terminal.Streams, kept *journal.Journal, id string) error {
	e, err := kept.Entry(id)
	if err == nil && !seesAll(o.gateway.Visible(""), e) {
		err = &journal.Unknown{What: id}
	}
	if err != nil {
		return exit.Of(&failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket journal list" shows the ids`})
	}
	c := keptChangeOf(e)
	if o.JSON {
		return exit.JSON(std.Out, c, exit.Done)
	}
	printEntry(std.Out, c)
	return nil
}

func printEntry(out io.Writer, c keptChange) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, terminal.Visible(value))
		}
	}
	fact("id", c.ID)
	fact("time", c.Time.Format(time.RFC3339))
	fact("state", c.State)
	fact("backend", c.Backend)
	fact("session", c.Session)
	fact("caller", c.Caller)
	fact("batch", c.Batch)
	fact("command", c.Command)
	for _, p := range c.Params {
		fact("parameter", p)
	}
	fact("note", c.Note)
	fact("undoes", c.Undoes)
	for _, id := range c.Also {
		fact("undoes", id)
	}
	fact("undone by", c.UndoneBy)
	for _, f := range c.Files {
		line := f.Path
		if f.From != "" {
			line = f.From + " -> " + f.Path
		}
		fact("file", fmt.Sprintf("%s  %s -> %s", line, orNone(f.Before), orNone(f.After)))
	}
	w.Flush()
}

func orNone(hash string) string {
	if hash == "" {
		return "none"
	}
	return hash
}
