package oversight

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/guard"
)

// changedNote is a row of "today", as --json prints it. Added and Removed are left out if a text is no longer kept.
type changedNote struct {
	Time    time.Time `json:"time"`
	Path    string    `json:"path"`
	From    string    `json:"from,omitempty"` // where it was moved from
	By      string    `json:"by"`
	Command string    `json:"command"`
	Added   *int      `json:"added,omitempty"`
	Removed *int      `json:"removed,omitempty"`
	State   string    `json:"state"`
	Change  string    `json:"change"` // its id, for undo
}

// Today is "vaultwicket today": the notes that were changed, and by whom.
func Today(ctx context.Context, std terminal.Streams, args []string) error {
	q := journalQuery{since: "today", limit: 1000}
	o, err := bootstrap.Open("today", std, args, q.flags)
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket today",
			Advice: `"vaultwicket help today" shows the flags`,
		}
	}
	noteState(std)
	now := time.Now()
	kept, wanted, err := q.open(o, now)
	if err != nil {
		return err
	}
	entries, damage, err := kept.Entries(ctx, wanted)
	if err != nil {
		return err
	}
	noteDamage(std, damage)
	if len(entries) == wanted.Limit {
		terminal.Notef(std.Err, "only the newest %d changes are shown: \"vaultwicket journal list\" has all of them", wanted.Limit)
	}
	rows := []changedNote{}
	sees := o.Gateway.Visible("")
	for _, e := range entries {
		for _, s := range slices.Backward(e.Steps) {
			if !sees(s.Path) || !sees(s.Source()) {
				continue
			}
			row := changedNote{
				Time:    e.Time,
				Path:    s.Path,
				From:    s.From,
				By:      e.By(),
				Command: e.Command,
				State:   e.State.String(),
				Change:  e.ID,
			}
			if before, after, ok := kept.Texts(ctx, s, func(hash string) (guard.Unjudged, bool) { return gateway.TextWithHash(o.Vault.Folder, s.Path, hash) }); ok {
				lines := difference.Of(before.ForProgram(), after.ForProgram()) // only counted
				row.Added = &lines.Added
				row.Removed = &lines.Removed
			}
			rows = append(rows, row)
		}
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, rows, terminal.ExitDone)
	}
	if len(rows) == 0 {
		terminal.Notef(std.Err, "no changes")
		return nil
	}
	screen := terminal.NewScreen(std, q.screen, now)
	table := screen.Table(
		terminal.Column{
			Title: "when",
		},
		terminal.Column{Title: "note", Min: 10},
		terminal.Column{Title: "by", Min: 6},
		terminal.Column{Title: "command", Min: 8},
		terminal.Column{Title: "lines"},
		terminal.Column{Title: "state"},
	)
	for _, row := range rows {
		note := row.Path
		lines := "-"
		if row.From != "" {
			note = row.From + " -> " + note
		}
		if row.Added != nil {
			lines = fmt.Sprintf("+%d -%d", *row.Added, *row.Removed)
		}
		table.Add(
			terminal.Text(screen.Time(row.Time)),
			terminal.Text(note),
			terminal.Text(row.By),
			terminal.Text(row.Command),
			terminal.Text(lines),
			terminal.Cell{Text: row.State, Style: stateStyles[row.State]},
		)
	}
	return table.Flush()
}
