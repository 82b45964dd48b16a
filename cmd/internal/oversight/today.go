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

// changedNote is a row of "today" as --json prints it. Added and Removed are omitted if the text before or after the
// change is no longer kept.
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

// Today runs "vaultwicket today", which lists the notes that were changed, and by whom.
func Today(ctx context.Context, std terminal.Streams, args []string) error {
	query := journalQuery{since: "today", limit: 1000}
	opened, err := bootstrap.Open("today", std, args, query.flags)
	if err != nil {
		return err
	}
	if len(opened.Rest) > 0 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket today",
			Advice: `"vaultwicket help today" shows the flags`,
		}
	}
	noteState(std)
	now := time.Now()
	changes, filter, err := query.open(opened, now)
	if err != nil {
		return err
	}
	entries, damage, err := changes.Entries(ctx, filter)
	if err != nil {
		return err
	}
	noteDamage(std, damage)
	if len(entries) == filter.Limit {
		terminal.Notef(std.Err, "only the newest %d changes are shown: \"vaultwicket journal list\" has all of them", filter.Limit)
	}
	rows := []changedNote{}
	sight := opened.Gateway.Sight("")
	for _, entry := range entries {
		for _, step := range slices.Backward(entry.Steps) {
			if !sight.Sees(step.Path) || !sight.Sees(step.Source()) {
				continue
			}
			row := changedNote{
				Time:    entry.Time,
				Path:    step.Path,
				From:    step.From,
				By:      entry.By(),
				Command: entry.Command,
				State:   entry.State.String(),
				Change:  entry.ID,
			}
			textOf := func(hash string) (guard.Unjudged, bool) {
				return gateway.TextWithHash(opened.Vault.Folder, step.Path, hash)
			}
			if before, after, ok := changes.Texts(ctx, step, textOf); ok {
				lines := difference.Of(before.ForProgram(), after.ForProgram()) // only the numbers are shown
				row.Added = &lines.Added
				row.Removed = &lines.Removed
			}
			rows = append(rows, row)
		}
	}
	noteUnread(std, sight)
	if opened.JSON {
		return terminal.PrintJSON(std.Out, rows, terminal.ExitDone)
	}
	if len(rows) == 0 && sight.Unread() == 0 {
		terminal.Notef(std.Err, "no changes")
		return nil
	}
	screen := terminal.NewScreen(std, query.screen, now)
	table := screen.Table(
		terminal.Column{Title: "when"},
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
