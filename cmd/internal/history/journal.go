// Package history shows what was changed in a vault, and takes it back: journal and undo.
//
// It shows names of notes and of parameters, and never a text.
package history

import (
	"context"
	"time"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// Journal is "vaultwicket journal": what was changed, and what undo can take back.
func Journal(_ context.Context, std terminal.Streams, args []string) error {
	var q journalQuery
	o, err := settings.Open("journal", std, args, q.flags)
	if err != nil {
		return err
	}
	now := time.Now()
	wanted, err := q.filter(now)
	if err != nil {
		return err
	}
	kept, err := o.Gateway.Journal("")
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	switch {
	case len(o.Rest) == 1 && o.Rest[0] == "list" && q.limit > 0:
		return listJournal(o, terminal.NewScreen(std, q.screen, now), kept, wanted)
	case len(o.Rest) == 2 && o.Rest[0] == "show":
		return showEntry(o, terminal.NewScreen(std, q.screen, now), kept, o.Rest[1])
	}
	return &terminal.UsageError{Reason: "usage: vaultwicket journal list | show ID", Advice: `"vaultwicket help journal" shows the flags`}
}

// journalQuery is which changes a person wants to see.
type journalQuery struct {
	limit        int
	since, until string
	screen       terminal.ScreenOptions
}

func (q *journalQuery) flags(f *settings.Flags) {
	f.IntVar(&q.limit, "limit", 50, "maximum number of changes")
	f.StringVar(&q.since, "since", "", "start time: "+terminal.MomentHelp)
	f.StringVar(&q.until, "until", "", "end time, in the same formats (dates inclusive)")
	q.screen.Flags(f.FlagSet)
}

func (q *journalQuery) filter(now time.Time) (f journal.Filter, err error) {
	f.Limit = q.limit
	if f.Since, err = terminal.ParseMoment("since", q.since, now, false); err != nil {
		return f, err
	}
	f.Until, err = terminal.ParseMoment("until", q.until, now, true)
	return f, err
}

func listJournal(o settings.Opened, s terminal.Screen, kept *journal.Journal, wanted journal.Filter) error {
	entries, damage, err := kept.Entries(wanted)
	if err != nil {
		return terminal.FailureOf(&failure.Error{Code: "not_found", Message: err.Error()})
	}
	for _, d := range damage {
		terminal.Notef(o.Std.Err, "the journal is damaged: %s, byte %d: %s", d.File, d.Offset, d.Reason)
	}
	changes := []keptChange{}
	sees := o.Gateway.Visible("")
	for _, e := range entries {
		if e.SeenBy(sees) {
			changes = append(changes, keptChangeOf(e))
		}
	}
	return printChanges(o, s, changes)
}

func showEntry(o settings.Opened, s terminal.Screen, kept *journal.Journal, id string) error {
	e, err := kept.Entry(id)
	if err == nil && !e.SeenBy(o.Gateway.Visible("")) {
		err = &journal.Unknown{What: id}
	}
	if err != nil {
		return terminal.FailureOf(&failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket journal list" shows the ids`})
	}
	c := keptChangeOf(e)
	if o.JSON {
		return terminal.PrintJSON(o.Std.Out, c, terminal.ExitDone)
	}
	return printEntry(s, c)
}
