package oversight

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Journal runs "vaultwicket journal", which lists the changes, or shows one of them.
func Journal(ctx context.Context, std terminal.Streams, args []string) error {
	query := journalQuery{limit: 50}
	opened, err := bootstrap.Open("journal", std, args, query.flags)
	if err != nil {
		return err
	}
	noteState(std)
	now := time.Now()
	changes, filter, err := query.open(opened, now)
	if err != nil {
		return err
	}
	switch {
	case len(opened.Rest) == 1 && opened.Rest[0] == "list" && query.limit > 0:
		screen := terminal.NewScreen(std, query.screen, now)
		entries, damage, err := changes.Entries(ctx, filter)
		if err != nil {
			return err
		}
		noteDamage(opened.Std, damage)
		list := []keptChange{}
		sight := opened.Gateway.Sight("")
		for _, e := range entries {
			if e.SeenBy(sight.Sees) {
				list = append(list, keptChangeOf(e))
			}
		}
		noteUnread(opened.Std, sight)
		return printChanges(opened, screen, list)
	case len(opened.Rest) == 2 && opened.Rest[0] == "show":
		return showEntry(ctx, opened, terminal.NewScreen(std, query.screen, now), changes, opened.Rest[1])
	}
	return &terminal.UsageError{
		Reason: "usage: vaultwicket journal list | show ID",
		Advice: `"vaultwicket help journal" shows the flags`,
	}
}

// noteUnread prints that changes are left out because their notes cannot be read.
func noteUnread(std terminal.Streams, sight *gateway.Sight) {
	if remark := sight.Remark(); remark != "" {
		terminal.Notef(std.Err, "%s", remark)
	}
}

// noteDamage prints where the journal is damaged.
func noteDamage(std terminal.Streams, damage []journal.Damage) {
	for _, d := range damage {
		terminal.Notef(std.Err, "the journal is damaged: %s, byte %d: %s", d.File, d.Offset, d.Reason)
	}
}

// journalQuery contains the flags that select changes.
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

// open returns the journal of the vault and the filter that the flags define.
func (q *journalQuery) open(opened bootstrap.Opened, now time.Time) (changes *journal.Journal, filter journal.Filter, err error) {
	filter.Limit = q.limit
	filter.Agent = opened.Reviewed
	filter.Since, err = terminal.ParseMoment("since", q.since, now, terminal.FirstMoment)
	if err != nil {
		return nil, filter, err
	}
	filter.Until, err = terminal.ParseMoment("until", q.until, now, terminal.EndOfDate)
	if err != nil {
		return nil, filter, err
	}
	changes, err = opened.Gateway.Journal("")
	if err != nil {
		return nil, filter, terminal.FailureOf(failure.Of(err))
	}
	return changes, filter, nil
}

// showEntry prints all facts about a change.
func showEntry(ctx context.Context, opened bootstrap.Opened, screen terminal.Screen, changes *journal.Journal, id string) error {
	entry, err := changes.Entry(ctx, id)
	sight := opened.Gateway.Sight("")
	if err == nil {
		err = sight.Check(entry)
	}
	if err != nil && sight.Unread() > 0 {
		return terminal.FailureOf(failure.Of(err))
	}
	if err != nil {
		return terminal.FailureOf(
			&failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket journal list" shows the ids`},
		)
	}
	change := keptChangeOf(entry)
	if opened.JSON {
		return terminal.PrintJSON(opened.Std.Out, change, terminal.ExitDone)
	}
	when := change.Time.Format(time.RFC3339) // on a terminal followed by the relative time
	if relative := screen.Time(change.Time); screen.IsTerminal() && relative != change.Time.UTC().Format(time.RFC3339) {
		when += " (" + relative + ")"
	}
	facts := screen.Facts()
	facts.Add("id", change.ID, terminal.Strong)
	facts.Add("time", when, terminal.Plain)
	facts.Add("state", change.State, stateStyles[change.State])
	facts.Add("backend", change.Backend, terminal.Plain)
	facts.Add("session", change.Session, terminal.Plain)
	facts.Add("agent", change.Agent, terminal.Plain)
	facts.Add("caller", change.Caller, terminal.Plain)
	facts.Add("client", change.Client, terminal.Plain)
	facts.Add("batch", change.Batch, terminal.Plain)
	facts.Add("grant", change.Grant, terminal.Plain)
	facts.Add("proposal", change.Proposal, terminal.Plain)
	facts.Add("command", change.Command, terminal.Plain)
	for _, p := range change.Params {
		facts.Add("parameter", p, terminal.Plain)
	}
	facts.Add("note", change.Note, terminal.Plain)
	facts.Add("undoes", change.Undoes, terminal.Plain)
	for _, id := range change.Also {
		facts.Add("undoes", id, terminal.Plain)
	}
	facts.Add("undone by", change.UndoneBy, terminal.Plain)
	for _, file := range change.Files {
		line := file.Path
		if file.From != "" {
			line = file.From + " -> " + file.Path
		}
		facts.Add(
			"file",
			fmt.Sprintf("%s  %s -> %s", line, cmp.Or(file.Before, "none"), cmp.Or(file.After, "none")),
			terminal.Plain,
		)
	}
	return facts.Print()
}

// keptChange is a change as "journal --json" prints it.
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
		ID:       e.ID,
		Time:     e.Time,
		State:    e.State.String(),
		Backend:  e.Backend,
		Session:  e.Session,
		Agent:    ownerfiles.AgentOf(e.Caller),
		Caller:   ownerfiles.SessionOf(e.Caller),
		Client:   e.Client,
		Batch:    e.Batch,
		Grant:    e.Grant,
		Proposal: e.Proposal,
		Command:  e.Command,
		Params:   e.Params,
		Note:     e.Note,
		Undoes:   e.Undoes,
		Also:     e.Also,
		UndoneBy: e.UndoneBy,
		Files:    []keptChangeFile{},
	}
	for _, s := range e.Steps {
		k.Files = append(k.Files, keptChangeFile{s.Path, s.From, clipHash(s.Before.Hash), clipHash(s.After.Hash)})
	}
	return k
}

// clipHash returns the first 16 digits of the hash of a file. For a note without secrets, results contain the same
// digits.
func clipHash(hash string) string { return hash[:min(len(hash), 16)] }

// printChanges prints a table of changes.
func printChanges(opened bootstrap.Opened, screen terminal.Screen, changes []keptChange) error {
	if opened.JSON {
		return terminal.PrintJSON(opened.Std.Out, changes, terminal.ExitDone)
	}
	if len(changes) == 0 {
		terminal.Notef(opened.Std.Err, "no changes")
	}
	table := screen.Table(
		terminal.Column{Title: "change", Below: true},
		terminal.Column{Title: "when", OnTerminal: true},
		terminal.Column{Title: "state"},
		terminal.Column{Title: "command", Min: 8},
		terminal.Column{Title: "by", Min: 6},
		terminal.Column{Title: "files", Min: 10},
	)
	for _, change := range changes {
		author := cmp.Or(change.Caller, "-")
		isOwn := change.Caller == bootstrap.AtTerminal || change.Caller == consent.LocalPage
		if change.Client != "" && !isOwn { // the client chose the name itself
			author = inQuotes(change.Client)
		}
		if change.Agent != "" {
			author = change.Agent + " (" + author + ")"
		}
		table.Add(
			terminal.Text(change.ID),
			terminal.Text(screen.Time(change.Time)),
			terminal.Cell{Text: change.State, Style: stateStyles[change.State]},
			terminal.Text(change.Command),
			terminal.Text(author),
			terminal.Text(filesOf(change)),
		)
	}
	return table.Flush()
}

// stateStyles are the styles for the states of a change.
var stateStyles = map[string]terminal.Style{
	journal.Done.String():   terminal.Good,
	journal.Begun.String():  terminal.Alert,
	journal.Undone.String(): terminal.Faint,
	journal.Failed.String(): terminal.Bad,
}

// filesOf returns the first file of a change and the number of the others.
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
