package oversight

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Journal is "vaultwicket journal": the changes, and which of them can be undone.
func Journal(ctx context.Context, std terminal.Streams, args []string) error {
	q := journalQuery{limit: 50}
	o, err := bootstrap.Open("journal", std, args, q.flags)
	if err != nil {
		return err
	}
	noteState(std)
	now := time.Now()
	kept, wanted, err := q.open(o, now)
	if err != nil {
		return err
	}
	switch {
	case len(o.Rest) == 1 && o.Rest[0] == "list" && q.limit > 0:
		s := terminal.NewScreen(std, q.screen, now)
		entries, damage, err := kept.Entries(ctx, wanted)
		if err != nil {
			return err
		}
		noteDamage(o.Std, damage)
		changes := []keptChange{}
		sees := o.Gateway.Visible("")
		for _, e := range entries {
			if e.SeenBy(sees) {
				changes = append(changes, keptChangeOf(e))
			}
		}
		return printChanges(o, s, changes)
	case len(o.Rest) == 2 && o.Rest[0] == "show":
		return showEntry(ctx, o, terminal.NewScreen(std, q.screen, now), kept, o.Rest[1])
	}
	return &terminal.UsageError{
		Reason: "usage: vaultwicket journal list | show ID",
		Advice: `"vaultwicket help journal" shows the flags`,
	}
}

// noteDamage says where the journal is damaged.
func noteDamage(std terminal.Streams, damage []journal.Damage) {
	for _, d := range damage {
		terminal.Notef(std.Err, "the journal is damaged: %s, byte %d: %s", d.File, d.Offset, d.Reason)
	}
}

type journalQuery struct {
	limit        int
	since, until string
	screen       terminal.ScreenOptions
}

func (q *journalQuery) flags(f *settings.Flags) {
	f.Reviews = true
	f.IntVar(&q.limit, "limit", q.limit, "maximum number of changes")
	f.StringVar(&q.since, "since", q.since, "start time: "+terminal.MomentHelp)
	f.StringVar(&q.until, "until", "", "end time, in the same formats (dates inclusive)")
	q.screen.Flags(f.FlagSet)
}

// open returns the journal of the vault, and the filter for the changes.
func (q *journalQuery) open(o bootstrap.Opened, now time.Time) (kept *journal.Journal, f journal.Filter, err error) {
	f.Limit = q.limit
	f.Agent = o.Reviewed
	if f.Since, err = terminal.ParseMoment("since", q.since, now, terminal.FirstMoment); err != nil {
		return nil, f, err
	}
	if f.Until, err = terminal.ParseMoment("until", q.until, now, terminal.EndOfDate); err != nil {
		return nil, f, err
	}
	if kept, err = o.Gateway.Journal(""); err != nil {
		err = terminal.FailureOf(failure.Of(err))
	}
	return kept, f, err
}

func showEntry(ctx context.Context, o bootstrap.Opened, s terminal.Screen, kept *journal.Journal, id string) error {
	e, err := kept.Entry(ctx, id)
	if err == nil && !e.SeenBy(o.Gateway.Visible("")) {
		err = &journal.Unknown{What: id}
	}
	if err != nil {
		return terminal.FailureOf(
			&failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket journal list" shows the ids`},
		)
	}
	c := keptChangeOf(e)
	if o.JSON {
		return terminal.PrintJSON(o.Std.Out, c, terminal.ExitDone)
	}
	when := c.Time.Format(time.RFC3339) // exact, on a terminal followed by the relative time
	if told := s.Time(c.Time); s.IsTerminal() && told != c.Time.UTC().Format(time.RFC3339) {
		when += " (" + told + ")"
	}
	facts := s.Facts()
	facts.Add("id", c.ID, terminal.Strong)
	facts.Add("time", when, terminal.Plain)
	facts.Add("state", c.State, stateStyles[c.State])
	for _, fact := range [][2]string{{"backend", c.Backend}, {"session", c.Session}, {"agent", c.Agent}, {"caller", c.Caller}, {"client", c.Client}, {"batch", c.Batch}, {"grant", c.Grant}, {"proposal", c.Proposal}, {"command", c.Command}} {
		facts.Add(fact[0], fact[1], terminal.Plain)
	}
	for _, p := range c.Params {
		facts.Add("parameter", p, terminal.Plain)
	}
	facts.Add("note", c.Note, terminal.Plain)
	facts.Add("undoes", c.Undoes, terminal.Plain)
	for _, id := range c.Also {
		facts.Add("undoes", id, terminal.Plain)
	}
	facts.Add("undone by", c.UndoneBy, terminal.Plain)
	for _, f := range c.Files {
		line := f.Path
		if f.From != "" {
			line = f.From + " -> " + f.Path
		}
		facts.Add(
			"file",
			fmt.Sprintf("%s  %s -> %s", line, cmp.Or(f.Before, "none"), cmp.Or(f.After, "none")),
			terminal.Plain,
		)
	}
	return facts.Print()
}

// keptChange is an entry as "journal --json" prints it.
type keptChange struct {
	ID       string           `json:"id"`
	Time     time.Time        `json:"time"`
	State    string           `json:"state"`
	Backend  string           `json:"backend"`
	Session  string           `json:"session,omitempty"`
	Agent    string           `json:"agent,omitempty"`
	Caller   string           `json:"caller,omitempty"`
	Client   string           `json:"client,omitempty"`
	Batch    string           `json:"batch,omitempty"`
	Grant    string           `json:"grant,omitempty"`
	Proposal string           `json:"proposal,omitempty"`
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
		ID: e.ID, Time: e.Time, State: e.State.String(), Backend: e.Backend, Session: e.Session, Agent: ownerfiles.AgentOf(e.Caller), Caller: ownerfiles.SessionOf(e.Caller), Client: e.Client,
		Batch: e.Batch, Grant: e.Grant, Proposal: e.Proposal, Command: e.Command, Params: e.Params, Note: e.Note, Undoes: e.Undoes, Also: e.Also, UndoneBy: e.UndoneBy, Files: []keptChangeFile{},
	}
	for _, s := range e.Steps {
		k.Files = append(k.Files, keptChangeFile{s.Path, s.From, clipHash(s.Before.Hash), clipHash(s.After.Hash)})
	}
	return k
}

// clipHash is the beginning of the hash of a file; results have the same of a note without secrets.
func clipHash(hash string) string { return hash[:min(len(hash), 16)] }

func printChanges(o bootstrap.Opened, s terminal.Screen, changes []keptChange) error {
	if o.JSON {
		return terminal.PrintJSON(o.Std.Out, changes, terminal.ExitDone)
	}
	if len(changes) == 0 {
		terminal.Notef(o.Std.Err, "no changes")
	}
	table := s.Table(
		terminal.Column{
			Title: "change",
			Below: true,
		},
		terminal.Column{Title: "when", OnTerminal: true},
		terminal.Column{Title: "state"},
		terminal.Column{
			Title: "command",
			Min:   8,
		},
		terminal.Column{Title: "by", Min: 6},
		terminal.Column{Title: "files", Min: 10},
	)
	for _, c := range changes {
		by := cmp.Or(c.Caller, "-")
		isOwn := c.Caller == bootstrap.AtTerminal || c.Caller == consent.LocalPage
		if c.Client != "" && !isOwn { // its own word, which could be any other
			by = inQuotes(c.Client)
		}
		if c.Agent != "" {
			by = c.Agent + " (" + by + ")"
		}
		table.Add(
			terminal.Text(c.ID),
			terminal.Text(s.Time(c.Time)),
			terminal.Cell{Text: c.State, Style: stateStyles[c.State]},
			terminal.Text(c.Command),
			terminal.Text(by),
			terminal.Text(filesOf(c)),
		)
	}
	return table.Flush()
}

var stateStyles = map[string]terminal.Style{
	journal.Done.String(): terminal.Good, journal.Begun.String(): terminal.Alert, journal.Undone.String(): terminal.Faint, journal.Failed.String(): terminal.Bad,
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
